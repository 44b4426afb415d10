"""The outline of a page: the heading, row, column or term of a text.

It is read from the marks of the walk, once for all requested texts, and only for a change that is
notified.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import field
from itertools import islice
from operator import itemgetter

from tidings.document.document import Document
from tidings.record import dataclass

LONGEST = 80
"""The longest heading or label, in characters; a longer one is ignored."""
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_AREAS = ("footer", "nav")
_CONTENTS = frozenset(("table", "dl", "tr", "td", "th"))
"""The elements whose start is significant; for the others only the end counts."""
_BARE = frozenset(("li", "dd", *_AREAS))
"""The elements whose end is insignificant."""
_PLACE = itemgetter(0)

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PlaceOnPage:
    """The place of a piece; each field is empty if unknown. `is_item`: in an item of a list or a
    cell of a table. `columns` are the heads of the columns of its table.
    """

    heading: str = ""
    label: str = ""
    area: str = ""
    is_item: bool = False
    columns: str = ""


@dataclass(slots=True)
class _Table:
    """A table as read so far: the ranges of its column heads and of the cells of its newest row."""

    caption: Span = (0, 0)
    heads: list[Span] = field(default_factory=list)
    row: list[Span] = field(default_factory=list)
    rows: int = 0
    is_head: bool = False


def standings(document: Document, pieces: Iterable[int]) -> Mapping[int, PlaceOnPage]:
    """Return the place of each of some pieces, in one pass over the marks."""
    return _Reader(document).read(sorted(set(pieces)))


class _Reader:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._open: list[tuple[str, int]] = []
        self._tables: list[_Table] = []
        self._terms: list[Span] = []
        self._headings: list[tuple[str, Span]] = []
        """the newest heading, after those of its enclosing sections"""

    def read(self, pieces: list[int]) -> dict[int, PlaceOnPage]:
        """Return the places of pieces, which are in order."""
        found: dict[int, PlaceOnPage] = {}
        marks, begun = self._document.marks, self._open
        at = 0
        for piece in pieces:
            end = bisect_right(marks, piece, lo=at, key=_PLACE)
            for place, name in islice(marks, at, end):
                if name:
                    begun.append((name, place))
                    if name in _CONTENTS:
                        self._begin(place, name)
                elif begun:
                    ended, start = begun.pop()
                    if ended not in _BARE:
                        self._end(place, ended, start)
            at = end
            found[piece] = self._standing()
        return found

    def _begin(self, place: int, name: str) -> None:
        table = self._tables[-1] if self._tables else None
        if name == "table":
            self._tables.append(_Table())
        elif name == "dl":
            self._terms.append((0, 0))
        elif name == "tr" and table is not None:
            table.row, table.is_head = [], table.rows == 0
            table.rows += 1
        elif name in {"td", "th"} and table is not None:
            table.row.append((place, place))
            table.is_head = table.is_head and name == "th"

    def _end(self, place: int, name: str, begun: int) -> None:
        table = self._tables[-1] if self._tables else None
        if name in _HEADINGS:
            self._headings = [*self._above(name), (name, (begun, place))]
        elif name == "table" and self._tables:
            self._tables.pop()
        elif name == "dl" and self._terms:
            self._terms.pop()
        elif name == "dt" and self._terms:
            self._terms[-1] = (begun, place)
        elif table is None:
            return
        elif name == "caption":
            table.caption = (begun, place)
        elif name in {"td", "th"} and table.row:
            table.row[-1] = (begun, place)
        elif name == "tr" and table.is_head:
            table.heads = table.row

    def _above(self, name: str) -> list[tuple[str, Span]]:
        """Return the headings of the sections that enclose a heading of this name, the outermost
        first.
        """
        return [one for one in self._headings if one[0] < name]

    def _heading(self, names: list[str]) -> str:
        """Return the heading of a piece; of a heading itself, and a piece that begins with it, that
        of its section.
        """
        own = next((name for name in names if name in _HEADINGS), "")
        above = self._above(own) if own else self._headings
        return self._text(above[-1][1]) if above else ""

    def _standing(self) -> PlaceOnPage:
        names = [name for name, _ in self._open]
        area = next((name for name in _AREAS if name in names), "")
        heading = "" if area else self._heading(names)
        innermost = next((name for name in reversed(names) if name in {"td", "th", "dd", "li", "table", "dl"}), "")
        label = columns = ""
        if innermost in {"td", "th"} and self._tables:
            heading = self._text(self._tables[-1].caption) or heading
            label = self._label_of_cell(self._tables[-1])
            if not self._tables[-1].is_head:
                columns = " | ".join(map(self._text, self._tables[-1].heads))
        elif innermost == "dd" and self._terms:
            label = self._text(self._terms[-1])
        return PlaceOnPage(heading, label, area, innermost in {"td", "th", "dd", "li"}, columns)

    def _label_of_cell(self, table: _Table) -> str:
        number = len(table.row) - 1
        heads = [table.row[0]] if number > 0 else []
        if table.heads and not table.is_head and number < len(table.heads):
            heads.append(table.heads[number])
        return ", ".join(text for text in map(self._text, heads) if text)

    def _text(self, span: Span) -> str:
        text = self._document.text_of(*span).strip(" :")
        return text if len(text) <= LONGEST else ""

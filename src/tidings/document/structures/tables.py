"""Tables: rows of cells as displayed: a cell that spans several rows or columns is in all of them
(detection §1.4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from selectolax.lexbor import LexborNode

from tidings.document.data.csv_rows import CsvTree, has_header
from tidings.document.document import Document
from tidings.document.extract import clean, take
from tidings.document.select.chosen import RefusedError
from tidings.document.select.within import elements_below, text_below
from tidings.record import dataclass

MOST_CELLS = 200_000
"""The most cells of the tables of a part."""

_WIDEST_SPAN = 1_000
_ROWS = frozenset({"tr"})
_CELLS = frozenset({"td", "th"})
_GROUPS = frozenset({"thead", "tbody", "tfoot"})


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the names of its columns, empty if it has none, and its rows, all of one width."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def width(self) -> int:
        """Return the number of columns."""
        return max(len(self.columns), max(map(len, self.rows), default=0))


def has_table(document: Document, ordinal: int) -> bool:
    """Return whether a page has so many tables, nested ones counted where they begin; CSV is one
    table.
    """
    if isinstance(document.tree, CsvTree):
        return ordinal == 1
    part = take(document)
    return part is not None and len(part.tables) >= ordinal


def tables_of(document: Document, ordinal: int | None = None) -> list[Table]:
    """Return table `ordinal` of a part, from 1; with None all of them. Raise `RefusedError` if
    there are too many cells.
    """
    asked = ("table", ordinal)
    if asked not in document.readings:
        document.readings[asked] = _read(document, ordinal)
    return [*document.readings[asked]]


def _read(document: Document, ordinal: int | None) -> list[Table]:
    if isinstance(document.tree, CsvTree):
        return [] if document.missing or ordinal not in {None, 1} else [table_of_rows(document.tree.rows, document)]
    part = take(document)
    if part is None:
        return []
    nodes = part.tables if ordinal is None else part.tables[ordinal - 1 : ordinal]
    found: list[Table] = []
    cells = 0
    for node in nodes:
        table = _table(node, part.excluded, document)
        cells += table.width * (len(table.rows) + 1)
        if cells > MOST_CELLS:
            raise RefusedError(f"its tables have more than {MOST_CELLS:,} cells")
        found.append(table)
    return found


def table_of_rows(rows: Sequence[tuple[str, ...]], document: Document) -> Table:
    """Return the table of CSV rows, the first of which may be its header."""
    width = max(map(len, rows), default=0)
    read = [tuple(clean(cell, document.extraction) for cell in row) + ("",) * (width - len(row)) for row in rows]
    return Table(read[0], tuple(read[1:])) if has_header(rows) else Table((), tuple(read))


def _table(node: LexborNode, excluded: frozenset[int], document: Document) -> Table:
    rows: list[tuple[str, ...]] = []
    columns: tuple[str, ...] = ()
    last = 0
    spans: dict[int, tuple[int, str]] = {}
    number = 0
    for row in elements_below(node, _ROWS, within=_GROUPS):
        if row.mem_id in excluded:
            continue
        cells = [cell for cell in elements_below(row, _CELLS) if cell.mem_id not in excluded]
        placed = list(islice(_place_texts(cells, spans, excluded, document), MOST_CELLS + 1))
        texts = tuple(text for text, _ in placed)
        last = max(last, *(place for place, (_, begins) in enumerate(placed) if begins), 0)
        number += len(texts)
        if number > MOST_CELLS:
            raise RefusedError(f"a table has more than {MOST_CELLS:,} cells")
        is_header = bool(cells) and all(cell.tag == "th" for cell in cells)
        if is_header and not rows:
            columns = texts
        elif any(texts):
            rows.append(texts)
    width = last + 1  # columns in which no cell begins are only spanned
    padded = tuple((*row[:width], *[""] * (width - len(row))) for row in rows)
    return Table((*columns[:width], *[""] * (width - len(columns))) if columns else (), padded)


def _place_texts(
    cells: list[LexborNode], spans: dict[int, tuple[int, str]], excluded: frozenset[int], document: Document
) -> Iterator[tuple[str, bool]]:
    """Yield the texts of a row, one per column, each with whether its cell begins there.

    `spans` are cells of rows above that reach into it: (rows left, text) by column.
    """
    waiting = iter(cells)
    column, reach = 0, max(spans, default=-1)
    while True:
        if column in spans:
            left, text = spans.pop(column)
            if left > 1:
                spans[column] = (left - 1, text)
            yield text, False
            column += 1
            continue
        cell = next(waiting, None)
        if cell is None:
            if column > reach:
                return
            yield "", False
            column += 1
            continue
        text = clean(text_below(cell, excluded), document.extraction)
        down, across = _span(cell, "rowspan"), _span(cell, "colspan")
        for number in range(across):
            if down > 1:
                spans[column] = (down - 1, text)
            yield text, number == 0
            column += 1


def _span(cell: LexborNode, name: str) -> int:
    value = (cell.attrs.get(name) or "").strip()
    return min(max(int(value), 1), _WIDEST_SPAN) if value.isascii() and value.isdigit() and len(value) < 6 else 1

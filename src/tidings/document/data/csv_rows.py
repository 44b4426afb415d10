"""CSV and TSV: rows of cells below a header, read within bounds (detection §5; RFC 4180).

The separator is what cuts the rows, the header first, into equal numbers of cells; a tab is
preferred, and a comma is last if each may belong to a number or a sentence. A text that is not
declared as CSV is taken for it only if it is a table throughout; in doubt it is text.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from tidings.document.html.walk import BREAK
from tidings.document.select.extraction import Extraction
from tidings.document.select.trees import TakenPart
from tidings.record import dataclass

MOST_CELLS = 200_000
"""The most cells of a text that is compared cell by cell; a larger one is compared as words."""

DECLARED = frozenset({"text/csv", "application/csv", "text/comma-separated-values", "text/tab-separated-values"})
"""Content types of CSV and TSV."""

Row = tuple[str, ...]

_SEPARATORS = ",;\t|"
_EXAMINED = 100
_LONGEST_EXAMINED = 65_536
_LEAST_ROWS = 3
_LONGEST_CELL = 200
_BETWEEN = "\t"
_COMMA_BETWEEN_CELLS = re.compile(r"(?<!\d),(?! )|,(?![\d ])")
_STARTS_AS_NUMBER = re.compile(r"\s*[-+.,€$£¥]*\d")


def separator_of(text: str, *, is_declared: bool) -> str:
    """Return the separator of the cells of a text, empty if it is no table; `is_declared`: it is
    declared as CSV or TSV.
    """
    head = text[:_LONGEST_EXAMINED]
    if len(text) > len(head):
        head = head[: head.rfind("\n") + 1] or head
    best = ""
    most: tuple[float, bool, bool, bool, int] | None = None
    for separator in _SEPARATORS:
        rows = _read(head, separator, _EXAMINED)
        if rows is None or (not is_declared and not _is_sure(rows, 2 if separator == "\t" else 3)):
            continue
        ((width, times),) = Counter(map(len, rows)).most_common(1) or [(0, 0)]
        if width < 2 or 2 * times <= len(rows):
            continue
        fits = (times / len(rows), separator == "\t", not _is_in_cells(separator, head), len(rows[0]) == width, width)
        if most is None or fits > most:
            best, most = separator, fits
    return best


def _is_in_cells(separator: str, text: str) -> bool:
    """Return whether all commas of a text may belong to its cells: between digits or before a
    space.
    """
    return separator == "," and _COMMA_BETWEEN_CELLS.search(text) is None


def rows_of(text: str, separator: str) -> list[Row] | None:
    """Return the rows of a text that have a non-empty cell, None if they are too many or cannot be
    read.
    """
    rows = _read(text, separator, None)
    return None if rows is None or len(rows) * max(map(len, rows), default=0) > MOST_CELLS else rows


def has_header(rows: Sequence[Row]) -> bool:
    """Return whether the first row names the columns: unique texts, none of them a number."""
    if len(rows) < 2:
        return False
    first = rows[0]
    return all(first) and len(set(first)) == len(first) and not any(map(_STARTS_AS_NUMBER.match, first))


@dataclass(frozen=True)
class CsvTree:
    """A table read from CSV; `rows` include the header, if there is one."""

    rows: tuple[Row, ...]

    def take(self, extraction: Extraction) -> TakenPart:
        """Return the whole table: selectors match nothing in it."""
        if extraction.selectors:
            return TakenPart(missing=extraction.selectors[0])
        return TakenPart(pieces=pieces_of_rows(self.rows))


def pieces_of_rows(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return rows as pieces of a document, two per cell: the cell, and the separator after it."""
    pieces: list[str] = []
    for row in rows:
        for cell in row:
            pieces += (cell, _BETWEEN)
        pieces[-1] = BREAK
    return tuple(pieces)


def _read(text: str, separator: str, most: int | None) -> list[Row] | None:
    if text.count(separator) > MOST_CELLS:
        return None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        rows = (tuple(" ".join(cell.split()) for cell in row) for row in reader)
        return list(islice((row for row in rows if any(row)), most))
    except csv.Error:
        return None


def _is_sure(rows: Sequence[Row], least: int) -> bool:
    """Return whether rows of undeclared CSV are a table: several of one width, `least` or more
    short cells, and a header.
    """
    return (
        len(rows) >= _LEAST_ROWS
        and len(set(map(len, rows))) == 1
        and len(rows[0]) >= least
        and all(len(cell) <= _LONGEST_CELL for row in rows for cell in row)
        and has_header(rows)
    )

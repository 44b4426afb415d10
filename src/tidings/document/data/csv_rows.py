"""CSV and TSV: rows of cells behind a header, read within bounds (detection §5; RFC 4180).

What separates cells is what cuts the rows, the header first, into the same number of them; a tab before all else, and a comma last if each may be one
of a number or a sentence. A text that nobody calls CSV is taken for it only if it looks like a table
throughout: what is not sure is text.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from tidings.document.html.walk import BREAK
from tidings.document.select.extraction import Extraction
from tidings.document.select.trees import TakenPart

MOST_CELLS = 200_000
"""Most cells of a text that is compared cell by cell; a larger one is compared as words."""

SAID = frozenset({"text/csv", "application/csv", "text/comma-separated-values", "text/tab-separated-values"})
"""What servers call it."""

Row = tuple[str, ...]

_SEPARATORS = ",;\t|"
_LOOKED_AT = 100
_LONGEST_LOOKED_AT = 65_536
_LEAST_ROWS = 3
_LONGEST_CELL = 200
_BETWEEN = "\t"
_COMMA_BETWEEN_CELLS = re.compile(r"(?<!\d),(?! )|,(?![\d ])")
_STARTS_AS_NUMBER = re.compile(r"\s*[-+.,€$£¥]*\d")


def separator_of(text: str, *, is_said: bool) -> str:
    """Return what separates the cells of a text, empty if it is no table; `is_said`: the server calls it CSV or TSV."""
    head = text[:_LONGEST_LOOKED_AT]
    if len(text) > len(head):
        head = head[: head.rfind("\n") + 1] or head
    best = ""
    most: tuple[float, bool, bool, bool, int] | None = None
    for separator in _SEPARATORS:
        rows = _read(head, separator, _LOOKED_AT)
        if rows is None or (not is_said and not _is_sure(rows, 2 if separator == "\t" else 3)):
            continue
        ((width, times),) = Counter(map(len, rows)).most_common(1) or [(0, 0)]
        if width < 2 or 2 * times <= len(rows):
            continue
        fits = (times / len(rows), separator == "\t", not _is_in_cells(separator, head), len(rows[0]) == width, width)
        if most is None or fits > most:
            best, most = separator, fits
    return best


def _is_in_cells(separator: str, text: str) -> bool:
    """Return whether all commas of a text may stand in its cells: between digits or before a space."""
    return separator == "," and _COMMA_BETWEEN_CELLS.search(text) is None


def rows_of(text: str, separator: str) -> list[Row] | None:
    """Return the rows of a text that have a cell that is not empty, None if they are too many or cannot be read."""
    rows = _read(text, separator, None)
    return None if rows is None or len(rows) * max(map(len, rows), default=0) > MOST_CELLS else rows


def has_header(rows: Sequence[Row]) -> bool:
    """Return whether the first row names the columns: each differently, none with a number."""
    if len(rows) < 2:
        return False
    first = rows[0]
    return all(first) and len(set(first)) == len(first) and not any(map(_STARTS_AS_NUMBER.match, first))


@dataclass(frozen=True)
class CsvTree:
    """A table that was read from CSV; `rows` with the header, if there is one."""

    rows: tuple[Row, ...]

    def take(self, extraction: Extraction) -> TakenPart:
        """Return the whole: no selector finds anything in it."""
        if extraction.selectors:
            return TakenPart(missing=extraction.selectors[0])
        return TakenPart(pieces=pieces_of_rows(self.rows))


def pieces_of_rows(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return rows as pieces of a document, two for each cell: the cell, and what stands between it and the next one or the next row."""
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
    """Return whether rows that nobody called CSV are a table: several of one width, `least` or more short cells, and a header."""
    return (
        len(rows) >= _LEAST_ROWS
        and len(set(map(len, rows))) == 1
        and len(rows[0]) >= least
        and all(len(cell) <= _LONGEST_CELL for row in rows for cell in row)
        and has_header(rows)
    )

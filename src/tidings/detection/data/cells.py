"""Cells: two versions of CSV compared row by row and cell by cell, as `table` compares tables (detection §5)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from tidings.detection.data.differences import Difference, Differences, Span
from tidings.detection.data.tabular import Row, column_name, compare_tables, write_row
from tidings.document.data.csv_rows import has_header
from tidings.document.document import Document
from tidings.document.structures.tables import table_of_rows


def compare_cells(old: Sequence[Row], new: Sequence[Row], documents: tuple[Document, Document]) -> list[Difference]:
    """Return the differences of the rows of two documents; their spans are pieces, two per cell.
    Raise `TooManyError`.
    """
    was, now = table_of_rows(old, documents[0]), table_of_rows(new, documents[1])
    change = compare_tables(was, now)
    before, after = _CellPlaces(old), _CellPlaces(new)
    found = Differences()
    for left, right in change.renamed:
        name = column_name(was, left), column_name(now, right)
        found.add(Difference("", *name, before.header(left), after.header(right)))
    for left in change.columns_gone:
        found.add(Difference(column_name(was, left), "", None, before.header(left), after.end))
    for right in change.columns_come:
        found.add(Difference(column_name(now, right), None, "", before.end, after.header(right)))
    for row in change.rows_gone:
        found.add(Difference("", write_row(was.rows[row]), None, before.row(row), after.end))
    for row in change.rows_come:
        found.add(Difference("", None, write_row(now.rows[row]), before.end, after.row(row)))
    for cell in change.cells:
        found.add(Difference(cell.path, cell.old, cell.new, before.cell(*cell.was), after.cell(*cell.now)))
    return found.found


class _CellPlaces:
    """The pieces of the rows and cells of a table; its rows are counted without the header."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._first = int(has_header(rows))
        self._starts = list(accumulate((2 * len(row) for row in rows), initial=0))

    @property
    def end(self) -> Span:
        """Return the empty span at the end."""
        return self._starts[-1], self._starts[-1]

    def header(self, column: int) -> Span:
        """Return the place of the name of a column, the start if columns have no names."""
        return self._within(0, column) if self._first else (0, 0)

    def row(self, row: int) -> Span:
        """Return the place of a row."""
        return self._starts[row + self._first], self._starts[row + self._first + 1]

    def cell(self, row: int, column: int) -> Span:
        """Return the place of a cell; of one that a short row lacks, the end of the row."""
        return self._within(row + self._first, column)

    def _within(self, row: int, column: int) -> Span:
        start, end = self._starts[row], self._starts[row + 1]
        return min(start + 2 * column, end), min(start + 2 * column + 2, end)

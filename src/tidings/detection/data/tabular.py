"""Tables and CSV: inserted and deleted rows, and changed cells (004 §3.4.2; detection §1.4, §5).

A row is identified by the first column with unique texts in both versions; without one the rows are
a multiset. A column of numbers from 1 on in both is not a key if the rows match better without it:
after an inserted row the later ones only have other numbers. Columns are identified by their names,
if they have any; an inserted, deleted or renamed one is reported once, without its cells. The order
of rows and columns is ignored.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, zip_longest

from tidings.detection.compare.pairing import Numbered, running_numbers, without_numbers
from tidings.detection.compare.words import compare_sequences
from tidings.detection.data.differences import Difference, Differences, Span
from tidings.detection.find.findings import KeyedUpdate, finding_of_body, finding_of_things
from tidings.document.data.csv_rows import has_header
from tidings.document.document import Document
from tidings.document.structures.tables import Table, has_table, table_of_rows, tables_of
from tidings.document.text.words import fold
from tidings.model.observed.change import ChangeSet
from tidings.record import dataclass, replace

Row = tuple[str, ...]

MOST_RENAMED = 100
"""With more inserted or deleted columns, renamed ones are not searched."""


@dataclass(frozen=True, slots=True)
class Tables:
    """Table `ordinal` of the page, or all its tables; with `column`, only this column of each
    (its name or number), beside the first one, which names the row.
    """

    ordinal: int | None = None
    column: str = ""
    name: str = "table"
    contains: frozenset[str] = frozenset({"table"})
    digests: tuple[str, ...] = ("tables", "body")

    def for_ordinal(self, ordinal: int | None) -> Tables:
        """Return this type for another table."""
        return replace(self, ordinal=ordinal)

    def is_there(self, document: Document) -> bool:
        """Return whether the page has that table, and a column of that name in it."""
        if self.column:
            return bool(self.find(document))
        return self.ordinal is None or has_table(document, self.ordinal)

    def size(self, document: Document) -> int:
        """Return the number of rows."""
        return sum(len(table.rows) for table in self.find(document))

    def find(self, document: Document) -> list[Table]:
        """Return the tables, each with only the column that counts."""
        tables = tables_of(document, self.ordinal)
        if not self.column:
            return tables
        return [_narrow(table, place) for table in tables if (place := _place_of(table, self.column)) is not None]

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return the changes of the tables, each compared with its counterpart."""
        if old.textless or new.textless:
            return finding_of_body(old, new)
        gone: list[str] = []
        come: list[str] = []
        updates: list[KeyedUpdate] = []
        for before, after in _pair(self.find(old), self.find(new)):
            lost, won, other = _describe_rows(before, after)
            gone += lost
            come += won
            updates += other
        finding = finding_of_things(self.name, gone, come, updates)
        return (finding,) if finding else ()


_NONE = Table((), ())


def _place_of(table: Table, column: str) -> int | None:
    """Return the place of a column: of this name, the only one whose name contains it, or by its
    number.
    """
    names, wanted = [fold(name) for name in table.columns], fold(column)
    if wanted in names:
        return names.index(wanted)
    similar = [place for place, name in enumerate(names) if wanted in name]
    if not column.isdecimal():
        return similar[0] if len(similar) == 1 else None
    return int(column) - 1 if 0 < int(column) <= table.width else None


def _narrow(table: Table, place: int) -> Table:
    places = dict.fromkeys((0, place))
    names = tuple(table.columns[at] for at in places) if table.columns else ()
    return replace(table, columns=names, rows=tuple(tuple(row[at] for at in places) for row in table.rows))


def _pair(old: Sequence[Table], new: Sequence[Table]) -> Iterator[tuple[Table, Table]]:
    """Yield the tables of two versions in pairs: in order if there are as many, else those with the
    same columns.
    """
    edits = [] if len(old) == len(new) else compare_sequences([*map(_form, old)], [*map(_form, new)])
    i = j = 0
    for edit in (*edits, None):
        until = (len(old), len(new)) if edit is None else (edit.old_start, edit.new_start)
        yield from zip(old[i : until[0]], new[j : until[1]], strict=True)
        if edit is not None:
            i, j = edit.old_end, edit.new_end
            yield from zip_longest(old[edit.old_start : i], new[edit.new_start : j], fillvalue=_NONE)


def _form(table: Table) -> str:
    return "\x00".join(table.columns) or f"{table.width} columns"


def tables_digest(document: Document) -> str:
    """Return the digest of everything that the comparison of tables depends on."""
    return "\x02".join(
        "\x01".join("\x00".join(row) for row in ((table.columns, *table.rows))) for table in tables_of(document)
    )


@dataclass(frozen=True, slots=True)
class Cell:
    """A changed cell: (row, column) in each version, `path` is the key of its row and its
    column.
    """

    path: str
    old: str
    new: str
    was: tuple[int, int]
    now: tuple[int, int]


@dataclass(frozen=True, slots=True)
class TableChange:
    """The difference of two tables, by the numbers of their columns and rows; `common` are common
    columns, `renamed` (old, new).
    """

    common: tuple[tuple[int, int], ...] = ()
    columns_gone: tuple[int, ...] = ()
    columns_come: tuple[int, ...] = ()
    renamed: tuple[tuple[int, int], ...] = ()
    rows_gone: tuple[int, ...] = ()
    rows_come: tuple[int, ...] = ()
    cells: tuple[Cell, ...] = ()


def compare_tables(old: Table, new: Table) -> TableChange:
    """Return the difference of two tables."""
    if not old.rows or not new.rows:
        return TableChange(rows_gone=tuple(range(len(old.rows))), rows_come=tuple(range(len(new.rows))))
    common, gone, come = _columns(old, new)
    renamed = _pair_renamed(old, new, gone, come)
    common = sorted([*common, *renamed])
    before = [tuple(row[left] for left, _ in common) for row in old.rows]
    after = [tuple(row[right] for _, right in common) for row in new.rows]
    rows = _match(before, after, len(common))
    names = [(new.columns[right] if new.columns else "") or f"column {right + 1}" for _, right in common]
    cells = (
        Cell(f"{after[j][rows.key]}, {name}", was, now, (i, left), (j, right))
        for i, j in rows.pairs
        for at, (name, was, now, (left, right)) in enumerate(zip(names, before[i], after[j], common, strict=True))
        if was != now and (at != rows.numbers or (i, j) in rows.moved)
    )
    lost, won = {left for left, _ in renamed}, {right for _, right in renamed}
    return TableChange(
        common=tuple(common),
        columns_gone=tuple(left for left in gone if left not in lost),
        columns_come=tuple(right for right in come if right not in won),
        renamed=tuple(renamed),
        rows_gone=rows.gone,
        rows_come=rows.come,
        cells=tuple(cells),
    )


def column_name(table: Table, number: int) -> str:
    """Return the displayed name of a column."""
    name = table.columns[number] if table.columns else ""
    return f"column {name or number + 1}"


def read_cell(text: str) -> str:
    """Return the last cell of a row or a changed cell as they are written."""
    return re.split(r"(?:: |\| )", text)[-1]


def write_row(row: Row) -> str:
    """Return a row in one line."""
    return " | ".join(row)


def _describe_rows(old: Table, new: Table) -> tuple[list[str], list[str], list[KeyedUpdate]]:
    """Return the deletions, insertions and updates, as people read them."""
    change = compare_tables(old, new)
    left, right = ([pair[side] for pair in change.common] for side in (0, 1))
    gone = [column_name(old, number) for number in change.columns_gone]
    come = [column_name(new, number) for number in change.columns_come]
    gone += [write_row(_only(old.rows[number], left)) for number in change.rows_gone]
    come += [write_row(_only(new.rows[number], right)) for number in change.rows_come]
    names = [(column_name(old, one), column_name(new, other)) for one, other in change.renamed]
    updates = [KeyedUpdate(f"name of {now}", was, now) for was, now in names]
    updates += [KeyedUpdate(cell.path, f"{cell.path}: {cell.old}", f"{cell.path}: {cell.new}") for cell in change.cells]
    return gone, come, updates


def _only(row: Row, columns: Sequence[int]) -> Row:
    return tuple(row[number] for number in columns) if columns else row


def _columns(old: Table, new: Table) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Return the common columns, (place in old, place in new), and those of only one table."""
    named = old.columns and new.columns and len(set(old.columns)) == len(old.columns)
    if not named or len(set(new.columns)) != len(new.columns):
        most = min(old.width, new.width)
        return [(place, place) for place in range(most)], [*range(most, old.width)], [*range(most, new.width)]
    places = {name: place for place, name in enumerate(new.columns)}
    known = set(old.columns)
    common = [(place, places[name]) for place, name in enumerate(old.columns) if name in places]
    gone = [place for place, name in enumerate(old.columns) if name and name not in places]
    return common, gone, [place for place, name in enumerate(new.columns) if name and name not in known]


def _pair_renamed(old: Table, new: Table, gone: Sequence[int], come: Sequence[int]) -> list[tuple[int, int]]:
    """Return the renamed columns: at least half of their cells are equal, and there are several of
    these.
    """
    if not (old.columns and new.columns) or max(len(gone), len(come)) > MOST_RENAMED:
        return []
    was, now = ({number: Counter(row[number] for row in table.rows) for number in numbers}
                for table, numbers in ((old, gone), (new, come)))  # fmt: skip
    rated = [
        (-same, abs(left - right), left, right)
        for left in gone
        for right in come
        if 2 * (same := (was[left] & now[right]).total()) >= max(len(old.rows), len(new.rows))
    ]
    found: list[tuple[int, int]] = []
    for _, _, left, right in sorted(rated):
        if left not in {one for one, _ in found} and right not in {other for _, other in found}:
            found.append((left, right))
    return found


@dataclass(frozen=True, slots=True)
class _MatchedRows:
    """Which rows are paired, and which only one version has; `key` is the identifying column,
    `numbers` a running number.

    For rows that `moved`, the numbers are significant.
    """

    gone: tuple[int, ...]
    come: tuple[int, ...]
    key: int = 0
    pairs: Sequence[tuple[int, int]] = ()
    numbers: int | None = None
    moved: frozenset[tuple[int, int]] = frozenset()


def _match(old: Sequence[Row], new: Sequence[Row], width: int) -> _MatchedRows:
    """Return the pairing of the rows of two versions."""
    columns = range(width)
    key = _key(old, new, columns)
    if key is None:
        return _MatchedRows(_subtract(old, new), _subtract(new, old))
    counted = [running_numbers([row[key] for row in rows]) for rows in (old, new)]
    if all(counted):
        others = [column for column in columns if column != key]
        name = _key(old, new, others)
        sides = (
            Numbered(
                numbers,
                [{column: row[column] for column in others} for row in rows],
                [] if name is None else [row[name] for row in rows],
            )
            for rows, numbers in zip((old, new), counted, strict=True)
        )
        if found := without_numbers(*sides):
            return _pair_rows(old, new, key if name is None else name, found[0], key, found[1])
    places = {row[key]: number for number, row in enumerate(old)}
    pairs = [(places[row[key]], number) for number, row in enumerate(new) if row[key] in places]
    return _pair_rows(old, new, key, pairs)


def _pair_rows(
    old: Sequence[Row],
    new: Sequence[Row],
    key: int,
    pairs: Sequence[tuple[int, int]],
    numbers: int | None = None,
    moved: frozenset[tuple[int, int]] = frozenset(),
) -> _MatchedRows:
    gone, come = {i for i, _ in pairs}, {j for _, j in pairs}
    return _MatchedRows(
        tuple(number for number in range(len(old)) if number not in gone),
        tuple(number for number in range(len(new)) if number not in come),
        key,
        sorted(pairs, key=lambda pair: pair[1]),
        numbers,
        moved,
    )


def _key(old: Sequence[Row], new: Sequence[Row], columns: Iterable[int]) -> int | None:
    """Return the first of the columns whose texts are complete and unique, in both versions, with a
    common value.
    """
    for column in columns:
        before, after = [row[column] for row in old], [row[column] for row in new]
        if (
            all(before)
            and all(after)
            and len(set(before)) == len(before)
            and len(set(after)) == len(after)
            and set(before) & set(after)
        ):
            return column
    return None


def _subtract(rows: Sequence[Row], without: Sequence[Row]) -> tuple[int, ...]:
    waiting = Counter(without)
    left = []
    for number, row in enumerate(rows):
        if waiting[row] > 0:
            waiting[row] -= 1
        else:
            left.append(number)
    return tuple(left)


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

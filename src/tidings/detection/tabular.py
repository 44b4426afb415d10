"""Tables: rows that came and went, and cells that say something else (004 §3.4.2; detection.md §1.4).

A row is known by its first column whose texts differ from row to row in both versions; without one the rows are a multiset. Columns are known by
their names, if they have any; one that came or went is told once, and its cells are not. The order of rows and columns means nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from tidings.detection.findings import finding_of_body
from tidings.detection.keyed import Update, finding_of_things
from tidings.document.document import Document
from tidings.document.tables import Table, has_table, tables_of
from tidings.model.change import ChangeSet

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """Table `ordinal` of the page, or all its tables."""

    ordinal: int | None = None
    name: str = "table"
    contains: frozenset[str] = frozenset({"table"})
    digests: tuple[str, ...] = ("tables", "body")

    def for_ordinal(self, ordinal: int | None) -> Tables:
        """Return this type for another table."""
        return replace(self, ordinal=ordinal)

    def is_there(self, document: Document) -> bool:
        """Return whether the page has that table."""
        return self.ordinal is None or has_table(document, self.ordinal)

    def size(self, document: Document) -> int:
        """Return the number of rows."""
        return sum(len(table.rows) for table in tables_of(document, self.ordinal))

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return what changed in the tables, each with the one in its place."""
        if old.textless or new.textless:
            return finding_of_body(old, new)
        gone: list[str] = []
        come: list[str] = []
        updates: list[Update] = []
        for before, after in zip_longest(tables_of(old, self.ordinal), tables_of(new, self.ordinal), fillvalue=_NONE):
            lost, won, other = _compared(before, after)
            gone += lost
            come += won
            updates += other
        finding = finding_of_things(self.name, gone, come, updates)
        return (finding,) if finding else ()


_NONE = Table((), ())


def tables_digest(document: Document) -> str:
    """Return all that the comparison of tables can see."""
    return "\x02".join(
        "\x01".join("\x00".join(row) for row in ((table.columns, *table.rows))) for table in tables_of(document)
    )


def _compared(old: Table, new: Table) -> tuple[list[str], list[str], list[Update]]:
    if not old.rows or not new.rows:
        return [_shown(row) for row in old.rows], [_shown(row) for row in new.rows], []
    shared = _columns(old, new)
    gone = [f"column {name}" for name in old.columns if name and name not in new.columns]
    come = [f"column {name}" for name in new.columns if name and name not in old.columns]
    before = [tuple(row[left] for _, left, _ in shared) for row in old.rows]
    after = [tuple(row[right] for _, _, right in shared) for row in new.rows]
    key = _key(before, after, len(shared))
    if key is None:
        return [*gone, *map(_shown, before)], [*come, *map(_shown, after)], []
    was = {row[key]: row for row in before}
    now = {row[key]: row for row in after}
    gone += [_shown(row) for name, row in was.items() if name not in now]
    come += [_shown(row) for name, row in now.items() if name not in was]
    names = [name or f"column {number + 1}" for number, (name, _, _) in enumerate(shared)]
    return gone, come, list(_cells(was, now, names))


def _columns(old: Table, new: Table) -> list[tuple[str, int, int]]:
    """Return (name, place in old, place in new) of the columns that both tables have."""
    named = old.columns and new.columns and len(set(old.columns)) == len(old.columns)
    if not named or len(set(new.columns)) != len(new.columns):
        return [("", place, place) for place in range(min(old.width, new.width))]
    places = {name: place for place, name in enumerate(new.columns)}
    return [(name, place, places[name]) for place, name in enumerate(old.columns) if name in places]


def _key(old: Sequence[Row], new: Sequence[Row], width: int) -> int | None:
    """Return the first column whose texts are all there and all different, in both versions, and that has one in common."""
    for column in range(width):
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


def _cells(was: Mapping[str, Row], now: Mapping[str, Row], names: Sequence[str]) -> Iterator[Update]:
    for key, row in now.items():
        for name, old, new in zip(names, was.get(key, row), row, strict=True):
            if old != new:
                yield Update(f"{key}, {name}", f"{key}, {name}: {old}", f"{key}, {name}: {new}")


def _shown(row: Row) -> str:
    return " | ".join(row)

"""Add what a database lacks of the schema whose number it bears.

The first three schemas were edited after databases of them had been made, so that two databases can both say 0003 and differ. Before a database
takes its next step, what the steps up to its own number make is compared with what is there, and added where it is missing.
"""

from __future__ import annotations

from tidings.storage.db.connection import Connection
from tidings.storage.db.schema import TableText, statements, steps, tables

_FILLED = {
    ("owner", "rules_seq"): "last_seq",  # rules have no need to hear what happened before there were rules
    ("secret", "owner_id"): "1",
    ("secret", "kind"): "CASE name WHEN 'webhook' THEN 'signing' ELSE 'text' END",
}
"""What rows get in a column that is added to them, where that is not the column's default."""

_COLUMNS = {
    "sqlite": "SELECT name FROM pragma_table_info(:name)",
    "postgresql": "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = :name",
}
_INDEXES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = :name",
    "postgresql": "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND tablename = :name",
}


def complete(c: Connection, revision: str) -> list[str]:
    """Add the tables, columns and indexes that the steps up to `revision` make and that the database lacks; return what was added.

    What is there stays as it is, but for a table whose primary key lacks a column: that is made anew, with its rows.
    """
    wanted = tables(
        statement for step, file in steps().items() if step <= revision for statement in statements(file, c.dialect)
    )
    added: list[str] = []
    for name, table in wanted.items():
        added += _complete_table(c, name, table)
        present = {row[0] for row in c.rows(_INDEXES[c.dialect], name=name)}
        for index, statement in table.indexes.items():
            if index not in present:
                c.execute(statement)
                added.append(index)
    return added


def _complete_table(c: Connection, name: str, table: TableText) -> list[str]:
    """Make a table that is missing, or add the columns that it lacks."""
    known = {row[0] for row in c.rows(_COLUMNS[c.dialect], name=name)}
    if not known:
        _make(c, table)
        return [name]
    lacking = [column for column in table.columns if column not in known]
    if set(lacking) & set(table.key):
        _make_anew(c, name, table, known)
    else:
        for column in lacking:
            _add(c, name, column, table.columns[column])
    return [f"{name}.{column}" for column in lacking]


def _make(c: Connection, table: TableText) -> None:
    for statement in table.statements:
        c.execute(statement)


def _add(c: Connection, table: str, column: str, definition: str) -> None:
    """Add a column; rows that are there get what `_FILLED` says, else its default, else nothing of its type."""
    if "NOT NULL" in definition and "DEFAULT" not in definition:
        empty = "''" if definition.split()[1] in {"TEXT", "BLOB", "BYTEA"} else "0"
        definition = definition.replace("NOT NULL", f"DEFAULT {empty} NOT NULL")
    c.execute(f"ALTER TABLE {table} ADD COLUMN {definition}")
    if (filled := _FILLED.get((table, column))) is not None:
        c.execute(f"UPDATE {table} SET {column} = {filled}")


def _make_anew(c: Connection, name: str, table: TableText, known: set[str]) -> None:
    """Put a table as it should be in the place of one whose primary key lacks a column, with its rows."""
    terms = {column: column for column in table.columns if column in known} | {
        column: term for (owner, column), term in _FILLED.items() if owner == name and column not in known
    }
    c.execute(f"CREATE TEMPORARY TABLE old_{name} AS SELECT * FROM {name}")
    c.execute(f"DROP TABLE {name}")
    _make(c, table)
    c.execute(f"INSERT INTO {name} ({', '.join(terms)}) SELECT {', '.join(terms.values())} FROM old_{name}")
    c.execute(f"DROP TABLE old_{name}")

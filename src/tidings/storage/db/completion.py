"""Add what a database lacks of the schema whose number it bears.

The first three schemas were edited after databases of them had been made, so that two databases can both say 0003 and differ. Before a database
takes its next step, what the steps up to its own number make is compared with what is there, and added where it is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from alembic.ddl.base import AddColumn, DropColumn
from sqlalchemy import Column, Connection, LargeBinary, Table, Text, create_engine, event, inspect, text
from sqlalchemy.schema import CreateIndex, CreateTable, DropTable, Index

Steps = Callable[[Connection, str], None]

_FILLED = {
    ("owner", "rules_seq"): "last_seq",  # rules have no need to hear what happened before there were rules
    ("secret", "owner_id"): "1",
    ("secret", "kind"): "CASE name WHEN 'webhook' THEN 'signing' ELSE 'text' END",
}
"""What rows get in a column that is added to them, where that is not the column's default."""


def complete(connection: Connection, revision: str, run_steps: Steps) -> list[str]:
    """Add the tables, columns and indexes that the steps up to `revision` make and that the database lacks; return what was added.

    What is there stays as it is, but for a table whose primary key lacks a column: that is made anew, with its rows.
    """
    wanted = _Wanted(revision, run_steps)
    present = inspect(connection)
    added: list[str] = []
    for name, columns in wanted.columns.items():
        if not present.has_table(name):
            connection.execute(CreateTable(wanted.tables[name]))
            added.append(name)
        known = {column["name"] for column in inspect(connection).get_columns(name)}
        lacking = [column for column in columns.values() if column.name not in known]
        if any(column.primary_key for column in lacking):
            _make_anew(connection, wanted.tables[name], sorted(known))
        else:
            for column in lacking:
                _add(connection, name, column)
        added += [f"{name}.{column.name}" for column in lacking]
    return added + [name for name, index in wanted.indexes.items() if _add_index(connection, name, index)]


class _Wanted:
    """What the steps up to a revision leave, as they define it: noted while they run on an empty database in memory."""

    def __init__(self, revision: str, run_steps: Steps) -> None:
        self.tables: dict[str, Table] = {}
        self.columns: dict[str, dict[str, Column[Any]]] = {}
        self.indexes: dict[str, Index] = {}
        engine = create_engine("sqlite://")
        event.listen(engine, "before_execute", self._note)
        with engine.connect() as scratch:
            run_steps(scratch, revision)
        engine.dispose()

    def _note(self, _connection: Connection, element: object, *_: object) -> None:
        match element:
            case CreateTable(element=table):
                self.tables[table.name] = table
                self.columns[table.name] = {column.name: column for column in table.columns}
            case DropTable(element=table):
                del self.tables[table.name], self.columns[table.name]
                self.indexes = {name: index for name, index in self.indexes.items() if str(index.table) != table.name}
            case AddColumn():
                self.columns[element.table_name][element.column.name] = element.column
            case DropColumn():
                del self.columns[element.table_name][element.column.name]
            case CreateIndex(element=index):
                self.indexes[str(index.name)] = index


def _add(connection: Connection, table: str, column: Column[Any]) -> None:
    """Add a column; rows that are there get what `_FILLED` says, else its default, else nothing of its type."""
    if column.server_default is None and not column.nullable:
        empty = "''" if isinstance(column.type, Text | LargeBinary) else "0"
        column = Column(column.name, column.type, nullable=False, server_default=text(empty))
    connection.execute(AddColumn(table, column))
    if (filled := _FILLED.get((table, column.name))) is not None:
        connection.execute(text(f"UPDATE {table} SET {column.name} = {filled}"))


def _make_anew(connection: Connection, table: Table, known: list[str]) -> None:
    """Put a table as it should be in the place of one whose primary key lacks a column, with its rows."""
    old, names = f"old_{table.name}", [column.name for column in table.columns]
    terms = {name: name for name in names if name in known} | {
        name: term for (owner, name), term in _FILLED.items() if owner == table.name and name not in known
    }
    connection.execute(text(f"CREATE TEMPORARY TABLE {old} AS SELECT * FROM {table.name}"))
    connection.execute(text(f"DROP TABLE {table.name}"))
    connection.execute(CreateTable(table))
    into, chosen = ", ".join(terms), ", ".join(terms.values())
    connection.execute(text(f"INSERT INTO {table.name} ({into}) SELECT {chosen} FROM {old}"))
    connection.execute(text(f"DROP TABLE {old}"))


def _add_index(connection: Connection, name: str, index: Index) -> bool:
    """Add an index unless it is there; return whether it was added."""
    table = str(index.table)
    lacks = name not in {found["name"] for found in inspect(connection).get_indexes(table)}
    if lacks:
        connection.execute(CreateIndex(index))
    return lacks

"""Migrate a database to the newest schema; imported only when the stored revision is another one.

`schema.sql` makes a new database at once; the numbered steps are for databases of older versions
(tests/unit/storage/db/test_schema.py holds both to the same result). The revision stands in
`alembic_version`, the name that earlier versions used.

The first three schemas were edited after databases of them had been made, so two databases can both
say 0003 and differ. Before the next step, everything that the steps up to its own number make is
compared with the database, and added where missing (`complete`).
"""

from __future__ import annotations

import uuid
from secrets import randbits

from tidings.clock import SystemClock
from tidings.storage.db.connection import Connection
from tidings.storage.db.driver import DatabaseDriver
from tidings.storage.db.schema import WHOLE, TableText, statements, steps, tables


def migrate(driver: DatabaseDriver, newest: str) -> None:
    """Make an empty database, or run the missing steps up to `newest`, inside the caller's
    transaction on `driver`.
    """
    c = driver.connection
    if driver.has_table("alembic_version"):
        revision = c.value("SELECT version_num FROM alembic_version")
        if revision is not None:
            complete(c, revision)
        run_steps(c, newest, since=revision or "")
    else:
        make(c, newest)
    _seed(c)


def make(c: Connection, newest: str) -> None:
    """Create every table and store the revision."""
    for statement in statements(WHOLE, c.dialect):
        c.execute(statement)
    _note(c, newest)


def run_steps(c: Connection, newest: str, *, since: str = "") -> None:
    """Run the steps after the revision `since` up to `newest`; from the start if it is empty."""
    for revision, file in steps().items():
        if since < revision <= newest:
            for statement in statements(file, c.dialect):
                c.execute(statement)
    _note(c, newest)


def _note(c: Connection, revision: str) -> None:
    c.execute(
        "CREATE TABLE IF NOT EXISTS alembic_version"
        " (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
    )
    c.execute("DELETE FROM alembic_version")
    c.execute("INSERT INTO alembic_version (version_num) VALUES (:revision)", revision=revision)


def _seed(c: Connection) -> None:
    """Insert the name, the seed and the one owner of a new database."""
    if c.value("SELECT count(*) FROM instance"):
        return
    c.execute(
        "INSERT INTO instance (id, restore_epoch, hash_seed, created_at) VALUES (:id, 0, :hash_seed, :created_at)",
        id=uuid.uuid4().hex,
        hash_seed=randbits(63),
        created_at=SystemClock().wall(),
    )
    c.execute("INSERT INTO owner (id, name, last_seq) VALUES (1, 'local', 0)")


_FILLED = {
    ("owner", "rules_seq"): "last_seq",  # rules need no events from before there were rules
    ("secret", "owner_id"): "1",
    ("secret", "kind"): "CASE name WHEN 'webhook' THEN 'signing' ELSE 'text' END",
}
"""Values for existing rows in an added column, where they differ from the column's default."""

_COLUMNS = {
    "sqlite": "SELECT name FROM pragma_table_info(:name)",
    "postgresql": "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = :name",
}
_INDEXES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = :name",
    "postgresql": "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND tablename = :name",
}


def complete(c: Connection, revision: str) -> list[str]:
    """Add the tables, columns and indexes that the steps up to `revision` make and that the
    database lacks; return what was added.

    Everything else stays, except a table whose primary key lacks a column: it is rebuilt with its
    rows.
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
    """Create a missing table, or add its missing columns."""
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
    """Add a column; existing rows get the value of `_FILLED`, else its default, else an empty value
    of its type.
    """
    if "NOT NULL" in definition and "DEFAULT" not in definition:
        empty = "''" if definition.split()[1] in {"TEXT", "BLOB", "BYTEA"} else "0"
        definition = definition.replace("NOT NULL", f"DEFAULT {empty} NOT NULL")
    c.execute(f"ALTER TABLE {table} ADD COLUMN {definition}")
    if (filled := _FILLED.get((table, column))) is not None:
        c.execute(f"UPDATE {table} SET {column} = {filled}")


def _make_anew(c: Connection, name: str, table: TableText, known: set[str]) -> None:
    """Rebuild a table whose primary key lacks a column, with its rows."""
    terms = {column: column for column in table.columns if column in known} | {
        column: term for (owner, column), term in _FILLED.items() if owner == name and column not in known
    }
    c.execute(f"CREATE TEMPORARY TABLE old_{name} AS SELECT * FROM {name}")
    c.execute(f"DROP TABLE {name}")
    _make(c, table)
    c.execute(f"INSERT INTO {name} ({', '.join(terms)}) SELECT {', '.join(terms.values())} FROM old_{name}")
    c.execute(f"DROP TABLE old_{name}")

"""Bring a database to the newest schema; imported only when the stored revision is another one.

A new database is made of `schema.sql` in one go; the numbered steps are for those that an older Tidings left (tests/unit/storage/db/test_schema.py
holds both to the same). The revision stands in `alembic_version`, so named by what earlier versions of Tidings migrated with.
"""

from __future__ import annotations

import uuid
from secrets import randbits

from tidings.clock import SystemClock
from tidings.storage.db import schema
from tidings.storage.db.completion import complete
from tidings.storage.db.connection import Connection
from tidings.storage.db.driver import Driver


def migrate(driver: Driver, newest: str) -> None:
    """Make an empty database, or run the steps that are missing up to `newest`, inside the transaction that the caller began on `driver`."""
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
    """Make every table and note the revision."""
    for statement in schema.statements(schema.WHOLE, c.dialect):
        c.execute(statement)
    _note(c, newest)


def run_steps(c: Connection, newest: str, *, since: str = "") -> None:
    """Run the steps after the revision `since` up to `newest`; from nothing if it is empty."""
    for revision, file in schema.steps().items():
        if since < revision <= newest:
            for statement in schema.statements(file, c.dialect):
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
    """Give a new database its name, its seed and its one owner."""
    if c.value("SELECT count(*) FROM instance"):
        return
    c.execute(
        "INSERT INTO instance (id, restore_epoch, hash_seed, created_at) VALUES (:id, 0, :hash_seed, :created_at)",
        id=uuid.uuid4().hex,
        hash_seed=randbits(63),
        created_at=SystemClock().wall(),
    )
    c.execute("INSERT INTO owner (id, name, last_seq) VALUES (1, 'local', 0)")

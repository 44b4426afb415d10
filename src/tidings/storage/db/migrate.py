"""Bring a database to the newest schema. Beside `completion` and `schema` the only module that imports SQLAlchemy and alembic; imported only when the
stored revision is not the newest (contracts §10, docs/decisions/0013). A new database is made as `schema` describes it, in one
go; the steps are for those that an older Tidings left (tests/unit/storage/db/test_schema.py holds both to the same).
"""

from __future__ import annotations

import uuid
from pathlib import Path
from secrets import randbits
from typing import Any

from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from tidings.clock import SystemClock
from tidings.storage.db.completion import complete
from tidings.storage.db.driver import Driver
from tidings.storage.db.schema import metadata

_STEPS = Path(__file__).parents[1] / "migrations"


class _Borrowed:
    """The caller's connection as SQLAlchemy sees it: whose transaction begins and ends is the caller's affair."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)

    def commit(self) -> None:
        """Leave the transaction open."""

    def rollback(self) -> None:
        """Leave the transaction open."""

    def close(self) -> None:
        """Leave the connection open."""


def migrate(driver: Driver, newest: str) -> None:
    """Make an empty database, or run the steps that are missing up to `newest`, inside the transaction that the caller began on `driver`."""
    act = _step_up if driver.has_table("alembic_version") else _make
    url, raw, arguments = driver.engine_arguments()
    engine = create_engine(url, poolclass=StaticPool, creator=lambda: _Borrowed(raw), **arguments)
    try:
        with engine.connect() as connection:
            act(connection, newest)
    except DBAPIError as error:
        raise error.orig or error from error
    _seed(driver)


def _step_up(connection: Connection, newest: str) -> None:
    """Add what the database lacks of its own revision, then take the steps from there to `newest`."""
    revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if revision is not None:
        complete(connection, revision, run_steps)
    run_steps(connection, newest)


def run_steps(connection: Connection, newest: str) -> None:
    """Run the steps from where the database stands to `newest`."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_STEPS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, newest)


def _make(connection: Connection, newest: str) -> None:
    """Make every table and note the revision as alembic does."""
    metadata.create_all(connection, checkfirst=False)
    connection.execute(
        text(
            "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
        )
    )
    connection.execute(text("INSERT INTO alembic_version VALUES (:newest)"), {"newest": newest})


def _seed(driver: Driver) -> None:
    """Give a new database its name, its seed and its one owner."""
    c = driver.connection
    if c.value("SELECT count(*) FROM instance"):
        return
    c.execute(
        "INSERT INTO instance (id, restore_epoch, hash_seed, created_at) VALUES (:id, 0, :hash_seed, :created_at)",
        id=uuid.uuid4().hex,
        hash_seed=randbits(63),
        created_at=SystemClock().wall(),
    )
    c.execute("INSERT INTO owner (id, name, last_seq) VALUES (1, 'local', 0)")

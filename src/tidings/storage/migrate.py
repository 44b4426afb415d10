"""Bring a database to the newest schema. The only module that imports SQLAlchemy and alembic, and it is itself imported only when
the stored revision is not the newest (contracts.md §10, docs/decisions/0013).
"""

from __future__ import annotations

import uuid
from pathlib import Path
from secrets import randbits
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from tidings.clock import SystemClock
from tidings.storage.driver import Driver

_STEPS = Path(__file__).parent / "migrations"


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


def migrate(driver: Driver) -> None:
    """Run the steps that are missing, inside the writing transaction that the caller began on `driver`."""
    url, raw, arguments = driver.engine_arguments()
    engine = create_engine(url, poolclass=StaticPool, creator=lambda: _Borrowed(raw), **arguments)
    config = Config()
    config.set_main_option("script_location", str(_STEPS).replace("%", "%%"))
    try:
        with engine.connect() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except DBAPIError as error:
        raise error.orig or error from error
    _seed(driver)


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

"""PostgreSQL through psycopg 3: the same texts, `:name` rewritten once to `%(name)s`.

Writers take one advisory lock for the length of their transaction, so that there is one writer at a time as on SQLite: commit order
is the order of event numbers, and a check before a write holds until the commit. NOTIFY in the same statement tells other
connections.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tidings.errors import StoreBusyError, StoreDamagedError, StoreError, StoreFullError, StoreStalledError, UnitError
from tidings.storage.connection import Connection, Cursor, Rows, rewrite

_LOCK = 0x7469_6469  # "tidi": one key for all of Tidings in one database
_CHANNEL = "tidings_written"
_BEGIN_WRITE = f"SELECT pg_advisory_xact_lock({_LOCK}), pg_notify('{_CHANNEL}', '')".encode()


def by_name(text: str) -> bytes:
    """Return a text as psycopg wants it with values by name."""
    return rewrite(text, "%({})s", "%%").encode()


def by_place(text: str) -> bytes:
    """Return a text as psycopg wants it with values in order."""
    return rewrite(text, "%s", "%%").encode()


class PostgresDriver:
    """The row for PostgreSQL."""

    dialect = "postgresql"
    single_writer = False

    def __init__(self, url: str, *, busy_seconds: float) -> None:
        self._url = url
        self._busy_seconds = busy_seconds
        self._raw = self._connect()
        self.connection = Connection("postgresql", self._run, self._run_many)

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        try:
            raw = psycopg.connect(self._url, autocommit=True, connect_timeout=10, application_name="tidings")
            raw.execute(f"SET lock_timeout = {max(1, int(self._busy_seconds * 1000))}".encode())
            raw.execute(f"LISTEN {_CHANNEL}".encode())
        except psycopg.Error as error:
            raise self.translate(error) from error
        return raw

    def _run(self, text: str, parameters: Mapping[str, Any]) -> Cursor:
        return self._raw.execute(by_name(text), parameters)

    def _run_many(self, text: str, rows: Rows) -> Cursor:
        cursor = self._raw.cursor()
        cursor.executemany(by_name(text) if isinstance(rows[0], Mapping) else by_place(text), rows)
        return cursor

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """Return what psycopg raises, and the system below it."""
        return psycopg.Error, MemoryError, OSError

    @property
    def where(self) -> str:
        """Return the address without its password."""
        try:
            parts = conninfo_to_dict(self._url)
        except psycopg.Error:
            return "the database of store.url"
        shown = {key: str(value) for key, value in parts.items() if value is not None and key != "password"}
        return make_conninfo("", **shown)

    def begin_read(self) -> None:
        """Begin a read of one state; a lost connection is made anew first."""
        self._revive()
        self._raw.execute(b"BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def begin_write(self) -> None:
        """Begin a write and wait for the writers' lock."""
        self._revive()
        self._raw.execute(b"BEGIN")
        try:
            self._raw.execute(_BEGIN_WRITE)
        except psycopg.Error:
            self.rollback()
            raise

    def commit(self) -> None:
        """Commit."""
        self._raw.execute(b"COMMIT")

    def rollback(self) -> None:
        """Roll back, if there is still a connection to do so."""
        if not self._raw.closed and self._raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            self._raw.execute(b"ROLLBACK")

    def changed(self) -> bool:
        """Return whether another connection has told of a commit."""
        self._revive()
        own = self._raw.info.backend_pid
        self._raw.execute(b"SELECT 1")  # the answer brings what was told before it
        told = [notice for notice in self._raw.notifies(timeout=0) if notice.pid != own]
        return bool(told)

    def has_table(self, name: str) -> bool:
        """Return whether the table exists."""
        found = self._raw.execute(b"SELECT to_regclass(%(name)s)", {"name": name}).fetchone()
        return found is not None and found[0] is not None

    def copy_before(self, revision: str) -> str:  # noqa: ARG002
        """Keep nothing: a server's copies are its owner's (`pg_dump`); the migration is one transaction."""
        return ""

    def engine_arguments(self) -> tuple[str, Any, dict[str, Any]]:
        """Return what makes SQLAlchemy use this very connection."""
        return "postgresql+psycopg://", self._raw, {"use_native_hstore": False}

    def quick_check(self) -> list[str]:
        """Return nothing: PostgreSQL watches its own pages."""
        return []

    def translate(self, error: Exception) -> StoreError:
        """Return the error of our tree for one of psycopg's."""
        if isinstance(error, OSError | MemoryError):
            cause = error.strerror if isinstance(error, OSError) and error.strerror else "there is no memory for it"
            return StoreStalledError(f"{self.where} cannot be used: {cause}; `tidings doctor` says more")
        text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if isinstance(error, psycopg.errors.LockNotAvailable | psycopg.errors.DeadlockDetected):
            return StoreBusyError(
                f"{self.where} was held by another process for {self._busy_seconds:g} s; try again, or raise store.busy_seconds"
            )
        if isinstance(error, psycopg.errors.DiskFull):
            return StoreFullError(f"{self.where} cannot grow: {text}; make room there")
        if isinstance(error, psycopg.errors.DataCorrupted | psycopg.errors.IndexCorrupted):
            return StoreDamagedError(f"{self.where} is damaged: {text}. Restore it from the server's own backup")
        if isinstance(error, psycopg.IntegrityError | psycopg.DataError | psycopg.ProgrammingError):
            return UnitError(f"what was to be written to {self.where} contradicts what is stored: {text}")
        return StoreError(
            f"{self.where} does not answer as it should: {text}; check store.url and that PostgreSQL runs"
        )

    def close(self) -> None:
        """Close the connection."""
        self._raw.close()

    def _revive(self) -> None:
        if self._raw.closed or self._raw.broken:
            self._raw = self._connect()

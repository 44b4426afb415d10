"""PostgreSQL through psycopg 3: the same texts, with `:name` rewritten once to `%(name)s`.

Writers take one advisory lock for their transaction, so that there is one writer at a time as on
SQLite: commit order is the order of event numbers, and a check before a write holds until the
commit. NOTIFY in the same statement wakes other connections.

A lost connection is replaced, and its server process is ended first: it may still hold the lock, or
be committing. Whether a transaction whose answer was lost was committed, the server says by its
number (`txid_status`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tidings.errors import (
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreLostError,
    StoreStalledError,
    UnitError,
)
from tidings.storage.db.connection import Connection, Cursor, Rows, rewrite

T = TypeVar("T")

_LOCK = 0x7469_6469  # "tidi": one key for all of Tidings in one database
_CHANNEL = "tidings_written"
_BEGIN_WRITE = (
    f"SELECT txid_current(), pg_advisory_xact_lock({_LOCK}), pg_notify('{_CHANNEL}', ''),"
    " set_config('idle_in_transaction_session_timeout', %s, true)"
).encode()
_SELF = b"SELECT pid, backend_start FROM pg_stat_get_activity(pg_backend_pid())"
_END_PREDECESSOR = b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND backend_start = %s"
_WORKS = (
    b"SELECT state = 'active' AND wait_event_type IS DISTINCT FROM 'Client' FROM pg_stat_activity"
    b" WHERE pid = %s AND backend_start = %s"
)
_STATUS = b"SELECT txid_status(%s)"

_NETWORK: Final[Mapping[str, Any]] = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
    "application_name": "tidings",
}
"""Connection parameters that `store.url` does not set: a server that has gone is detected within
some 15 s.
"""
_TRANSACTION_SECONDS: Final = 30
"""How long a transaction may be idle before the server ends it."""
_WRITE_SHARE: Final = 0.9
"""A write may be idle for this part of `store.busy_seconds`, and at least a second: a process that
was stopped inside it holds the writers' lock, and others wait no longer than `store.busy_seconds`.
A busy machine may well need some seconds between two statements.
"""
_SILENT_WAITS: Final = 100
"""After so many waits of 0.1 s without a byte from the server, ask on another connection whether it
is still working.
"""
_FINISH_SECONDS: Final = 5.0
"""How long the server may take to end a connection that was lost during its commit."""
_AWAY: Final = ("08", "57", "53", "25006", "25P03")
"""Prefixes of SQLSTATE that may pass: connection, operator intervention, resources, read only, an
idle transaction.
"""


class _SilenceError(Exception):
    """No answer is to be expected any more."""


class _Watched(psycopg.Connection[tuple[Any, ...]]):
    """A connection that is given up when the server is silent and not working on the query.

    Keepalives find a machine that has gone. This finds a proxy or server that accepts everything
    and answers nothing.
    """

    is_at_work: Callable[[], bool]

    def wait(self, gen: Generator[Any, Any, T], *given: Any, **more: Any) -> T:
        """Return the result of a generator of psycopg. Raise `OperationalError` if no answer is to
        be expected any more.
        """
        try:
            return super().wait(self._collect_notices(gen), *given, **more)
        except _SilenceError as error:
            self.close()
            raise psycopg.OperationalError(str(error)) from error

    def _collect_notices(self, gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        try:
            wanted, silent, is_given_up = next(gen), 0, False
            while True:
                ready = yield wanted
                silent = 0 if ready else silent + 1
                if not silent:
                    is_given_up = False  # the answer came while the server was asked
                elif is_given_up:
                    message = f"no answer for {_SILENT_WAITS // 10} s"
                    raise _SilenceError(message)
                elif silent % _SILENT_WAITS == _SILENT_WAITS - 1:
                    is_given_up = not self.is_at_work()
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def by_name(text: str) -> bytes:
    """Return a text in psycopg's form with values by name."""
    return rewrite(text, "%({})s", "%%").encode()


def by_place(text: str) -> bytes:
    """Return a text in psycopg's form with values in order."""
    return rewrite(text, "%s", "%%").encode()


class PostgresDriver:
    """The driver of PostgreSQL."""

    dialect = "postgresql"
    single_writer = False

    def __init__(self, url: str, *, busy_seconds: float) -> None:
        self._url = url
        self._busy_seconds = busy_seconds
        self._idle = f"{max(1.0, _WRITE_SHARE * busy_seconds) * 1000:.0f}ms"
        self._self: tuple[Any, ...] = ()
        self._transaction = 0
        self._is_new = False
        self._raw = self._connect()
        self.connection = Connection("postgresql", self._run, self._run_many)

    def _connect(self) -> _Watched:
        raw: _Watched | None = None
        try:
            raw = _Watched.connect(self._url, autocommit=True, **self._network())
            raw.is_at_work = self._is_at_work
            raw.execute(
                f"SET lock_timeout = {max(1, int(self._busy_seconds * 1000))};"
                f"SET idle_in_transaction_session_timeout = '{_TRANSACTION_SECONDS}s';"
                f"LISTEN {_CHANNEL}".encode()
            )
            if self._self:
                raw.execute(_END_PREDECESSOR, self._self)
            self._self = raw.execute(_SELF).fetchone() or ()
        except psycopg.Error as error:
            if raw is not None:
                raw.close()
            raise self._make_lost_error(error) from error
        return raw

    def _network(self) -> dict[str, Any]:
        try:
            given = conninfo_to_dict(self._url)
        except psycopg.Error as error:
            raise StoreError(f"store.url cannot be read: {_first_line(error)}") from error
        return {name: value for name, value in _NETWORK.items() if name not in given}

    def _is_at_work(self) -> bool:
        """Return whether the server still works on this connection's query, or cannot say; False if
        it does not answer at all.
        """
        try:
            with psycopg.connect(self._url, autocommit=True, **self._network()) as other:
                row = other.execute(_WORKS, self._self).fetchone()
        except psycopg.OperationalError:
            return False
        except psycopg.Error:
            return True
        return row is not None and bool(row[0])

    def _run(self, text: str, parameters: Mapping[str, Any]) -> Cursor:
        return self._raw.execute(by_name(text), parameters)

    def _run_many(self, text: str, rows: Rows) -> Cursor:
        cursor = self._raw.cursor()
        cursor.executemany(by_name(text) if isinstance(rows[0], Mapping) else by_place(text), rows)
        return cursor

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """Return the exception types of psycopg and of the system below it."""
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
        """Begin a read on one snapshot; replace a lost connection first."""
        self._revive()
        self._raw.execute(b"BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def begin_write(self) -> None:
        """Begin a write and wait for the writers' lock."""
        self._revive()
        self._raw.execute(b"BEGIN")
        try:
            (self._transaction, *_) = self._raw.execute(_BEGIN_WRITE, (self._idle,)).fetchone() or (0,)
        except psycopg.Error:
            self.rollback()
            raise

    def commit(self) -> None:
        """Commit."""
        self._raw.execute(b"COMMIT")

    def has_committed(self) -> bool:
        """Return whether the server has committed the last write, once it has ended the connection
        of that write.
        """
        self._revive()
        deadline = time.monotonic() + _FINISH_SECONDS
        while (status := self._run_status()) == "in progress":
            if time.monotonic() > deadline:
                raise StoreLostError(
                    f"{self.where} has not ended a lost connection; it is not known yet whether the last write was "
                    "stored"
                )
            time.sleep(0.02)
        return bool(status == "committed")

    def _run_status(self) -> Any:
        row = self._raw.execute(_STATUS, (self._transaction,)).fetchone()
        return None if row is None else row[0]

    def rollback(self) -> None:
        """Roll back, if the connection is still open: the server rolls back a lost one."""
        if self._raw.closed or self._raw.info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
            return
        try:
            self._raw.execute(b"ROLLBACK")
        except psycopg.OperationalError:
            self._raw.close()

    def has_changed(self) -> bool:
        """Return whether another connection has notified of a commit, or may have while there was
        no connection.
        """
        self._revive()
        own = self._raw.info.backend_pid
        self._raw.execute(b"SELECT 1")  # the answer carries earlier notifications
        foreign = [notice for notice in self._raw.notifies(timeout=0) if notice.pid != own]
        is_new, self._is_new = self._is_new, False
        return is_new or bool(foreign)

    def clear_journal(self) -> None:
        """Do nothing: the server reuses its journal by itself."""

    def has_table(self, name: str) -> bool:
        """Return whether the table exists."""
        found = self._raw.execute(b"SELECT to_regclass(%(name)s)", {"name": name}).fetchone()
        return found is not None and found[0] is not None

    def copy_to(self, path: Path) -> None:  # noqa: ARG002 - one signature for both
        """Raise `StoreError`: a server's database is copied by the server's own tools."""
        raise StoreError(
            "this database is PostgreSQL's, which makes its own backups: pg_dump --format=custom --file=FILE"
            ' "$TIDINGS_STORE_URL"; '
            "keep secrets.key of the data directory beside it, all else is in the database"
        )

    def copy_before(self, revision: str) -> str:  # noqa: ARG002 - one signature for both
        """Copy nothing: backups of a server are its owner's (`pg_dump`); the migration is one
        transaction.
        """
        return ""

    def quick_check(self, *, deep: bool = False) -> list[str]:  # noqa: ARG002 - one signature for both
        """Return nothing: PostgreSQL checks its own pages."""
        return []

    def interrupt(self) -> None:
        """Do nothing: no check ever runs."""

    def translate(self, error: Exception) -> StoreError:
        """Return the error of our tree for one of psycopg's."""
        if isinstance(error, OSError | MemoryError):
            cause = error.strerror if isinstance(error, OSError) and error.strerror else "there is not enough memory"
            return StoreStalledError(f"{self.where} cannot be used: {cause}; `tidings doctor` shows details")
        text = _first_line(error)
        if isinstance(error, psycopg.errors.LockNotAvailable | psycopg.errors.DeadlockDetected):
            return StoreBusyError(
                f"{self.where} was held by another process for {self._busy_seconds:g} s; try again, or raise store.busy_seconds"
            )
        if isinstance(error, psycopg.errors.DiskFull):
            return StoreFullError(f"{self.where} cannot grow: {text}; free some space there")
        if isinstance(error, psycopg.errors.DataCorrupted | psycopg.errors.IndexCorrupted):
            return StoreDamagedError(f"{self.where} is damaged: {text}. Restore it from the server's own backup")
        state = getattr(error, "sqlstate", None)
        is_cut = self._raw.closed or (state is None and isinstance(error, psycopg.OperationalError))
        if is_cut or (state or "").startswith(_AWAY):
            if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
                self._raw.close()  # the server that takes writes may be another one by now
            return self._make_lost_error(error)
        if isinstance(error, psycopg.IntegrityError | psycopg.DataError | psycopg.ProgrammingError):
            return UnitError(f"the data for {self.where} contradicts the stored data: {text}")
        return StoreError(
            f"{self.where} does not answer as it should: {text}; check store.url and that PostgreSQL runs"
        )

    def _make_lost_error(self, error: Exception) -> StoreLostError:
        return StoreLostError(
            f"{self.where} cannot be used now: {_first_line(error)}; check store.url and that PostgreSQL runs"
        )

    def close(self) -> None:
        """Close the connection."""
        self._raw.close()

    def _revive(self) -> None:
        if self._raw.closed or self._raw.broken:
            self._raw = self._connect()
            self._is_new = True


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__

"""Open the database of a data directory and run functions on it, each in one transaction (contracts
§1, §2).

`Patience` says how long to wait for a server that does not answer, and knows the state of its
outage.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, TypeVar

from tidings.errors import StoreError, StoreLostError, StoreMissingError, StoreNewerError, spell_install
from tidings.record import dataclass
from tidings.settings import Settings
from tidings.storage.db.connection import Connection, DatabaseDriver
from tidings.storage.db.sqlite import FILE, MARKER, SqliteDriver, library_version, needs_single_writer, tables_only

P = ParamSpec("P")
T = TypeVar("T")

REVISIONS = (
    "0001",
    "0002",
    "0003",
    "0004",
    "0005",
    "0006",
    "0007",
    "0008",
    "0009",
    "0010",
    "0011",
    "0012",
    "0013",
    "0014",
)
"""All schemas that this Tidings can read or migrate from, oldest first; the last is the current
one.
"""


class Database:
    """One open connection, used by one thread at a time.

    `dialect` is sqlite or postgresql; `single_writer` says that this SQLite allows only one writing
    process.
    """

    def __init__(self, driver: DatabaseDriver) -> None:
        self._driver = driver
        self.dialect = driver.dialect
        self.single_writer = driver.single_writer
        self.patience = Patience()
        """how long to wait for a server that does not answer; unused with SQLite"""

    @property
    def where(self) -> str:
        """Return the path or address for messages, without password."""
        return self._driver.where

    def read(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kw: P.kwargs) -> T:
        """Return `fn(connection, ...)`, run on one snapshot of the database; run again if the
        connection was lost.
        """
        return self._persist(lambda: self._read(lambda c: fn(c, *args, **kw)))

    def write(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kw: P.kwargs) -> T:
        """Return `fn(connection, ...)` once all its writes are durable; if it raises, the
        transaction is rolled back.

        If the connection is lost, `fn` is run again, unless the server says that its transaction
        was committed: so `fn` must change nothing but the database. Raises `StoreBusyError` after
        `store.busy_seconds`, `StoreLostError` when `patience` is over, `SingleWriterError` if only
        one process may write.
        """
        return self._persist(lambda: self._write(lambda c: fn(c, *args, **kw)))

    def has_changed(self) -> bool:
        """Return whether another connection has committed since the last call (or since
        opening).
        """
        return self._persist(self._translate_errors(self._driver.has_changed))

    def clear_journal(self) -> None:
        """Remove deleted content from the journal, if that can be done at once."""
        self._translate_errors(self._driver.clear_journal)()

    def _persist(self, attempt: Callable[[], T]) -> T:
        """Return the result of `attempt`, retried while the server does not answer and `patience`
        lasts.
        """
        while True:
            try:
                result = attempt()
            except StoreLostError as error:
                self.patience.wait(error)
            else:
                self.patience.over()
                return result

    def _translate_errors(self, call: Callable[[], T]) -> Callable[[], T]:
        """Return a call that translates the driver's errors."""

        def run() -> T:
            try:
                return call()
            except self._driver.errors as error:
                raise self._driver.translate(error) from error

        return run

    def _read(self, fn: Callable[[Connection], T]) -> T:
        driver = self._driver
        try:
            driver.begin_read()
            try:
                return fn(driver.connection)
            finally:
                driver.rollback()
        except BrokenPipeError:  # not of the database: a command prints while it reads, and its reader has stopped
            raise
        except driver.errors as error:
            raise driver.translate(error) from error

    def _write(self, fn: Callable[[Connection], T]) -> T:
        driver = self._driver
        try:
            driver.begin_write()
            try:
                result = fn(driver.connection)
            except BaseException:
                driver.rollback()
                raise
        except driver.errors as error:
            raise driver.translate(error) from error
        try:
            self._translate_errors(driver.commit)()
        except StoreLostError:
            if not self._persist(self._translate_errors(driver.has_committed)):
                raise
        except BaseException:
            driver.rollback()
            raise
        return result

    def close(self) -> None:
        """Close the connection."""
        self._driver.close()


def open_database(settings: Settings, *, create: bool = True) -> Database:
    """Return the open database at `settings.store.url`, else in the data directory; create or
    migrate it if needed.

    Raises `StoreMissingError` (a used directory without its database, or `create` is off),
    `StoreDamagedError`, `StoreNewerError`, each with the command that fixes it.
    """
    driver = _driver(settings, create=create)
    try:
        _to_newest(driver, create=create)
    except driver.errors as error:
        failure = driver.translate(error)
        driver.close()
        raise failure from error
    except BaseException:
        driver.close()
        raise
    return Database(driver)


def has_been_used(data: Path) -> bool:
    """Return whether a data directory has ever had a SQLite database."""
    return (data / MARKER).exists() or (data / FILE).exists()


def copy_to(database: Database, path: Path) -> None:
    """Copy a consistent state of a database into a new file, while others write.

    Raises `StoreError` on PostgreSQL, which has its own tools for that.
    """
    driver = database._driver  # noqa: SLF001 - a function of this module
    try:
        driver.copy_to(path)
    except driver.errors as error:
        raise driver.translate(error) from error


def check_is_plain(path: Path) -> None:
    """Raise `StoreDamagedError` unless a file is a SQLite database of tables and indexes only."""
    tables_only(path)


def interrupt(database: Database) -> None:
    """Interrupt what another thread is running on this database, with a `StoreError`."""
    database._driver.interrupt()  # noqa: SLF001 - a function of this module


def quick_check(database: Database, *, deep: bool = False) -> list[str]:
    """Return the faults that the database product finds in its own pages, with `deep` also in its
    indexes; empty if there are none.
    """
    try:
        return examine(database, deep=deep)
    except StoreError as error:
        return [str(error)]


def examine(database: Database, *, deep: bool = False) -> list[str]:
    """Return the result of `quick_check`. Raise `StoreDamagedError` if damage prevents the check
    itself, other errors if nothing can be concluded.
    """
    driver = database._driver  # noqa: SLF001 - a function of this module
    try:
        return driver.quick_check(deep=deep)
    except driver.errors as error:
        raise driver.translate(error) from error


def _driver(settings: Settings, *, create: bool) -> DatabaseDriver:
    store = settings.store
    if not store.url:
        try:
            return SqliteDriver(settings.data, busy_seconds=store.busy_seconds, create=create)
        except OSError as error:
            raise StoreError(
                f"{settings.data} cannot be used: {error.strerror}; check free space, owner and rights, or name another "
                "directory with --data"
            ) from error
    if not store.url.startswith(("postgresql://", "postgres://")):
        raise StoreError("store.url must begin with postgresql:// (or be empty: tidings.db in the data directory)")
    try:
        from tidings.storage.db.postgres import PostgresDriver
    except ImportError as error:
        raise StoreError(f"store.url names PostgreSQL, which needs the extra: {spell_install('postgres')}") from error
    return PostgresDriver(store.url, busy_seconds=store.busy_seconds)


def _to_newest(driver: DatabaseDriver, *, create: bool) -> None:
    """Check the stored revision; create, migrate or refuse."""
    if _revision(driver) == REVISIONS[-1]:
        return
    if not create and _revision(driver) is None:
        raise StoreMissingError(f"there is no database in {driver.where}; `tidings add` makes one")
    from tidings.storage.db.schema import migrate

    driver.begin_write()
    try:
        # Another process may have done it while this one waited for the lock.
        if (before := _revision(driver)) != REVISIONS[-1]:
            if before is not None:
                driver.copy_before(before)
            migrate(driver, REVISIONS[-1])
        driver.commit()
    except BaseException:
        driver.rollback()
        raise


def _revision(driver: DatabaseDriver) -> str | None:
    """Return the revision of the schema, None for an empty database. Raise `StoreNewerError` for
    one that this Tidings does not know.
    """
    if not driver.has_table("alembic_version"):
        if driver.has_table("instance"):
            raise StoreError(f"{driver.where} has tables but no revision; `tidings doctor` shows details")
        return None
    revision = driver.connection.value("SELECT version_num FROM alembic_version")
    if revision is not None and revision not in REVISIONS:
        raise StoreNewerError(
            f"{driver.where} was written by a newer Tidings (schema {revision}, this one knows {REVISIONS[-1]}); it is left "
            f"untouched. Put back the copy from before the upgrade, or upgrade: {spell_install()}"
        )
    return str(revision) if revision is not None else None


def sqlite_in_use() -> tuple[tuple[int, ...], bool]:
    """Return the SQLite version of this process, and whether it allows only one writer at a
    time.
    """
    version = library_version()
    return version, needs_single_writer(version)


log = logging.getLogger("tidings.storage")

BRIEF_SECONDS: Final = 5.0
"""How long a command waits, and a service that is stopping."""
FIRST_PAUSE_SECONDS: Final = 0.1
MOST_PAUSE_SECONDS: Final = 5.0
"""The longest pause between two attempts."""


@dataclass(frozen=True, slots=True)
class Outage:
    """A time in which the server did not answer: `seconds` so far or in total, `error` is the
    latest message of server or network.
    """

    seconds: float
    error: str


class Patience:
    """Waits between attempts to reach the server, doubling each time. Used by the thread of the
    database and read by others.

    `seconds` is how long an outage may last before its error is raised; None: without limit, until
    `hurry`.
    """

    def __init__(self, seconds: float | None = BRIEF_SECONDS) -> None:
        self._seconds = seconds
        self._begun: float | None = None
        self._error = ""
        self._reported: set[str] = set()
        self._attempts = 0
        self._hurried = threading.Event()
        self._ended: list[Outage] = []

    @property
    def outage(self) -> Outage | None:
        """Return the current outage, or None; a lost connection that is restored at once is
        none.
        """
        begun = self._begun
        return None if begun is None or self._attempts < 2 else Outage(time.monotonic() - begun, self._error)

    def wait(self, error: StoreLostError) -> None:
        """Wait until the next attempt. Raise `error` when patience is over."""
        pause = self.pause(error)
        if self._hurried.is_set():
            time.sleep(pause)
        else:
            self._hurried.wait(pause)

    def pause(self, error: StoreLostError) -> float:
        """Return the seconds until the next attempt, 0 the first time. Raise `error` when patience
        is over.
        """
        if self._begun is None:
            self._begun = time.monotonic()
        self._error = str(error)
        self._attempts += 1
        if self._attempts == 1:
            return 0.0
        if self._error not in self._reported:
            self._reported.add(self._error)
            log.warning("%s; Tidings tries again until it answers", error)
        most = BRIEF_SECONDS if self._hurried.is_set() else self._seconds
        if most is not None and time.monotonic() - self._begun >= most:
            raise error
        return float(min(FIRST_PAUSE_SECONDS * 2 ** min(self._attempts - 2, 10), MOST_PAUSE_SECONDS))

    def over(self) -> None:
        """Record that the server has answered."""
        if self._begun is None:
            return
        outage = Outage(time.monotonic() - self._begun, self._error)
        if self._attempts > 1:
            log.warning("the database answers again, after %.1f s; waiting work continues", outage.seconds)
        else:
            log.info("the connection to the database was lost and made again (%s)", outage.error)
        self._begun, self._error, self._attempts = None, "", 0
        self._reported.clear()
        self._ended.append(outage)

    def hurry(self) -> None:
        """Limit all waiting to a few seconds from now on: the service is stopping."""
        self._hurried.set()

    def take_ended(self) -> list[Outage]:
        """Return the outages that have ended since the last call."""
        ended, self._ended = self._ended, []
        return ended

"""SQLite: one file in the data directory, WAL, synchronous=FULL (contracts §2).

`pysqlite3` ships an SQLite without the WAL-reset race. Where it has no wheel, the standard module
is used, in single-writer mode if its SQLite can corrupt a WAL under two writers.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, count
from pathlib import Path
from typing import Any, Final

from tidings import disk
from tidings.errors import (
    SingleWriterError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreMissingError,
    StoreStalledError,
    UnitError,
)
from tidings.storage.db import restored
from tidings.storage.db.connection import Connection, Cursor, Rows, rewrite
from tidings.storage.db.lock import PollerLock, hindrance
from tidings.storage.db.restored import PUT_BACK

try:
    from pysqlite3 import dbapi2 as sqlite3
except ImportError:
    import sqlite3

FILE = "tidings.db"
MARKER = "USED"
_MARKER_TEXT = "Tidings uses this directory. While this file is here, a lost tidings.db is never silently replaced by an empty one.\n"
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_STALLS = ("I/O", "readonly", "unable to open", "out of memory")
"""SQLite's messages when the system refuses; they name no cause."""
_STATEMENTS = 512

Version = tuple[int, int, int]


def library_version() -> Version:
    """Return the version of the SQLite in use."""
    major, minor, patch = sqlite3.sqlite_version_info
    return major, minor, patch


def needs_single_writer(version: Version) -> bool:
    """Return whether two writers of this SQLite can corrupt a WAL: before 3.51.3, except 3.50.7+
    and 3.44.6+.
    """
    if version[:2] == (3, 50):
        return version < (3, 50, 7)
    if version[:2] == (3, 44):
        return version < (3, 44, 6)
    return version < (3, 51, 3)


_OPEN: Counter[tuple[int, int] | None] = Counter()
"""How many connections this process has to each file, by device and inode."""
_OPENING: Final = threading.RLock()
"""Held while a file is opened or closed."""


class SqliteDriver:
    """The driver of SQLite. Tests pass `version` to cover both modes."""

    dialect = "sqlite"

    def __init__(self, data: Path, *, busy_seconds: float, create: bool = True, version: Version | None = None) -> None:
        self._data = data
        self._path = data / FILE
        self._write_lock: int | None = None
        self._busy_seconds = busy_seconds
        self.single_writer = needs_single_writer(version or library_version())
        self._raw: Any = None
        self._opened: tuple[int, int] | None = None
        with _OPENING, _first_use(data, self._path, create=create):
            try:
                _keep_private(self._path)
                self._raw = sqlite3.connect(
                    self._path,
                    timeout=busy_seconds,
                    isolation_level=None,
                    check_same_thread=False,
                    cached_statements=_STATEMENTS,
                )
                self._opened = _identity(self._path)
                _OPEN[self._opened] += 1
                self._prepare()
            except self.errors as error:
                self.close()
                raise self.translate(error) from error
            except UnicodeDecodeError as error:  # a garbled name in the schema
                self.close()
                raise _make_damaged_error(self._path, "its schema cannot be read") from error
        self.connection = Connection("sqlite", self._raw.execute, self._run_many)
        self._file = _identity(self._path)
        self._seen = self._data_version()

    def _prepare(self) -> None:
        run = self._raw.execute
        if run("PRAGMA journal_mode").fetchone()[0] != "wal":
            run("PRAGMA journal_mode = WAL").fetchone()
        run("PRAGMA synchronous = FULL")
        run("PRAGMA foreign_keys = ON")
        run("PRAGMA secure_delete = ON")  # what is deleted is overwritten

    def _run_many(self, text: str, rows: Rows) -> Cursor:
        by_name = isinstance(rows[0], Mapping)
        cursor: Cursor = self._raw.executemany(text if by_name else rewrite(text, "?"), rows)
        return cursor

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """Return the exception types of the library and of the system below it."""
        return sqlite3.Error, MemoryError, OSError

    @property
    def where(self) -> str:
        """Return the file's path."""
        return str(self._path)

    def begin_read(self) -> None:
        """Begin a read; a write inside it is refused, since a read that turns into a write cannot
        wait.
        """
        self._raw.execute("PRAGMA query_only = ON")
        self._raw.execute("BEGIN")

    def begin_write(self) -> None:
        """Begin a write with BEGIN IMMEDIATE, in single-writer mode behind a separate lock."""
        if _identity(self._path) != self._file:
            raise StoreMissingError(
                f"{self._path} was removed or replaced while Tidings ran, so nothing was written; "
                "start again, with a copy put back if need be"
            )
        self._raw.execute("PRAGMA query_only = OFF")
        if self.single_writer:
            self._become_single_writer()
        try:
            self._raw.execute("BEGIN IMMEDIATE")
        except sqlite3.Error:
            self._drop_write_lock()
            raise

    def commit(self) -> None:
        """Commit durably."""
        self._raw.execute("COMMIT")
        self._drop_write_lock()

    def has_committed(self) -> bool:
        """Return False: a commit that raises has written nothing; no answer can be lost."""
        return False

    def rollback(self) -> None:
        """Roll back, also if SQLite has done so already."""
        try:
            if self._raw.in_transaction:
                self._raw.execute("ROLLBACK")
        finally:
            self._drop_write_lock()

    def has_changed(self) -> bool:
        """Return whether `PRAGMA data_version` has changed: it does so at commits of other
        connections only.
        """
        seen, self._seen = self._seen, self._data_version()
        return bool(seen != self._seen)

    def clear_journal(self) -> None:
        """Empty the journal, which holds deleted content, unless somebody reads just now. In
        single-writer mode this waits for its turn as a write does.
        """
        if self.single_writer:
            self._become_single_writer()
        try:
            self._raw.execute("PRAGMA busy_timeout = 0")
            self._raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            self._drop_write_lock()
            self._raw.execute(f"PRAGMA busy_timeout = {round(self._busy_seconds * 1000)}")

    def has_table(self, name: str) -> bool:
        """Return whether the table exists."""
        found = self._raw.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = :name", {"name": name})
        return found.fetchone() is not None

    def copy_before(self, revision: str) -> str:
        """Copy the committed database into a new file named after its revision, in the transaction
        of a migration, before it changes anything. An older copy stays.
        """
        first = self._path.with_name(f"{FILE}.before-migration-from-{revision}")
        others = (first.with_name(f"{first.name}-{number}") for number in count(2))
        path = next(one for one in chain([first], others) if not one.exists())
        part = path.with_name(path.name + ".part")
        with contextlib.closing(sqlite3.connect(self._path)) as reader:  # this one is writing
            _copy(reader, part)
        part.replace(path)
        disk.sync(path.parent)
        return str(path)

    def copy_to(self, path: Path) -> None:
        """Copy a consistent state of the database into a new file, in one step that no writer
        restarts.
        """
        _copy(self._raw, path)

    def quick_check(self, *, deep: bool = False) -> list[str]:
        """Return the faults found by `PRAGMA quick_check` (`integrity_check` if `deep`) and `PRAGMA
        foreign_key_check`; empty if none.
        """
        text = "PRAGMA integrity_check" if deep else "PRAGMA quick_check"
        faults = [row[0] for row in self._raw.execute(text).fetchall() if row[0] != "ok"]
        orphans = [
            f"a row of {row[0]} names a row of {row[2]} that does not exist"
            for row in self._raw.execute("PRAGMA foreign_key_check").fetchall()
        ]
        return faults + orphans

    def interrupt(self) -> None:
        """Interrupt what another thread is running on this connection."""
        self._raw.interrupt()

    def translate(self, error: Exception) -> StoreError:
        """Return the error of our tree for one of SQLite's."""
        text = str(error)
        if isinstance(error, OSError | MemoryError):
            cause = "there is not enough memory" if isinstance(error, MemoryError) else error.strerror or text
            return StoreStalledError(f"{self._path} cannot be used: {cause}; `tidings doctor` shows details")
        if isinstance(
            error, sqlite3.IntegrityError | sqlite3.ProgrammingError | sqlite3.InterfaceError | sqlite3.DataError
        ):
            return UnitError(f"the data for {self._path} contradicts the stored data: {text}")
        if "locked" in text or "busy" in text:
            holder = _holder(self._data)
            who = f"process {holder}" if holder else "another process"
            return StoreBusyError(
                f"{self._path} was locked for {self._busy_seconds:g} s ({who}); try again, or raise store.busy_seconds"
            )
        if "full" in text:
            return StoreFullError(
                f"{self._path} cannot grow: {text}; free some space (`tidings doctor` shows how much there is)"
            )
        if any(sign in text for sign in _STALLS):
            cause = hindrance(self._data) or text
            return StoreStalledError(
                f"{self._path} cannot be used: {cause}; check free space and permissions, then run `tidings doctor`"
            )
        if isinstance(error, sqlite3.OperationalError):
            return StoreError(f"{self._path}: {text}; `tidings doctor` shows details")
        return _make_damaged_error(self._path, text)

    def close(self) -> None:
        """Close the connection."""
        self._drop_write_lock()
        if self._raw is not None:
            with _OPENING:
                self._raw.close()
                if self._opened is not None:
                    _OPEN[self._opened] -= 1
                    self._opened = None

    def _data_version(self) -> int:
        return int(self._raw.execute("PRAGMA data_version").fetchone()[0])

    def _become_single_writer(self) -> None:
        holder = _holder(self._data)
        if holder is not None and holder != os.getpid():
            raise SingleWriterError(
                f"process {holder} is polling for {self._data}, and this SQLite "
                f"({'.'.join(map(str, library_version()))}) is safe with one writing process only; stop it first, or ask it through its API "
                "(`tidings doctor` shows which SQLite versions have no such limit)"
            )
        handle = os.open(self._data / "write.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not disk.lock(handle, seconds=self._busy_seconds):
            os.close(handle)
            raise StoreBusyError(
                f"another process wrote to {self._path} for {self._busy_seconds:g} s; try again, or raise store.busy_seconds"
            )
        self._write_lock = handle

    def _drop_write_lock(self) -> None:
        if self._write_lock is not None:
            os.close(self._write_lock)
            self._write_lock = None


@contextlib.contextmanager
def _first_use(data: Path, path: Path, *, create: bool) -> Iterator[None]:
    """Check the directory; on first use, exclude others until the file and its marker exist."""
    marker = data / MARKER
    used = _is_filled(marker)
    restored.finish(data)
    if path.exists() and used:
        _check_header(path)
        yield
        return
    if not path.exists():
        _refuse_lost(data, path, used=used, create=create)
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(marker, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_size and path.exists():
            _check_header(path)
            yield
            return
        if path.exists() and path.stat().st_size:
            _check_header(path)
        yield  # SQLite made the file durable when it changed its journal
        os.pwrite(handle, _MARKER_TEXT.encode(), 0)
        os.fsync(handle)
        disk.sync(data)
    finally:
        os.close(handle)


def _keep_private(path: Path) -> None:
    """Make a database accessible to its owner only, whatever umask and folder say; SQLite gives its
    other files the same mode.
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        return
    for file in (
        path,
        path.with_name(f"{path.name}-wal"),
        path.with_name(f"{path.name}-shm"),
        *path.parent.glob(f"{path.name}.before-migration-from-*"),
    ):
        with contextlib.suppress(OSError):  # owned by another user, or a read-only file system: leave it as it is
            if file.stat().st_mode & 0o077:
                file.chmod(0o600)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the identity (device, inode) of a file; None if it does not exist."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def tables_only(path: Path) -> None:
    """Raise `StoreDamagedError` unless a file is a SQLite database of tables and indexes only.

    Nothing else in a database can act when it is opened.
    """
    _check_header(path)
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as raw:
            raw.execute("PRAGMA trusted_schema = OFF")
            found = raw.execute("SELECT type, name FROM sqlite_master WHERE type NOT IN ('table', 'index')").fetchone()
            virtual = raw.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%'").fetchone()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise _make_damaged_error(path, str(error)) from error
    if found is not None or virtual is not None:
        raise _make_damaged_error(
            path, f"it has a {found[0]} {found[1]!r}" if found else f"it has a virtual table {virtual[0]!r}"
        )


def _holder(data: Path) -> int | None:
    with contextlib.suppress(OSError):
        return PollerLock(data).holder()
    return None


def _is_filled(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False


def _refuse_lost(data: Path, path: Path, *, used: bool, create: bool) -> None:
    if used:
        raise StoreMissingError(
            f"{data} has been used, but its {path.name} is gone; nothing new was put in its place. Put a backup back "
            f"(`{PUT_BACK}`), or, to begin again without data, remove {data / MARKER}"
        )
    if not create:
        raise StoreMissingError(
            f"there is no database in {data}; `tidings add` makes one, `--data DIR` names another directory"
        )


def _check_header(path: Path) -> None:
    """Raise `StoreDamagedError` for a file that is not a SQLite database or was truncated. With a
    WAL that has content, the file's length proves nothing.

    A file that this process has open was checked, and is not opened beside SQLite: to close it
    would drop the locks of the process (POSIX), and the next reader of another process would take
    itself for the last one and delete the WAL.
    """
    if _OPEN[_identity(path)]:
        return
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}; check its owner and rights") from error
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise _make_damaged_error(path, "it is not an SQLite database" if header else "it is empty")
    wal = path.with_name(path.name + "-wal")
    size = int.from_bytes(header[16:18], "big")
    size = 65_536 if size == 1 else size
    pages = int.from_bytes(header[28:32], "big")
    if not _is_filled(wal) and header[24:28] == header[92:96] and path.stat().st_size < pages * size:
        raise _make_damaged_error(path, f"it should have {pages * size} bytes and has {path.stat().st_size}")


def _make_damaged_error(path: Path, what: str) -> StoreDamagedError:
    return StoreDamagedError(
        f"{path} is damaged: {what}. Tidings does not use it; `tidings doctor` shows what can still be read."
        f" Put a backup back, with Tidings stopped: `{PUT_BACK}`"
    )


def _copy(source: Any, path: Path) -> None:
    path.unlink(missing_ok=True)
    _keep_private(path)
    with contextlib.closing(sqlite3.connect(path)) as copy:
        source.backup(copy)
    disk.sync(path)

"""`search.db`: the terms of every stored text (SQLite FTS5), and the texts for snippets.

It is derived data: on any fault it is deleted and rebuilt. With PostgreSQL it is a file of the data
directory too. `newest` has the current texts of pages, `past` the former ones; a text of several
versions is stored once. Both tables are contentless: to delete a text, its terms are passed again,
tokenized by the rules of `user_version`.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from tidings.errors import StoreBusyError, StoreStalledError
from tidings.model.interval import Instant
from tidings.record import dataclass
from tidings.search.query import SYMBOLS, TERMS_VERSION, line_of_terms
from tidings.zstd import compress, decompress

try:
    from pysqlite3 import dbapi2 as sqlite3
except ImportError:
    import sqlite3

FILE: Final = "search.db"
SCHEMA: Final = 2
"""Raised whenever the tables change."""
_VERSION: Final = SCHEMA * 1_000_000 + TERMS_VERSION
_DAMAGE: Final = ("malformed", "not a database", "no such table", "corrupt")
_BUSY_SECONDS: Final = 30.0
_TOKENIZE: Final = f"tokenize = \"ascii tokenchars '{SYMBOLS}'\""
_TABLES: Final = (
    "CREATE TABLE known (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE page (id INTEGER PRIMARY KEY, collected INTEGER NOT NULL) WITHOUT ROWID",
    (
        "CREATE TABLE doc (id INTEGER PRIMARY KEY AUTOINCREMENT, page_id INTEGER NOT NULL, seq INTEGER NOT NULL,"
        " last_seq INTEGER NOT NULL, since INTEGER NOT NULL, until INTEGER, kind TEXT NOT NULL, host TEXT NOT NULL,"
        " title TEXT NOT NULL, address TEXT NOT NULL, length INTEGER NOT NULL, text BLOB NOT NULL)"
    ),
    "CREATE TABLE IF NOT EXISTS worth (page_id INTEGER PRIMARY KEY, gained REAL NOT NULL, since INTEGER NOT NULL)",
    "CREATE INDEX ix_doc_page_id ON doc (page_id, seq)",
    "CREATE INDEX ix_doc_newest ON doc (length) WHERE until IS NULL",
    f"CREATE VIRTUAL TABLE newest USING fts5(title, body, address, content = '', {_TOKENIZE})",
    f"CREATE VIRTUAL TABLE past USING fts5(title, body, address, content = '', {_TOKENIZE})",
    "CREATE VIRTUAL TABLE newest_term USING fts5vocab(newest, row)",
)
_ADD: Final = (
    "INSERT INTO doc (page_id, seq, last_seq, since, kind, host, title, address, length, text)"
    " VALUES (:page_id, :seq, :seq, :at, :kind, :host, :title, :address, :length, :text)"
)
_NEWEST: Final = "SELECT id FROM doc WHERE page_id = ? AND until IS NULL"
_LAST: Final = "SELECT id, last_seq, title, text FROM doc WHERE page_id = ? ORDER BY seq DESC LIMIT 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """A version to index: its page, when it was fetched (µs), and its text.

    `is_same`: text and title are those of the version before it; only that fact is stored.
    """

    page_id: int
    seq: int
    at: Instant
    is_same: bool = False
    kind: str = ""
    host: str = ""
    title: str = ""
    address: str = ""
    text: str = ""


class IndexProgress(NamedTuple):
    """How far an index is: its database, and the number of the last indexed version."""

    source: str
    cursor: int


class CopyOfPage(NamedTuple):
    """A text of a page, and the terms of its title, of the text and of its address."""

    text: str
    lines: Sequence[str]


class Appraises(Protocol):
    """The value of a refresh for searchers; `search.ranking` implements it."""

    def __call__(self, old: CopyOfPage | None, new: CopyOfPage | None) -> float:
        """Return the value, given the page before and after; None: it did not, or does not,
        exist.
        """
        ...


class SearchIndex:
    """The open index. Several threads may use it, one at a time. `close` it."""

    def __init__(self, data: Path) -> None:
        self.path = data / FILE
        self._lock = threading.Lock()
        self._raw: Any = None
        try:
            self._open()
        except OSError as error:
            raise _translate(error, self.path) from error
        except sqlite3.Error as error:
            if not _is_damaged(error):
                raise _translate(error, self.path) from error
            with self._translate_errors():
                self._begin_anew()

    def _open(self) -> None:
        if not self.path.exists():
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        self._raw = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        run = self._raw.execute
        run("PRAGMA journal_mode = WAL").fetchone()
        run("PRAGMA synchronous = NORMAL")
        run("PRAGMA secure_delete = ON")
        self._file = self.path.stat().st_ino
        if run("PRAGMA user_version").fetchone()[0] != _VERSION:
            self._make()

    def _make(self, *, source: str | None = None, at: Instant = 0) -> None:
        """Create the tables; tables of other rules are dropped first, and existing ones if the
        index is to be empty. Measured gains of the same database stay.
        """
        run = self._raw.execute
        run("BEGIN IMMEDIATE")
        is_current = run("PRAGMA user_version").fetchone()[0] == _VERSION
        if source is not None or not is_current:
            mode = "worth" if is_current and source == _read_note(run, "source") else ""
            old = run("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%'").fetchall()
            for (name,) in old:
                run(f"DROP TABLE {name}")
            for (name,) in run(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> ?",
                (mode,),
            ).fetchall():
                run(f"DROP TABLE {name}")
            for text in _TABLES:
                run(text)
            run(f"PRAGMA user_version = {_VERSION}")
            _note(run, "source", source or "")
            _note(run, "cursor", "0")
            _note(run, "measured_from", str(at))
        run("COMMIT")

    def _begin_anew(self) -> None:
        """Replace the file by an empty one."""
        if self._raw is not None:
            self._raw.close()
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(FILE + suffix).unlink(missing_ok=True)
        self._open()

    def _follow_file(self) -> None:
        """Reopen the file if another process has replaced it."""
        with contextlib.suppress(FileNotFoundError):
            if self.path.stat().st_ino == self._file:
                return
        self._raw.close()
        self._open()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._raw.close()

    @contextlib.contextmanager
    def reading(self) -> Iterator[Any]:
        """Yield a function that runs statements on one snapshot. Raises `StoreStalledError` if the
        file cannot be read.
        """
        with self._lock, self._translate_errors():
            self._follow_file()
            self._raw.execute("BEGIN")
            try:
                yield self._raw.execute
            finally:
                if self._raw.in_transaction:
                    self._raw.execute("ROLLBACK")

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Any]:
        with self._lock, self._translate_errors():
            self._follow_file()
            self._raw.execute("BEGIN IMMEDIATE")
            try:
                yield self._raw.execute
            except BaseException:
                if self._raw.in_transaction:
                    self._raw.execute("ROLLBACK")
                raise
            self._raw.execute("COMMIT")

    @contextlib.contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Raise errors of our tree; a damaged file is rebuilt for the next caller."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            if not _is_damaged(error):
                raise _translate(error, self.path) from error
            with contextlib.suppress(sqlite3.Error, OSError):
                self._begin_anew()
            message = f"{self.path} was damaged ({error}); it is being built again from stored data, try again"
            raise StoreStalledError(message) from error

    # -- reading
    # ------------------------------------------------------------------------------------

    def read_note(self, name: str) -> str:
        """Return the note stored under a name, "" if there is none."""
        with self.reading() as run:
            return _read_note(run, name)

    def progress(self) -> IndexProgress:
        """Return how far the index is."""
        with self.reading() as run:
            return _progress(run)

    def read_collected(self) -> dict[int, int]:
        """Return how many versions of each page had been deleted at the last comparison with the
        database.
        """
        with self.reading() as run:
            return dict(run("SELECT id, collected FROM page").fetchall())

    def seqs(self, page_id: int) -> list[tuple[int, int]]:
        """Return the first and the last version of each text of a page, oldest first."""
        with self.reading() as run:
            return list(run("SELECT seq, last_seq FROM doc WHERE page_id = ? ORDER BY seq", (page_id,)).fetchall())

    def list_retired(self) -> set[int]:
        """Return the pages that have former texts, but no current one."""
        with self.reading() as run:
            rows = run("SELECT page_id FROM doc GROUP BY page_id HAVING count(*) = count(until)")
            return {row[0] for row in rows.fetchall()}

    def count(self) -> tuple[int, int]:
        """Return how many texts there are, and how many of them are current."""
        with self.reading() as run:
            every = run("SELECT count(*) FROM doc").fetchone()[0]
            return every, run("SELECT count(*) FROM doc WHERE until IS NULL").fetchone()[0]

    # -- writing -----------------------------------------------------------------------------------

    def begin(self, source: str, *, at: Instant = 0) -> None:
        """Empty the index, to be rebuilt from the versions of a database.

        Args:
            source: The identity of that database.
            at: The present (µs): versions fetched before replace nothing that searchers were shown,
                and gain nothing.
        """
        with self._lock, self._translate_errors():
            self._follow_file()
            try:
                self._make(source=source, at=at)
            except BaseException:
                if self._raw.in_transaction:
                    self._raw.execute("ROLLBACK")
                raise
            self._raw.execute("VACUUM")

    def put(
        self, entries: Sequence[IndexEntry], *, cursor: int, moved_to: int, appraise: Appraises | None = None
    ) -> bool:
        """Add versions in their order; return False without changes if another process has added
        some since.

        Args:
            entries: The versions.
            cursor: The number of the last version when these were read.
            moved_to: The number of the last version now.
            appraise: Returns the gain of each new text of a page; None: gains are not measured.
        """
        with self._writing() as run:
            if int(_read_note(run, "cursor") or 0) != cursor:
                return False
            measured_from = _read_beginning(run)
            for entry in entries:
                _put(run, entry, appraise, measured_from)
            _note(run, "cursor", str(moved_to))
            return True

    def keep_only(self, page_id: int, seqs: Collection[int], *, collected: int) -> int:
        """Delete the texts of a page of which no version is stored any more; return how many.

        Args:
            page_id: The page.
            seqs: The numbers of the stored versions.
            collected: How many versions of the page have been deleted so far.
        """
        with self._writing() as run:
            gone = 0
            if not seqs:
                run("DELETE FROM worth WHERE page_id = ?", (page_id,))
            rows = run("SELECT id, seq, last_seq FROM doc WHERE page_id = ? ORDER BY seq", (page_id,)).fetchall()
            for id_, first, last in rows:
                left = [seq for seq in seqs if first <= seq <= last]
                if not left and id_ == rows[-1][0]:
                    run("DELETE FROM worth WHERE page_id = ?", (page_id,))
                if not left:
                    _take_out(run, id_)
                    run("DELETE FROM doc WHERE id = ?", (id_,))
                    gone += 1
                elif min(left) != first:
                    run("UPDATE doc SET seq = ? WHERE id = ?", (min(left), id_))
            if gone:
                _note(run, "removed", "yes")
            run("INSERT OR REPLACE INTO page VALUES (?, ?)", (page_id, collected))
            return gone

    def retire(self, page_id: int, at: Instant, *, appraise: Appraises | None = None) -> None:
        """Mark a page's newest text as former since `at`: the page is gone. `appraise` as for
        `put`.
        """
        with self._writing() as run:
            old = _retire(run, page_id, at)
            if old is not None and appraise is not None and at >= _read_beginning(run):
                _gain(run, page_id, appraise(old, None), at)

    def gains(self) -> list[tuple[int, float, Instant]]:
        """Return the total gain of each page's refreshes for searchers, and since when it is
        measured (µs).
        """
        with self.reading() as run:
            return list(run("SELECT page_id, gained, since FROM worth ORDER BY gained DESC, page_id").fetchall())

    def revive(self, page_id: int, seq: int) -> None:
        """Mark a text as the current one of a page: it is back, and its newest version is number
        `seq`.
        """
        with self._writing() as run:
            row = run(
                "SELECT id FROM doc WHERE page_id = ? AND seq <= ? AND last_seq >= ?", (page_id, seq, seq)
            ).fetchone()
            if row is not None and run(_NEWEST, (page_id,)).fetchone() is None:
                _move(run, row[0], "past", "newest")
                run("UPDATE doc SET until = NULL WHERE id = ?", (row[0],))

    def forget(self, at: Instant) -> None:
        """Make deleted content unreadable in the files, too: both tables of terms are rewritten.

        Args:
            at: The present (µs), stored as `forgot_at`.
        """
        with self._writing() as run:
            for name in ("newest", "past"):
                run(f"INSERT INTO {name} ({name}) VALUES ('optimize')")
            _note(run, "removed", "")
            _note(run, "forgot_at", str(at))
        with self._lock, self._translate_errors():
            self._raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def size(self) -> int:
        """Return the size of the files in bytes."""
        return sum(path.stat().st_size for path in self.path.parent.glob(f"{FILE}*"))


def peek(data: Path) -> tuple[IndexProgress, Instant] | None:
    """Return how far the index of a data directory is, and when its files were last written (µs);
    None if there is none. Read only.

    Raises `StoreStalledError` for an index that cannot be read.
    """
    path = data / FILE
    files = [one for one in (path, path.with_name(f"{FILE}-wal")) if one.exists()]
    if path not in files:
        return None
    try:
        written_at = max(one.stat().st_mtime_ns // 1_000 for one in files)
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", timeout=1.0, uri=True)) as raw:
            return _progress(raw.execute), written_at
    except (sqlite3.Error, OSError) as error:
        raise _translate(error, path) from error


def _put(run: Any, entry: IndexEntry, appraise: Appraises | None, measured_from: Instant) -> None:
    last = run(_LAST, (entry.page_id,)).fetchone()
    if last is not None and last[1] >= entry.seq:
        return
    if last is not None and (entry.is_same or (last[2] == entry.title and decompress(last[3]).decode() == entry.text)):
        run("UPDATE doc SET last_seq = ? WHERE id = ?", (entry.seq, last[0]))
        return
    old = _retire(run, entry.page_id, entry.at)
    lines = [line_of_terms(part) for part in (entry.title, entry.text, entry.address)]
    length = sum(line.count(" ") + 1 for line in lines if line)
    run(
        _ADD,
        {
            "page_id": entry.page_id, "seq": entry.seq, "at": entry.at, "kind": entry.kind, "host": entry.host,
            "title": entry.title, "address": entry.address, "length": length, "text": compress(entry.text.encode(), 3),
        },
    )  # fmt: skip
    id_ = run("SELECT last_insert_rowid()").fetchone()[0]
    run("INSERT INTO newest (rowid, title, body, address) VALUES (?, ?, ?, ?)", (id_, *lines))
    if appraise is not None:
        is_measured = old is not None and entry.at >= measured_from
        gained = appraise(old, CopyOfPage(entry.text, lines)) if is_measured else 0.0
        _gain(run, entry.page_id, gained, max(entry.at, measured_from))


def _gain(run: Any, page_id: int, gained: float, at: Instant) -> None:
    run(
        "INSERT INTO worth VALUES (?, ?, ?) ON CONFLICT (page_id) DO UPDATE SET gained = gained + excluded.gained",
        (page_id, gained, at),
    )


def _retire(run: Any, page_id: int, at: Instant) -> CopyOfPage | None:
    """Move a page's newest text to the former ones; return it, None if there is none."""
    newest = run(_NEWEST, (page_id,)).fetchone()
    if newest is None:
        return None
    copy = _move(run, newest[0], "newest", "past")
    run("UPDATE doc SET until = max(since, ?) WHERE id = ?", (at, newest[0]))
    return copy


def _move(run: Any, id_: int, from_: str, to: str) -> CopyOfPage:
    """Move a text from one table of terms to the other; return it."""
    copy = _read(run, id_)
    run(f"INSERT INTO {from_} ({from_}, rowid, title, body, address) VALUES ('delete', ?, ?, ?, ?)", (id_, *copy.lines))
    run(f"INSERT INTO {to} (rowid, title, body, address) VALUES (?, ?, ?, ?)", (id_, *copy.lines))
    return copy


def _take_out(run: Any, id_: int) -> None:
    is_newest = run("SELECT until IS NULL FROM doc WHERE id = ?", (id_,)).fetchone()[0]
    table = "newest" if is_newest else "past"
    run(
        f"INSERT INTO {table} ({table}, rowid, title, body, address) VALUES ('delete', ?, ?, ?, ?)",
        (id_, *_read(run, id_).lines),
    )


def _read(run: Any, id_: int) -> CopyOfPage:
    """Return a text and its terms as they were stored."""
    title, packed, address = run("SELECT title, text, address FROM doc WHERE id = ?", (id_,)).fetchone()
    text = decompress(packed).decode()
    return CopyOfPage(text, [line_of_terms(part) for part in (title, text, address)])


def _read_note(run: Any, name: str) -> str:
    row = run("SELECT value FROM known WHERE name = ?", (name,)).fetchone()
    return "" if row is None else str(row[0])


def _progress(run: Any) -> IndexProgress:
    return IndexProgress(_read_note(run, "source"), int(_read_note(run, "cursor") or 0))


def _read_beginning(run: Any) -> Instant:
    """Return since when gains are measured: what was stored before the index began is not."""
    return int(_read_note(run, "measured_from") or 0)


def _note(run: Any, name: str, value: str) -> None:
    run("INSERT OR REPLACE INTO known VALUES (?, ?)", (name, value))


def _is_damaged(error: Exception) -> bool:
    """Return whether a file is not a database, or damaged; a refusal by the system is no damage."""
    return isinstance(error, sqlite3.DatabaseError) and any(sign in str(error) for sign in _DAMAGE)


def _is_busy(error: Exception) -> bool:
    return isinstance(error, sqlite3.OperationalError) and any(word in str(error) for word in ("locked", "busy"))


def _translate(error: Exception, path: Path) -> StoreStalledError:
    if _is_busy(error):
        return StoreBusyError(f"{path} is being written by another process; try again")
    return StoreStalledError(
        f"{path} cannot be used: {error}; `tidings search --rebuild` builds it again from stored data"
    )

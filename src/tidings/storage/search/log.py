"""`searches.db`: queries and opened results, stored on this machine only.

It is separate from the database, so that it never leaves with a copy or to a server, and from the
index, which may be rebuilt. To clear it, delete the file.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tidings.errors import StoreStalledError
from tidings.model.interval import Instant
from tidings.record import dataclass
from tidings.search.ranking import LEAST_WEIGHT, fade

try:
    from pysqlite3 import dbapi2 as sqlite3
except ImportError:
    import sqlite3

FILE: Final = "searches.db"
MOST_RANK: Final = 1_000
MOST_QUERIES: Final = 50_000
"""The most queries that are stored; beyond that, those of least weight are deleted."""
_TABLES: Final = (
    (
        "CREATE TABLE IF NOT EXISTS query (owner_id INTEGER NOT NULL, text TEXT NOT NULL, searches INTEGER NOT NULL,"
        " weight REAL NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (owner_id, text)) WITHOUT ROWID"
    ),
    (
        "CREATE TABLE IF NOT EXISTS click (owner_id INTEGER NOT NULL, rank INTEGER NOT NULL, clicks INTEGER NOT NULL,"
        " PRIMARY KEY (owner_id, rank)) WITHOUT ROWID"
    ),
)
_PUT: Final = "INSERT OR REPLACE INTO query (owner_id, text, searches, weight, at) VALUES (?, ?, ?, ?, ?)"
_CLICK: Final = "INSERT INTO click VALUES (?, ?, 1) ON CONFLICT (owner_id, rank) DO UPDATE SET clicks = clicks + 1"


@dataclass(frozen=True, slots=True)
class LoggedQuery:
    """A query: how often it was searched for, and its current weight, which decays with age."""

    text: str
    searches: int
    weight: float


class SearchLog:
    """The open log. Several threads may use it, one at a time. `close` it."""

    def __init__(self, data: Path) -> None:
        self.path = data / FILE
        self._lock = threading.Lock()
        with self._translate_errors():
            if not self.path.exists():
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            self._raw: Any = sqlite3.connect(self.path, timeout=5.0, isolation_level=None, check_same_thread=False)
            self._raw.execute("PRAGMA secure_delete = ON")
            for text in _TABLES:
                self._raw.execute(text)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._raw.close()

    @contextlib.contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreStalledError(
                f"{self.path} cannot be used: {error}; it is the log of searches, and you can remove it"
            ) from error

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[Any]:
        with self._lock, self._translate_errors():
            self._raw.execute("BEGIN IMMEDIATE")
            try:
                yield self._raw.execute
            except BaseException:
                self._raw.execute("ROLLBACK")
                raise
            self._raw.execute("COMMIT")

    def note_search(self, text: str, *, owner_id: int, at: Instant, times: int = 1) -> None:
        """Count a search.

        Args:
            text: The query, in canonical form.
            owner_id: Who searched.
            at: When (µs).
            times: How often.
        """
        with self._transaction() as run:
            _add(run, text, owner_id, at, times)
            if run("SELECT count(*) FROM query").fetchone()[0] > MOST_QUERIES:
                least = "SELECT owner_id, text FROM query ORDER BY at, weight LIMIT ?"
                run(f"DELETE FROM query WHERE (owner_id, text) IN ({least})", (MOST_QUERIES // 10,))

    def note_click(self, rank: int, *, owner_id: int) -> None:
        """Count a click on the result at a rank, from 1; other numbers are ignored."""
        if 1 <= rank <= MOST_RANK:
            with self._transaction() as run:
                run(_CLICK, (owner_id, rank))

    def bring(self, rows: Iterable[tuple[str, int]], *, owner_id: int, at: Instant) -> int:
        """Import the searches of another log as of an instant; return how many queries they are."""
        count = 0
        with self._transaction() as run:
            for text, times in rows:
                _add(run, text, owner_id, at, times)
                count += 1
        return count

    def queries(self, *, at: Instant, owner_id: int | None = None) -> list[LoggedQuery]:
        """Return the queries by descending weight; those of negligible weight are deleted.

        Args:
            at: As of when weights count (µs).
            owner_id: The owner; None for all together.
        """
        found: dict[str, tuple[int, float]] = {}
        with self._transaction() as run:
            rows = run("SELECT owner_id, text, searches, weight, at FROM query").fetchall()
            faded = [(owner, text, searches, fade(weight, at - then)) for owner, text, searches, weight, then in rows]
            for owner, text, searches, weight in faded:
                if weight < LEAST_WEIGHT:
                    run("DELETE FROM query WHERE owner_id = ? AND text = ?", (owner, text))
                elif owner_id in {None, owner}:
                    many, sum_ = found.get(text, (0, 0.0))
                    found[text] = (many + searches, sum_ + weight)
        listed = [LoggedQuery(text, searches, weight) for text, (searches, weight) in found.items()]
        return sorted(listed, key=lambda one: (-one.weight, one.text))

    def clicks(self) -> Mapping[int, int]:
        """Return the number of clicks at each rank."""
        with self._transaction() as run:
            return dict(run("SELECT rank, sum(clicks) FROM click GROUP BY rank").fetchall())

    def erase(self, *, owner_id: int | None = None) -> int:
        """Delete all queries, or those of one owner, also from the file; return how many there
        were.
        """
        with self._transaction() as run:
            count = run("SELECT count(*) FROM query WHERE ?1 IS NULL OR owner_id = ?1", (owner_id,)).fetchone()[0]
            for table in ("query", "click"):
                run(f"DELETE FROM {table} WHERE ?1 IS NULL OR owner_id = ?1", (owner_id,))
        with self._lock, self._translate_errors():
            self._raw.execute("VACUUM")
        return int(count)


def _add(run: Any, text: str, owner_id: int, at: Instant, times: int) -> None:
    row = run("SELECT searches, weight, at FROM query WHERE owner_id = ? AND text = ?", (owner_id, text)).fetchone()
    searches, weight, then = row or (0, 0.0, at)
    run(_PUT, (owner_id, text, searches + times, fade(weight, at - then) + times, max(at, then)))


def has_log(data: Path) -> bool:
    """Return whether a data directory has logged anything."""
    return (data / FILE).exists()

"""Garbage: files under `blobs/` that no row names any more, to be unlinked after the commit
(contracts §3).
"""

from __future__ import annotations

from collections.abc import Iterable

from tidings.model.interval import Instant
from tidings.storage.db.connection import Connection


def listing(c: Connection) -> list[str]:
    """Return the paths, the oldest first."""
    return [row[0] for row in c.rows("SELECT path FROM garbage ORDER BY at, path")]


def add(c: Connection, paths: Iterable[str], *, at: Instant) -> None:
    """Store files to be unlinked."""
    text = "INSERT INTO garbage (path, at) VALUES (:path, :at) ON CONFLICT (path) DO NOTHING"
    c.many(text, [{"path": path, "at": at} for path in paths])


def clear(c: Connection, paths: Iterable[str]) -> None:
    """Delete the rows of files that were unlinked."""
    c.many("DELETE FROM garbage WHERE path = :path", [{"path": path} for path in paths])

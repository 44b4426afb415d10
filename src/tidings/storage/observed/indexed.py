"""The input of the search index: versions by their numbers, deleted versions, pages that are
gone.
"""

from __future__ import annotations

from tidings.model.interval import Instant
from tidings.record import dataclass
from tidings.storage.db import instance
from tidings.storage.db.connection import Connection

_AFTER = (
    "SELECT v.id, v.page_id, v.seq, v.fetched_at, v.text_changed = 0 AND EXISTS"
    " (SELECT 1 FROM version b WHERE b.page_id = v.page_id AND b.seq = v.seq - 1 AND b.title = v.title),"
    " EXISTS (SELECT 1 FROM subscription u WHERE u.page_id = v.page_id)"
    " FROM version v WHERE v.id > :after ORDER BY v.id LIMIT :limit"
)
_GONE = (
    "SELECT id, COALESCE(failing_since, polled_at) FROM page"
    " WHERE health = 'error' AND kind IN ('404', '410') AND last_seq > 0"
)


@dataclass(frozen=True, slots=True)
class NumberedVersion:
    """A version by its number in the database.

    `is_same`: text and title are those of the version before it. `is_watched`: a sentinel watches,
    or watched, its page itself.
    """

    id: int
    page_id: int
    seq: int
    fetched_at: Instant
    is_same: bool
    is_watched: bool


def source(c: Connection) -> str:
    """Return the identity of this database; it changes at each restore."""
    known = instance.load(c)
    return f"{known.id}:{known.restore_epoch}"


def after(c: Connection, number: int, *, limit: int) -> list[NumberedVersion]:
    """Return the versions with numbers above this one, in the order in which they were stored."""
    rows = c.rows(_AFTER, after=number, limit=limit)
    return [NumberedVersion(id_, page, seq, at, bool(same), bool(own)) for id_, page, seq, at, same, own in rows]


def count_behind(c: Connection, known: str, cursor: int) -> int:
    """Return how many versions an index lacks.

    Args:
        known: The database that was indexed, as returned by `source`.
        cursor: The number up to which it was indexed.
    """
    return int(c.value("SELECT count(*) FROM version WHERE id > :after", after=_cursor(c, known, cursor)))


def first_behind(c: Connection, known: str, cursor: int) -> Instant | None:
    """Return when the first version that an index lacks was fetched (µs), None if it lacks none;
    arguments as of `count_behind`.
    """
    first = "SELECT fetched_at FROM version WHERE id > :after ORDER BY id LIMIT 1"
    found = c.value(first, after=_cursor(c, known, cursor))
    return None if found is None else int(found)


def _cursor(c: Connection, known: str, cursor: int) -> int:
    return cursor if known == source(c) else 0


def count_collected(c: Connection) -> dict[int, int]:
    """Return how many versions each page has lost; pages that lost none are left out."""
    return dict(c.rows("SELECT id, collected FROM page WHERE collected > 0"))


def seqs(c: Connection, page_id: int) -> list[int]:
    """Return the numbers of the stored versions of a page."""
    return [row[0] for row in c.rows("SELECT seq FROM version WHERE page_id = :page_id", page_id=page_id)]


def list_gone(c: Connection) -> dict[int, Instant]:
    """Return the pages that are gone by their servers' word, and since when (µs)."""
    return dict(c.rows(_GONE))

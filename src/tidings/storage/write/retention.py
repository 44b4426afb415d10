"""Retention: which versions are still needed, and the deletion of the others (sentinels §6.1) and
of their files (contracts §3).

A version is stored while a cursor of a living sentinel, or a pending comparison of one, needs it (a
sentinel that ended recently counts as living, since a drop can be undone); while a change that
begins or ends with it is inside its ChangeHistory; while it is a member of a version with frames;
while it is the newest of a watched page; and for a day in any case. The rows of all others are
deleted here, then their bodies (`unneeded`), once no row names them. Garbage is files under
`blobs/` that no row names any more, to be unlinked after the commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tidings.model.interval import Duration, Instant
from tidings.model.watch.sentinel import History
from tidings.record import dataclass
from tidings.storage.db import lock
from tidings.storage.db.connection import Connection, from_json
from tidings.storage.observed import versions
from tidings.storage.watches import values

_LIVING = (
    "JOIN sentinel s ON s.id = u.sentinel_id AND (s.state <> 'ended' OR s.ended_at >= :ended) WHERE u.left_at IS NULL"
)
_WATCHED = (
    f"SELECT 1 FROM subscription u {_LIVING} AND u.page_id = :page_id"
    f" UNION ALL SELECT 1 FROM page_member m JOIN subscription u ON u.page_id = m.page_id {_LIVING} AND m.member_id = :page_id LIMIT 1"
)
_UNWATCHED = (
    f"at < :before AND page_id NOT IN (SELECT u.page_id FROM subscription u {_LIVING}"
    f" UNION ALL SELECT m.member_id FROM page_member m JOIN subscription u ON u.page_id = m.page_id {_LIVING})"
)
_CURSORS = f"SELECT u.taken, u.seen FROM subscription u {_LIVING} AND u.page_id = :page_id"
_OWED = (
    "SELECT o.from_seq, o.to_seq FROM comparison o JOIN subscription u ON u.id = o.subscription_id"
    f" {_LIVING} AND o.page_id = :page_id AND o.status = 'pending'"
)
_TELLERS = (
    "SELECT s.id, s.state, s.ended_at, r.text FROM sentinel s JOIN sentinel_revision r ON r.sentinel_id = s.id AND r.number = s.revision"
    " WHERE s.id IN (SELECT sentinel_id FROM change WHERE page_id = :page_id)"
)
_NTH = (
    "SELECT event_seq FROM change WHERE sentinel_id = :id AND quiet = 0 ORDER BY event_seq DESC LIMIT 1 OFFSET :before"
)
_ENDS = (
    "SELECT from_seq, to_seq FROM change WHERE page_id = :page_id AND sentinel_id = :id AND detected_at >= :since"
    " AND COALESCE(event_seq, 0) >= :first"
)
_OLD = (
    "SELECT v.id, v.seq, v.sha256, v.screenshot, v.frames, p.last_seq, p.key FROM version v JOIN page p ON p.id = v.page_id"
    " WHERE v.page_id = :page_id AND v.fetched_at < :before ORDER BY v.seq"
)
_PART_OF_ANOTHER = (
    "SELECT 1 FROM version_member WHERE sha256 = :sha256 AND key = :key AND seq = :seq AND position > 0 LIMIT 1"
)
_WITHHELD = (
    "SELECT q.id, q.sha256 FROM quarantine q JOIN page p ON p.id = q.page_id"
    " WHERE q.page_id = :page_id AND q.at < :before AND q.sha256 <> p.suspect_sha256 ORDER BY q.id"
)
_FORGET_PAGE = (
    "UPDATE page SET body_size = -1, body_xxh3 = '', text_digest = '', etag = NULL, last_modified = NULL, audited_at = NULL,"
    " fresh_until = NULL WHERE id = :page_id AND NOT EXISTS (SELECT 1 FROM version v WHERE v.page_id = page.id AND v.seq = page.last_seq)"
)
_NAMED = (
    "SELECT 1 FROM version WHERE sha256 = :sha256 UNION ALL SELECT 1 FROM version_member WHERE sha256 = :sha256"
    " UNION ALL SELECT 1 FROM quarantine WHERE sha256 = :sha256"
    " UNION ALL SELECT 1 FROM version WHERE screenshot = :sha256 AND screenshot <> '' LIMIT 1"
)
_ORPHANS = (
    "SELECT b.sha256 FROM blob b WHERE NOT EXISTS (SELECT 1 FROM version WHERE sha256 = b.sha256)"
    " AND NOT EXISTS (SELECT 1 FROM version_member WHERE sha256 = b.sha256)"
    " AND NOT EXISTS (SELECT 1 FROM quarantine WHERE sha256 = b.sha256)"
    " AND NOT EXISTS (SELECT 1 FROM version WHERE screenshot = b.sha256 AND screenshot <> '') ORDER BY b.height, b.sha256 LIMIT :limit"
)


@dataclass(frozen=True, slots=True)
class Terms:
    """How long things are stored, as of `at`: any version for `young`; changes for `age` unless
    their sentinel says otherwise (`history` reads its text); findings of an ended sentinel and
    withheld bodies for `afterlife`; watched values for `values`. What a sentinel needs stays for
    `undo` after its end. Durations are µs.
    """

    at: Instant
    undo: Duration
    young: Duration
    age: Duration
    afterlife: Duration
    values: Duration
    history: Callable[[str], History | None]

    @property
    def ended(self) -> Instant:
        """Return the earliest end of a sentinel that may be undone."""
        return self.at - self.undo

    @property
    def forgotten(self) -> Instant:
        """Return the latest end of a sentinel of which nothing is shown any more."""
        return self.at - max(self.afterlife, self.undo)


@dataclass(frozen=True, slots=True)
class Gone:
    """What was deleted: how many versions, how many withheld bodies, and the hashes that these
    named, the oldest first.
    """

    versions: int = 0
    withheld: int = 0
    named: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.versions or self.withheld)


def live(c: Connection, page_id: int, terms: Terms) -> set[int]:
    """Return the needed versions of a page, stored or not; the day's grace is not counted."""
    needed = {0}
    for taken, seen in c.rows(_CURSORS, page_id=page_id, ended=terms.ended):
        needed.update((*from_json(taken), seen))
    for pair in c.rows(_OWED, page_id=page_id, ended=terms.ended):
        needed.update(pair)
    for id_, state, ended_at, text in c.rows(_TELLERS, page_id=page_id):
        if state == "ended" and (ended_at or 0) <= terms.forgotten:
            continue
        for pair in c.rows(_ENDS, page_id=page_id, id=id_, **_inside(c, id_, terms, terms.history(text))):
            needed.update(pair)
    if c.value(_WATCHED, page_id=page_id, ended=terms.ended) is not None:
        needed.add(int(c.value("SELECT last_seq FROM page WHERE id = :page_id", page_id=page_id) or 0))
    return needed - {0}


def dead(c: Connection, page_id: int, terms: Terms) -> list[int]:
    """Return the numbers of a page's unneeded versions, oldest first."""
    return [row[1] for row in _dead(c, page_id, terms)]


def withheld(c: Connection, page_id: int, terms: Terms) -> int:
    """Return how many withheld bodies of a page are unneeded."""
    return len(c.rows(_WITHHELD, page_id=page_id, before=terms.at - terms.afterlife))


def let_go(c: Connection, page_id: int, terms: Terms, *, epoch: int, limit: int) -> Gone:
    """Delete up to `limit` unneeded versions of a page, with their digests and members, and old
    withheld bodies.

    The page counts its deleted versions. When its newest version is deleted, its knowledge of the
    body is deleted too, so that a later sentinel starts afresh.

    Args:
        page_id: The page.
        terms: What is needed.
        epoch: The poller's epoch.
        limit: How many versions are deleted at most.
    """
    lock.check_epoch(c, epoch)
    rows = _dead(c, page_id, terms)[:limit]
    old = c.rows(_WITHHELD, page_id=page_id, before=terms.at - terms.afterlife)[:limit]
    named: list[str] = []
    for id_, seq, sha256, screenshot, frames, *_ in rows:
        parts = (
            [row[0] for row in c.rows("SELECT sha256 FROM version_member WHERE version_id = :id", id=id_)]
            if frames
            else []
        )
        named += [sha256, *parts, *([screenshot] if screenshot else [])]
        for table in ("digest", "version_member"):
            c.execute(f"DELETE FROM {table} WHERE version_id = :id", id=id_)
        c.execute("DELETE FROM version WHERE id = :id", id=id_)
        c.execute(
            "DELETE FROM comparison WHERE page_id = :page_id AND (from_seq = :from_seq OR to_seq = :to_seq)",
            page_id=page_id,
            from_seq=seq,
            to_seq=seq,
        )
    for id_, sha256 in old:
        named.append(sha256)
        c.execute("DELETE FROM quarantine WHERE id = :id", id=id_)
    if rows:
        c.execute(
            "UPDATE page SET collected = collected + :count WHERE id = :page_id", count=len(rows), page_id=page_id
        )
        c.execute(_FORGET_PAGE, page_id=page_id)
    return Gone(len(rows), len(old), tuple(dict.fromkeys(named)))


def forget_learned(c: Connection, terms: Terms, *, epoch: int) -> int:
    """Delete estimates and hints of unwatched pages that are older than the storage time of ended
    sentinels, and old values; return how many rows that were. Raises `StaleEpochError`.
    """
    lock.check_epoch(c, epoch)
    before = terms.at - terms.afterlife
    gone = values.forget(c, before=terms.at - terms.values, ended=terms.forgotten)
    return gone + sum(
        c.execute(f"DELETE FROM {table} WHERE {_UNWATCHED}", before=before, ended=terms.ended)
        for table in ("estimate", "hint")
    )


def is_named(c: Connection, sha256: str) -> bool:
    """Return whether a version, a member, a picture or a withheld body has that hash."""
    return c.value(_NAMED, sha256=sha256) is not None


def orphans(c: Connection, limit: int) -> list[str]:
    """Return bodies that no row names: left by a crash between a row and its body. Those without
    dependents come first.
    """
    return [row[0] for row in c.rows(_ORPHANS, limit=limit)]


def remove_body(c: Connection, sha256: str, leaning: Sequence[str], *, epoch: int) -> bool:
    """Delete a body that no row names; return False if one does by now, or the bodies based on it
    are not exactly `leaning`.

    The caller rewrites those in the same transaction, before this.

    Args:
        sha256: The hash of the body.
        epoch: The poller's epoch.
    """
    lock.check_epoch(c, epoch)
    if is_named(c, sha256) or set(versions.dependents(c, sha256)) - set(leaning):
        return False
    return c.execute("DELETE FROM blob WHERE sha256 = :sha256", sha256=sha256) > 0


def pages(c: Connection, *, after: int, limit: int) -> list[int]:
    """Return the pages that have a version or a withheld body, with ids above `after`, in order."""
    text = (
        "SELECT id FROM page WHERE id > :after AND (EXISTS (SELECT 1 FROM version WHERE version.page_id = page.id)"
        " OR EXISTS (SELECT 1 FROM quarantine WHERE quarantine.page_id = page.id)) ORDER BY id LIMIT :limit"
    )
    return [row[0] for row in c.rows(text, after=after, limit=limit)]


def _dead(c: Connection, page_id: int, terms: Terms) -> list[tuple[int, int, str, str, int, int, str]]:
    """Return (id, seq, sha256, screenshot, frames, newest number, page key) of the unneeded
    versions.
    """
    old = c.rows(_OLD, page_id=page_id, before=terms.at - terms.young)
    if not old:
        return []
    needed = live(c, page_id, terms)
    found = [row for row in old if row[1] not in needed]
    return [
        (id_, seq, sha256, screenshot, frames, last, key)
        for id_, seq, sha256, screenshot, frames, last, key in found
        if not c.rows(_PART_OF_ANOTHER, sha256=_own(c, id_, sha256, frames), key=key, seq=seq)
    ]


def _own(c: Connection, version_id: int, sha256: str, frames: int) -> str:
    """Return the hash of a version's own body, as named by pages of which it is a frame."""
    if not frames:
        return sha256
    found = c.value("SELECT sha256 FROM version_member WHERE version_id = :id AND position = 0", id=version_id)
    return str(found)


def _inside(c: Connection, sentinel_id: int, terms: Terms, history: History | None) -> dict[str, int]:
    """Return the instant and event number from which changes of a sentinel are inside its
    ChangeHistory.
    """
    if history is None:
        return {"since": terms.at - terms.age, "first": 0}
    if history.changes is None:
        return {"since": terms.at - (history.age or 0), "first": 0}
    nth = c.value(_NTH, id=sentinel_id, before=history.changes - 1) if history.changes else None
    return {"since": 0, "first": (nth or 0) if history.changes else 2**62}


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

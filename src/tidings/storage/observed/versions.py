"""Versions of pages, the blobs of their bodies and the digests that cursors still need (contracts
§3, §4).

Also comparisons that are pending or were given up (contracts §1).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from tidings.errors import UnitError
from tidings.model.interval import Instant
from tidings.model.observed.unit import ComparisonRow, Quarantined
from tidings.model.observed.version import Blob, Digest, Version, version_id
from tidings.storage.db.connection import NUMBERS, Connection, from_json, plain, to_json

_SELECT = (
    "SELECT page_id, seq, sha256, size, fetched_at, modified_at, charset, charset_source, content_type, title, final_url, status,"
    " headers, text_changed, words, frames, screenshot FROM version"
)
_LISTING = f"{_SELECT} WHERE page_id = :page_id ORDER BY seq"
_ONE = f"{_SELECT} WHERE page_id = :page_id AND seq = :seq"
_NEWEST = f"{_SELECT} WHERE page_id = :page_id ORDER BY seq DESC LIMIT :most"
_LAST = {
    dialect: "SELECT page.id, page.last_seq, COALESCE(version.seq, 0), COALESCE(version.sha256, '') FROM page LEFT JOIN version"
    " ON version.page_id = page.id AND version.seq = (SELECT max(seq) FROM version WHERE page_id = page.id)"
    f" WHERE page.id IN {numbers}"
    for dialect, numbers in NUMBERS.items()
}
_INSERT = (
    "INSERT INTO version (page_id, seq, sha256, size, fetched_at, modified_at, charset, charset_source, content_type, title,"
    " final_url, status, headers, text_changed, words, frames, screenshot) VALUES (:page_id, :seq, :sha256, :size, :fetched_at, :modified_at, :charset,"
    " :charset_source, :content_type, :title, :final_url, :status, :headers, :text_changed, :words, :frames, :screenshot)"
)
_BLOB = "SELECT sha256, size, base, height, frame, file FROM blob WHERE sha256 = :sha256"
_PUT_BLOB = (
    "INSERT INTO blob (sha256, size, base, height, frame, file) VALUES (:sha256, :size, :base, :height, :frame, :file)"
    " ON CONFLICT (sha256) DO UPDATE SET base = excluded.base, height = excluded.height, frame = excluded.frame, file = excluded.file"
)
_DIGESTS = (
    "SELECT digest.extraction, digest.rules_version, digest.text, digest.objects FROM digest"
    " JOIN version ON version.id = digest.version_id WHERE version.page_id = :page_id AND version.seq = :seq"
    " ORDER BY digest.rules_version, digest.extraction"
)
_PUT_DIGEST = (
    "INSERT INTO digest (version_id, extraction, rules_version, text, objects)"
    " SELECT id, :extraction, :rules_version, :text, :objects FROM version WHERE page_id = :page_id AND seq = :seq"
    " ON CONFLICT (version_id, extraction, rules_version) DO UPDATE SET text = excluded.text, objects = excluded.objects"
)
_CURSORS = {
    dialect: "SELECT u.page_id, u.base, u.taken FROM subscription u JOIN sentinel s ON s.id = u.sentinel_id"
    f" WHERE s.state <> 'ended' AND u.left_at IS NULL AND u.page_id IN {numbers}"
    for dialect, numbers in NUMBERS.items()
}
_OWED = {
    dialect: f"SELECT page_id, from_seq, to_seq FROM comparison WHERE page_id IN {numbers}"
    for dialect, numbers in NUMBERS.items()
}
_WITH_DIGESTS = {
    dialect: "SELECT DISTINCT version.page_id, version.seq, version.id FROM version JOIN digest ON digest.version_id = version.id"
    f" WHERE version.page_id IN {numbers} ORDER BY version.page_id, version.seq"
    for dialect, numbers in NUMBERS.items()
}
_REFERENCED = (
    "SELECT sha256 FROM version UNION SELECT sha256 FROM version_member UNION SELECT sha256 FROM quarantine"
    " UNION SELECT screenshot FROM version WHERE screenshot <> ''"
)


def listing(c: Connection, page_id: int) -> list[Version]:
    """Return the versions of a page, oldest first."""
    return [_to_version(row) for row in c.rows(_LISTING, page_id=page_id)]


def get(c: Connection, page_id: int, seq: int) -> Version | None:
    """Return version `seq` of a page, or None."""
    row = c.one(_ONE, page_id=page_id, seq=seq)
    return None if row is None else _to_version(row)


def first_with(c: Connection, page_id: int, sha256: str) -> int | None:
    """Return the number of the oldest stored version of a page with a body, or None."""
    text = "SELECT min(seq) FROM version WHERE page_id = :page_id AND sha256 = :sha256"
    found: int | None = c.value(text, page_id=page_id, sha256=sha256)
    return found


def newest(c: Connection, page_id: int) -> Version | None:
    """Return the newest version of a page, or None if it has none."""
    row = c.one(_NEWEST, page_id=page_id, most=1)
    return None if row is None else _to_version(row)


def newest_of(c: Connection, page_id: int, most: int) -> list[Version]:
    """Return at most `most` newest versions of a page, newest first."""
    return [_to_version(row) for row in c.rows(_NEWEST, page_id=page_id, most=most)]


def recent(
    c: Connection, page_id: int, most: int, wanted: Collection[int] = ()
) -> tuple[dict[int, Version], list[int]]:
    """Return two things about at most `most` newest versions of a page: the newest and the
    wanted ones, by number; and how many words each has, newest first.

    Args:
        page_id: The page.
    """
    rows = c.rows(_NEWEST, page_id=page_id, most=most)
    found = {row[1]: _to_version(row) for place, row in enumerate(rows) if not place or row[1] in wanted}
    return found, [row[14] for row in rows]


def newest_seqs(c: Connection, page_id: int, most: int) -> set[int]:
    """Return the numbers of at most `most` newest versions of a page."""
    text = "SELECT seq FROM version WHERE page_id = :page_id ORDER BY seq DESC LIMIT :most"
    return {row[0] for row in c.rows(text, page_id=page_id, most=most)}


def add(c: Connection, new: Sequence[Version]) -> None:
    """Store the next versions of pages; their blobs must exist.

    Raises `UnitError` unless the number of each follows the newest one of its page and its body
    differs from it (I-2).
    """
    if not new:
        return
    listed = to_json(sorted({version.page_id for version in new}))
    # The newest may have been deleted, so the page's own number counts too.
    last = {
        page_id: (max(listed_seq, seq), seq, sha256)
        for page_id, listed_seq, seq, sha256 in c.rows(_LAST[c.dialect], listed=listed)
    }
    for version in new:
        seq, stored, sha256 = last.get(version.page_id, (0, 0, ""))
        name = version_id(version.page_id, version.seq)
        if version.seq != seq + 1:
            raise UnitError(f"version {name} cannot follow number {seq}; nothing was written")
        if version.sha256 == sha256 and stored == seq:
            raise UnitError(f"version {name} has the body of the version before it; nothing was written")
        last[version.page_id] = version.seq, version.seq, version.sha256
    c.batch(_INSERT, [*map(_to_row, new)])


def _to_row(version: Version) -> tuple[Any, ...]:
    """Return the values of `_INSERT`, in its order."""
    return (
        version.page_id,
        version.seq,
        version.sha256,
        version.size,
        version.fetched_at,
        version.modified_at,
        plain(version.charset),
        version.charset_source,
        plain(version.content_type),
        plain(version.title),
        plain(version.final_url),
        version.status,
        to_json(dict(version.headers)),
        int(version.text_changed),
        version.words,
        version.frames,
        version.screenshot,
    )


def blob(c: Connection, sha256: str) -> Blob | None:
    """Return how the body of that hash is stored, or None if it is not."""
    row = c.one(_BLOB, sha256=sha256)
    return None if row is None else _to_blob(row)


def blobs(c: Connection) -> list[Blob]:
    """Return every blob without its frame (`frame` is None), by hash."""
    text = "SELECT sha256, size, base, height, file FROM blob ORDER BY sha256"
    return [Blob(sha256, size, base, height, None, file) for sha256, size, base, height, file in c.rows(text)]


def dependents(c: Connection, sha256: str) -> list[str]:
    """Return the hashes of the blobs that are deltas against this one."""
    return [row[0] for row in c.rows("SELECT sha256 FROM blob WHERE base = :sha256 AND base <> ''", sha256=sha256)]


def files(c: Connection) -> set[str]:
    """Return the names of all files under `blobs/` that a row names."""
    return {row[0] for row in c.rows("SELECT file FROM blob WHERE file IS NOT NULL")}


def list_referenced(c: Connection) -> set[str]:
    """Return the hashes that versions, members and quarantined bodies name."""
    return {row[0] for row in c.rows(_REFERENCED)}


def put_blobs(c: Connection, stored: Sequence[Blob]) -> None:
    """Store blobs in this order; an existing one is stored anew (whole, or as a delta against
    another).
    """
    c.many(
        _PUT_BLOB,
        [
            {
                "sha256": b.sha256,
                "size": b.size,
                "base": b.base,
                "height": b.height,
                "frame": b.frame,
                "file": b.file,
            }
            for b in stored
        ],
    )


def digests(c: Connection, page_id: int, seqs: Iterable[int], *, extraction: str | None = None) -> dict[int, Digest]:
    """Return the stored digest of each of these versions, by number; versions without one are left
    out.

    Of several, the one of the newest rules counts; `extraction` selects one where a page has more
    than one.

    Args:
        page_id: The page.
        seqs: The numbers of the versions.
    """
    found = {}
    for seq, stored in every_digest(c, page_id, seqs).items():
        if fitting := [digest for digest in stored if extraction in {None, digest.extraction}]:
            found[seq] = fitting[-1]
    return found


def every_digest(c: Connection, page_id: int, seqs: Iterable[int]) -> dict[int, list[Digest]]:
    """Return all stored digests of these versions, those of the newest rules last."""
    found = {}
    for seq in dict.fromkeys(seqs):
        if rows := c.rows(_DIGESTS, page_id=page_id, seq=seq):
            found[seq] = [Digest(row[0], row[1], row[2], from_json(row[3])) for row in rows]
    return found


def put_digests(c: Connection, stored: Sequence[tuple[int, int, Digest]]) -> None:
    """Store digests, each with the page and number of its version. Raise `UnitError` if one of
    those versions does not exist.
    """
    rows = [
        {
            "page_id": page_id,
            "seq": seq,
            "extraction": digest.extraction,
            "rules_version": digest.rules_version,
            "text": digest.text,
            "objects": to_json(dict(digest.objects)),
        }
        for page_id, seq, digest in stored
    ]
    if c.many(_PUT_DIGEST, rows) != len(rows):
        names = " or ".join(dict.fromkeys(f"version {version_id(page_id, seq)}" for page_id, seq, _ in stored))
        raise UnitError(f"a digest names {names}, which is not there; nothing was written")


def forget_digests(c: Connection, page_ids: Collection[int]) -> None:
    """Delete the digests of versions that no cursor and no pending comparison needs; those of a
    page's newest version stay.
    """
    if not page_ids:
        return
    listed = to_json(sorted(page_ids))
    needed: dict[int, set[int]] = {page_id: set() for page_id in page_ids}
    for page_id, base, taken in c.rows(_CURSORS[c.dialect], listed=listed):
        needed[page_id].update((base, *from_json(taken)))
    for page_id, *pair in c.rows(_OWED[c.dialect], listed=listed):
        needed[page_id].update(pair)
    rows = c.rows(_WITH_DIGESTS[c.dialect], listed=listed)
    newest = {page_id: seq for page_id, seq, _ in rows}
    gone = [{"id": id_} for page_id, seq, id_ in rows if seq != newest[page_id] and seq not in needed[page_id]]
    c.many("DELETE FROM digest WHERE version_id = :id", gone)


def _to_version(row: tuple[Any, ...]) -> Version:
    (
        page_id, seq, sha256, size, fetched_at, modified_at, charset, charset_source, content_type, title, final_url, status,
        headers, text_changed, words, frames, screenshot,
    ) = row  # fmt: skip
    return Version(
        page_id=page_id,
        seq=seq,
        sha256=sha256,
        size=size,
        fetched_at=fetched_at,
        modified_at=modified_at,
        charset=charset,
        charset_source=charset_source,
        content_type=content_type,
        title=title,
        final_url=final_url,
        status=status,
        headers=from_json(headers),
        text_changed=bool(text_changed),
        words=words,
        frames=frames,
        screenshot=screenshot,
    )


def _to_blob(row: tuple[Any, ...]) -> Blob:
    sha256, size, base, height, frame, file = row
    return Blob(sha256, size, base, height, None if frame is None else bytes(frame), file)


def withheld(c: Connection, page_id: int) -> list[Quarantined]:
    """Return the withheld bodies of a page, oldest first."""
    rows = c.rows(
        "SELECT page_id, at, kind, sha256, reason FROM quarantine WHERE page_id = :page_id ORDER BY at, id",
        page_id=page_id,
    )
    return [Quarantined(page_id=p, at=at, kind=kind, sha256=sha, reason=reason) for p, at, kind, sha, reason in rows]


_SELECT_PENDING = "SELECT subscription_id, page_id, from_seq, to_seq, revision, status, attempt, reason FROM comparison"
_PUT_PENDING = (
    "INSERT INTO comparison (subscription_id, page_id, from_seq, to_seq, revision, status, attempt, reason, at)"
    " VALUES (:subscription_id, :page_id, :from_seq, :to_seq, :revision, :status, :attempt, :reason, :at)"
    " ON CONFLICT (subscription_id, from_seq, to_seq, revision) DO UPDATE SET status = excluded.status, attempt = excluded.attempt,"
    " reason = excluded.reason"
)
_SETTLED = (
    "DELETE FROM comparison WHERE subscription_id = :subscription_id AND from_seq = :from_seq AND to_seq = :to_seq"
    " AND revision = :revision"
)
# Once the newest of several versions is compared or given up, pending comparisons of earlier ones
# are deleted.
_OVERTAKEN = (
    "DELETE FROM comparison WHERE subscription_id = :subscription_id AND to_seq <= :to_seq AND revision <= :revision"
    " AND status = 'pending'"
)


def list_pending(c: Connection) -> list[ComparisonRow]:
    """Return the pending comparisons, the oldest first."""
    return [
        _to_pending(row)
        for row in c.rows(f"{_SELECT_PENDING} WHERE status = 'pending' ORDER BY at, subscription_id, to_seq")
    ]


def list_given_up(c: Connection, *, since: Instant = 0) -> list[ComparisonRow]:
    """Return the comparisons that were given up, by subscription, pending since `since` (µs) or
    later.
    """
    text = f"{_SELECT_PENDING} WHERE status = 'could_not_compare' AND at >= :since ORDER BY subscription_id, to_seq"
    return [_to_pending(row) for row in c.rows(text, since=since)]


def put_pending(c: Connection, comparisons: Sequence[ComparisonRow], *, at: Instant) -> None:
    """Store comparisons. A finished one is deleted, and with a settled one go the pending ones of
    earlier versions.
    """
    keys = ("subscription_id", "from_seq", "to_seq", "revision")
    done = [{key: getattr(row, key) for key in keys} for row in comparisons if row.status == "done"]
    settled = [{key: getattr(row, key) for key in keys} for row in comparisons if row.status != "pending"]
    owed = [
        {
            "subscription_id": row.subscription_id,
            "page_id": row.page_id,
            "from_seq": row.from_seq,
            "to_seq": row.to_seq,
            "revision": row.revision,
            "status": row.status,
            "attempt": row.attempt,
            "reason": plain(row.reason),
            "at": at,
        }
        for row in comparisons
        if row.status != "done"
    ]
    c.many(_PUT_PENDING, owed)
    c.many(_SETTLED, done)
    c.many(_OVERTAKEN, settled)


def _to_pending(row: tuple[Any, ...]) -> ComparisonRow:
    subscription_id, page_id, from_seq, to_seq, revision, status, attempt, reason = row
    return ComparisonRow(
        subscription_id=subscription_id,
        page_id=page_id,
        from_seq=from_seq,
        to_seq=to_seq,
        revision=revision,
        status=status,
        attempt=attempt,
        reason=reason,
    )

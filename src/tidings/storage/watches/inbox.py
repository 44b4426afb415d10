"""The inbox: changes with each reader's marks (read, kept)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from tidings.model.interval import Instant
from tidings.record import dataclass
from tidings.storage.db.connection import Connection, select
from tidings.storage.watches import changes
from tidings.storage.watches.changes import StoredChange
from tidings.storage.watches.events import OWNER
from tidings.storage.watches.sentinels import OF_NAME, OF_TAG, SEEN, restrict_to_viewer

Shown = Literal["unread", "kept", "all", "quiet"]
SHOWN: tuple[Shown, ...] = ("unread", "kept", "all", "quiet")
_MARKED = " FROM change ch LEFT JOIN inbox_mark m ON m.change_id = ch.id AND m.owner_id = :owner_id"
_OF_SENTINEL = " JOIN sentinel s ON s.id = ch.sentinel_id"
_OF_PAGE = " JOIN page p ON p.id = ch.page_id"
_SUMS = (
    "SELECT sum(CASE WHEN ch.quiet = 0 AND m.read_at IS NULL THEN 1 ELSE 0 END), count(m.kept_at),"
    " sum(1 - ch.quiet), sum(ch.quiet),"
    " sum(CASE WHEN ch.detected_at >= :since THEN 1 - ch.quiet ELSE 0 END),"
    f" sum(CASE WHEN ch.detected_at >= :since THEN ch.quiet ELSE 0 END){_MARKED}"
)
_CONDITIONS: dict[Shown, tuple[str, ...]] = {
    "unread": ("ch.quiet = 0", "m.read_at IS NULL"),
    "kept": ("m.kept_at IS NOT NULL",),
    "all": ("ch.quiet = 0",),
    "quiet": ("ch.quiet = 1",),
}
_MARK = (
    "INSERT INTO inbox_mark (owner_id, change_id, read_at, kept_at) VALUES (:owner_id, :change_id, :read_at, :kept_at)"
    " ON CONFLICT (owner_id, change_id) DO UPDATE SET read_at = excluded.read_at, kept_at = excluded.kept_at"
)
_READ = (
    "INSERT INTO inbox_mark (owner_id, change_id, read_at) VALUES (:owner_id, :change_id, :read_at)"
    " ON CONFLICT (owner_id, change_id) DO UPDATE SET read_at = excluded.read_at"
)


@dataclass(frozen=True, slots=True)
class InboxItem:
    """A change in the inbox. `read_at` and `kept_at` are when the reader marked it, None if
    unmarked.
    """

    change: StoredChange
    read_at: Instant | None
    kept_at: Instant | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which changes are listed; an empty field does not filter.

    `since` is the earliest instant of detection (µs), `before` the id of the change after which the
    next page of the list begins. `text` is searched for in what changed, in names and in addresses.
    `viewer` is the owner who reads, None for one who sees all, `reader` whose marks count.
    """

    shown: Shown = "unread"
    sentinel: str = ""
    tag: str = ""
    kind: str = ""
    text: str = ""
    since: Instant | None = None
    before: str = ""
    viewer: int | None
    reader: int = OWNER


def listing(c: Connection, wanted: Filter, *, limit: int) -> list[InboxItem]:
    """Return at most `limit` changes, newest first."""
    joined, conditions, given = _conditions(wanted)
    if wanted.before:
        conditions.append("(ch.detected_at, ch.id) < (SELECT b.detected_at, b.id FROM change b WHERE b.id = :before)")
        given["before"] = wanted.before
    text = select(
        f"SELECT ch.id, m.read_at, m.kept_at{joined}",
        conditions,
        "ORDER BY ch.detected_at DESC, ch.id DESC LIMIT :limit",
    )
    rows = c.rows(text, limit=limit, **given)
    found = changes.of(c, [row[0] for row in rows])
    return [InboxItem(found[id_], read_at, kept_at) for id_, read_at, kept_at in rows if id_ in found]


def count(c: Connection, wanted: Filter) -> int:
    """Return how many changes match a filter."""
    joined, conditions, given = _conditions(wanted)
    return int(c.value(select(f"SELECT count(*){joined}", conditions, ""), **given))


@dataclass(frozen=True, slots=True)
class InboxCounts:
    """How many changes a reader has of each kind of list, and since an instant."""

    by_shown: Mapping[Shown, int]
    notified_since: int
    quiet_since: int


def count_all(c: Connection, *, viewer: int | None, reader: int, since: Instant) -> InboxCounts:
    """Return the counts of what `viewer` sees, with the marks of `reader`, in one pass.

    Args:
        since: From when on recent changes count (µs).
    """
    joined = _SUMS if viewer is None else f"{_SUMS}{_OF_SENTINEL}"
    given: dict[str, Any] = {"owner_id": reader, "since": since} | ({} if viewer is None else {"viewer": viewer})
    sums = [int(value or 0) for value in c.one(select(joined, restrict_to_viewer(viewer)), **given) or ()]
    return InboxCounts(dict(zip(SHOWN, sums, strict=False)), *sums[len(SHOWN) :])


def unread_pages(c: Connection, wanted: Filter) -> set[tuple[int, int]]:
    """Return the (sentinel, page) numbers that have a matching change."""
    joined, conditions, given = _conditions(wanted)
    rows = c.rows(select(f"SELECT DISTINCT ch.sentinel_id, ch.page_id{joined}", conditions), **given)
    return {(row[0], row[1]) for row in rows}


def get(c: Connection, change_id: str, *, reader: int = OWNER) -> InboxItem | None:
    """Return one change with the marks of `reader`, None if there is no such change."""
    found = changes.get(c, change_id)
    if found is None:
        return None
    row = c.one(
        "SELECT read_at, kept_at FROM inbox_mark WHERE owner_id = :owner_id AND change_id = :id",
        owner_id=reader,
        id=change_id,
    )
    return InboxItem(found, *(row or (None, None)))


def neighbours(c: Connection, change_id: str, *, viewer: int | None) -> tuple[str | None, str | None]:
    """Return the ids of the next newer and the next older reported change that `viewer` sees."""
    given: dict[str, Any] = {"id": change_id} | ({} if viewer is None else {"viewer": viewer})
    base = "SELECT ch.id FROM change ch JOIN sentinel s ON s.id = ch.sentinel_id"
    own = "(SELECT b.detected_at, b.id FROM change b WHERE b.id = :id)"

    def find(sign: str, order: str) -> str | None:
        conditions = ["ch.quiet = 0", f"(ch.detected_at, ch.id) {sign} {own}", *restrict_to_viewer(viewer)]
        found: str | None = c.value(select(base, conditions, f"ORDER BY {order} LIMIT 1"), **given)
        return found

    return find(">", "ch.detected_at, ch.id"), find("<", "ch.detected_at DESC, ch.id DESC")


def mark(
    c: Connection,
    ids: Collection[str],
    *,
    at: Instant,
    is_read: bool | None = None,
    is_kept: bool | None = None,
    reader: int = OWNER,
) -> int:
    """Mark changes and return how many there were; unknown ids are ignored.

    Args:
        ids: The changes.
        at: When they are marked (µs).
        is_read: Whether they are read; None leaves that as it is.
        is_kept: Whether they are kept; None leaves that as it is.
        reader: Who marks them.
    """
    known: list[InboxItem] = [item for id_ in ids if (item := get(c, id_, reader=reader)) is not None]
    c.many(_MARK, [{**_row(item, at, is_read, is_kept), "owner_id": reader} for item in known])
    return len(known)


def mark_all_read(c: Connection, wanted: Filter, *, at: Instant, newest: str = "") -> int:
    """Mark all unread changes of a list as read by its reader, kept ones too; return how many there
    were.

    Args:
        c: The transaction.
        wanted: Which list.
        at: When they are read (µs).
        newest: The id of the newest change that the reader saw, "" for no limit; what has arrived
            since stays unread.
    """
    joined, conditions, given = _conditions(wanted)
    if newest:
        conditions.append(_NOT_NEWER)
        given["newest"] = newest
    ids = [row[0] for row in c.rows(select(f"SELECT ch.id{joined}", conditions, ""), **given)]
    return c.many(_READ, [{"owner_id": wanted.reader, "change_id": id_, "read_at": at} for id_ in ids])


_NOT_NEWER = "(ch.detected_at, ch.id) <= (SELECT n.detected_at, n.id FROM change n WHERE n.id = :newest)"


def _row(item: InboxItem, at: Instant, is_read: bool | None, is_kept: bool | None) -> dict[str, Any]:
    read_at = item.read_at if is_read is None else (item.read_at or at) if is_read else None
    kept_at = item.kept_at if is_kept is None else (item.kept_at or at) if is_kept else None
    return {"change_id": item.change.row.id, "read_at": read_at, "kept_at": kept_at}


def _conditions(wanted: Filter) -> tuple[str, list[str], dict[str, Any]]:
    """Return the tables of a filter, only those that it needs, its conditions and their values."""
    joined = _MARKED
    if wanted.viewer is not None or wanted.sentinel or wanted.tag or wanted.text:
        joined += _OF_SENTINEL
    if wanted.text:
        joined += _OF_PAGE
    conditions: list[str] = [*_CONDITIONS[wanted.shown]]
    given: dict[str, Any] = {"owner_id": wanted.reader}
    if wanted.viewer is not None:
        conditions.append(SEEN)
        given["viewer"] = wanted.viewer
    if wanted.sentinel:
        conditions.append(OF_NAME)
        given["sentinel"] = wanted.sentinel
    if wanted.tag:
        conditions.append(OF_TAG)
        given["tag"] = wanted.tag
    if wanted.kind:
        conditions.append("ch.kind = :kind")
        given["kind"] = wanted.kind
    if wanted.since is not None:
        conditions.append("ch.detected_at >= :since")
        given["since"] = wanted.since
    if wanted.text:
        given["text"] = f"%{_escape(wanted.text.lower())}%"
        conditions.append(
            "(lower(s.name) LIKE :text ESCAPE '!' OR lower(p.given) LIKE :text ESCAPE '!' OR lower(p.title) LIKE :text ESCAPE '!'"
            " OR lower(ch.texts) LIKE :text ESCAPE '!')"
        )
    return joined, conditions, given


def _escape(text: str) -> str:
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def kinds(c: Connection, *, viewer: int | None = None) -> Sequence[str]:
    """Return the kinds of changes that `viewer` sees, most frequent first."""
    base = f"SELECT ch.kind FROM change ch{'' if viewer is None else _OF_SENTINEL}"
    tail = "GROUP BY ch.kind ORDER BY count(*) DESC, ch.kind"
    text = select(base, ["ch.quiet = 0", *restrict_to_viewer(viewer)], tail)
    return [row[0] for row in c.rows(text, **({} if viewer is None else {"viewer": viewer}))]

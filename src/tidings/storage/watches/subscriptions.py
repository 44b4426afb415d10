"""Subscriptions: a sentinel on a page, with its own cursor (sentinels §4.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from functools import lru_cache
from typing import Any

from tidings.errors import UnitError
from tidings.model.interval import Duration, Instant
from tidings.model.observed.unit import CursorMove, Missing
from tidings.record import dataclass
from tidings.storage.db.connection import Connection, SetAside, check_numbers, from_json, readable, select, to_json
from tidings.storage.observed import polls


@dataclass(frozen=True, slots=True)
class SubscriptionRow:
    """`base` is the version it began with (0 before), `taken` the numbers of the versions it may
    still need, `missing` the selected parts that its page lacked; `number` is how many versions it
    has taken, `seen` the newest of them. It is active or not `since` then, after a pause of
    `paused` µs; `altered_at` is when its comparison was last altered. `remembered` is its memory
    beside versions, `learned` the learned worth of its changes, both as the service writes them.
    """

    id: int
    sentinel_id: int
    page_id: int
    label: str
    revision: int
    base: int
    taken: tuple[int, ...]
    next_tick: Instant | None
    ticked_at: Instant | None
    active: bool
    missing: Missing | None = None
    since: Instant = 0
    paused: Duration = 0
    altered_at: Instant = 0
    number: int = 0
    seen: int = 0
    remembered: str = ""
    learned: str = ""


@dataclass(frozen=True, slots=True)
class LeftPage:
    """A page that a sentinel watched under this label until it was altered at `left_at`."""

    page_id: int
    label: str
    left_at: Instant


_SELECT = "SELECT id, sentinel_id, page_id, label, revision, base, taken, next_tick, ticked_at, active, missing, since, paused, altered_at, number, seen, remembered, learned FROM subscription"
_PAGE_COLUMN = 2
_INSERT = (
    "INSERT INTO subscription (sentinel_id, page_id, label, revision, next_tick, active, since)"
    " VALUES (:sentinel_id, :page_id, :label, :revision, :next_tick, :active, :since) ON CONFLICT (sentinel_id, page_id, label) DO UPDATE"
    " SET revision = excluded.revision, next_tick = excluded.next_tick, active = excluded.active, since = excluded.since, base = 0,"
    " taken = '[]', number = 0, seen = 0, missing = '', remembered = '', learned = '', paused = 0, left_at = NULL WHERE subscription.left_at IS NOT NULL"
)
_ACTIVATE = (
    "UPDATE subscription SET paused = CASE WHEN :active = 1 AND taken <> '[]' THEN :at - since ELSE 0 END, since = :at, active = :active"
    " WHERE sentinel_id = :id AND active <> :active AND left_at IS NULL"
)
_RENEW = (
    "UPDATE subscription SET base = 0, taken = '[]', number = 0, seen = 0, missing = '', remembered = '', learned = '', paused = 0, since = :at, next_tick = :next_tick"
    " WHERE sentinel_id = :id AND left_at IS NULL"
)
_RENEW_ONE = (
    "UPDATE subscription SET base = 0, taken = '[]', number = 0, seen = 0, missing = '', remembered = '', since = :at"
)
_REWRITE = "UPDATE subscription SET base = :base, taken = :taken, number = :number WHERE id = :id"
_LEAVE = "UPDATE subscription SET active = 0, left_at = :at WHERE id = :id"
_LEFT = "SELECT page_id, label, left_at FROM subscription WHERE sentinel_id = :id AND left_at IS NOT NULL ORDER BY left_at DESC, id"
_REVISE = "UPDATE subscription SET revision = :revision, next_tick = :next_tick, missing = :missing, altered_at = :altered_at, learned = :learned WHERE id = :id"
# A sentinel altered while its page was polled uses its new ticks; taken versions stay. A baseline
# confirmed meanwhile stays: it is newer than the version with which the poll began.
_MOVE = (
    "UPDATE subscription SET next_tick = CASE WHEN revision = :revision THEN :next_tick ELSE next_tick END,"
    " taken = CASE WHEN base > :base_of_taken THEN taken ELSE :taken END, number = CASE WHEN base > :base_of_number THEN number ELSE :number END,"
    " base = CASE WHEN base > :base_before THEN base ELSE :base END, seen = :seen, ticked_at = :ticked_at, missing = :missing,"
    " remembered = COALESCE(:remembered, remembered),"
    " learned = CASE WHEN revision = :revision_that_taught THEN COALESCE(:learned, learned) ELSE learned END WHERE id = :subscription_id"
)


def listing(
    c: Connection,
    *,
    active: bool | None = None,
    sentinel_id: int | None = None,
    page_id: int | None = None,
    pages: Container[int] | None = None,
    set_aside: SetAside | None = None,
) -> list[SubscriptionRow]:
    """Return the subscriptions that match, in the order of ids, without those to pages that a
    sentinel has left.

    Args:
        active: Only active ones, or only the others; None for both.
        sentinel_id: Of one sentinel; None for all.
        page_id: To one page; None for all.
        pages: To these pages; None for all.
        set_aside: Takes inconsistent rows, as in `readable`.
    """
    wanted = {"active": None if active is None else int(active), "sentinel_id": sentinel_id, "page_id": page_id}
    given = {name: value for name, value in wanted.items() if value is not None}
    conditions = ["left_at IS NULL", *(f"{name} = :{name}" for name in given)]
    rows = c.rows(select(_SELECT, conditions, "ORDER BY id"), **given)
    if pages is not None:
        rows = [row for row in rows if row[_PAGE_COLUMN] in pages]
    return readable(rows, _to_row, "subscription", set_aside)


def list_left(c: Connection, sentinel_id: int) -> list[LeftPage]:
    """Return the pages that a sentinel has left for others, the last one first."""
    return [LeftPage(*row) for row in c.rows(_LEFT, id=sentinel_id)]


def find_replaced(c: Connection, sentinel_id: int) -> dict[int, list[LeftPage]]:
    """Return, by page that a sentinel watches, the pages that it has replaced, the last one first.
    Of several pages with one label it is not known which one replaced another.
    """
    left = list_left(c, sentinel_id)
    existing = listing(c, sentinel_id=sentinel_id) if left else []
    labels = Counter(row.label for row in existing)
    return {
        row.page_id: [one for one in left if one.label == row.label and one.page_id != row.page_id]
        for row in existing
        if labels[row.label] == 1
    }


def remarkable(c: Connection) -> list[SubscriptionRow]:
    """Return the active subscriptions with a condition to report: missing parts, or replaced
    selectors.
    """
    conditions = ["left_at IS NULL", "active = 1", "(missing <> '' OR remembered LIKE :targets)"]
    return readable(c.rows(select(_SELECT, conditions, "ORDER BY id"), targets='%"targets"%'), _to_row, "subscription")


def add(
    c: Connection,
    *,
    sentinel_id: int,
    page_id: int,
    label: str,
    next_tick: Instant | None,
    active: bool,
    since: Instant = 0,
    revision: int = 1,
) -> None:
    """Subscribe a sentinel to a page. The same label again is the same subscription; one to a page
    that was left begins anew.

    Args:
        sentinel_id: The sentinel.
        page_id: The page.
        label: The page's name in the sentinel, empty if it has none.
        next_tick: The first tick of a fixed interval (µs); None for on change.
        active: Whether its page is polled for it.
        since: From when on versions count (µs).
        revision: The revision of the sentinel.
    """
    c.execute(
        _INSERT,
        sentinel_id=sentinel_id,
        page_id=page_id,
        label=label,
        next_tick=next_tick,
        active=int(active),
        since=since,
        revision=revision,
    )


def request_polls(c: Connection, sentinel_id: int, at: Instant) -> int:
    """Store a request for a poll of each page of a sentinel; return how many."""
    page_ids = [row.page_id for row in listing(c, sentinel_id=sentinel_id)]
    return len(polls.request_polls(c, page_ids, at, sentinel_id=sentinel_id))


def activate(c: Connection, sentinel_id: int, *, active: bool, at: Instant) -> None:
    """Activate or deactivate all subscriptions of a sentinel; cursors stay, and the length of the
    pause is stored.

    Args:
        sentinel_id: The sentinel.
        active: Whether its pages are polled for it from now on.
        at: When (µs).
    """
    c.execute(_ACTIVATE, active=int(active), at=at, id=sentinel_id)


def renew(c: Connection, sentinel_id: int, *, at: Instant, next_tick: Instant | None) -> None:
    """Make the next version of each page a new baseline: it is compared with no earlier one.

    Args:
        sentinel_id: The sentinel.
        at: When (µs).
        next_tick: The next tick of a fixed interval (µs); None on change.
    """
    c.execute(_RENEW, id=sentinel_id, at=at, next_tick=next_tick)


def begin_anew(c: Connection, id: int, at: Instant) -> None:
    """Let the next version of a subscription's page be a new base: what came before is compared
    with nothing.
    """
    c.execute(f"{_RENEW_ONE} WHERE id = :id AND left_at IS NULL", id=id, at=at)


def leave(c: Connection, id: int, at: Instant) -> None:
    """Unsubscribe from a page for good; its changes stay."""
    c.execute(_LEAVE, id=id, at=at)


def revise(c: Connection, row: SubscriptionRow) -> None:
    """Store the effect of a new revision on a subscription: its revision, tick, `missing`,
    `altered_at` and `learned`.
    """
    c.execute(
        _REVISE,
        id=row.id,
        revision=row.revision,
        next_tick=row.next_tick,
        missing=_missing_text(row.missing),
        altered_at=row.altered_at,
        learned=row.learned,
    )


def rewrite(c: Connection, id: int, *, base: int, taken: Sequence[int], number: int) -> None:
    """Reset a subscription to compare from these versions on; its pending comparisons are deleted.

    Args:
        id: The subscription's number.
        base: The version that the next one is compared with, 0 for none.
        taken: The versions that were taken, by number.
        number: How many were taken in all.
    """
    c.execute(_REWRITE, id=id, base=base, taken=_numbers(taken), number=number)
    c.execute("DELETE FROM comparison WHERE subscription_id = :id AND status = 'pending'", id=id)


def move(c: Connection, moves: Sequence[CursorMove]) -> None:
    """Store cursors, with the next tick only if the sentinel has not been altered since. Raise
    `UnitError` if a subscription does not exist.
    """
    rows = [
        (
            m.revision,
            m.next_tick,
            m.base,
            _numbers(m.taken),
            m.base,
            m.number,
            m.base,
            m.base,
            m.seen,
            m.ticked_at,
            _missing_text(m.missing),
            m.remembered,
            m.revision,
            m.learned,
            m.subscription_id,
        )
        for m in moves
    ]
    if c.batch(_MOVE, rows) != len(rows):
        raise UnitError("a cursor names a subscription that is not there; nothing was written")


def _to_row(row: tuple[Any, ...]) -> SubscriptionRow:
    (
        *place,
        revision,
        base,
        taken,
        next_tick,
        ticked_at,
        active,
        missing,
        since,
        paused,
        altered_at,
        number,
        seen,
        remembered,
        learned,
    ) = row
    check_numbers(
        next_tick=next_tick,
        ticked_at=ticked_at,
        since=since,
        paused=paused,
        altered_at=altered_at,
        seen=seen,
        number=number,
    )
    numbers = _read_numbers(taken)
    cursor = [revision, base, numbers, next_tick, ticked_at, bool(active), _missing(missing)]
    check_numbers(**{f"version {place}": number for place, number in enumerate(numbers)})
    newest = seen or (numbers[-1] if numbers else 0)
    return SubscriptionRow(
        *[*place, *cursor, since, paused, altered_at, number or len(numbers), newest, remembered, learned]
    )


@lru_cache(maxsize=1_024)
def _read_numbers(taken: str) -> tuple[int, ...]:
    """Return the versions that a cursor took: most have taken the same few."""
    return () if taken == "[]" else tuple(from_json(taken))


def _numbers(taken: Iterable[int]) -> str:
    return f"[{','.join(map(str, taken))}]"


def _missing_text(missing: Missing | None) -> str:
    if missing is None:
        return ""
    doubt = (missing.doubt, missing.doubt_at) if missing.doubt else ()
    return to_json([missing.seq, missing.revision, missing.names, missing.never, *doubt])


def _missing(text: str) -> Missing | None:
    if not text:
        return None
    seq, revision, names, never, *doubt = from_json(text)
    doubted, doubt_at = doubt or ((), 0)
    return Missing(
        seq=seq,
        revision=revision,
        names=tuple(names),
        never=tuple(never),
        doubt=tuple(doubted),
        doubt_at=doubt_at,
    )

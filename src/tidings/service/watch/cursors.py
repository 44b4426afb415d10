"""Cursors: which polls a subscription takes, and its position after them (sentinels §4.2).

A cursor belongs to a sentinel on a page. On change it takes every new version, whatever caused the
poll; with a fixed interval or a time of day it takes the newest one at its own tick; on demand it
takes the polls that its sentinel requested.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TYPE_CHECKING

from tidings.detection.find import window
from tidings.detection.find.window import Window
from tidings.model.observed.unit import CHANGE, CursorMove, Missing
from tidings.model.watch.sentinel import FetchAt, FetchEvery, FetchOnDemand
from tidings.record import replace
from tidings.scheduling.timetable import ClockTimes, FixedInterval, Hours

if TYPE_CHECKING:
    from datetime import tzinfo

    from tidings.model.interval import Instant
    from tidings.service.watch.watchlist import Subscription, WatchedPage
    from tidings.storage.watches.sentinels import SentinelRow


def ticks_of(sub: Subscription) -> FixedInterval | ClockTimes:
    """Return the ticks of a subscription with a fixed interval, counted from its sentinel's start,
    or with a time of day.
    """
    asked = sub.interval
    if asked is None:
        message = "a subscription that is fetched on change has no ticks"
        raise TypeError(message)
    return ticks(asked, sub.owner.row, sub.owner.zone)


def ticks(asked: FetchEvery | FetchAt, row: SentinelRow, zone: tzinfo) -> FixedInterval | ClockTimes:
    """Return the ticks of a Fetch clause of a sentinel whose times of day are in a zone."""
    start = row.start_at if row.start_at is not None else row.started_at
    if start is None:
        start = row.created_at
    if isinstance(asked, FetchAt):
        return ClockTimes(start=start, clocks=asked.clocks, days=asked.days, zone=zone, slack=asked.effective_slack)
    return FixedInterval(start=start, interval=asked.interval, slack=min(asked.effective_slack, asked.interval - 1))


def next_tick(sub: Subscription) -> Instant:
    """Return the tick that a subscription waits for: its cursor's, else the first."""
    return sub.row.next_tick if sub.row.next_tick is not None else ticks_of(sub).first_tick(0)


def hours_of(sub: Subscription) -> Hours:
    """Return the hours in which a subscription allows polls of its page."""
    return Hours(sub.owner.sentinel.during, sub.owner.zone)


def is_open(sub: Subscription, at: Instant) -> bool:
    """Return whether an instant is within the hours of a subscription."""
    return not sub.owner.sentinel.during or hours_of(sub).first_open(at) == at


def window_of(sub: Subscription) -> Window:
    """Return the position of a subscription in its own sequence of versions."""
    return window.begin(Window(sub.row.number, sub.row.taken), sub.row.seen)


def reference(sub: Subscription) -> int:
    """Return the version that the next one is compared with, 0 if none (sentinels §4.4)."""
    return window.reference(sub.owner.sentinel.compare, window_of(sub))


def references(subs: Iterable[Subscription]) -> set[int]:
    """Return the versions that subscriptions compare their next one with."""
    return {seq for sub in subs if (seq := reference(sub))}


def take(sub: Subscription, seq: int, *, anew: bool = False) -> CursorMove:
    """Return the cursor after `sub` has taken version `seq`; `anew`: its reference is lost, and it
    starts over with this one.
    """
    before = Window() if anew else window_of(sub)
    now = window.after(sub.owner.sentinel.compare, before, seq)
    return CursorMove(
        subscription_id=sub.row.id,
        revision=sub.row.revision,
        base=sub.row.base or seq,
        taken=now.needed,
        next_tick=sub.row.next_tick,
        ticked_at=sub.row.ticked_at,
        number=now.number,
        seen=seq,
    )


def takes(
    sub: Subscription, at: Instant, eager: frozenset[int] = frozenset(), *, polled_at: Instant | None = None
) -> bool:
    """Return whether `sub` takes a poll at `at`: always on change or when its sentinel requested
    it, else at its own tick.

    A poll outside the sentinel's hours is taken only as its baseline.

    Args:
        sub: The subscription.
        at: The present (µs).
        eager: The sentinels that requested the poll.
        polled_at: When the page was polled (µs); None: now.
    """
    is_stored = polled_at is not None
    polled_at = at if polled_at is None else polled_at
    if not may_begin(sub, polled_at):
        return False
    if sub.row.sentinel_id in eager or sub.is_listing:
        return True
    if sub.row.taken and not is_open(sub, polled_at):
        return False
    if sub.is_only_shown or sub.is_summoned:
        return not sub.row.taken
    if is_doubtful(sub, polled_at) or (is_stored and is_unconfirmed(sub)):
        return True
    if isinstance(sub.fetch, FetchAt | FetchOnDemand):
        return sub.interval is not None and ticks_of(sub).is_satisfied(next_tick(sub), polled_at)
    if sub.interval is None or not sub.row.taken or sub.row.next_tick is None:
        return True
    return ticks_of(sub).is_satisfied(sub.row.next_tick, polled_at)


def is_tick(page: WatchedPage, at: Instant) -> bool:
    """Return whether a tick of a fixed interval of a page is due."""
    return any(sub.row.next_tick is not None and sub.row.next_tick <= at for sub in page.subscriptions.values())


def takers_of(
    page: WatchedPage, at: Instant, eager: frozenset[int], *, doubtful: bool = False
) -> tuple[Subscription, ...]:
    """Return the subscriptions that take a new version of a page.

    Args:
        page: The page.
        at: When it was polled (µs).
        eager: The sentinels that requested the poll.
        doubtful: Whether only subscriptions in doubt count.
    """
    every = page.subscriptions.values()
    return tuple(sub for sub in every if (is_doubtful(sub, at) if doubtful else takes(sub, at, eager)))


def takers_of_stored(
    page: WatchedPage,
    at: Instant,
    eager: frozenset[int],
    owed: Container[int],
    *,
    polled_at: Instant | None = None,
    doubtful: bool = False,
) -> tuple[tuple[Subscription, ...], tuple[Subscription, ...]]:
    """Return the subscriptions that take the newest stored version of a page, and those whose tick
    passes without it.

    Those that are owed a comparison take it.

    Args:
        page: The page.
        at: The present (µs).
        eager: The sentinels that requested a poll.
        owed: The subscriptions with a pending comparison.
        polled_at: When the page was polled (µs); None: now.
        doubtful: Whether only subscriptions in doubt count.
    """
    newest, polled = page.state.last_seq, at if polled_at is None else polled_at
    subs = [sub for sub in page.subscriptions.values() if not doubtful or is_doubtful(sub, at)]
    due = [sub for sub in subs if takes(sub, at, eager, polled_at=polled_at) or sub.row.id in owed]
    behind = tuple(sub for sub in due if newest and _is_behind(sub, newest, polled))
    return behind, tuple(sub for sub in due if sub.interval is not None and sub not in behind)


def _is_behind(sub: Subscription, newest: int, at: Instant) -> bool:
    """Return whether a subscription has not seen a version. A version without its selection counts
    as seen, unless in doubt.
    """
    if not sub.row.taken or is_doubtful(sub, at) or sub.holds_changes:
        return True
    return sub.row.seen != newest and (sub.missing is None or sub.missing.seq != newest)


def is_doubtful(sub: Subscription, at: Instant) -> bool:
    """Return whether a poll at `at` resolves a doubt: the poll before missed a part of the page
    that existed.
    """
    return sub.missing is not None and bool(sub.missing.doubt) and at > sub.missing.doubt_at


def is_unconfirmed(sub: Subscription) -> bool:
    """Return whether a change that the newest poll found waits for a second poll."""
    return sub.missing is not None and sub.missing.is_unconfirmed


def wait_for_second(sub: Subscription, at: Instant) -> CursorMove:
    """Return the unmoved cursor of a subscription whose change waits from `at` on for a second
    poll.
    """
    doubt = Missing(seq=0, revision=sub.row.revision, names=(), doubt=(CHANGE,), doubt_at=at)
    return replace(standing_still(sub), missing=doubt)


def may_begin(sub: Subscription, checked_at: Instant) -> bool:
    """Return whether a poll at `checked_at` may count for `sub`: a sentinel that has taken nothing
    yet begins with a poll made after its start.
    """
    return bool(sub.row.taken) or checked_at >= (sub.row.since or sub.owner.row.created_at)


def standing_still(sub: Subscription) -> CursorMove:
    """Return the cursor of a subscription unchanged."""
    return CursorMove(
        subscription_id=sub.row.id,
        revision=sub.row.revision,
        base=sub.row.base,
        taken=sub.row.taken,
        next_tick=sub.row.next_tick,
        ticked_at=sub.row.ticked_at,
        missing=sub.row.missing,
        number=sub.row.number,
        seen=sub.row.seen,
    )


def pass_tick(sub: Subscription, at: Instant) -> CursorMove:
    """Return the cursor of a fixed interval whose tick was satisfied at `at`, without a version."""
    return replace(standing_still(sub), next_tick=_following(sub, at), ticked_at=at)


def _following(sub: Subscription, at: Instant) -> Instant | None:
    if sub.interval is None:
        return None
    return ticks_of(sub).after_check(next_tick(sub), at)


def tick_all(cursors: tuple[CursorMove, ...], page: WatchedPage, at: Instant) -> tuple[CursorMove, ...]:
    """Advance the tick of each fixed interval among cursors that took a version."""
    moved = []
    for cursor in cursors:
        sub = page.subscriptions[cursor.subscription_id]
        moved.append(cursor if sub.interval is None else replace(cursor, next_tick=_following(sub, at), ticked_at=at))
    return tuple(moved)

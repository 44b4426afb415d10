"""Cursors: which look a subscription takes, and where it stands after it (sentinels §4.2).

A cursor belongs to a sentinel on a page. On change it takes every new version, whoever caused the look; with a fixed interval it takes,
at its own tick, the newest one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidings.model.unit import CursorMove
from tidings.scheduling.intervals import FixedInterval

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.service.watchlist import Subscription, WatchedPage


def fixed(sub: Subscription) -> FixedInterval:
    """Return the ticks of a subscription with a fixed interval, counted from its sentinel's start."""
    if sub.interval is None:
        message = "a subscription that is fetched on change has no ticks"
        raise TypeError(message)
    row = sub.owner.row
    start = next(i for i in (row.start_at, row.started_at, row.created_at) if i is not None)
    slack = min(sub.interval.effective_slack, sub.interval.interval - 1)
    return FixedInterval(start=start, interval=sub.interval.interval, slack=slack)


def takes(sub: Subscription, at: Instant, eager: frozenset[int] = frozenset()) -> bool:
    """Say whether a look at `at` is one that `sub` takes: always on change or when its sentinel asked, else at its own tick."""
    if sub.row.sentinel_id in eager:
        return True
    if sub.interval is None or not sub.row.taken or sub.row.next_tick is None:
        return True
    return fixed(sub).is_satisfied(sub.row.next_tick, at)


def ticked(sub: Subscription, at: Instant) -> CursorMove:
    """Return the cursor of a fixed interval whose tick was satisfied at `at` and that takes nothing."""
    return CursorMove(
        subscription_id=sub.row.id,
        revision=sub.row.revision,
        base=sub.row.base,
        taken=sub.row.taken,
        next_tick=_following(sub, at),
        ticked_at=at,
        missing=sub.row.missing,
    )


def _following(sub: Subscription, at: Instant) -> Instant | None:
    if sub.interval is None:
        return None
    ticks = fixed(sub)
    return ticks.after_check(sub.row.next_tick if sub.row.next_tick is not None else ticks.first_tick(at), at)


def tick_all(cursors: tuple[CursorMove, ...], page: WatchedPage, at: Instant) -> tuple[CursorMove, ...]:
    """Advance the tick of each fixed interval among cursors that took a version."""
    moved = []
    for cursor in cursors:
        sub = page.subscriptions[cursor.subscription_id]
        moved.append(cursor if sub.interval is None else replace(cursor, next_tick=_following(sub, at), ticked_at=at))
    return tuple(moved)

"""Looks: whether a sentinel has had a good look at one of its pages between two instants, as the records of polls tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.clock import DAY
from tidings.model.watch.sentinel import FetchEvery
from tidings.service.watch.cursors import ticks_of
from tidings.service.watch.watchlist import Subscription
from tidings.storage.observed import polls
from tidings.storage.watches import subscriptions

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.service.watch.watchlist import WatchedSentinel
    from tidings.storage.db.connection import Connection


def was_polled(connection: Connection, held: WatchedSentinel, page: str, first: Instant, last: Instant) -> bool:
    """Return whether each page of this name was looked at for a sentinel, well, in [first, last].

    On change every good look counts. With ticks the look that serves one of them does: it may be another sentinel's, but what comes
    between is not seen.
    """
    rows = [row for row in subscriptions.listing(connection, sentinel_id=held.row.id) if row.label == page]
    return bool(rows) and all(_was_polled(connection, Subscription(row, held), first, last) for row in rows)


def _was_polled(connection: Connection, sub: Subscription, first: Instant, last: Instant) -> bool:
    if sub.interval is None:
        return bool(polls.good(connection, sub.row.page_id, first, last))
    ticks = ticks_of(sub)
    between = sub.interval.interval if isinstance(sub.interval, FetchEvery) else 7 * DAY
    tick = ticks.first_tick(first - between)
    while (asked := ticks.execution_interval(tick)).start - (asked.end - asked.start) <= last:
        earliest = asked.start - (asked.end - asked.start)
        at = next(iter(polls.good(connection, sub.row.page_id, earliest, last)), None)
        if at is not None and at >= first:
            return True
        tick = ticks.next_tick(tick)
    return False

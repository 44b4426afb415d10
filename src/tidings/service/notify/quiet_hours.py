"""When a Notify clause sends its gathered changes, and until when it must not: intervals, times of
day, quiet hours, caps (004 §3.7.2; sentinels §1.2, §2.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta, tzinfo
from typing import TYPE_CHECKING, Final

from tidings.clock import DAY
from tidings.model.wall import instant_of, local_of
from tidings.model.watch.timing import DAILY, Opening
from tidings.scheduling.timetable.hours import ClockTimes, Hours

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.model.watch.telling import Notify, Rate

AT_ONCE: Final = frozenset({"immediate", "best_effort"})
"""Rates that wait only for the recipient."""


def tick_after(rate: Rate, after: Instant, *, start: Instant, zone: tzinfo) -> Instant | None:
    """Return the first instant after `after` at which a rate sends what has gathered; None if it
    has no clock.

    An interval counts from the sentinel's start, whenever changes were found. Whole days and times
    of day follow the zone's wall clock across DST changes; a skipped time comes right after, a
    repeated one comes once.

    Args:
        rate: The rate of a Notify clause.
        after: The instant (µs).
        start: When the sentinel started (µs).
        zone: Its time zone.
    """
    if rate.mode == "at":
        return ClockTimes(start=start, clocks=rate.clocks, days=rate.days, zone=zone).next_tick(after)
    if rate.mode != "every" or not rate.interval:
        return None
    number = max(0, after - start) // rate.interval + 1
    if rate.interval % DAY:
        return start + number * rate.interval
    days, local = timedelta(days=rate.interval // DAY), local_of(start, zone).replace(tzinfo=None)
    number = max(1, number - 1)
    while (tick := instant_of(local + number * days, zone)) <= after:
        number += 1
    return tick


def free_at(clause: Notify, at: Instant, *, sent: Sequence[Instant], zone: tzinfo) -> Instant:
    """Return the first instant from `at` on at which a clause may send: outside its quiet hours,
    and below its cap.

    Args:
        clause: The Notify clause.
        at: The instant (µs).
        sent: The instants of its latest messages, the oldest first (µs).
        zone: The sentinel's time zone.
    """
    while True:
        free = at
        if clause.cap is not None:
            counted = [instant for instant in sent if instant > free - clause.cap.per]
            if len(counted) >= clause.cap.count:
                free = counted[-clause.cap.count] + clause.cap.per
        if clause.quiet is not None:
            hours = Hours((Opening(DAILY, clause.quiet.begins, clause.quiet.ends),), zone)
            if hours.first_open(free) == free:
                free = hours.closes(free)
        if free == at:
            return free
        at = free

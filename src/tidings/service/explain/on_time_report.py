"""On-time report: how many of a sentinel's polls with a deadline were made in time (001 §2.1;
`tidings show`).

Computed from the records of polls and the reported changes. Ticks of a fixed interval are execution
intervals: those of one instant on all pages of a sentinel belong together. Expected updates are
counted by the reasons of polls, those of Then by the reports.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tidings.clock import DAY
from tidings.model.observed.poll_reason import Why
from tidings.model.watch.sentinel import FetchEvery, FetchOnChange
from tidings.scheduling.timetable.intervals import FixedInterval
from tidings.service.watch.cursors import hours_of, ticks_of
from tidings.service.watch.watchlist import Subscription
from tidings.storage.observed import polls
from tidings.storage.watches import changes, subscriptions

if TYPE_CHECKING:
    from tidings.model.interval import Duration, ExecutionInterval, Instant
    from tidings.service.watch.watchlist import WatchedSentinel
    from tidings.storage.db.connection import Connection

SINCE: Final = 30 * DAY
"""how far back it is computed"""
MOST: Final = 2_000
"""most ticks that are counted, the newest"""
Counts = dict[str, int]


def count_on_time(connection: Connection, held: WatchedSentinel, *, now: Instant) -> dict[str, Counts]:
    """Return `{"interval" | "expected" | "then": {"captured", "partial", "missed"}}`, each if the
    sentinel asks for such polls.
    """
    found: dict[str, Counts] = {}
    fetch = held.sentinel.fetch
    rows = subscriptions.listing(connection, sentinel_id=held.row.id)
    subs = [sub for row in rows if not (sub := Subscription(row, held)).is_only_shown]
    if isinstance(fetch, FetchEvery) and held.row.started_at is not None and subs:
        found["interval"] = _count(_ticks(connection, subs, held.row.started_at, held.row.ended_at or now))
    elif isinstance(fetch, FetchOnChange) and fetch.within is not None:
        found["expected"] = _count(_list_expected(connection, subs, now - SINCE))
    if held.sentinel.then:
        verdicts = (
            c.row.composite.verdict
            for c in changes.listing(connection, sentinel=held.row.name, since=now - SINCE)
            if c.row.composite
        )
        found["then"] = _count("captured" if verdict == "complete" else verdict for verdict in verdicts)
    return found


def _count(verdicts: Iterator[str]) -> Counts:
    return {"captured": 0, "partial": 0, "missed": 0, **Counter(verdicts)}


def _ticks(connection: Connection, subs: Sequence[Subscription], start: Instant, now: Instant) -> Iterator[str]:
    """Yield the result of each tick whose time is over."""
    ticks = ticks_of(subs[0])
    if not isinstance(ticks, FixedInterval):
        return
    first = max(start, now - SINCE, now - MOST * ticks.interval)
    looks = [polls.good(connection, sub.row.page_id, first - ticks.slack, now) for sub in subs]
    for tick in ticks.ticks_between(first, now):
        asked = ticks.execution_interval(tick)
        hits = [_is_hit(sub, asked, good, ticks.slack) for sub, good in zip(subs, looks, strict=True)]
        if asked.end < now or all(hits):
            yield "captured" if all(hits) else "partial" if any(hits) else "missed"


def _is_hit(sub: Subscription, asked: ExecutionInterval, looks: Sequence[Instant], slack: Duration) -> bool:
    """Return whether a poll serves a tick: at most the slack early or late; if its hours were over,
    after they begin.
    """
    at = hours_of(sub).first_open(asked.start) if sub.owner.sentinel.during else asked.start
    place = bisect_left(looks, asked.start - slack)
    return place < len(looks) and looks[place] <= max(asked.end, at + slack)


def _list_expected(connection: Connection, subs: Sequence[Subscription], since: Instant) -> Iterator[str]:
    for sub in subs:
        for poll in polls.listing(connection, page_id=sub.row.page_id):
            if poll.charged_at < since:
                break
            if poll.outcome in {"new", "unchanged", "changed"}:
                if poll.reason.why is Why.EXPECTED:
                    yield "captured"
                elif poll.reason.why is Why.OVERDUE:
                    yield "missed"

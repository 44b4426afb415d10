"""What comes next for a sentinel, and why: start and end, the next poll of each page, the next
notification; and how many of its polls with a deadline were made in time (001 §2.1).

Computed from stored data, like the running service does. Another sentinel on the same page may
cause a poll sooner, limits of its host or the budget one later. Ticks of a fixed interval are
execution intervals: those of one instant on all pages of a sentinel belong together. Expected
updates are counted by the reasons of polls, those of Then by the reports.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.language.times import point_text, zone_of
from tidings.language.write.printer import clause_lines, rate_text
from tidings.model.interval import describe_duration, spell_duration
from tidings.model.observed.poll_reason import Why
from tidings.model.watch.sentinel import LISTING, FetchAt, FetchEvery, FetchOnChange
from tidings.scheduling.timetable import FixedInterval, Hours
from tidings.service.notify.rates import tick_after
from tidings.service.show.records import rfc3339
from tidings.service.watch.composite_parts import composite_parts_of
from tidings.service.watch.cursors import hours_of, ticks, ticks_of
from tidings.service.watch.lifespan import Life, ends, starts
from tidings.service.watch.watchlist import WHEN_NEEDED, Subscription, clauses, read_meaning
from tidings.storage.observed import estimates, pages, polls
from tidings.storage.watches import changes, subscriptions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo

    from tidings.model.interval import Duration, ExecutionInterval, Instant
    from tidings.model.watch.sentinel import Fetch, Sentinel
    from tidings.service.watch.lifespan import Find
    from tidings.service.watch.watchlist import WatchedSentinel
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.observed.pages import Expected
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.storage.watches.subscriptions import LeftPage

_FIXED: Final = (FetchEvery, FetchAt)
BY_TURNS: Final = frozenset({"round_robin"})
"""Policies without learning: only they can compute when a page is polled next."""


class Prospect(NamedTuple):
    """A coming event: `what` it is (start, end, look, news), when (None: unknown, or not by time),
    why; `url` and `page_id` of a poll's page, the present interval of such polls (None: not by
    time), and whether the sentinel, not the policy, sets their times.
    """

    what: str
    at: Instant | None
    why: str
    url: str = ""
    page_id: int | None = None
    every: Duration | None = None
    is_fixed: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return it for a record."""
        return {
            "what": self.what,
            "at": rfc3339(self.at),
            "why": self.why,
            **({"url": self.url} if self.url else {}),
        }


class _Asker(NamedTuple):
    """A sentinel with polls; name and address of `sentinel` may be another's."""

    row: SentinelRow
    sentinel: Sentinel
    zone: tzinfo
    settings: Settings
    now: Instant


def list_prospects(
    connection: Connection,
    row: SentinelRow,
    *,
    find: Find,
    settings: Settings,
    now: Instant,
    learned: Mapping[int, Mapping[str, Any]] | None = None,
    turns: Mapping[int, Instant] | None = None,
) -> list[Prospect]:
    """Return what comes next for a sentinel: its life, its polls and its notifications.

    Args:
        row: The sentinel.
        find: Finds the life of another sentinel by its name.
        settings: The settings in use.
        now: The present (µs).
        learned: The policy's memory by page; read if None.
        turns: When a policy in `BY_TURNS` would poll each page (µs).
    """
    if row.state == "ended":
        return []
    asker = _asker_of(row, settings, now)
    polls = list_polls(connection, row, find=find, settings=settings, now=now, learned=learned, turns=turns)
    return [*_life(Life.of(row, asker.sentinel), find), *polls, *_news(asker)]


def _asker_of(row: SentinelRow, settings: Settings, now: Instant) -> _Asker:
    sentinel = read_meaning(row, clauses)
    return _Asker(row, sentinel, zone_of(sentinel.zone or settings.serve.zone) or UTC, settings, now)


def list_polls(
    connection: Connection,
    row: SentinelRow,
    *,
    find: Find,
    settings: Settings,
    now: Instant,
    learned: Mapping[int, Mapping[str, Any]] | None = None,
    turns: Mapping[int, Instant] | None = None,
    expected: Sequence[Expected] | None = None,
) -> Iterator[Prospect]:
    """Yield the next poll of each page of a sentinel; none if it has ended.

    Args:
        row: The sentinel.
        find: Finds the life of another sentinel by its name.
        settings: The settings in use.
        now: The present (µs).
        learned: The policy's memory by page; read if None.
        turns: When a policy in `BY_TURNS` would poll each page (µs).
        expected: The stored state of the sentinel's pages; read if None.
    """
    if row.state == "ended":
        return
    asker = _asker_of(row, settings, now)
    sentinel = asker.sentinel
    is_fixed = isinstance(sentinel.fetch, _FIXED)
    begin = end = None
    if row.state == "created" or sentinel.end is not None or sentinel.span is not None or row.end_at is not None:
        life = Life.of(row, sentinel)
        begin, end = starts(life, find) if row.state == "created" else None, ends(life, find)
    if row.state in {"enabled", "disabled"} or (
        begin is not None and begin <= now
    ):  # it starts at the service's next step
        found = pages.list_expected(connection, sentinel_id=row.id) if expected is None else expected
        if learned is None:
            learned = estimates.load(connection, settings.schedule.policy, [page.page_id for page in found])
        for page in found:
            memory = {} if is_fixed else learned.get(page.page_id, {})
            at, why, every = _next_poll(asker, page, memory, (turns or {}).get(page.page_id))
            if at is not None and end is not None and at >= end:
                at, why = None, f"none, because the sentinel ends before that ({why})"
            yield Prospect("check", at, why, page.given, page.page_id, every, is_fixed)


def _life(life: Life, find: Find) -> Iterator[Prospect]:
    sentinel = life.sentinel
    if life.row.started_at is None:
        yield Prospect("start", starts(life, find), f"From {point_text(sentinel.start)}")
    end = ends(life, find)
    if sentinel.span is not None:
        yield Prospect("end", end, f"For {spell_duration(sentinel.span)}")
    elif sentinel.end is not None:
        yield Prospect("end", end, f"To {point_text(sentinel.end)}")


def _next_poll(
    asker: _Asker, page: Expected, learned: Any, turn: Instant | None
) -> tuple[Instant | None, str, Duration | None]:
    """Return when a page is polled next for a sentinel, why, and the interval of such polls.

    `turn` is when its policy would poll, if it knows.
    """
    sentinel = asker.sentinel
    is_only_shown = bool(sentinel.then) and page.label in composite_parts_of(sentinel).shown
    if sentinel.scope is not None and page.label == LISTING:
        return None, "when pages come, go or move", None
    fetch = WHEN_NEEDED if is_only_shown else sentinel.fetch
    every = None if is_only_shown and page.taken else _every(fetch, learned, asker.settings)
    if asker.row.state == "disabled":
        return asker.row.resume_at, f"paused: tidings enable {asker.row.name} continues it", every
    if is_only_shown and page.taken:
        return None, "when Then needs it", every
    return *_next(asker, page, fetch, learned, turn), every


def _next(
    asker: _Asker, page: Expected, fetch: Fetch, learned: Any, turn: Instant | None
) -> tuple[Instant | None, str]:
    fetch_text, name, now = _write_fetch(fetch), asker.row.name, asker.now
    if page.retry_at is not None and page.retry_at > now:
        return _open(asker, page.retry_at), _why_again(page)
    least = max(now, (page.polled_at or 0) + round(asker.settings.fetch.page_floor_seconds * SECOND))
    if isinstance(fetch, _FIXED):
        tick = page.next_tick
        if tick is None:
            tick = ticks(fetch, asker.row, asker.zone).first_tick(0)
        at = _open(asker, max(tick, least))
        if not asker.sentinel.during:
            return at, fetch_text
        latest = ticks(fetch, asker.row, asker.zone).execution_interval(tick).end
        return at, f"{fetch_text}, moved to the beginning of its hours" if at > max(latest, least) else fetch_text
    if fetch.events and page.checked_at is None:
        return _open(asker, least), "the first check, the baseline for an event"
    if fetch.events and not isinstance(fetch, FetchOnChange):
        return None, f"{fetch_text}: or tidings check {name}"
    if not isinstance(fetch, FetchOnChange):
        return None, f"{fetch_text}: tidings check {name}"
    if page.checked_at is None:
        return _open(asker, least), "the first check"
    period, how = _period(fetch, learned, asker.settings)
    due = page.checked_at + period if turn is None else turn
    return _open(asker, max(due, least)), f"{fetch_text}: {how} {_round_duration(period)}"


@lru_cache(maxsize=1024)
def _round_duration(period: Duration) -> str:
    return describe_duration(roundly(period))


@lru_cache(maxsize=1024)
def _write_fetch(fetch: Fetch) -> str:
    """Return a Fetch clause as the language writes it."""
    return clause_lines("fetch", fetch)[0]


def _every(fetch: Fetch, learned: Any, settings: Settings) -> Duration | None:
    """Return the average interval of a sentinel's own polls."""
    match fetch:
        case FetchEvery(interval):
            return interval
        case FetchAt(clocks, days):
            return 7 * DAY // (len(clocks) * len(days))
        case FetchOnChange():
            return _period(fetch, learned, settings)[0]
    return None


def _open(asker: _Asker, at: Instant) -> Instant:
    """Return the first instant at or after `at` at which the sentinel allows polls."""
    during = asker.sentinel.during
    return Hours(during, asker.zone).first_open(at) if during else at


def _period(fetch: FetchOnChange, learned: Any, settings: Settings) -> tuple[Duration, str]:
    """Return the present interval of polls on change, to the second, and how it was found."""
    known = learned.get("period") if isinstance(learned, dict) else None
    seconds = round(known if isinstance(known, int | float) else settings.schedule.pace_seconds)
    period = max(seconds, 1) * SECOND
    if fetch.shortest is not None and fetch.longest is not None:
        period = min(max(period, fetch.shortest), fetch.longest)
    if settings.schedule.policy in BY_TURNS:
        return period, "in turn, about every"
    return period, "as it changes, about every" if known is not None else "until more is known, about every"


def roundly(period: Duration) -> Duration:
    """Return a rounded interval: from three minutes, hours or days on in whole units.

    From a hundred units on it is in tens.
    """
    unit = next((unit for unit in (DAY, HOUR, MINUTE) if period >= 3 * unit), SECOND)
    unit *= 10 if period >= 100 * unit else 1
    return round(period / unit) * unit


def _news(asker: _Asker) -> Iterator[Prospect]:
    start = asker.row.started_at
    if start is None:
        return
    for clause in asker.sentinel.notify:
        at = tick_after(clause.rate, asker.now, start=start, zone=asker.zone)
        if at is not None:
            yield Prospect("news", at, f"{rate_text(clause.rate)}, if there are changes")


def _why_again(page: Expected) -> str:
    if page.health == "ok":
        return "checked again: a part was missing"
    return f"tried again after a failure ({page.kind or page.health})"


SINCE: Final = 30 * DAY
"""how far back it is computed"""
MOST: Final = 2_000
"""most ticks that are counted, the newest"""
Counts = dict[str, int]


def count_on_time(connection: Connection, watched: WatchedSentinel, *, now: Instant) -> dict[str, Counts]:
    """Return `{"interval" | "expected" | "then": {"captured", "partial", "missed"}}`, each if the
    sentinel asks for such polls.
    """
    found: dict[str, Counts] = {}
    fetch = watched.sentinel.fetch
    rows = subscriptions.listing(connection, sentinel_id=watched.row.id)
    subs = [sub for row in rows if not (sub := Subscription(row, watched)).is_only_shown]
    if isinstance(fetch, FetchEvery) and watched.row.started_at is not None and subs:
        found["interval"] = _count(_ticks(connection, subs, watched.row.started_at, watched.row.ended_at or now))
    elif isinstance(fetch, FetchOnChange) and fetch.within is not None:
        found["expected"] = _count(_list_expected(connection, subs, now - SINCE))
    if watched.sentinel.then:
        verdicts = (
            c.row.composite.verdict
            for c in changes.listing(connection, sentinel=watched.row.name, since=now - SINCE)
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
    replaced = subscriptions.find_replaced(connection, subs[0].row.sentinel_id)
    polls = [
        _list_good(connection, sub.row.page_id, replaced.get(sub.row.page_id, ()), first - ticks.slack, now)
        for sub in subs
    ]
    for tick in ticks.ticks_between(first, now):
        asked = ticks.execution_interval(tick)
        hits = [_is_hit(sub, asked, good, ticks.slack) for sub, good in zip(subs, polls, strict=True)]
        if asked.end < now or all(hits):
            yield "captured" if all(hits) else "partial" if any(hits) else "missed"


def _list_good(
    connection: Connection, page_id: int, replaced: Iterable[LeftPage], first: Instant, last: Instant
) -> list[Instant]:
    """Return the good polls of a page in [first, last], before that those of the pages that it has
    replaced.
    """
    until: Instant = last
    found: list[Instant] = []
    for left in replaced:
        found += polls.good(connection, page_id, max(first, left.left_at), until)
        page_id, until = left.page_id, left.left_at
    return sorted((*polls.good(connection, page_id, first, until), *found))


def _is_hit(sub: Subscription, asked: ExecutionInterval, polls: Sequence[Instant], slack: Duration) -> bool:
    """Return whether a poll serves a tick: at most the slack early or late; if its hours were over,
    after they begin.
    """
    at = hours_of(sub).first_open(asked.start) if sub.owner.sentinel.during else asked.start
    place = bisect_left(polls, asked.start - slack)
    return place < len(polls) and polls[place] <= max(asked.end, at + slack)


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

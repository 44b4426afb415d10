"""Outlook: what comes next for a sentinel, and why: its start and end, the next poll of each page, the next time that news are told.

Reckoned from what is stored, as the running service reckons it. Another sentinel on the same page may bring a poll sooner, limits of its
host or the budget one later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.language.dates import point_text, zone_of
from tidings.language.write.texts import clause_lines, rate_text
from tidings.model.interval import spell_duration
from tidings.model.watch.sentinel import FetchAt, FetchEvery, FetchOnChange
from tidings.service.notify.quiet_hours import tick_after
from tidings.service.show.records import rfc3339
from tidings.service.watch.cursors import hours_of, next_tick, ticks_of
from tidings.service.watch.lifespan import Life, ends, starts
from tidings.service.watch.watchlist import Subscription, WatchedSentinel, meaning
from tidings.storage.observed import estimates, pages
from tidings.storage.watches import subscriptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.page import PageIdentity, PageState
    from tidings.service.watch.lifespan import Find
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.storage.watches.subscriptions import SubscriptionRow


BY_TURNS: Final = frozenset({"round_robin"})
"""Policies that learn nothing of a page: when it is polled next only they themselves can say."""


@dataclass(frozen=True, slots=True)
class Prospect:
    """Something that comes: `what` it is (start, end, look, news), when (None: nobody knows, or not by time), why; `url` and `page_id` of a
    look's page, and how far apart such polls are now (None: not by time).
    """

    what: str
    at: Instant | None
    why: str
    url: str = ""
    page_id: int | None = None
    every: Duration | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as a record shows it."""
        return {
            "what": self.what,
            "at": rfc3339(self.at),
            "why": self.why,
            **({"url": self.url} if self.url else {}),
        }


@dataclass(frozen=True, slots=True)
class Held:
    """What is stored of all watched pages: their subscriptions by sentinel, and each page."""

    subs: Mapping[int, Sequence[SubscriptionRow]]
    pages: Mapping[int, tuple[PageIdentity, PageState]]


def hold_all(connection: Connection) -> Held:
    """Read what is stored of all watched pages."""
    subs: dict[int, list[SubscriptionRow]] = {}
    for sub in subscriptions.listing(connection):
        subs.setdefault(sub.sentinel_id, []).append(sub)
    return Held(subs, {state.page_id: (identity, state) for identity, state in pages.listing(connection)})


def outlook(
    connection: Connection,
    row: SentinelRow,
    *,
    find: Find,
    settings: Settings,
    now: Instant,
    learned: Mapping[int, Mapping[str, Any]] | None = None,
    turns: Mapping[int, Instant] | None = None,
    held: Held | None = None,
) -> list[Prospect]:
    """Return what comes next for a sentinel, life first. `learned` is what the policy remembers, read if it is not given, `turns` when one that
    goes `BY_TURNS` would poll each page, `held` what is stored of all sentinels, for whoever asks for many of them.
    """
    if row.state == "ended":
        return []
    sentinel = meaning(row.text)
    life = Life.of(row, sentinel)
    zone = zone_of(sentinel.zone or settings.serve.zone) or UTC
    owner = WatchedSentinel(row, sentinel, {}, zone)
    found = list(_life(life, find))
    begin, end = starts(life, find) if row.state == "created" else None, ends(life, find)
    if row.state in {"enabled", "disabled"} or (
        begin is not None and begin <= now
    ):  # at the service's next step it has begun
        known = estimates.load_all(connection, settings.schedule.policy) if learned is None else learned
        subs = subscriptions.listing(connection, sentinel_id=row.id) if held is None else held.subs.get(row.id, ())
        for sub in subs:
            identity, state = pages.get(connection, sub.page_id) if held is None else held.pages[sub.page_id]
            subscription = Subscription(sub, owner)
            memory = known.get(sub.page_id, {})
            at, why = _look(subscription, state, memory, settings, now, (turns or {}).get(sub.page_id))
            if at is not None and end is not None and at >= end:
                at, why = None, f"none: it ends before that ({why})"
            url, every = identity.given, _every(subscription, memory, settings)
            found.append(Prospect("look", at, why, url, sub.page_id, every))
    return [*found, *_news(owner, now)]


def _life(life: Life, find: Find) -> Iterator[Prospect]:
    sentinel = life.sentinel
    if life.row.started_at is None:
        yield Prospect("start", starts(life, find), f"From {point_text(sentinel.start)}")
    end = ends(life, find)
    if sentinel.span is not None:
        yield Prospect("end", end, f"For {spell_duration(sentinel.span)}")
    elif sentinel.end is not None:
        yield Prospect("end", end, f"To {point_text(sentinel.end)}")


def _look(
    sub: Subscription, state: PageState, learned: Any, settings: Settings, now: Instant, turn: Instant | None
) -> tuple[Instant | None, str]:
    """Return when a page is polled next for a sentinel, and why then; `turn` is when its policy would, if it says so itself."""
    if sub.owner.row.state == "disabled":
        return None, f"paused: tidings enable {sub.owner.row.name} goes on"
    if sub.is_only_shown and sub.row.taken:
        return None, "when Then says so"
    fetch = sub.owner.sentinel.fetch
    said = clause_lines("fetch", fetch)[0]
    floor = round(settings.fetch.page_floor_seconds * SECOND)
    if state.retry_at is not None and state.retry_at > now:
        return _open(sub, state.retry_at, _why_again(state))
    least = max(now, (state.polled_at or 0) + floor)
    if sub.interval is not None:
        asked = ticks_of(sub).execution_interval(next_tick(sub))
        at, why = _open(sub, max(asked.start, least), said)
        return at, why if at <= max(
            asked.end, least
        ) or not sub.owner.sentinel.during else f"{said}, moved to where its hours begin"
    if fetch.events and state.checked_at is None:
        return _open(sub, least, "the first look, for an event to be compared with")
    if fetch.events and not isinstance(fetch, FetchOnChange):
        return None, f"{said}: or tidings check {sub.owner.row.name}"
    if not isinstance(fetch, FetchOnChange):
        return None, f"{said}: tidings check {sub.owner.row.name}"
    if state.checked_at is None:
        return _open(sub, least, "the first look")
    period, how = _period(fetch, learned, settings)
    due = state.checked_at + period if turn is None else turn
    return _open(sub, max(due, least), f"{said}: {how} {spell_duration(roundly(period))}")


def _every(sub: Subscription, learned: Any, settings: Settings) -> Duration | None:
    """Return how far apart polls are that a sentinel asks for by itself, on average."""
    match sub.fetch:
        case FetchEvery(interval):
            return interval
        case FetchAt(clocks, days):
            return 7 * DAY // (len(clocks) * len(days))
        case FetchOnChange() if not (sub.is_only_shown and sub.row.taken):
            return _period(sub.fetch, learned, settings)[0]
    return None


def _open(sub: Subscription, at: Instant, why: str) -> tuple[Instant, str]:
    return (hours_of(sub).first_open(at) if sub.owner.sentinel.during else at), why


def _period(fetch: FetchOnChange, learned: Any, settings: Settings) -> tuple[Duration, str]:
    """Return how far apart polls on change are now, to the second, and how that was found."""
    known = learned.get("period") if isinstance(learned, dict) else None
    seconds = round(known if isinstance(known, int | float) else settings.schedule.pace_seconds)
    period = max(seconds, 1) * SECOND
    if fetch.shortest is not None and fetch.longest is not None:
        period = min(max(period, fetch.shortest), fetch.longest)
    if settings.schedule.policy in BY_TURNS:
        return period, "in its turn, about every"
    return period, "as it changes, about every" if known is not None else "until more is known, about every"


def roundly(period: Duration) -> Duration:
    """Return an interval as people say it: three units and more of minutes, hours or days are whole ones."""
    unit = next((unit for unit in (DAY, HOUR, MINUTE) if period >= 3 * unit), SECOND)
    return round(period / unit) * unit


def _news(held: WatchedSentinel, now: Instant) -> Iterator[Prospect]:
    start = held.row.started_at
    if start is None:
        return
    for clause in held.sentinel.notify:
        at = tick_after(clause.rate, now, start=start, zone=held.zone)
        if at is not None:
            yield Prospect("news", at, f"{rate_text(clause.rate)}, if there are any")


def _why_again(state: PageState) -> str:
    if state.health == "ok":
        return "checked again: a part of it was not there"
    return f"tried again after {state.kind or state.health}"

"""Pages that should have been checked already (I-10): overdue after two intervals plus the
floor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from tidings.clock import DAY, SECOND
from tidings.model.watch.collection import SCHEME, is_listing
from tidings.model.watch.sentinel import Fetch, FetchAt, FetchEvery, FetchOnChange, FetchOnDemand
from tidings.model.watch.weight import WHOLE
from tidings.service.health.trouble import Trouble
from tidings.service.show.finding import spell_count, spell_since
from tidings.service.watch.page_schedule import is_fresh_until
from tidings.storage.observed import estimates, hosts, pages
from tidings.storage.write import charge

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.page import PageState
    from tidings.model.watch.sentinel import Sentinel
    from tidings.service.health.reading import HealthReading
    from tidings.settings import Settings
    from tidings.storage.watches.subscriptions import SubscriptionRow

PATIENCE_INTERVALS: Final = 2


def overdue(reading: HealthReading) -> Iterator[Trouble]:
    """Yield the overdue pages, the longest overdue first, each with the reason if known."""
    late = sorted(_overdue(reading), key=lambda found: found[0])
    known = charge.budgets(reading.c) if late else {}
    spent = [name for name, bucket in known.items() if bucket.refill(reading.now).level < 1]
    for since, page_id in late:
        names = reading.names(page_id)
        words = f"{reading.identities[page_id].given}: overdue since {spell_since(since, reading.now)}"
        mend = f"tidings check {names[0]}"
        if not reading.is_polled:
            words += "; no process is checking pages"
            mend = "tidings serve  # or `tidings check` from cron"
        elif empty := [name for name in spent if not is_listing(name) or name[len(SCHEME) :] in names]:
            words += f"; the budget {', '.join(empty)} is used up"
            setting = "budget.polls_per_day" if WHOLE in empty else "budget.classes"
            mend = f"raise {setting} in tidings.toml"
            if all(map(is_listing, empty)):
                mend = f"tidings alter {empty[0][len(SCHEME) :]} Budget 1000 per day"
        yield Trouble(brief="overdue", words=words, mend=mend, since=since, sentinels=names)


def on_time(reading: HealthReading) -> str:
    """Return the text for no overdue page."""
    count = pages.count(reading.c)
    if not count:
        return "no page is watched now"
    detail = f"none of {spell_count(count, 'page')} is overdue"
    if reading.is_polled:
        return detail
    watched = reading.population
    last = max((state.polled_at for _, state in watched if state.polled_at is not None), default=None)
    checked = (
        "nothing has been checked yet" if last is None else f"the last check was at {spell_since(last, reading.now)}"
    )
    return f"no process is checking pages; {checked}; {detail}"


def _overdue(reading: HealthReading) -> Iterator[tuple[Instant, int]]:
    """Yield (since when, page) for each overdue page."""
    before = reading.now - round(reading.settings.fetch.page_floor_seconds * SECOND)
    late = pages.late(reading.c, before=before, now=reading.now)
    if not late:
        return
    states = {state.page_id: (identity, state) for identity, state in late}
    paused = {host.name: host.paused_until or 0 for host in hosts.states(reading.c)}
    heed = round(reading.settings.fetch.freshness_seconds * SECOND)
    learned = estimates.load_all(reading.c, reading.settings.schedule.policy)
    found: dict[int, Instant] = {}
    for sub in reading.subscriptions:
        if sub.page_id not in states:
            continue
        identity, state = states[sub.page_id]
        if is_listing(identity.url):  # it is asked for only when it has changed
            continue
        fresh = 0 if sub.next_tick is not None else is_fresh_until(state, most=heed)
        held = max(state.retry_at or 0, paused.get(identity.host, 0), fresh)
        pace = _pace(learned.get(sub.page_id, {}), reading.settings)
        since = _late_since(reading, sub, state, held=held, pace=pace)
        if since is not None:
            found[sub.page_id] = min(since, found.get(sub.page_id, since))
    for page_id, since in found.items():
        yield since, page_id


def _late_since(
    reading: HealthReading, sub: SubscriptionRow, state: PageState, *, held: Instant, pace: Duration
) -> Instant | None:
    """Return since when a poll for this subscription has been due, None if not for long; a back-off
    counts as a poll.
    """
    owner, now = reading.owners[sub.sentinel_id], reading.now
    floor = round(reading.settings.fetch.page_floor_seconds * SECOND)
    began = owner.created_at if owner.started_at is None else owner.started_at
    since = max(began if state.polled_at is None else state.polled_at, held)
    if now - since <= floor or (sub.next_tick is not None and sub.next_tick > now):
        return None
    sentinel = reading.timing(owner)
    if _is_only_shown(sub, sentinel):
        return None
    interval = _interval(sentinel, pace=pace, floor=floor)
    if interval is None or now - since <= PATIENCE_INTERVALS * interval + floor:
        return None
    return since + interval


def _pace(learned: Mapping[str, object], settings: Settings) -> Duration:
    """Return how long a page fetched on change may wait: by the policy's memory of it, at least the
    pace.
    """
    period = learned.get("period")
    seconds = (
        max(float(period), settings.schedule.pace_seconds)
        if isinstance(period, int | float)
        else settings.schedule.pace_seconds
    )
    return round(seconds * SECOND)


def _is_only_shown(sub: SubscriptionRow, sentinel: Sentinel | None) -> bool:
    """Return whether a page that has been polled is polled again only when Then needs it."""
    if sentinel is None or not sub.taken or not sentinel.then:
        return False
    from tidings.service.health.intents import is_only_shown  # it loads the grammar

    return is_only_shown(sentinel, sub.label)


def _interval(sentinel: Sentinel | None, *, pace: Duration, floor: Duration) -> Duration | None:
    """Return the poll interval a sentinel may rely on, None if there is none; the pace if its text
    cannot be read.
    """
    fetch: Fetch = FetchOnChange() if sentinel is None else sentinel.fetch
    if sentinel is not None and sentinel.during and not isinstance(fetch, FetchOnDemand):
        return 7 * DAY
    match fetch:
        case FetchEvery(interval):
            return max(interval, floor)
        case FetchOnChange(shortest, longest):
            wanted = max(pace, shortest or 0)
            return max(wanted if longest is None else min(wanted, longest), floor)
        case FetchAt():
            return 7 * DAY
        case FetchOnDemand():
            return None

"""How the watching goes: looks that are overdue, pages and hosts that fail, news that did not arrive, comparisons that are owed.

Each function reads one unmoving state of the database and returns findings; `now` is wall time in µs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from tidings.clock import DAY, MINUTE, SECOND
from tidings.errors import SentinelError
from tidings.model.sentinel import Fetch, FetchAt, FetchEvery, FetchOnChange, FetchOnDemand, Sentinel
from tidings.model.weight import WHOLE
from tidings.service.finding import Finding, ok, shortened, spell_count, spell_instant, spell_length, spell_since, warn
from tidings.service.purses import purses, render_cost
from tidings.service.records import class_of
from tidings.service.standing import is_fresh_until
from tidings.service.watchlist import Subscription, WatchedSentinel, meaning
from tidings.service.welcome import matches_nothing
from tidings.storage import (
    charge,
    comparisons,
    deliveries,
    endpoints,
    estimates,
    events,
    hosts,
    pages,
    sentinels,
    subscriptions,
)

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.model.page import HostState, PageIdentity, PageState
    from tidings.scheduling.admission import Admission
    from tidings.settings import Settings
    from tidings.storage.connection import Connection
    from tidings.storage.endpoints import EndpointRow
    from tidings.storage.sentinels import SentinelRow
    from tidings.storage.subscriptions import SubscriptionRow

PATIENCE_INTERVALS: Final = 2
LATE_DELIVERY: Final[Duration] = 10 * MINUTE
RECENT: Final[Duration] = 7 * DAY
MANY: Final = 100

KIND_MENDS: Final[Mapping[str, str]] = {
    "404": "tidings drop {name}, or watch its new address",
    "410": "tidings drop {name}, or watch its new address",
    "address": "tidings settings fetch  # fetch.allow_networks names private networks that may be asked",
    "robots": "tidings settings fetch  # fetch.robots, or `Robots ignored because`, if the site is yours",
    "size": "tidings settings fetch  # fetch.max_body_bytes",
}
"""What mends an error of that kind; `tidings check NAME` looks again for all others."""


def looks(c: Connection, *, settings: Settings, now: Instant, polling: bool) -> Iterator[Finding]:
    """Yield whether pages are looked at when they should be (trust.md I-10): two intervals and the floor later is overdue."""
    watched = pages.population(c)
    if not watched:
        yield ok("looks", "no page is watched now")
        return
    late = sorted(_overdue(c, watched, settings=settings, now=now))
    detail = _spell_overdue(late, len(watched), now)
    if not polling:
        last = max((state.polled_at for _, state in watched if state.polled_at is not None), default=None)
        looked = "nothing has been looked at yet" if last is None else f"the last look was at {spell_since(last, now)}"
        detail = f"no process polls; {looked}; {detail}"
    if not late:
        yield ok("looks", detail)
    elif polling:
        yield warn("looks", detail, _budget_mend(c, now) or f"tidings check {late[0][2]}")
    else:
        yield warn("looks", detail, "tidings serve  # or `tidings check` from cron")


def _spell_overdue(late: Sequence[tuple[Instant, str, str]], watched: int, now: Instant) -> str:
    count = spell_count(watched, "page")
    if not late:
        return f"none of {count} is overdue"
    since, url, _ = late[0]
    return (
        f"{len(late):,} of {count} {'is' if len(late) == 1 else 'are'} overdue, {url} since {spell_since(since, now)}"
    )


def _overdue(
    c: Connection, watched: Sequence[tuple[PageIdentity, PageState]], *, settings: Settings, now: Instant
) -> Iterator[tuple[Instant, str, str]]:
    """Yield since when, which address and for which sentinel, for each page that is overdue."""
    owners = {row.id: row for row in sentinels.listing(c)}
    paused = {host.name: host.paused_until or 0 for host in hosts.states(c)}
    states = {state.page_id: (identity, state) for identity, state in watched}
    found: dict[int, tuple[Instant, str, str]] = {}
    heed = round(settings.fetch.freshness_seconds * SECOND)
    learned = estimates.load_all(c, settings.schedule.policy)
    for sub in subscriptions.listing(c, active=True):
        identity, state = states[sub.page_id]
        owner = owners[sub.sentinel_id]
        fresh = 0 if sub.next_tick is not None else is_fresh_until(state, most=heed)
        held = max(state.retry_at or 0, paused.get(identity.host, 0), fresh)
        paced = _pace(learned.get(sub.page_id, {}), settings)
        since = _late_since(sub, owner, state, held=held, settings=settings, pace=paced, now=now)
        if since is not None and (sub.page_id not in found or since < found[sub.page_id][0]):
            found[sub.page_id] = (since, identity.given, owner.name)
    yield from found.values()


def _late_since(
    sub: SubscriptionRow,
    owner: SentinelRow,
    state: PageState,
    *,
    held: Instant,
    settings: Settings,
    pace: Duration,
    now: Instant,
) -> Instant | None:
    """Return since when a look for this subscription has been due, None if that is not long ago; a back-off counts as a look."""
    floor = round(settings.fetch.page_floor_seconds * SECOND)
    began = owner.created_at if owner.started_at is None else owner.started_at
    since = max(began if state.polled_at is None else state.polled_at, held)
    if now - since <= floor or (sub.next_tick is not None and sub.next_tick > now):
        return None
    if _is_only_shown(sub, owner):
        return None
    interval = _interval(owner, pace=pace, floor=floor)
    if interval is None or now - since <= PATIENCE_INTERVALS * interval + floor:
        return None
    return since + interval


def _pace(learned: Mapping[str, object], settings: Settings) -> Duration:
    """Return how long a page that is fetched on change may wait: what the policy remembers of it, the pace at least."""
    period = learned.get("period")
    seconds = (
        max(float(period), settings.schedule.pace_seconds)
        if isinstance(period, int | float)
        else settings.schedule.pace_seconds
    )
    return round(seconds * SECOND)


def _is_only_shown(sub: SubscriptionRow, owner: SentinelRow) -> bool:
    """Return whether a page that has been looked at is looked at again only when Then says so."""
    held = _held(sub, owner)
    return held is not None and bool(sub.taken) and held.is_only_shown


def _held(sub: SubscriptionRow, owner: SentinelRow) -> Subscription | None:
    """Return a subscription with what its sentinel says, None where its text cannot be read."""
    sentinel = _said(owner)
    return None if sentinel is None else Subscription(sub, WatchedSentinel(owner, sentinel, {}))


def _said(owner: SentinelRow) -> Sentinel | None:
    """Return what a sentinel says, None where its text cannot be read."""
    try:
        return meaning(owner.text)
    except (SentinelError, TypeError, ValueError):
        return None


def _interval(owner: SentinelRow, *, pace: Duration, floor: Duration) -> Duration | None:
    """Return the time from one look to the next that a sentinel may count on, None if on none; the pace, where its text cannot be read."""
    sentinel = _said(owner)
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


def _budget_mend(c: Connection, now: Instant) -> str:
    spent = [row.name for row in charge.budgets(c) if row.refilled(now).level < 1]
    setting = "budget.polls_per_day" if WHOLE in spent else "budget.classes"
    return f"raise {setting} in tidings.toml: the budget {', '.join(spent)} is spent" if spent else ""


def promises(c: Connection, *, settings: Settings) -> Iterator[Finding]:
    """Yield whether all looks at fixed intervals can be made in time: within the budget, and within what each host may be asked."""
    asked = list(_promised(c, settings))
    if not asked:
        yield ok("intervals", "no page is looked at at a fixed interval")
        return
    admissions = list(_admissions(asked, settings))
    found = [
        warn("intervals", f"{where} cannot take all looks in time: {_spell_load(admission)}", mend)
        for where, mend, admission in admissions
        if not admission.holds
    ]
    yield from shortened(found, mend="tidings plan")
    if not found:
        whole = admissions[0][2]
        yield ok("intervals", f"all can be kept: {spell_count(len(asked), 'page')}, {whole.load:.0%} of the budget")


def _promised(c: Connection, settings: Settings) -> Iterator[tuple[str, Duration, float]]:
    """Yield host, interval and cost of each page with a fixed interval, its shortest."""
    owners = {row.id: row for row in sentinels.listing(c)}
    identities = {state.page_id: identity for identity, state in pages.population(c)}
    floor = round(settings.fetch.page_floor_seconds * SECOND)
    shortest: dict[int, Duration] = {}
    for sub in subscriptions.listing(c, active=True):
        held = _held(sub, owners[sub.sentinel_id])
        if held is not None and isinstance(held.interval, FetchEvery) and sub.page_id in identities:
            interval = max(held.interval.interval, floor)
            shortest[sub.page_id] = min(interval, shortest.get(sub.page_id, interval))
    dear = render_cost(settings)
    for page_id, interval in shortest.items():
        identity = identities[page_id]
        yield identity.host, interval, dear if identity.render else 1.0


def _admissions(
    asked: Sequence[tuple[str, Duration, float]], settings: Settings
) -> Iterator[tuple[str, str, Admission]]:
    """Yield for the budget, and for each host that is spaced, what mends it and whether its looks fit (bid_and_defaults §7)."""
    import numpy as np  # only for who has such pages: doctor starts quickly

    from tidings.scheduling.admission import admit

    intervals, costs = np.array([i for _, i, _ in asked]), np.array([cost for *_, cost in asked])
    yield (
        "the budget",
        "raise budget.polls_per_day, or longer intervals",
        admit(intervals, costs, settings.budget.polls_per_day / DAY),
    )
    gap = round(settings.fetch.host_gap_seconds * SECOND)
    if not gap:
        return
    by_host: dict[str, list[Duration]] = {}
    for host, interval, _ in asked:
        by_host.setdefault(host, []).append(interval)
    for host, own in sorted(by_host.items()):
        yield (
            host,
            "longer intervals, or a smaller fetch.host_gap_seconds if the site is yours",
            admit(np.array(own), np.ones(len(own)), 1 / gap),
        )


def _spell_load(admission: Admission) -> str:
    if admission.load > 1:
        return f"they are {admission.load:.1f} times what it takes"
    return f"in {spell_length(admission.stretch)} they are {admission.worst:.1f} times what it takes"


def classes(c: Connection, *, settings: Settings, now: Instant) -> Iterator[Finding]:
    """Yield how the budget classes stand, and which sentinels name one that is not set up (any more)."""
    for purse in purses(c, settings, now=now):
        if purse.name != WHOLE:
            yield ok("class", f"{purse.name}: {purse}")
    named = settings.budget.named()
    lost = [
        warn(
            "class",
            f"{row.name} names the class {name}, which is not set up: the budget of all polls pays",
            f'tidings settings budget  # budget.classes = ["{name}: 500 per day"]',
        )
        for row in sentinels.listing(c)
        if (name := class_of(row.text)) not in {WHOLE, *named}
    ]
    yield from shortened(lost, mend="tidings list")
    if not named and not lost:
        yield ok("classes", "none is set up: all polls share one budget")


def failing_pages(c: Connection, *, now: Instant) -> Iterator[Finding]:
    """Yield the watched pages that are in error, with their kind and since when."""
    watched = pages.population(c)
    names: dict[int, str] = {}
    owners = {row.id: row.name for row in sentinels.listing(c)}
    for sub in subscriptions.listing(c, active=True):
        names.setdefault(sub.page_id, owners.get(sub.sentinel_id, ""))
    bad = [(identity, state) for identity, state in watched if state.health == "error"]
    shaky = sum(1 for _, state in watched if state.health == "shaky")
    found = [_failing_page(identity, state, names.get(state.page_id, "NAME"), now) for identity, state in bad]
    yield from shortened(found, mend="tidings list")
    if not bad:
        again = f", {shaky} of them failed just now and will be tried again" if shaky else ""
        yield ok("pages", f"{spell_count(len(watched), 'page')} watched, none in error{again}")


def _failing_page(identity: PageIdentity, state: PageState, name: str, now: Instant) -> Finding:
    since = f" since {spell_since(state.failing_since, now)}" if state.failing_since is not None else ""
    detail = f"{identity.given}: error({state.kind}){since}: {state.reason or 'no reason was noted'}"
    return warn("page", detail, KIND_MENDS.get(state.kind, "tidings check {name}").format(name=name))


def missing_parts(c: Connection) -> Iterator[Finding]:
    """Yield the selectors of sentinels that match nothing on their page: nothing can be told of what they look at."""
    owners = {row.id: row.name for row in sentinels.listing(c)}
    found = [
        warn(
            "part", f"{owners[sub.sentinel_id]}: {matches_nothing(name)}: {pages.identity(c, sub.page_id).given}", mend
        )
        for sub in subscriptions.listing(c, active=True)
        for name in (sub.missing.names if sub.missing is not None else ())
        for mend in (f"tidings alter {owners[sub.sentinel_id]} …  # `tidings test` tries another selector",)
    ]
    yield from shortened(found)
    if not found:
        yield ok("parts", "all selectors match")


def restless_pages(c: Connection, *, now: Instant) -> Iterator[Finding]:
    """Yield the watched pages that look different each time: what they tell is likely no news (`estimation.saturation`)."""
    restless = [(identity, state) for identity, state in pages.population(c) if state.saturation.since is not None]
    owners = {row.id: row.name for row in sentinels.listing(c)}
    names = {sub.page_id: owners.get(sub.sentinel_id, "NAME") for sub in subscriptions.listing(c, active=True)}
    found = [
        warn(
            "page",
            f"{identity.given} looks different each time, since {spell_since(state.saturation.since or 0, now)}",
            f"tidings mask {names.get(state.page_id, 'NAME')}  # what differs, or Select and Exclude",
        )
        for identity, state in restless
    ]
    yield from shortened(found, mend="tidings list")
    if not found:
        yield ok("restless pages", "no page looks different each time")


def failing_hosts(c: Connection, *, now: Instant) -> Iterator[Finding]:
    """Yield the hosts that fail or that asked to be left alone for a while, out of those that are watched."""
    watched = {identity.host for identity, _ in pages.population(c)}
    states = [host for host in hosts.states(c) if host.name in watched]
    found = [_failing_host(host, now) for host in states if host.failures or (host.paused_until or 0) > now]
    yield from shortened(found)
    if not found:
        yield ok("hosts", f"{spell_count(len(watched), 'host')} watched, none fails")


def _failing_host(host: HostState, now: Instant) -> Finding:
    parts = [f"{spell_count(host.failures, 'failure')} in a row"] if host.failures else []
    if host.paused_until is not None and host.paused_until > now:
        parts.append(f"left alone until {spell_instant(host.paused_until)}")
    return warn("host", f"{host.name}: {', '.join(parts)}", "tidings list  # which of its pages fail, and why")


def dead_letters(c: Connection, *, now: Instant, polling: bool) -> Iterator[Finding]:
    """Yield whether news could not be delivered, or waits although it is due (trust.md F-28)."""
    dead = deliveries.listing(c, dead=True, limit=MANY + 1)
    if dead:
        count = f"more than {MANY} dead letters" if len(dead) > MANY else spell_count(len(dead), "dead letter")
        newest = dead[0]
        ended = newest.created_at if newest.finished_at is None else newest.finished_at
        detail = f"{count}; the newest for {newest.sentinel}, given up at {spell_since(ended, now)}: {newest.error or 'no reason was noted'}"
        yield warn("deliveries", detail, f"tidings deliveries --dead; tidings deliveries replay {newest.id}")
    due = deliveries.next_due(c)
    if due is not None and now - due > LATE_DELIVERY:
        yield warn(
            "deliveries",
            f"news waits to be delivered since {spell_since(due, now)}",
            "tidings deliveries" if polling else "tidings serve  # or `tidings check`",
        )
    elif not dead:
        yield ok("deliveries", "none is dead, none waits longer than it should")


def failing_endpoints(c: Connection, *, now: Instant) -> Iterator[Finding]:
    """Yield the endpoints that were switched off or only fail."""
    known = endpoints.listing(c)
    found = [_failing_endpoint(row, now) for row in known if not row.enabled or row.failing_since is not None]
    yield from shortened(found)
    if not found:
        yield ok("endpoints", f"{len(known)} known, none fails")


def _failing_endpoint(row: EndpointRow, now: Instant) -> Finding:
    since = f" since {spell_since(row.failing_since, now)}" if row.failing_since is not None else ""
    reason = f": {row.reason}" if row.reason else ""
    if row.enabled:
        return warn("endpoint", f"{spell_endpoint(row)} takes nothing{since}{reason}", "tidings deliveries")
    return warn(
        "endpoint",
        f"{spell_endpoint(row)} is switched off, it failed{since}{reason}",
        "tidings deliveries --dead; mend the receiver, then replay",
    )


def spell_endpoint(row: EndpointRow) -> str:
    """Return a name that can be pasted into a report: addresses of channels hold tokens, so only a web host is shown."""
    parts = urlsplit(row.address)
    place = f" at {parts.hostname}" if parts.scheme in {"http", "https"} and parts.hostname else ""
    return f"{row.kind} {row.id}{place}"


def owed_comparisons(c: Connection) -> Iterator[Finding]:
    """Yield comparisons that are owed or were given up (contracts.md §1)."""
    pending = comparisons.pending(c)
    given_up = comparisons.given_up(c)
    owners = {row.id: row.name for row in sentinels.listing(c, ended=True)}
    names = {sub.id: owners.get(sub.sentinel_id, "NAME") for sub in subscriptions.listing(c)}
    if pending:
        tried = max(row.attempt for row in pending)
        detail = f"{spell_count(len(pending), 'comparison')} owed, tried {spell_count(tried, 'time')} so far"
        yield warn("comparisons", detail, "tidings check  # or a running service makes them")
    found = []
    for row in given_up:
        name = names.get(row.subscription_id, "NAME")
        detail = f"{name}: versions {row.from_seq} and {row.to_seq} of page {row.page_id} could not be compared: {row.reason}"
        found.append(warn("comparison", detail, f"tidings diff {name} {row.from_seq} {row.to_seq}"))
    yield from shortened(found)
    if not pending and not given_up:
        yield ok("comparisons", "none is owed, none was given up")


def recent_problems(c: Connection, *, now: Instant) -> Iterator[Finding]:
    """Yield what could not be written in the last days (events `problem.unit`)."""
    found: Sequence[events.EventRow] = [e for e in events.listing(c, types=("problem.unit",)) if now - e.at < RECENT]
    if not found:
        yield ok("problems", "none was recorded in the last 7 days")
        return
    last = found[-1]
    where = f" of page {last.page_id}" if last.page_id is not None else ""
    detail = f"{spell_count(len(found), 'outcome')} could not be stored in the last 7 days; the last{where} at {spell_since(last.at, now)}: {last.data.get('error', '')}"
    yield warn("problems", detail, "tidings doctor --deep")

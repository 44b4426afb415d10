"""Troubles of pages and their hosts: pages in error, pages that cannot be compared, missing parts,
and pages that should have been checked already (I-10): overdue after two intervals plus the floor.
Sources of `service/health/sources.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from tidings.clock import DAY, SECOND
from tidings.model.observed.page import MOVED_SIGHTS
from tidings.model.watch.sentinel import (
    SCHEME,
    WHOLE,
    Fetch,
    FetchAt,
    FetchEvery,
    FetchOnChange,
    FetchOnDemand,
    is_listing,
    is_share_of_other,
)
from tidings.service.health.trouble import Trouble
from tidings.service.show.finding import matches_nothing, spell_count, spell_instant, spell_since
from tidings.service.watch.page_schedule import is_fresh_until
from tidings.storage.observed import estimates, hosts, members, pages, versions
from tidings.storage.watches import events
from tidings.storage.write import charge

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.page import HostState, PageState
    from tidings.model.observed.unit import ComparisonRow
    from tidings.model.watch.sentinel import Sentinel
    from tidings.service.health.trouble import HealthReading
    from tidings.settings import Settings
    from tidings.storage.watches.subscriptions import SubscriptionRow

RECENT: Final[Duration] = 7 * DAY

GONE: Final = "tidings drop {name}  # or watch its new address: tidings alter {name} 'Using https://…'"
KIND_MENDS: Final[Mapping[str, str]] = {
    "404": GONE,
    "410": GONE,
    "secret": "tidings secret list  # `tidings secret set` stores a missing one",
    "login": "tidings secret list  # `tidings secret set` stores the right password, and Tidings logs in again",
    "address": "tidings settings fetch  # fetch.allow_networks names the private networks that requests may reach",
    "robots": "tidings settings fetch  # fetch.robots, or `Robots ignored because`, if the site is yours",
    "scope": "tidings alter {name} 'Scope \"/*\"'  # or another first page: a link of it must be in the scope",
    "size": "tidings settings fetch  # fetch.max_body_bytes",
}
"""How to fix an error of that kind; for all others `tidings check NAME` checks again."""


def failing(reading: HealthReading) -> Iterator[Trouble]:
    """Yield the watched pages in error, with kind and begin; recent first failures are notes."""
    for identity, state in reading.ailing:
        if state.health == "ok":
            continue
        names = reading.names(state.page_id)
        brief = f"{state.health}({state.kind})"
        since = f" since {spell_since(state.failing_since, reading.now)}" if state.failing_since is not None else ""
        words = f"{identity.given}: {brief}{since}: {state.reason or 'no reason was stored'}"
        is_error = state.health == "error"
        yield Trouble(
            brief=brief,
            words=words if is_error else f"{words} (Tidings tries again)",
            mend=KIND_MENDS.get(state.kind, "tidings check {name}").format(name=names[0]) if is_error else "",
            severity="warn" if is_error else "note",
            since=state.failing_since,
            sentinels=names,
        )


def none_fails(reading: HealthReading) -> str:
    """Return the text for no page in error."""
    return f"{spell_count(pages.count(reading.c), 'page')} watched, none in error"


def list_moved(reading: HealthReading) -> Iterator[Trouble]:
    """Yield the pages that have moved permanently."""
    for identity, state in reading.ailing:
        if state.moved_sights >= MOVED_SIGHTS:
            words = (
                f"{identity.given} has moved permanently to {state.moved_to}; it is watched there through its old "
                "address"
            )
            names = reading.names(state.page_id)
            yield Trouble(brief="moved", words=words, severity="note", since=state.moved_at, sentinels=names)


def incomparable(reading: HealthReading) -> Iterator[Trouble]:
    """Yield the pages whose newest version cannot be compared, so that no change can be
    reported.
    """
    for identity, state in reading.ailing:
        if state.problem:
            words = (
                f"{identity.given}: its current content cannot be compared, so no change is reported: {state.problem}"
            )
            names = reading.names(state.page_id)
            yield Trouble(
                brief="not compared",
                words=words,
                mend=f"tidings alter {names[0]} 'Select css \"main\"'  # or another part of the page",
                since=state.changed_at,
                sentinels=names,
            )


def partial(reading: HealthReading) -> Iterator[Trouble]:
    """Yield the frames of watched pages that cannot be read."""
    framed = members.list_framed_pages(reading.c)
    for page_id in sorted(framed & reading.identities.keys()) if framed else ():
        for frame in members.frames(reading.c, page_id):
            if frame.state.health == "error":
                words = f"{frame.identity.url}: {frame.state.kind}: {frame.state.reason}; its last content is kept"
                yield Trouble(
                    brief="partial",
                    words=f"{reading.identities[page_id].given}: partial: {words}",
                    since=frame.state.failing_since,
                    sentinels=reading.names(page_id),
                )


def missing_parts(reading: HealthReading) -> Iterator[Trouble]:
    """Yield the selected parts that are missing from their page, so that no change can be
    reported.
    """
    for sub in reading.remarkable:
        names = sub.missing.names if sub.missing is not None and sub.missing.revision == sub.revision else ()
        owner = reading.owners[sub.sentinel_id].name
        media = events.media_of(reading.c, sub.page_id) if names else ""
        for part in names:
            yield Trouble(
                brief="part missing",
                words=f"{matches_nothing(part, media)}: {reading.identities[sub.page_id].given}",
                mend=f"tidings show {owner}  # then alter the clause that names it: tidings alter {owner} 'CLAUSE'",
                sentinels=(owner,),
            )


def list_unconfirmed(reading: HealthReading) -> Iterator[Trouble]:
    """Note the changes that wait for a second check, which separates noise from changes."""
    for sub in reading.remarkable:
        if sub.missing is None or not sub.missing.is_unconfirmed or sub.missing.revision != sub.revision:
            continue
        since = spell_since(sub.missing.doubt_at, reading.now)
        yield Trouble(
            brief="second check",
            words=f"{reading.identities[sub.page_id].given}: a change found at {since} is reported if a second check confirms it, at most two minutes later",
            severity="note",
            since=sub.missing.doubt_at,
            sentinels=(reading.owners[sub.sentinel_id].name,),
        )


def list_healed_selectors(reading: HealthReading) -> Iterator[Trouble]:
    """Yield the selectors that no longer find anything, and their replacements."""
    remembering = [sub for sub in reading.remarkable if '"targets"' in sub.remembered]
    if not remembering:
        return
    from tidings.service.health.intents import describe_healed  # it loads the grammar, and few have such a selector

    for sub in remembering:
        owner = reading.owners[sub.sentinel_id]
        for selector, stand_in in describe_healed(owner, sub):
            yield Trouble(
                brief="healed",
                words=f"selector healed: {selector} matches nothing, {stand_in} is watched instead: {reading.identities[sub.page_id].given}",
                mend=f"tidings show {owner.name}  # to keep it, write it into the clause: tidings alter {owner.name} 'CLAUSE'",
                severity="note",
                sentinels=(owner.name,),
            )


def restless(reading: HealthReading) -> Iterator[Trouble]:
    """Yield the watched pages that differ at each poll: their changes are probably no news
    (`estimation.saturation`).
    """
    for identity, state in reading.ailing:
        if state.saturation.since is not None:
            names = reading.names(state.page_id)
            yield Trouble(
                brief="restless",
                words=f"{identity.given} differs at each check, since {spell_since(state.saturation.since, reading.now)}",
                mend=f"tidings mask {names[0]}  # what differs, or Select and Exclude",
                since=state.saturation.since,
                sentinels=names,
            )


def failing_hosts(reading: HealthReading) -> Iterator[Trouble]:
    """Yield the watched hosts that fail or that asked for a pause."""
    failing = {host.name: host for host in hosts.states(reading.c) if host.failures or _is_paused(host, reading)}
    watched: dict[str, dict[str, None]] = {}
    for identity, state in reading.population if failing else ():
        if identity.host in failing:
            watched.setdefault(identity.host, {}).update(dict.fromkeys(reading.names(state.page_id)))
    for name, host in failing.items():
        if name in watched:
            is_paused = _is_paused(host, reading)
            yield Trouble(
                brief="held" if is_paused else "host fails",
                words=_spell_host(host, is_paused=is_paused),
                mend="tidings list  # shows which of its pages fail, and why",
                sentinels=tuple(watched[name]),
            )


def _is_paused(host: HostState, reading: HealthReading) -> bool:
    return (host.paused_until or 0) > reading.now


def _spell_host(host: HostState, *, is_paused: bool) -> str:
    parts = [f"{spell_count(host.failures, 'failure')} in a row"] if host.failures else []
    if is_paused and host.paused_until is not None:
        parts.append(f"requests paused until {spell_instant(host.paused_until)}")
    return f"{host.name}: {', '.join(parts)}"


def no_host_fails(reading: HealthReading) -> str:
    """Return the text for no failing host."""
    return f"{spell_count(len({identity.host for identity, _ in reading.population}), 'host')} watched, none fails"


def comparisons_owed(reading: HealthReading) -> Iterator[Trouble]:
    """Yield comparisons that are owed or were given up (contracts §1); one superseded by later
    versions is a note for a week.
    """
    owed, given_up = versions.list_pending(reading.c), versions.list_given_up(reading.c)
    if not owed and not given_up:
        return
    subs = {sub.id: sub for sub in reading.subscriptions}
    pending = [row for row in owed if row.subscription_id in subs]
    by_owner: dict[str, list[ComparisonRow]] = {}
    for row in pending:
        by_owner.setdefault(_owner(reading, subs[row.subscription_id]), []).append(row)
    for name, rows in by_owner.items():
        tried = max(row.attempt for row in rows)
        yield Trouble(
            brief="owed",
            words=f"{spell_count(len(rows), 'comparison')} of {name} not done yet, tried {spell_count(tried, 'time')} so far",
            mend="tidings check  # or a running service does them",
            sentinels=(name,),
        )
    recent = {_key(row) for row in versions.list_given_up(reading.c, since=reading.now - RECENT)}
    problems = {state.page_id for _, state in reading.ailing if state.problem}
    for row in given_up:
        sub = subs.get(row.subscription_id)
        if sub is None:
            continue
        is_now = row.to_seq >= sub.seen and row.revision == sub.revision
        if (is_now and row.page_id not in problems) or (not is_now and _key(row) in recent):
            yield _make_trouble(reading, sub, row, is_now=is_now)


def _make_trouble(reading: HealthReading, sub: SubscriptionRow, row: ComparisonRow, *, is_now: bool) -> Trouble:
    name, url = _owner(reading, sub), reading.identities[row.page_id].given
    what = f"versions {row.from_seq} and {row.to_seq}" if row.from_seq else f"version {row.to_seq}"
    return Trouble(
        brief="not compared",
        words=f"{what} of {url} could not be compared for {name}: {row.reason}",
        mend=f"tidings diff {name} {row.from_seq} {row.to_seq}" if row.from_seq else f"tidings test {name}",
        severity="warn" if is_now else "note",
        sentinels=(name,),
    )


def _owner(reading: HealthReading, sub: SubscriptionRow) -> str:
    return reading.owners[sub.sentinel_id].name


def _key(row: ComparisonRow) -> tuple[int, int, int, int]:
    return row.subscription_id, row.from_seq, row.to_seq, row.revision


PATIENCE_INTERVALS: Final = 2


def overdue(reading: HealthReading) -> Iterator[Trouble]:
    """Yield the overdue pages, the longest overdue first, each with the reason if known."""
    late = sorted(_overdue(reading), key=lambda found: found[0])
    known = charge.budgets(reading.c) if late else {}
    spent = [
        name
        for name, bucket in known.items()
        if bucket.refill(reading.now).level < 1
        and (reading.viewer is None or not is_share_of_other(name, reading.viewer))
    ]
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
        waits_until = max(state.retry_at or 0, paused.get(identity.host, 0), fresh)
        pace = _pace(learned.get(sub.page_id, {}), reading.settings)
        since = _late_since(reading, sub, state, waits_until=waits_until, pace=pace)
        if since is not None:
            found[sub.page_id] = min(since, found.get(sub.page_id, since))
    for page_id, since in found.items():
        yield since, page_id


def _late_since(
    reading: HealthReading, sub: SubscriptionRow, state: PageState, *, waits_until: Instant, pace: Duration
) -> Instant | None:
    """Return since when a poll for this subscription has been due, None if not for long; a back-off
    counts as a poll.
    """
    owner, now = reading.owners[sub.sentinel_id], reading.now
    floor = round(reading.settings.fetch.page_floor_seconds * SECOND)
    began = owner.created_at if owner.started_at is None else owner.started_at
    since = max(began if state.polled_at is None else state.polled_at, waits_until)
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

"""Check: poll what is due (or named) once, then stop; or ask a running service to do so (contracts
§2).

Describe what a check waits for: a paused host, the gap between two requests, the budget, an
answer, a receiver, another process.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Final, NamedTuple

from tidings.clock import DAY, MILLISECOND, MINUTE, SECOND, Clock
from tidings.errors import ClockSetBackError, ServiceError, StoreError
from tidings.fetching.politeness import NEVER
from tidings.model.interval import spell_duration
from tidings.record import dataclass
from tidings.service.show.finding import spell_instant
from tidings.service.show.notices import UNPOLLED, notice_record
from tidings.storage.db import lock
from tidings.storage.observed import hosts, pages, polls
from tidings.storage.watches import changes, events, sentinels

if TYPE_CHECKING:
    from collections.abc import Collection

    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.unit import Unit
    from tidings.service.run.monitor import Monitor
    from tidings.service.show.records import Record
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Database
    from tidings.storage.observed.polls import PollRow
    from tidings.storage.watches.changes import StoredChange

REST = 200 * MILLISECOND


@dataclass(slots=True)
class Checked:
    """The result of a check: polls in the order they ended, changes in the order they were
    reported, pages refused by the budget.

    `troubles` are events other than failed polls that kept sentinels from seeing changes: lost
    parts, comparisons that were given up.
    """

    polls: list[PollRow] = field(default_factory=list, repr=False)
    """not shown: when `asyncio.run` ends, it describes its task twice, with the task's result"""
    changes: list[StoredChange] = field(default_factory=list, repr=False)
    troubles: list[Record] = field(default_factory=list, repr=False)
    refused: set[int] = field(default_factory=set)
    late: set[int] = field(default_factory=set)
    """pages whose host was not free before the time limit"""
    paused: dict[int, str] = field(default_factory=dict)
    """pages whose host is paused, each with the reason and the end of the pause"""
    is_set_back: bool = False
    """whether the check was aborted because the machine's clock was set back"""
    ended_at: Instant = 0
    """when everything was done, 0 if it was not"""
    idle_until: Instant | None = None
    """when there will be work again, unless something is written or arrives; None: never"""

    def add(self, more: Checked) -> None:
        """Merge the result of another part of the same check."""
        for name in ("polls", "changes", "troubles"):
            getattr(self, name).extend(getattr(more, name))
        self.refused |= more.refused
        self.late, self.paused, self.is_set_back = more.late, more.paused, more.is_set_back
        self.ended_at, self.idle_until = more.ended_at, more.idle_until


class Results(NamedTuple):
    """What one committed unit says: its poll, with the address of the page, and its changes that
    are reported.
    """

    polls: list[tuple[PollRow, str]]
    changes: list[StoredChange]


def read_results(c: Connection, units: Sequence[Unit]) -> list[Results]:
    """Return the results of committed units, each kind read at once."""
    rows = [[row for row in unit.changes if not row.quiet] for unit in units]
    named = changes.with_names(c, [row for some in rows for row in some])
    done = {poll.id: poll for poll in polls.of(c, [unit.poll.poll_id for unit in units if unit.poll is not None])}
    addresses = pages.addresses(c, {poll.page_id for poll in done.values()})
    found = []
    for unit, some in zip(units, rows, strict=True):
        poll = None if unit.poll is None else done.get(unit.poll.poll_id)
        polled = [] if poll is None else [(poll, addresses[poll.page_id])]
        found.append(Results(polled, [named[row.id] for row in some if row.id in named]))
    return found


async def check(
    monitor: Monitor,
    named: dict[int, set[int]] | None = None,
    *,
    limit: Duration | None = None,
    report: Callable[[list[Results]], None] | None = None,
    alone: bool = False,
    waits: bool = False,
    show: Callable[[str], None] | None = None,
    count: Callable[[int, int], None] | None = None,
) -> Checked:
    """Poll the pages `named` (page → sentinels that ask), else all that is due now; detect,
    deliver, then return. Of collections, what was found is taken in and published before that.

    A clock that was set back aborts the check (`Checked.is_set_back`): a poller that starts then
    continues with `late`. Raises `StoreStalledError` where the results cannot be stored.

    Args:
        monitor: The running service.
        named: The pages to poll, each with the sentinels that ask; None: all that is due.
        limit: The longest wait for hosts (µs); None for no limit.
        report: Called with what was committed since the last call.
        alone: Whether the pages' frames are left to the next poll.
        waits: Whether hosts that are paused or fail are waited for.
        show: Called with what the check waits for, after two seconds without a page.
        count: Called with how many pages are done, and of how many.
    """
    clock = monitor.clock
    begun = clock.now()
    last = await monitor.store.read(events.last_seq)
    found = Checked()
    units: list[Unit] = []

    def note_unit(unit: Unit) -> None:
        if unit.poll is not None or unit.changes:
            units.append(unit)

    async def read_new() -> None:
        if not units:
            return
        results = await monitor.store.read(read_results, [*units])
        del units[: len(results)]
        found.polls += [poll for one in results for poll, _ in one.polls]
        found.changes += [change for one in results for change in one.changes]
        if report is not None:
            report(results)

    end = monitor.committer.listen(note_unit)
    try:
        await monitor.live()
        for page_id, asking in (named or {}).items():
            monitor.polling.requests.ask(page_id, sentinels=asking, alone=alone)
        wanted = set(named) if named is not None else set(monitor.planner.due_pages(begun))
        lists: Collection[int] = ()
        if named is not None:
            monitor.only = wanted
        checked_at, checked = begun, 0
        while True:
            try:
                await monitor.step()
            except ClockSetBackError:
                found.is_set_back = True
            await read_new()
            waiting = (
                (wanted & monitor.watchlist.pages.keys())
                - monitor.polled_ids
                - monitor.polling.requests.refused_by_budget
            ) | (monitor.watchlist.pages.keys() & lists)
            if not waits:
                waiting = await _without_paused(monitor, waiting, found)
            if len(found.polls) > checked:
                checked_at, checked = clock.now(), len(found.polls)
            if show is not None and clock.now() - checked_at > SHORT and (waiting or not monitor.quiescent()):
                show(f"{checked} of {len(wanted)} checked; waiting for {spell_wait(monitor, waiting, clock.now())}")
            elif count is not None:
                count(checked, len(wanted))
            if monitor.fault is not None:
                raise monitor.fault
            if not waiting and monitor.quiescent() and not await monitor.owes_deliveries():
                lists = await monitor.conclude()
                wanted |= set(lists)
                if not lists:
                    break
            is_over = limit is not None and clock.now() - begun >= limit
            if is_over or (found.is_set_back and monitor.quiescent()):
                found.late = waiting
                break
            await monitor.rest(most=REST)
    finally:
        end()
        with contextlib.suppress(StoreError):
            await read_new()
    if monitor.upkeep.error is not None:
        raise monitor.upkeep.error
    found.refused = monitor.polling.requests.refused_by_budget & wanted
    found.troubles = await monitor.store.read(_troubles, last)
    if not (found.late or found.paused or found.refused or found.is_set_back or await monitor.store.has_changed()):
        found.ended_at = clock.now()
        found.idle_until = monitor.next_work(found.ended_at)
    return found


async def _without_paused(monitor: Monitor, waiting: set[int], found: Checked) -> set[int]:
    """Return the pages still waited for. Pages of hosts with a long pause are recorded in
    `found.paused_hosts` instead.
    """
    now, left = monitor.clock.now(), set(waiting)
    paused_hosts = {host: until for host, until in monitor.gate.list_pauses().items() if is_paused(until, now)}
    if not paused_hosts and not found.paused:
        return waiting
    for page_id in waiting:
        if monitor.planner.is_busy(page_id):
            continue
        host = monitor.watchlist.pages[page_id].identity.host
        if host in paused_hosts:
            found.paused[page_id] = await monitor.store.read(spell_hold, host, paused_hosts[host], now)
            monitor.polling.requests.withdraw(page_id)
            left.discard(page_id)
        elif page_id in found.paused:
            left.discard(page_id)
    return left


def _ask(connection: Connection, wanted: Iterable[tuple[int, int | None]], now: Instant) -> list[int]:
    return [
        i
        for page_id, sentinel_id in wanted
        for i in polls.request_polls(connection, (page_id,), now, sentinel_id=sentinel_id)
    ]


def _troubles(connection: Connection, after: int, page_ids: Container[int] | None = None) -> list[Record]:
    """Return the events after event `after` that polls and changes do not show, of these pages or
    of all.
    """
    found = [
        event
        for event in events.listing(connection, after=after, types=UNPOLLED)
        if event.page_id is not None and not event.data.get("quiet") and (page_ids is None or event.page_id in page_ids)
    ]
    names = {row.id: row.name for row in sentinels.listing(connection, ended=True)} if found else {}
    return [
        notice_record(
            event,
            sentinel=names.get(event.sentinel_id or 0, ""),
            url=pages.identity(connection, event.page_id or 0).given,
        )
        for event in found
    ]


def _find_paused(connection: Connection, page_ids: Iterable[int], now: Instant) -> dict[int, str]:
    """Return those of these pages whose host is paused, each with the reason and the end of the
    pause.
    """
    found = {}
    for page_id in page_ids:
        host = pages.identity(connection, page_id).host
        until = hosts.state(connection, host).paused_until
        if until is not None and is_paused(until, now):
            found[page_id] = spell_hold(connection, host, until, now)
    return found


async def ask(
    database: Database,
    named: dict[int, set[int]],
    *,
    clock: Clock,
    patience: Duration,
    waits: bool = False,
    show: Callable[[str], None] | None = None,
) -> Checked:
    """Ask the polling process to poll these pages and wait for the records (contracts §2).

    Raises `ServiceError` if it does not answer in time, or refuses.

    Args:
        database: The database.
        named: The pages, each with the sentinels that ask.
        clock: The clock.
        patience: How long to wait for an answer (µs).
        waits: Whether hosts that are paused or fail are waited for.
        show: Called with what the check waits for.
    """
    now = clock.now()
    last = database.read(events.last_seq)
    wanted = [(page_id, sentinel_id) for page_id, asking in named.items() for sentinel_id in asking or (None,)]
    ids = database.write(_ask, wanted, now)
    while True:
        states = database.read(polls.get_requests, ids)
        unserved = {state.page_id for state in states if state.is_open}
        paused = {} if waits else database.read(_find_paused, unserved, clock.now())
        if not unserved - paused.keys():
            break
        if show is not None and clock.now() - now > SHORT:
            show(f"waiting for {database.read(spell_poller)}")
        if clock.now() - now > patience and not waits:
            message = (
                "the running service has not checked in time; its log or `tidings doctor` shows why (the requests "
                "stay open)"
            )
            raise ServiceError(message)
        await asyncio.sleep(REST / SECOND / 4)
    for state in states:
        if state.refused not in {"", "budget"}:
            raise ServiceError(f"the running service did not check: {state.refused}")
    found = Checked(refused={s.page_id for s in states if s.refused == "budget"}, paused=paused)
    found.polls = database.read(polls.of, sorted({s.poll_id for s in states if s.poll_id is not None}))
    for page_id in named:
        found.changes.extend(reversed(database.read(changes.listing, page_id=page_id, since=now)))
    found.troubles = database.read(_troubles, last, named)
    return found


SHORT: Final[Duration] = 2 * SECOND
"""A longer wait is explained to the user."""


def is_paused(until: Instant | None, now: Instant) -> bool:
    """Return whether a host that is paused until `until` is paused for longer than a check waits
    without saying so.
    """
    return until is not None and until - now > SHORT


def spell_hold(c: Connection, host: str, until: Instant, now: Instant) -> str:
    """Return until when a host is paused, and why: it asked for that, or it fails.

    Args:
        host: The host.
        until: The end of the pause (µs).
        now: The present (µs).
    """
    failed = polls.last_failure(c, host)
    asked = failed is not None and failed.status in {429, 503}
    why = f"the host requested it ({failed.status})" if failed is not None and asked else ""
    why = why or (f"the host fails ({failed.note or failed.kind})" if failed is not None else "the host requested it")
    return f"paused until {_spell_time(until, now)}: {why}"


def _spell_time(until: Instant, now: Instant) -> str:
    """Return an instant rounded up to the minute, without the date if it is today."""
    text = spell_instant(-(-until // MINUTE) * MINUTE)
    day, clock, zone = text.split(" ")
    return f"{clock[:5]} {zone}" if until // DAY == now // DAY else f"{day} {clock[:5]} {zone}"


def spell_wait(monitor: Monitor, waiting: Collection[int], now: Instant) -> str:
    """Return what a monitor waits for before it can check these pages."""
    pages = [monitor.watchlist.pages[page_id] for page_id in waiting if page_id in monitor.watchlist.pages]
    idle = [page for page in pages if not monitor.planner.is_busy(page.state.page_id)]
    busy = [page for page in pages if monitor.planner.is_busy(page.state.page_id)]
    parts = [
        (until, page) for page in idle if is_paused(until := monitor.gate.state(page.identity.host).paused_until, now)
    ]
    if parts:
        until, page = min(parts, key=lambda one: one[0] or 0)
        return f"{page.identity.host}, which is paused until {_spell_time(until or 0, now)}"
    if busy:
        identity = busy[0].identity
        return f"{'the browser that renders' if identity.render else 'the answer of'} {identity.given}"
    if idle and monitor.polling.payer.pays_at > now:
        return f"the budget, which allows a check in {spell_duration(_whole(monitor.polling.payer.pays_at - now))}"
    for page in idle:
        host = page.identity.host
        ready = monitor.gate.ready_at(host)
        if ready == NEVER:
            return f"other requests to {host}"
        if ready > now:
            return f"{host}, which allows one request in {spell_duration(_whole(monitor.gate.gap(host)))}"
    return "receivers of messages" if monitor.sending.is_busy else "the storage of what was found"


def _whole(duration: Duration) -> Duration:
    """Return a duration in whole seconds, at least one."""
    return max(1, -(-duration // SECOND)) * SECOND


def spell_poller(c: Connection) -> str:
    """Return the process that is asked to check."""
    lease = lock.current_lease(c, lock.POLLER)
    return (
        f"the process that checks pages ({lease.holder if lease is not None and lease.holder else 'it has just ended'})"
    )

"""Assembly: build all parts of the service and connect them, one function per package, lower layers
first. Concrete implementations are named only here.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TextIO

from tidings.clock import SECOND, SystemClock
from tidings.errors import SecretError
from tidings.fetching.http.client import user_agent
from tidings.model.watch.asking import LONGEST_TIMEOUT
from tidings.notification.channels import sendable
from tidings.record import dataclass
from tidings.scheduling.policies import reads_of
from tidings.service.collections.discover import Discovery
from tidings.service.collections.known import read_published
from tidings.service.examine.detect import Detector
from tidings.service.examine.silence import Silence
from tidings.service.examine.stored_versions import Bodies
from tidings.service.notify.claims import Claims
from tidings.service.notify.news import Bulletins
from tidings.service.notify.rates import Flapping, NotifyBehaviour
from tidings.service.poll.build_request import RequestBuilder
from tidings.service.poll.form_logins import Sessions
from tidings.service.poll.frames import Frames
from tidings.service.poll.grants import Grants
from tidings.service.poll.poller import Poller
from tidings.service.poll.polling import Payer, Polling
from tidings.service.poll.requests import Requests
from tidings.service.poll.sitemaps import Sitemaps
from tidings.service.poll.unit import Keeper
from tidings.service.rules.complex_needs import ComplexNeeds
from tidings.service.rules.composites import Composites
from tidings.service.rules.fetch_on_event import FetchOnEvent
from tidings.service.rules.follow import RuleFollower
from tidings.service.rules.joint_reports import Reporter
from tidings.service.run.from_settings import budgets, open_fetcher, open_planner, open_runner, open_web
from tidings.service.run.monitor import GATHER_SECONDS, Inbox, Monitor, WaysIn
from tidings.service.run.only_poller import lead, open_alone
from tidings.service.run.presence import Presence, SeenPollers, length_of
from tidings.service.run.senders import open_sending, read_signing
from tidings.service.secrets import references
from tidings.service.sentinels.lifecycle import Lives
from tidings.service.sources.outside_events import OutsideEvents
from tidings.service.sources.outside_sources import Sources
from tidings.service.sources.signals import Signals
from tidings.service.sources.websub import Subscriber
from tidings.service.upkeep import wrong_clock
from tidings.service.upkeep.collector import Collector
from tidings.service.upkeep.save_learned import Memories
from tidings.service.upkeep.upkeep import Heartbeat, Outages, Stall, Upkeep
from tidings.service.upkeep.weekly_report import WeeklyReport
from tidings.service.watch.committer import Committer
from tidings.service.watch.page_schedule import Needs
from tidings.service.watch.watchlist import Watchlist
from tidings.storage.db import instance, lock
from tidings.storage.observed import hosts, polls, versions
from tidings.storage.people.accounts import add_shares
from tidings.storage.secrets import Vault
from tidings.storage.write import charge, retention
from tidings.storage.write.copies import Copies

if TYPE_CHECKING:
    from tidings.archive.archive import Archive
    from tidings.clock import Clock
    from tidings.fetching.fetcher import Fetcher
    from tidings.fetching.http.client import Client
    from tidings.fetching.politeness import HostGate
    from tidings.isolation.runner import Runner
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.unit import Unit
    from tidings.service.notify.deliver import Sending
    from tidings.service.plan.planner import Planner
    from tidings.service.run.only_poller import Lead, OpenStore
    from tidings.service.run.presence import Role
    from tidings.service.run.senders import Signing
    from tidings.service.watch.hints import Hearing
    from tidings.service.watch.watchlist import WatchedSentinel
    from tidings.settings import Settings
    from tidings.storage.watches.deliveries import DeliveryRow
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service.run.assembly")


@dataclass(frozen=True, slots=True)
class _Base:
    """What all parts depend on: settings, clock, data directory, and this process's lease."""

    settings: Settings
    clock: Clock
    store: Store
    epoch: int
    holder: str
    installation: instance.DatabaseInstance
    archive: Archive
    vault: Vault

    @property
    def floor(self) -> Duration:
        """Return the shortest time between two polls of a page."""
        return round(self.settings.fetch.page_floor_seconds * SECOND)


class _Outside(NamedTuple):
    """The parts that send requests and run jobs on the answers."""

    gate: HostGate
    client: Client
    fetcher: Fetcher
    runner: Runner
    pollers: SeenPollers


class _Watch(NamedTuple):
    """The watched pages in memory, and the inbox for the next step."""

    watchlist: Watchlist
    committer: Committer
    bulletins: Bulletins
    needs: Needs
    inbox: Inbox


@contextlib.asynccontextmanager
async def poller(
    settings: Settings,
    *,
    clock: Clock | None = None,
    stream: TextIO | None = None,
    patience_seconds: float = 0.0,
    spreads: bool = False,
    stays: bool = True,
    endures: bool = False,
    role: Role = "all",
) -> AsyncIterator[Monitor]:
    """Run a monitor as the only poller of its data directory. It has loaded its pages; the caller
    runs its steps.

    Raises `PollerBusyError` while another process polls, and what `open_database` raises.

    Args:
        settings: The settings.
        clock: The clock; the system's by default.
        stream: Where console messages are written; standard output by default.
        patience_seconds: How long to wait for another poller to end, e.g. a `check`.
        spreads: Spread polls that are due at the same instant. For a long-running process; wrong
            for one that takes a single step.
        stays: The process runs for minutes, so a first change may wait for a confirming poll.
        endures: Wait as long as needed for a database server that does not answer, at the start and
            later, until `Store.hurry` or a cancellation.
        role: `all`, or `planner`: it sends nothing, and waits while another process holds the
            lease.
    """
    clock, stands_by = clock or SystemClock(), role == "planner"
    opening = open_alone(settings, patience_seconds, endures=endures, stands_by=stands_by)
    async with opening as opened, contextlib.AsyncExitStack() as stack:
        await opened.store.read(wrong_clock.start, clock)
        leading = await lead(settings, opened.store, opened.lock, clock, patience_seconds, stands_by=stands_by)
        monitor = await _build(
            stack, settings, opened, leading, clock, stream or sys.stdout, spreads=spreads, stays=stays, role=role
        )
        try:
            yield monitor
        finally:
            await asyncio.shield(monitor.stop(patience=round(settings.serve.stop_seconds * SECOND)))


@contextlib.asynccontextmanager
async def collector(settings: Settings, *, clock: Clock | None = None) -> AsyncIterator[Collector]:
    """Yield the collector of old versions, as the only poller meanwhile. Raises what `poller`
    raises.
    """
    async with open_alone(settings, 0.0) as opened:
        store = opened.store
        epoch, holder = await lead(settings, store, opened.lock, clock or SystemClock(), 0.0)
        try:
            yield Collector(store, opened.archive, settings.store, epoch=epoch)
        finally:
            await store.write(lock.release_lease, lock.POLLER, holder, epoch)


async def _build(
    stack: contextlib.AsyncExitStack,
    settings: Settings,
    opened: OpenStore,
    leading: Lead,
    clock: Clock,
    stream: TextIO,
    *,
    spreads: bool,
    stays: bool,
    role: Role,
) -> Monitor:
    """Build all parts, lower layers first, subscribe them to committed units, and load the watched
    pages.
    """
    store, now = opened.store, clock.now()
    wrong = await store.write(
        wrong_clock.mend, now=now, epoch=leading.epoch, zone=settings.serve.zone, policy=settings.schedule.policy
    )
    settings = await store.read(add_shares, settings)
    copies = await _open_copies(stack, settings, store, now)
    base = await _open_base(settings, opened, leading, clock, now)
    outside = await _open_outside(stack, base)
    watch = _build_watch(base)
    pages = watch.watchlist.pages
    reads = reads_of(settings.schedule.policy)
    signals = Signals(store, pages, clock, epoch=base.epoch, reads=reads, on_hint=watch.inbox.take_hint)
    planner = open_planner(settings, pages, watch.needs, spreads=spreads, hearing=signals.hearing)
    grants, polling = _build_polling(base, outside, watch, planner, signals.hearing, stays=stays)
    signing = await _open_keys(base, now)
    notifying = NotifyBehaviour(
        store, noise=Flapping(settings.notify.noisy_changes, round(settings.notify.noisy_seconds * SECOND))
    )
    rules = _build_rules(base, watch, planner, notifying)
    sending = _build_sending(stack, base, outside, watch, signing, stream, notifying, sends=role == "all")
    outside_events = OutsideEvents(store, base.vault, clock, on_event=watch.inbox.take_event)
    discovery = Discovery(
        store,
        base.archive,
        watch.watchlist,
        planner,
        outside.runner,
        named=outside.client.robots.sitemaps,
        worths=lambda: _read_worths(settings, clock),
    )
    presence = await _begin_presence(stack, base, outside, role)
    monitor = Monitor(
        clock=clock,
        store=store,
        committer=watch.committer,
        watchlist=watch.watchlist,
        planner=planner,
        gate=outside.gate,
        upkeep=_build_upkeep(base, outside, watch, planner, sending, opened, presence),
        lives=Lives(store, watch.watchlist, planner, watch.committer, epoch=base.epoch),
        rules=rules,
        polling=polling,
        sending=sending,
        sources=Sources(store, settings.events, outside_events, epoch=base.epoch, clock=clock),
        sitemaps=_build_sitemaps(base, outside, watch, signals, grants),
        memories=Memories(
            store, watch.committer, planner, signals, pages, policy=settings.schedule.policy, epoch=base.epoch
        ),
        collector=Collector(store, base.archive, settings.store, epoch=base.epoch),
        beside=(
            discovery,
            Heartbeat(outside.client, settings.serve, user_agent(settings.fetch)),
            WeeklyReport(store, watch.watchlist, watch.committer, watch.bulletins, settings, epoch=base.epoch),
            *(() if presence is None else (signals,)),
        ),
        inbox=watch.inbox,
        ways_in=WaysIn(outside_events, signals, _build_subscriber(base, outside, watch, signals, signing)),
    )
    watch.committer.listen_to_numbers(copies.note)
    _connect(monitor, signals, discovery)
    await monitor.start()
    if role == "planner":
        monitor.ways_in.hubs.open()  # processes that only serve answer the hubs
    if wrong is not None:
        await _report_wrong_clock(wrong, base, watch)
    return monitor


async def _read_worths(settings: Settings, clock: Clock) -> tuple[Mapping[str, float], Mapping[int, float]]:
    """Return what is searched for and which pages matter, for those who watch a site."""
    from tidings.service.run.indexer import open_worths  # few do, and every check pays for what it imports

    return await open_worths(settings, clock)()


async def _open_copies(stack: contextlib.AsyncExitStack, settings: Settings, store: Store, now: Instant) -> Copies:
    """Return the detector of older copies of the data, which compares the numbers of the events
    that were handed out. It has checked once.
    """
    copies = Copies(settings.data)
    stack.callback(copies.close)
    if why := await store.write(copies.recognise, at=now):
        log.warning("this is an older copy of the data (%s): messages and changes get new ids", why)
    return copies


async def _open_base(settings: Settings, opened: OpenStore, leading: Lead, clock: Clock, now: Instant) -> _Base:
    """Return the base of all parts. Clears bodies that an interrupted process left and applies the
    configured budgets.
    """
    store = opened.store
    installation = await store.read(instance.load)
    archive = opened.archive
    archive.sweep(await store.read(versions.files))
    await store.write(retention.clear, await store.read(retention.listing))
    await store.write(charge.set_budgets, budgets(settings), at=now)
    return _Base(settings, clock, store, leading.epoch, leading.holder, installation, archive, Vault(settings.data))


async def _open_outside(stack: contextlib.AsyncExitStack, base: _Base) -> _Outside:
    """Return the fetching parts, with the stored state of hosts. Polls that an earlier process left
    open are ended as interrupted.
    """
    settings, store, clock = base.settings, base.store, base.clock
    runner = open_runner(settings)
    stack.push_async_callback(runner.close)
    longest = max(_usual_timeout(settings), LONGEST_TIMEOUT)
    await store.write(polls.end_earlier_epochs, epoch=base.epoch, now=clock.now(), longest=longest)
    gate, client = open_web(settings, clock, await store.read(hosts.as_left, now=clock.now(), longest=longest))
    sessions = Sessions(base.vault, read=store.read, write=store.write)
    pollers = SeenPollers()
    fetcher = open_fetcher(
        settings,
        client,
        runner,
        sessions,
        lambda number: store.read(read_published, number),
        on_poller=pollers.note,
    )
    stack.push_async_callback(fetcher.close)
    return _Outside(gate, client, fetcher, runner, pollers)


def _usual_timeout(settings: Settings) -> Duration:
    """Return the default timeout of a poll."""
    return round(settings.fetch.total_seconds * SECOND)


async def _open_keys(base: _Base, now: Instant) -> Signing:
    """Return the webhook signing keys. Encrypts receivers' addresses that an older version stored
    as plain text.
    """
    try:
        await base.store.write(references.seal_older, base.vault, at=now)
    except SecretError as error:
        log.error("addresses of receivers stay unencrypted, as an older version stored them: %s", error)  # noqa: TRY400 - the text says all
    return await base.store.write(read_signing, base.settings, base.vault, now)


def _build_watch(base: _Base) -> _Watch:
    watchlist = Watchlist(
        base.store,
        sendable=sendable(base.settings.notify),
        zone=base.settings.serve.zone,
        gathers_noise=base.settings.notify.noisy_changes > 0,
    )
    inbox = Inbox(gather_seconds=GATHER_SECONDS if isinstance(base.clock, SystemClock) else 0.0)
    return _Watch(watchlist, Committer(base.store), Bulletins(watchlist), Needs(), inbox)


def _build_polling(
    base: _Base, outside: _Outside, watch: _Watch, planner: Planner, hearing: Hearing, *, stays: bool
) -> tuple[Grants, Polling]:
    """Return what requests paid pages, and what pays for them at each step."""
    settings, store, clock = base.settings, base.store, base.clock
    pages = watch.watchlist.pages
    frames = Frames(store, clock, planner, pages, floor=base.floor)
    poll = _build_poller(base, outside, watch, frames, stays=stays)
    grants = Grants(
        clock=clock,
        store=store,
        committer=watch.committer,
        planner=planner,
        gate=outside.gate,
        fetcher=outside.fetcher,
        poller=poll,
        needs=watch.needs,
        hearing=hearing,
        bulletins=watch.bulletins,
        remembered=outside.client.robots.export,
        epoch=base.epoch,
        hash_seed=base.installation.hash_seed,
    )
    requests = Requests(store, pages, planner, drain_again=watch.inbox.drain_again)
    payer = Payer(store, planner, outside.gate, epoch=base.epoch)
    polling = Polling(
        store,
        pages,
        planner,
        payer,
        requests,
        grants,
        poll,
        frames,
        most=settings.schedule.concurrency,
        epoch=base.epoch,
    )
    return grants, polling


def _build_poller(base: _Base, outside: _Outside, watch: _Watch, frames: Frames, *, stays: bool) -> Poller:
    """Return the pipeline from an answer to a committed unit."""
    store, detect = base.store, base.settings.detect

    async def commit(unit: Unit) -> object:
        return await watch.committer.write(watch.needs.add_events(unit))

    return Poller(
        store=store,
        bodies=Bodies(store, base.archive),
        keeper=Keeper(store, base.archive, commit),
        detector=Detector(
            outside.runner,
            base.installation,
            seconds=detect.job_seconds,
            attempts=detect.attempts,
            heals=detect.heal,
        ),
        frames=frames,
        instance=base.installation,
        asker=RequestBuilder(base.vault, base.settings.data),
        timeout=_usual_timeout(base.settings),
        floor=base.floor,
        silence=Silence(store),
        confirms=stays and detect.second_looks,
    )


def _build_rules(base: _Base, watch: _Watch, planner: Planner, notifying: NotifyBehaviour) -> RuleFollower:
    """Return the follower of the event log, with all rule behaviours."""
    reporter = Reporter(base.store, base.installation)
    composites = Composites(base.store, reporter, watch.needs, planner.pace)
    complex_needs = ComplexNeeds(base.store, reporter, watch.needs)
    behaviours = (notifying, composites, complex_needs, FetchOnEvent(base.store, watch.needs))
    return RuleFollower(base.store, watch.watchlist, watch.committer, behaviours, epoch=base.epoch)


def _build_sending(
    stack: contextlib.AsyncExitStack,
    base: _Base,
    outside: _Outside,
    watch: _Watch,
    signing: Signing,
    stream: TextIO,
    notifying: NotifyBehaviour,
    *,
    sends: bool,
) -> Sending:
    """Return the sender of messages; without `sends` it sends nothing, since notifiers do. With
    PostgreSQL other processes may send too, so receivers are claimed.
    """
    settings, store = base.settings, base.store

    async def awaits(sentinel_id: int, endpoint_id: int) -> bool:
        return notifying.awaits(sentinel_id, endpoint_id)

    async def list_users(delivery: DeliveryRow) -> Iterable[WatchedSentinel]:  # noqa: ARG001 - those of all
        return watch.watchlist.sentinels.values()

    sending = open_sending(
        stack,
        settings,
        store,
        watch.committer,
        outside.client,
        signing,
        base.installation,
        stream,
        clock=base.clock,
        epoch=base.epoch,
        claims=Claims(store, base.holder, length_of(settings)) if settings.store.url else None,
        awaits=awaits,
        users_of=list_users,
    )
    if not sends:
        sending.leave_to_others()
    return sending


async def _begin_presence(
    stack: contextlib.AsyncExitStack, base: _Base, outside: _Outside, role: Role
) -> Presence | None:
    """Return what notes that this process works, where others may use its database too; None with
    SQLite.
    """
    if not base.settings.store.url:
        return None
    length = length_of(base.settings)
    presence = Presence(base.store, role, base.holder, length, list_pollers=outside.pollers.list_recent)
    await presence.note()
    stack.push_async_callback(presence.end)
    return presence


def _build_subscriber(base: _Base, outside: _Outside, watch: _Watch, signals: Signals, signing: Signing) -> Subscriber:
    """Return the WebSub subscriber, which asks hubs to announce changes of feeds."""
    return Subscriber(
        base.store,
        watch.watchlist.pages,
        signals,
        outside.client,
        outside.gate,
        base.clock,
        public_url=base.settings.serve.public_url,
        keys=signing.keys,
        epoch=base.epoch,
        timeout_seconds=base.settings.notify.timeout_seconds,
    )


def _build_sitemaps(base: _Base, outside: _Outside, watch: _Watch, signals: Signals, grants: Grants) -> Sitemaps:
    """Return the reader of sitemaps, whose requests are paid like polls."""
    return Sitemaps(
        base.store,
        watch.watchlist.pages,
        signals,
        outside.runner,
        named=outside.client.robots.sitemaps,
        ask=grants.ask_for,
        keep=grants.keep,
        least=base.settings.schedule.sitemap_pages,
        epoch=base.epoch,
    )


def _build_upkeep(
    base: _Base,
    outside: _Outside,
    watch: _Watch,
    planner: Planner,
    sending: Sending,
    opened: OpenStore,
    presence: Presence | None,
) -> Upkeep:
    """Return what maintains lock, lease, disk and database, and reports what stops the whole
    service.
    """
    settings, store = base.settings, base.store
    return Upkeep(
        settings.data,
        base.clock,
        store,
        watch.committer,
        outside.gate,
        watch.bulletins,
        sending,
        opened.soundness,
        Stall(opened.lock.say),
        Outages(store, watch.watchlist, planner, watch.committer, watch.bulletins, epoch=base.epoch),
        lease=round(settings.serve.lease_seconds * SECOND),
        holder=base.holder,
        epoch=base.epoch,
        note_presence=None if presence is None else presence.note,
    )


def _connect(monitor: Monitor, signals: Signals, discovery: Discovery) -> None:
    """Subscribe to durable units, in this order: hints before the watchlist has the page's new
    state, the planner after it.
    """
    for listener in (
        signals.observe,
        monitor.ways_in.hubs.note,
        monitor.watchlist.settle,
        monitor.rules.note,
        monitor.lives.note,
        monitor.planner.observe,
        discovery.note,
        monitor.polling.note,
        monitor.sending.note,
        monitor.note_committed,
    ):
        monitor.committer.listen(listener)
    monitor.listen_to_writing(discovery.note_written)
    monitor.listen_to_writing(signals.note_written)
    monitor.committer.listen_to_refusals(monitor.note_refused)


async def _report_wrong_clock(wrong: wrong_clock.Wrong, base: _Base, watch: _Watch) -> None:
    """Record that the clock was wrong, and notify each recipient who may have missed something
    because of it.
    """
    log.warning("%s", wrong.text)
    told = await base.store.read(wrong_clock.find_last_notified)
    await watch.committer.write(wrong_clock.unit(wrong, watch.bulletins, epoch=base.epoch, noticed_at=told))

"""Assembly: build all parts of the service and connect them, one function per package, lower layers
first. Concrete implementations are named only here.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TextIO

from tidings.clock import SECOND, SystemClock
from tidings.errors import SecretError, StoreError
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
from tidings.service.poll.circuit import NetworkWatch
from tidings.service.poll.form_logins import Sessions
from tidings.service.poll.frames import Frames
from tidings.service.poll.grants import PollRunner
from tidings.service.poll.poll_now import Requests
from tidings.service.poll.poller import Poller
from tidings.service.poll.polling import BudgetSpender, PollStarter
from tidings.service.poll.sitemaps import Sitemaps
from tidings.service.poll.unit import UnitWriter
from tidings.service.rules.complex_needs import ComplexNeeds
from tidings.service.rules.composites import Composites
from tidings.service.rules.fetch_on_event import FetchOnEvent
from tidings.service.rules.follow import RuleFollower, is_awaited
from tidings.service.rules.joint_reports import Reporter
from tidings.service.rules.read_needs import NeedsReader
from tidings.service.run.from_settings import budgets, open_fetcher, open_planner, open_runner, open_web
from tidings.service.run.leases import PlannerLease
from tidings.service.run.monitor import GATHER_SECONDS, Inbox, Inputs, Monitor
from tidings.service.run.only_poller import lead, open_alone
from tidings.service.run.presence import Presence, SeenPollers, length_of
from tidings.service.run.senders import open_sending, read_signing
from tidings.service.run.server_clock import ServerClock, open_clock
from tidings.service.secrets import references
from tidings.service.sentinels.lifecycle import Lifecycle
from tidings.service.sources.outside_events import OutsideEvents
from tidings.service.sources.outside_sources import Sources
from tidings.service.sources.signals import Signals
from tidings.service.sources.websub import Subscriber
from tidings.service.upkeep import wrong_clock
from tidings.service.upkeep.collector import Collector
from tidings.service.upkeep.save_learned import LearnedStateWriter
from tidings.service.upkeep.upkeep import Heartbeat, Outages, Stall, Upkeep
from tidings.service.upkeep.weekly_report import WeeklyReport
from tidings.service.watch.committer import Committer
from tidings.service.watch.page_schedule import Needs
from tidings.service.watch.watchlist import Watchlist
from tidings.storage.db import instance
from tidings.storage.observed import estimates, hosts, polls, versions
from tidings.storage.observed.pages import forget_fragments
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
    from tidings.service.notify.deliver import SendQueue
    from tidings.service.plan.planner import Planner
    from tidings.service.run.leases import Lease
    from tidings.service.run.monitor import SideTask
    from tidings.service.run.only_poller import OpenStore
    from tidings.service.run.senders import Signing
    from tidings.service.watch.hints import HintTracker
    from tidings.service.watch.shards import Shards
    from tidings.service.watch.watchlist import WatchedSentinel
    from tidings.settings import Settings
    from tidings.storage.db.planners import PlannerRun
    from tidings.storage.watches.deliveries import DeliveryRow
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service.run.assembly")


@dataclass(frozen=True, slots=True)
class _Base:
    """What all parts depend on: settings, clock, data directory, and this process's lease."""

    settings: Settings
    clock: Clock
    store: Store
    lease: Lease
    installation: instance.DatabaseInstance
    archive: Archive
    vault: Vault

    @property
    def epoch(self) -> int:
        """Return the epoch of this process."""
        return self.lease.epoch

    @property
    def shards(self) -> Shards:
        """Return the part of the pages that this process works on."""
        return self.lease.shards

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
    network: NetworkWatch
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
    planner: str = "",
) -> AsyncIterator[Monitor]:
    """Run a monitor as the only poller of its data directory, or as one of several planners. It has
    loaded its pages; the caller runs its steps.

    Raises `PollerBusyError` while another process polls, and what `open_database` raises.

    Args:
        settings: The settings.
        clock: The clock; by default the machine's, with PostgreSQL its server's.
        stream: Where console messages are written; standard output by default.
        patience_seconds: How long to wait for another poller to end, e.g. a `check`.
        spreads: Spread polls that are due at the same instant. For a long-running process; wrong
            for one that takes a single step.
        stays: The process runs for minutes, so a first change may wait for a confirming poll.
        endures: Wait as long as needed for a database server that does not answer, at the start and
            later, until `Store.hurry` or a cancellation.
        planner: The unique name of a planner, which shares the pages with other planners, sends
            nothing, and waits until there is something to do; empty for a process that does all.
    """
    opening = open_alone(settings, patience_seconds, endures=endures, shares=bool(planner))
    async with opening as opened, contextlib.AsyncExitStack() as stack:
        clock = clock or await open_clock(settings, opened.store)
        await opened.store.read(wrong_clock.start, clock)
        lease = await lead(settings, opened.store, opened.lock, clock, patience_seconds, planner=planner)
        try:
            async with lease.keeping() if isinstance(lease, PlannerLease) else contextlib.nullcontext():
                monitor = await _build(
                    stack, settings, opened, lease, clock, stream or sys.stdout, spreads=spreads, stays=stays
                )
        except BaseException:  # e.g. stopped while it loads: others need not wait for the end of the lease
            with contextlib.suppress(StoreError):
                await asyncio.shield(lease.release())
            raise
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
        lease = await lead(settings, store, opened.lock, clock or await open_clock(settings, store), 0.0)
        opened.archive.sweep(await store.read(versions.files))
        try:
            yield Collector(store, opened.archive, settings.store, epoch=lease.epoch)
        finally:
            await lease.release()


async def _build(
    stack: contextlib.AsyncExitStack,
    settings: Settings,
    opened: OpenStore,
    lease: Lease,
    clock: Clock,
    stream: TextIO,
    *,
    spreads: bool,
    stays: bool,
) -> Monitor:
    """Build all parts, lower layers first, subscribe them to committed units, and load the watched
    pages.
    """
    store, now, leads = opened.store, clock.now(), lease.shards.leads
    wrong = None
    if leads:
        wrong = await store.write(
            wrong_clock.mend,
            now=now,
            epoch=lease.epoch,
            zone=settings.serve.zone,
            policy=settings.schedule.policy,
            shares=not lease.shards.is_all,
        )
    settings = await store.read(add_shares, settings)
    await store.write(forget_fragments)
    copies = await _open_copies(stack, settings, store, now)
    base = await _open_base(settings, opened, lease, clock, now)
    outside = await _open_outside(stack, base)
    watch = _build_watch(base)
    pages = watch.watchlist.pages
    reads = reads_of(settings.schedule.policy)
    signals = Signals(
        store, pages, clock, epoch=base.epoch, reads=reads, on_hint=watch.inbox.take_hint, shards=base.shards
    )
    planner = open_planner(settings, pages, watch.needs, spreads=spreads, tracker=signals.tracker)
    grants, polling = _build_polling(base, outside, watch, planner, signals.tracker, stays=stays)
    signing = await _open_keys(base, now)
    notifying = NotifyBehaviour(
        store, noise=Flapping(settings.notify.noisy_changes, round(settings.notify.noisy_seconds * SECOND))
    )
    rules = _build_rules(base, watch, planner, notifying)
    sending = _build_sending(stack, base, outside, watch, signing, stream)
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
    presence = await _begin_presence(stack, base, outside)
    monitor = Monitor(
        clock=clock,
        store=store,
        committer=watch.committer,
        watchlist=watch.watchlist,
        planner=planner,
        gate=outside.gate,
        upkeep=_build_upkeep(base, outside, watch, planner, sending, opened, presence),
        lives=Lifecycle(store, watch.watchlist, planner, watch.committer, epoch=base.epoch, leads=leads),
        rules=rules,
        polling=polling,
        sending=sending,
        sources=Sources(store, settings.events, outside_events, epoch=base.epoch, clock=clock) if leads else None,
        sitemaps=_build_sitemaps(base, outside, watch, signals, grants),
        memories=LearnedStateWriter(
            store, watch.committer, planner, signals, pages, policy=settings.schedule.policy, epoch=base.epoch
        ),
        collector=Collector(store, base.archive, settings.store, epoch=base.epoch) if leads else None,
        beside=(
            discovery,
            *(_list_undivided(base, outside, watch) if leads else ()),
            *(() if presence is None else (signals,)),
            *((clock,) if isinstance(clock, ServerClock) else ()),
        ),
        inbox=watch.inbox,
        ways_in=Inputs(outside_events, signals, _build_subscriber(base, outside, watch, signals, signing)),
    )
    watch.committer.listen_to_numbers(copies.note)
    monitor.presence = presence
    monitor.discovery = discovery
    if isinstance(lease, PlannerLease):
        _share_price(lease, planner)
    _connect(monitor, signals, discovery)
    await monitor.start()
    if isinstance(lease, PlannerLease):
        monitor.ways_in.hubs.open()  # processes that only serve answer the hubs
    if wrong is not None:
        await _report_wrong_clock(wrong, base, watch)
    return monitor


def _share_price(lease: PlannerLease, planner: Planner) -> None:
    """Let planners exchange what their pages cost, and have one price."""

    def read_notes(runs: Sequence[PlannerRun]) -> None:
        planner.planners = len(runs) + 1
        leader = None if lease.shards.leads else next((run.epoch for run in runs if run.leads), None)
        planner.pricing.read_notes({run.epoch: run.note.get("pricing", {}) for run in runs}, leader)

    lease.write_note = lambda: {"pricing": planner.pricing.write_note()}
    lease.read_notes = read_notes


def _list_undivided(base: _Base, outside: _Outside, watch: _Watch) -> tuple[SideTask, ...]:
    """Return what one planner does for all."""
    settings = base.settings
    return (
        Heartbeat(outside.client, settings.serve, user_agent(settings.fetch)),
        WeeklyReport(base.store, watch.watchlist, watch.committer, watch.bulletins, settings, epoch=base.epoch),
    )


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


async def _open_base(settings: Settings, opened: OpenStore, lease: Lease, clock: Clock, now: Instant) -> _Base:
    """Return the base of all parts. Clears bodies that an interrupted process left and applies the
    configured budgets.
    """
    store = opened.store
    installation = await store.read(instance.load)
    archive = opened.archive
    if opened.lock.was_cut_off:  # only then were bodies left that no row names
        archive.sweep(await store.read(versions.files))
    await store.write(retention.clear, await store.read(retention.listing))
    await store.write(charge.set_budgets, budgets(settings), at=now)
    return _Base(settings, clock, store, lease, installation, archive, Vault(settings.data))


async def _open_outside(stack: contextlib.AsyncExitStack, base: _Base) -> _Outside:
    """Return the fetching parts, with the stored state of hosts. Polls that an earlier process left
    open are ended as interrupted.
    """
    settings, store, clock = base.settings, base.store, base.clock
    runner = open_runner(settings)
    stack.push_async_callback(runner.close)
    longest = max(_usual_timeout(settings), LONGEST_TIMEOUT)
    await store.write(polls.end_abandoned, now=clock.now(), longest=longest)
    known = await store.read(hosts.as_left, now=clock.now(), longest=longest)

    async def claim(host: str, gap: Duration, at: Instant) -> tuple[Instant, Instant]:
        return await store.write(charge.claim_turn, host, gap, at, epoch=base.epoch)

    gate, client = open_web(settings, clock, known, None if base.shards.is_all else claim)
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
        shards=base.shards,
        web=base.settings.serve.public_url,
    )
    inbox = Inbox(gather_seconds=GATHER_SECONDS if isinstance(base.clock, SystemClock) else 0.0)
    return _Watch(watchlist, Committer(base.store), Bulletins(watchlist), NetworkWatch(), Needs(), inbox)


def _build_polling(
    base: _Base, outside: _Outside, watch: _Watch, planner: Planner, tracker: HintTracker, *, stays: bool
) -> tuple[PollRunner, PollStarter]:
    """Return what requests paid pages, and what pays for them at each step."""
    settings, store, clock = base.settings, base.store, base.clock
    pages = watch.watchlist.pages
    frames = Frames(store, clock, planner, pages, floor=base.floor, shards=base.shards)
    poll = _build_poller(base, outside, watch, frames, stays=stays)
    grants = PollRunner(
        clock=clock,
        store=store,
        committer=watch.committer,
        planner=planner,
        gate=outside.gate,
        fetcher=outside.fetcher,
        poller=poll,
        needs=watch.needs,
        tracker=tracker,
        network=watch.network,
        remembered=outside.client.robots.export,
        epoch=base.epoch,
        hash_seed=base.installation.hash_seed,
        shares=not base.shards.is_all,
    )
    requests = Requests(store, pages, planner, shards=base.shards)
    payer = BudgetSpender(store, planner, outside.gate, epoch=base.epoch, shares=not base.shards.is_all)
    polling = PollStarter(
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
    store, detect, silence = base.store, base.settings.detect, Silence(base.store)
    watch.committer.listen(silence.note)

    async def commit(unit: Unit) -> object:
        return await watch.committer.write(watch.needs.add_events(unit))

    return Poller(
        store=store,
        bodies=Bodies(store, base.archive),
        keeper=UnitWriter(store, base.archive, commit),
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
        silence=silence,
        recall=watch.watchlist.recall,
        confirms=stays and detect.second_polls,
    )


def _build_rules(
    base: _Base, watch: _Watch, planner: Planner, notifying: NotifyBehaviour
) -> RuleFollower | NeedsReader:
    """Return the follower of the event log, with all rule behaviours; for a planner that does not
    lead what reads their needs.
    """
    store, reporter = base.store, Reporter(base.store, base.installation)

    async def pace(page_id: int) -> Duration | None:
        own = planner.pace(page_id)
        if own is not None or base.shards.is_all:
            return own
        learned = await store.read(estimates.get, base.settings.schedule.policy, page_id) or {}
        return round(learned["period"] * SECOND) if "period" in learned else None

    needing = (
        Composites(store, reporter, watch.needs, pace),
        ComplexNeeds(store, reporter, watch.needs),
        FetchOnEvent(store, watch.needs),
    )
    if not base.shards.leads:
        return NeedsReader(store, needing)
    return RuleFollower(store, watch.watchlist, watch.committer, (notifying, *needing), epoch=base.epoch)


def _build_sending(
    stack: contextlib.AsyncExitStack,
    base: _Base,
    outside: _Outside,
    watch: _Watch,
    signing: Signing,
    stream: TextIO,
) -> SendQueue:
    """Return the sender of messages; that of a planner sends nothing, since notifiers do. With
    PostgreSQL other processes may send too, so receivers are claimed.
    """
    settings, store = base.settings, base.store

    async def awaits(sentinel_id: int, endpoint_id: int) -> bool:
        return await store.read(is_awaited, sentinel_id, endpoint_id)

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
        claims=Claims(store, base.lease.holder, length_of(settings)) if settings.store.url else None,
        awaits=awaits,
        users_of=list_users,
    )
    if isinstance(base.lease, PlannerLease):
        sending.leave_to_others()
    return sending


async def _begin_presence(stack: contextlib.AsyncExitStack, base: _Base, outside: _Outside) -> Presence | None:
    """Return what notes that this process works, where others may use its database too; None with
    SQLite.
    """
    if not base.settings.store.url:
        return None
    length, role = length_of(base.settings), "planner" if isinstance(base.lease, PlannerLease) else "all"
    presence = Presence(base.store, role, base.lease.holder, length, outside.pollers)
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
        shards=base.shards,
    )


def _build_sitemaps(base: _Base, outside: _Outside, watch: _Watch, signals: Signals, grants: PollRunner) -> Sitemaps:
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
        shards=base.shards,
    )


def _build_upkeep(
    base: _Base,
    outside: _Outside,
    watch: _Watch,
    planner: Planner,
    sending: SendQueue,
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
        Stall(opened.lock.publish),
        Outages(store, watch.watchlist, planner, watch.committer, watch.bulletins, watch.network, epoch=base.epoch),
        lease=base.lease,
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
        monitor.polling.grants.note,
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
    notified_at = await base.store.read(wrong_clock.find_last_notified)
    await watch.committer.write(wrong_clock.unit(wrong, watch.bulletins, epoch=base.epoch, noticed_at=notified_at))

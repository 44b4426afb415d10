"""Assembly: the only place where things are built and concrete rows are named."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import platform
import secrets as randomness
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import numpy as np

from tidings.archive.archive import Archive
from tidings.clock import DAY, MINUTE, SECOND, SystemClock
from tidings.errors import PollerBusyError, SecretError, StoreLostError
from tidings.estimation.hourly import HourlyLearner
from tidings.estimation.learner import GammaLearner
from tidings.fetching.browser.browser import Browser
from tidings.fetching.door import OutboundDoor
from tidings.fetching.files import FileFetcher
from tidings.fetching.http.client import Client
from tidings.fetching.politeness import HostGate
from tidings.isolation.limits import JobLimits
from tidings.isolation.runners import RUNNERS
from tidings.model.secret import Secret
from tidings.model.watch.asking import LONGEST_TIMEOUT
from tidings.model.watch.weight import WHOLE
from tidings.notification.channels import SenderParts, build_senders, sendable
from tidings.notification.webhook import make_secret, read_secrets
from tidings.scheduling.learned import Learned
from tidings.scheduling.needs import RANKINGS
from tidings.scheduling.policies import POLICIES, reads_of
from tidings.scheduling.policy import HeedsHours
from tidings.scheduling.timetable.expected import RATE
from tidings.service.examine.detect import Detector
from tidings.service.examine.silence import Silence
from tidings.service.examine.stored_versions import Bodies
from tidings.service.explain.budget_report import render_cost
from tidings.service.life import references
from tidings.service.life.lives import Lives
from tidings.service.notify import resolving
from tidings.service.notify.bulletins import Bulletins
from tidings.service.notify.deliver import Deliverer
from tidings.service.notify.guarded_senders import GuardedErrands
from tidings.service.notify.send import Sending
from tidings.service.plan.planner import Planner
from tidings.service.poll.build_request import Asker
from tidings.service.poll.frames import Frames
from tidings.service.poll.grants import Grants
from tidings.service.poll.keep import Keeper
from tidings.service.poll.pay import Payer
from tidings.service.poll.poller import Poller
from tidings.service.poll.polling import Polling
from tidings.service.poll.requests import Requests
from tidings.service.poll.sitemaps import Sitemaps
from tidings.service.rules.complex_needs import ComplexNeeds
from tidings.service.rules.composites import Composites
from tidings.service.rules.fetch_on_event import Summons
from tidings.service.rules.follow import RuleFollower
from tidings.service.rules.joint_reports import Reporter
from tidings.service.rules.rates_of_news import Flapping, NotifyBehaviour
from tidings.service.run import takeover, wrong_clock
from tidings.service.run.collector import Collector
from tidings.service.run.memories import Memories
from tidings.service.run.monitor import GATHER_SECONDS, Inbox, Monitor, WaysIn
from tidings.service.run.outages import Outages
from tidings.service.run.upkeep import LEASE, Stall, Upkeep
from tidings.service.sources.outside_events import OutsideEvents
from tidings.service.sources.outside_sources import Sources
from tidings.service.sources.signals import Signals
from tidings.service.sources.websub import Subscriber
from tidings.service.watch.committer import Committer
from tidings.service.watch.needs import Needs
from tidings.service.watch.watchlist import Watchlist
from tidings.storage.db import instance
from tidings.storage.db.database import open_database
from tidings.storage.db.lock import PollerLock
from tidings.storage.db.patience import Patience
from tidings.storage.db.soundness import FIRST_SECONDS, Soundness
from tidings.storage.db.sqlite import FILE
from tidings.storage.observed import hosts, polls, versions
from tidings.storage.watches import deliveries
from tidings.storage.write import charge, garbage, leases
from tidings.storage.write.copies import Copies
from tidings.storage.write.store import Store
from tidings.storage.write.vault import SIGNING, Vault

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.fetching.fetcher import Fetcher
    from tidings.isolation.runner import Runner
    from tidings.model.observed.page import HostState
    from tidings.model.observed.unit import Unit
    from tidings.notification.channel import Sender
    from tidings.scheduling.policy import Policy
    from tidings.service.watch.hints import Hearing
    from tidings.service.watch.watchlist import WatchedPage
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Database

log = logging.getLogger("tidings.service.run.assembly")

LOCK_EVERY_SECONDS = 0.1
LIGHT_BYTES = 524_288
"""Most bytes of a job (the new body and those it is compared with) that is light: it waits for no heavy one."""
PRELOAD = ("tidings.detection.job.examiner",)
SOONEST = 5 * MINUTE
"""Looks on change are no closer at a page unless a sentinel or the pace says so (bid §3)."""
ERRANDS_AT_ONCE = 2
SMALL_BYTES = 8 * 1024 * 1024
ERRANDS_A_PROCESS = 100


def open_archive(settings: Settings, *, dialect: str) -> Archive:
    """Return the archive of a data directory; with PostgreSQL all bodies are rows, so that other machines can read them."""
    return Archive(
        settings.data / "blobs",
        file_bytes=settings.store.blob_file_bytes if dialect == "sqlite" else None,
        chain_length=settings.store.chain_length,
    )


def open_runner(settings: Settings) -> Runner:
    """Return what runs jobs on page content."""
    detect = settings.detect
    limits = JobLimits(seconds=detect.job_seconds, memory_bytes=detect.job_memory_mb * 1024 * 1024)
    return RUNNERS[detect.isolation](limits, workers=detect.workers, preload=PRELOAD, light_bytes=LIGHT_BYTES)


def open_web(settings: Settings, clock: Clock, known: Sequence[HostState]) -> tuple[HostGate, Client]:
    """Return the gate that keeps hosts' limits and the client that asks them, both knowing what was known before."""
    fetch = settings.fetch
    gate = HostGate(gap_seconds=fetch.host_gap_seconds, connections=fetch.host_connections, clock=clock)
    gate.restore(known)
    client = Client(fetch, clock=clock, on_crawl_delay=gate.widen)
    client.robots.restore(known)
    return gate, client


def open_fetcher(settings: Settings, client: Client) -> Fetcher:
    """Return what fetches all pages, those that a browser renders and those that are files too; it closes the client."""
    return FileFetcher(settings.fetch, Browser(settings.fetch, client), clock=client.clock)


def open_policy(settings: Settings) -> Policy[Any]:
    """Return the policy that the settings name; one that reads rates is told what is learned of its pages, and of their hours if it heeds them."""
    made = POLICIES[settings.schedule.policy](round(settings.schedule.pace_seconds * SECOND))
    if RATE not in made.reads:
        return made
    return Learned(made, HourlyLearner() if isinstance(made, HeedsHours) else GammaLearner())


def open_ranking(settings: Settings) -> str:
    """Return the name of the ranking of needs that the settings name. Raises `UsageError` for one that is not there."""
    RANKINGS[settings.schedule.needs]
    return settings.schedule.needs


def open_planner(
    settings: Settings,
    pages: Mapping[int, WatchedPage],
    needs: Needs,
    *,
    spreads: bool = False,
    hearing: Hearing | None = None,
) -> Planner:
    """Return what says when pages are looked at. `needs` are the looks that are needed in time, `spreads` as for `poller`, `hearing` what is known
    of hints.
    """
    return Planner(
        open_policy(settings),
        pages,
        floor=round(settings.fetch.page_floor_seconds * SECOND),
        host_connections=settings.fetch.host_connections,
        rng=np.random.default_rng(0),  # noqa: TID251 - assembly is where chance comes from
        heed=round(settings.fetch.freshness_seconds * SECOND),
        spreads=spreads,
        render_cost=render_cost(settings),
        render_places=settings.fetch.browser_pages,
        needs=needs,
        hearing=hearing,
        second_looks=settings.detect.second_looks,
        classes={name: each.burst for name, each in settings.budget.named().items()},
        budget=settings.budget.polls_per_day / DAY,
        soonest=min(SOONEST, round(settings.schedule.pace_seconds * SECOND)),
        ranking=open_ranking(settings),
    )


def budgets(settings: Settings) -> dict[str, tuple[float, float]]:
    """Return the rate a second and the burst of the budget of all polls, and of each class within it."""
    whole = (settings.budget.polls_per_day / 86_400, settings.budget.burst)
    return {WHOLE: whole, **{n: (c.rate_per_second, c.burst) for n, c in settings.budget.named().items()}}


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
) -> AsyncIterator[Monitor]:
    """Run a monitor that is the one poller of its data directory; it has loaded and takes steps when told to.

    `patience_seconds` is how long it waits for another poller to end, a `check` say; `spreads` draws dues that crowd apart, as a process
    that goes on for long can and one that takes a single step must not. One that `stays` for minutes lets first changes wait for a second poll. Such a process also `endures` that the database's server does not answer,
    at its start and later, however long that takes; until `Store.hurry` or a cancellation. Raises `PollerBusyError` while another process polls, and what `open_database` raises.
    """
    clock = clock or SystemClock()
    async with (
        _alone(settings, patience_seconds, endures=endures) as (store, database, lock, soundness),
        contextlib.AsyncExitStack() as stack,
    ):
        await store.read(wrong_clock.start, clock)
        epoch, holder = await _lead(settings, store, lock, clock, patience_seconds)
        monitor = await _build(
            stack,
            settings,
            store,
            database,
            lock,
            soundness,
            clock,
            stream or sys.stdout,
            spreads=spreads,
            stays=stays,
            epoch=epoch,
            holder=holder,
        )
        try:
            yield monitor
        finally:
            await asyncio.shield(monitor.stop(patience=round(settings.serve.stop_seconds * SECOND)))


@contextlib.asynccontextmanager
async def collector(settings: Settings, *, clock: Clock | None = None) -> AsyncIterator[Collector]:
    """Give what lets go of old versions, to a process that is the one poller meanwhile; raises what `poller` does."""
    async with _alone(settings, 0.0) as (store, database, lock, _):
        epoch, holder = await _lead(settings, store, lock, clock or SystemClock(), 0.0)
        archive = open_archive(settings, dialect=database.dialect)
        try:
            yield Collector(store, archive, settings.store, epoch=epoch)
        finally:
            await store.write(leases.release, LEASE, holder, epoch)


@contextlib.asynccontextmanager
async def _alone(
    settings: Settings, patience_seconds: float, *, endures: bool = False
) -> AsyncIterator[tuple[Store, Database, PollerLock, Soundness]]:
    """Open the database for the one process that polls; raises `PollerBusyError` if that is another, `StoreDamagedError` if it is not whole.

    A database that was left by a process that was cut off is examined first, and so is one of which that takes no time.
    """
    lock = PollerLock(settings.data)
    database = await _open(settings, endures=endures)
    give_up_at = time.monotonic() + patience_seconds
    while not (held := lock.acquire()) and time.monotonic() < give_up_at:  # noqa: ASYNC110 - another process lets go
        await asyncio.sleep(LOCK_EVERY_SECONDS)
    held = held or await takeover.take_over(lock, database, settings)
    if not held:
        database.close()
        message = f"another Tidings (process {lock.holder()}) polls for {settings.data}; ask it with `tidings check`, or stop it first"
        raise PollerBusyError(message)
    store = Store(database)
    soundness = Soundness(settings)
    try:
        if lock.was_cut_off or _is_small(settings):
            soundness.begin()
            await soundness.wait(FIRST_SECONDS)
        yield store, database, lock, soundness
        await soundness.end(settings.serve.stop_seconds)
    finally:
        await soundness.end(0)
        store.hurry()
        await store.close()
        lock.release(cut_off=lock.was_cut_off and not soundness.is_whole)


def _is_small(settings: Settings) -> bool:
    """Return whether a whole database is read in some hundredths of a second."""
    with contextlib.suppress(OSError):
        return not settings.store.url and (settings.data / FILE).stat().st_size <= SMALL_BYTES
    return False


async def _open(settings: Settings, *, endures: bool) -> Database:
    """Return the open database; with `endures` its server is waited for, which the log says."""
    if not endures:
        return open_database(settings)
    patience = Patience(None)
    while True:
        try:
            database = await asyncio.to_thread(open_database, settings)
        except StoreLostError as error:
            await asyncio.sleep(patience.pause(error))
        else:
            patience.over()
            database.patience = patience
            return database


async def _build(
    stack: contextlib.AsyncExitStack,
    settings: Settings,
    store: Store,
    database: Database,
    lock: PollerLock,
    soundness: Soundness,
    clock: Clock,
    stream: TextIO,
    *,
    spreads: bool,
    stays: bool,
    epoch: int,
    holder: str,
) -> Monitor:
    now = clock.now()
    wrong = await store.write(
        wrong_clock.mend, now=now, epoch=epoch, zone=settings.serve.zone, policy=settings.schedule.policy
    )
    copies = Copies(settings.data)
    stack.callback(copies.close)
    if why := await store.write(copies.recognise, at=now):
        log.warning("this is an older copy of the data (%s): the ids of messages and changes begin anew", why)
    installation = await store.read(instance.load)
    archive = open_archive(settings, dialect=database.dialect)
    archive.sweep(await store.read(versions.files))
    await store.write(garbage.clear, await store.read(garbage.listing))
    await store.write(charge.set_budgets, budgets(settings), at=now)
    runner = open_runner(settings)
    stack.push_async_callback(runner.close)
    usual = round(settings.fetch.total_seconds * SECOND)
    longest = max(usual, LONGEST_TIMEOUT)
    await store.write(polls.cut_off, epoch=epoch, now=clock.now(), longest=longest)
    gate, client = open_web(settings, clock, await store.read(hosts.as_left, now=clock.now(), longest=longest))
    fetcher = open_fetcher(settings, client)
    stack.push_async_callback(fetcher.close)
    watchlist = Watchlist(
        store,
        sendable=sendable(settings.notify),
        zone=settings.serve.zone,
        gathers_noise=settings.notify.noisy_changes > 0,
    )
    needs, inbox = Needs(), Inbox(gather_seconds=GATHER_SECONDS if isinstance(clock, SystemClock) else 0.0)
    signals = Signals(
        store,
        watchlist.pages,
        clock,
        epoch=epoch,
        reads=reads_of(settings.schedule.policy),
        hear=inbox.take_hint,
    )
    planner = open_planner(settings, watchlist.pages, needs, spreads=spreads, hearing=signals.hearing)
    noise = Flapping(settings.notify.noisy_changes, round(settings.notify.noisy_seconds * SECOND))
    committer = Committer(store)

    async def commit(unit: Unit) -> object:
        return await committer.write(needs.noted(unit))

    detect = settings.detect
    detector = Detector(runner, installation, seconds=detect.job_seconds, attempts=detect.attempts, heals=detect.heal)
    vault = Vault(settings.data)
    bodies = Bodies(store, archive)
    telling = NotifyBehaviour(store, noise=noise)
    reporter = Reporter(store, installation)
    composites = Composites(store, reporter, needs, planner.pace)
    complex_needs = ComplexNeeds(store, reporter, needs)
    floor = round(settings.fetch.page_floor_seconds * SECOND)
    frames = Frames(store, clock, planner, watchlist.pages, floor=floor)
    poll = Poller(
        store=store,
        bodies=bodies,
        keeper=Keeper(store, archive, commit),
        detector=detector,
        frames=frames,
        instance=installation,
        asker=Asker(vault, settings.data),
        timeout=usual,
        floor=floor,
        silence=Silence(store),
        confirms=stays and settings.detect.second_looks,
    )
    try:
        await store.write(references.seal_older, vault, at=now)
    except SecretError as error:
        log.error("addresses of receivers stay as an older version kept them, not encrypted: %s", error)  # noqa: TRY400 - the text says all
    signing = await store.write(_signing, settings, vault, now)
    senders = _senders(stack, settings, client, signing, installation, stream)
    outside = OutsideEvents(store, vault, clock, hear=inbox.take_event)
    subscriber = Subscriber(
        store,
        watchlist.pages,
        signals,
        client,
        gate,
        clock,
        public_url=settings.serve.public_url,
        keys=signing.keys,
        epoch=epoch,
        timeout_seconds=settings.notify.timeout_seconds,
    )
    bulletins = Bulletins(watchlist)
    grants = Grants(
        clock=clock,
        store=store,
        committer=committer,
        planner=planner,
        gate=gate,
        fetcher=fetcher,
        poller=poll,
        needs=needs,
        hearing=signals.hearing,
        bulletins=bulletins,
        remembered=client.robots.export,
        epoch=epoch,
        hash_seed=installation.hash_seed,
    )
    requests = Requests(store, watchlist.pages, planner, hear_again=inbox.hear_again)
    payer = Payer(store, planner, gate, has_classes=bool(settings.budget.classes), epoch=epoch)
    polling = Polling(
        store,
        watchlist.pages,
        planner,
        payer,
        requests,
        grants,
        poll,
        frames,
        most=settings.schedule.concurrency,
        epoch=epoch,
    )
    lives = Lives(store, watchlist, planner, committer, epoch=epoch)
    behaviours = (telling, composites, complex_needs, Summons(store, needs))
    rules = RuleFollower(store, watchlist, committer, behaviours, epoch=epoch)
    deliverer = Deliverer(
        senders,
        disable_after=round(settings.notify.disable_days * DAY),
        awaits=telling.awaits,
        following=lambda delivery, now: store.read(deliveries.following, delivery, now=now),
        sentinels=watchlist.sentinels.values,
        address_of=lambda address: store.read(resolving.address_of, vault, address),
    )
    sending = Sending(store, committer, deliverer, clock, epoch=epoch)
    sitemaps = Sitemaps(
        store,
        watchlist.pages,
        signals,
        runner,
        named=client.robots.sitemaps,
        ask=grants.ask_for,
        keep=grants.keep,
        least=settings.schedule.sitemap_pages,
        epoch=epoch,
    )
    monitor = Monitor(
        clock=clock,
        store=store,
        committer=committer,
        watchlist=watchlist,
        planner=planner,
        gate=gate,
        upkeep=Upkeep(
            settings.data,
            clock,
            store,
            committer,
            gate,
            bulletins,
            sending,
            soundness,
            Stall(lock.say),
            Outages(store, watchlist, planner, committer, bulletins, epoch=epoch),
            lease=round(settings.serve.lease_seconds * SECOND),
            holder=holder,
            epoch=epoch,
        ),
        lives=lives,
        rules=rules,
        polling=polling,
        sending=sending,
        sources=Sources(store, settings.events, outside, epoch=epoch, clock=clock),
        sitemaps=sitemaps,
        memories=Memories(
            store, committer, planner, signals, watchlist.pages, policy=settings.schedule.policy, epoch=epoch
        ),
        collector=Collector(store, archive, settings.store, epoch=epoch),
        inbox=inbox,
        ways_in=WaysIn(outside, signals, subscriber),
    )
    committer.listen_to_numbers(copies.note)
    # Who hears of a unit once it is durable, in this order: hints before the watchlist has the page's new state, the planner after it.
    for hear in (
        signals.observe,
        subscriber.hear,
        watchlist.settle,
        rules.note,
        lives.note,
        planner.observe,
        polling.note,
        sending.note,
        monitor.hear_committed,
    ):
        committer.listen(hear)
    committer.listen_to_refusals(monitor.hear_refused)
    await monitor.start()
    if wrong is not None:
        await _tell_wrong_clock(wrong, store, committer, bulletins, epoch)
    return monitor


async def _tell_wrong_clock(
    wrong: wrong_clock.Wrong, store: Store, committer: Committer, bulletins: Bulletins, epoch: int
) -> None:
    """Write that the clock was wrong, with a message to each recipient where it may have kept something from them."""
    log.warning("%s", wrong.text)
    told = await store.read(wrong_clock.told_at)
    await committer.write(wrong_clock.unit(wrong, bulletins, epoch=epoch, told=told))


@contextlib.asynccontextmanager
async def telling(
    settings: Settings, database: Database, *, stream: TextIO | None = None
) -> AsyncIterator[dict[str, Sender]]:
    """Give the senders alone, to a process that tells without polling."""
    signing = database.write(_signing, settings, Vault(settings.data), SystemClock().now())
    async with contextlib.AsyncExitStack() as stack:
        client = Client(settings.fetch, clock=SystemClock())
        stack.push_async_callback(client.close)
        yield _senders(stack, settings, client, signing, database.read(instance.load), stream or sys.stdout)


def _senders(
    stack: contextlib.AsyncExitStack,
    settings: Settings,
    client: Client,
    signing: Signing,
    installation: instance.DatabaseInstance,
    stream: TextIO,
) -> dict[str, Sender]:
    """Return the senders; mail and Apprise run in processes that do nothing else, started with the first message."""
    limits = JobLimits(seconds=settings.notify.timeout_seconds, tasks=ERRANDS_A_PROCESS)
    runner = RUNNERS["killable"](limits, workers=ERRANDS_AT_ONCE)
    stack.push_async_callback(runner.close)
    door = OutboundDoor(settings.fetch.allow_networks)
    return build_senders(
        SenderParts(
            poster=client,
            keys=signing.keys,
            unsigned=signing.fault,
            stream=stream,
            timeout_seconds=settings.notify.timeout_seconds,
            errands=GuardedErrands(runner, door.fault),
            tls=door.tls,
            settings=settings.notify,
            instance=installation.id,
        )
    )


def _holder() -> str:
    """Return a name of this process that no other has."""
    return f"{platform.node()}:{os.getpid()}:{randomness.token_hex(4)}"


async def _lead(
    settings: Settings, store: Store, lock: PollerLock, clock: Clock, patience_seconds: float
) -> tuple[int, str]:
    """Take the lease and return its epoch and the name under which it is held; only this process writes by `store` from then on.

    A lease that a process left which died with our lock file is over: of SQLite's, which has one directory, any. That of another machine is
    waited for until it ends, for `patience_seconds` longer once its holder has renewed it. Raises `PollerBusyError`.
    """
    holder, lease = _holder(), round(settings.serve.lease_seconds * SECOND)
    dead = None if settings.store.url == "" else lock.left_by
    if dead is not None:
        lock.mark(holder)
    await store.write(_expire, dead, clock.now())
    first: leases.LeaseRow | None = None
    give_up_at = clock.now() + round(patience_seconds * SECOND)
    while True:
        now = clock.now()
        await store.write(leases.shorten, LEASE, until=now + lease)
        try:
            epoch = await store.write(leases.acquire, LEASE, holder, at=now, until=now + lease)
        except PollerBusyError:
            held = await store.read(leases.current, LEASE)
            if patience_seconds == 0 or held is None:
                raise
            if first is None:
                first = held
                left = (held.until - now) / SECOND
                log.warning("waiting for the lease of %s, which ends in %.0f s unless it is renewed", held.holder, left)
            if held != first and now >= give_up_at:
                raise
            await asyncio.sleep(LOCK_EVERY_SECONDS)
        else:
            store.fence(epoch)
            return epoch, holder


def _expire(connection: Connection, dead: str | None, now: int) -> None:
    """End the lease of a holder that is known to be dead; None: whoever has it is."""
    held = leases.current(connection, LEASE)
    if held is not None and held.until > now and (dead is None or held.holder == dead):
        leases.release(connection, LEASE, held.holder, held.epoch)


class Signing(NamedTuple):
    """The keys that sign webhooks, or why there are none: then webhooks wait, and all else goes on."""

    keys: tuple[bytes, ...] = ()
    fault: str = ""


def _signing(connection: Connection, settings: Settings, vault: Vault, now: int) -> Signing:
    """Return the keys that sign webhooks: as set, else a secret that is made at first use; encrypt what older versions kept plain."""
    try:
        vault.seal_plain(connection)
        if settings.notify.webhook_secret:
            return Signing(read_secrets(settings.notify.webhook_secret))
        kept = vault.open(connection, SIGNING)
        if kept is None:
            vault.put(connection, SIGNING, Secret(make_secret()), kind="signing", at=now)
            kept = vault.open(connection, SIGNING)
    except SecretError as error:
        log.error("webhooks cannot be signed and wait: %s", error)  # noqa: TRY400 - the text says all
        return Signing(fault=str(error))
    return Signing(read_secrets(kept.value.reveal()) if kept is not None else ())

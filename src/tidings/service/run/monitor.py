"""The main loop: activate → plan → poll → detect → deliver; one pass is a step.

A step never waits for a fetch: it charges grants, starts bounded tasks and returns; their results
queue for the committer. `serve` runs steps until it is stopped, `check` until everything due was
polled.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import math
from collections.abc import Callable, Collection, Coroutine, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from tidings.clock import MINUTE, SECOND
from tidings.errors import StaleEpochError, StoreDamagedError, StoreError, StoreStalledError, UnitError
from tidings.service.examine.page_state import AGAIN_AFTER
from tidings.service.notify.rates import list_inherited
from tidings.service.poll.grants import unkept
from tidings.service.upkeep.upkeep import stall_of
from tidings.service.watch.holds import HOLD_AFTER_FAULT, StepParts, make_problem
from tidings.storage.watches import events

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.fetching.politeness import HostGate
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.unit import Unit
    from tidings.service.collections.discover import Discovery
    from tidings.service.notify.deliver import SendQueue
    from tidings.service.plan.planner import Planner
    from tidings.service.poll.polling import PollStarter
    from tidings.service.poll.sitemaps import Sitemaps
    from tidings.service.rules.follow import RuleFollower
    from tidings.service.rules.read_needs import NeedsReader
    from tidings.service.run.presence import Presence
    from tidings.service.sentinels.lifecycle import Lifecycle
    from tidings.service.sources.outside_events import OutsideEvents
    from tidings.service.sources.outside_sources import Sources
    from tidings.service.sources.signals import Signals
    from tidings.service.sources.websub import Subscriber
    from tidings.service.upkeep.collector import Collector
    from tidings.service.upkeep.save_learned import LearnedStateWriter
    from tidings.service.upkeep.upkeep import Upkeep
    from tidings.service.watch.committer import Committer
    from tidings.service.watch.watchlist import Watchlist
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service")
MISSED: Final = MINUTE
"""a step that starts so long after the last one has missed due polls, e.g. because the machine
slept
"""
GATHER_SECONDS: Final = 0.02
"""pause between two steps on a real clock: each step costs as much as a page"""
YOUNG_OBJECTS: Final = 10_000
"""How many objects are made and not freed before a search for garbage. Polls under way hold
thousands, which Python's 700 would search again and again.
"""


class Inbox:
    """Input since the last step that the database does not show by itself. Any input ends the
    monitor's rest.

    Finished tasks and commits are batched for `gather_seconds` after the last step, so that one
    step handles many; input from outside is not delayed.
    """

    def __init__(self, *, gather_seconds: float = 0.0) -> None:
        self._wake = asyncio.Event()
        self._urgent = asyncio.Event()
        self._gather_seconds = gather_seconds
        self._rested_at = -math.inf
        self._is_written = False
        self._hinted: set[int] = set()

    def wake(self) -> None:
        """Signal that a task has ended or a unit was committed."""
        self._wake.set()

    def take_event(self, name: str) -> None:  # noqa: ARG002 - which one the log says
        """Signal that an event from outside was stored."""
        self.drain_again()

    def drain_again(self) -> None:
        """Signal that this process wrote what `step` reads as written by other processes."""
        self._is_written = True
        self._urgent.set()
        self.wake()

    def take_hint(self, page_ids: Iterable[int]) -> None:
        """Record hints about pages, for the policy to weigh at the next step."""
        self._hinted.update(page_ids)
        self._urgent.set()
        self.wake()

    def drain(self) -> tuple[bool, set[int]]:
        """Return whether something was written, and the hinted pages, since the last call."""
        found = self._is_written, self._hinted
        self._is_written, self._hinted = False, set()
        return found

    async def wait(self) -> None:
        """Wait for input."""
        await self._wake.wait()

    async def gather(self) -> None:
        """Wait until the next step may begin, then reset: `wait` returns only for later input."""
        time = asyncio.get_running_loop().time
        left = self._rested_at + self._gather_seconds - time()
        if left > 0 and not self._urgent.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._urgent.wait(), left)
        self._rested_at = time()
        self._urgent.clear()
        self._wake.clear()


class Inputs(NamedTuple):
    """The service's inputs from outside: events, hints about pages, callbacks of hubs."""

    events: OutsideEvents
    signals: Signals
    hubs: Subscriber


class SideTask(Protocol):
    """Work beside the polls; `next_due` is when there may be some, None for never."""

    next_due: Instant | None

    async def due(self, now: Instant) -> list[Coroutine[Any, Any, None]]:
        """Return the tasks that are due."""
        ...


class Monitor:
    """One running poller. The inputs from outside are for the HTTP server. A planner that does not
    lead has no `sources` and no `collector`.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        store: Store,
        committer: Committer,
        watchlist: Watchlist,
        planner: Planner,
        gate: HostGate,
        upkeep: Upkeep,
        lives: Lifecycle,
        rules: RuleFollower | NeedsReader,
        polling: PollStarter,
        sending: SendQueue,
        sources: Sources | None,
        sitemaps: Sitemaps,
        memories: LearnedStateWriter,
        collector: Collector | None,
        beside: Iterable[SideTask],
        inbox: Inbox,
        ways_in: Inputs,
    ) -> None:
        self.clock = clock
        self.store = store
        self.committer = committer
        self.watchlist = watchlist
        self.planner = planner
        self.gate = gate
        self.upkeep = upkeep
        self.lives = lives
        self.rules = rules
        self.polling = polling
        self.sending = sending
        self.ways_in = ways_in
        self.sitemaps = sitemaps
        self._sources = sources
        self._around: tuple[SideTask, ...] = (*([] if sources is None else [sources]), ways_in.hubs, sitemaps, *beside)
        self._memories = memories
        self._collector = collector
        self._inbox = inbox
        self.discovery: Discovery | None = None
        """what finds the pages of collections"""
        self.presence: Presence | None = None
        """what others see of this process, if they may use its database"""
        self.polled_ids: set[int] = set()
        """pages polled since the start, successfully or not"""
        self.only: set[int] | None = None
        """if set, no other pages are polled"""
        self.hurry = False
        """if set, `stop` does not wait"""
        self._tasks: set[asyncio.Task[None]] = set()
        self._written: list[Callable[[], None]] = []
        self._stepped_at: Instant = 0
        self._has_missed = False
        self._collecting = False
        self._parts = StepParts(self._note_failed)
        self.fault: Exception | None = None
        """why a part of the step was held last"""

    @property
    def holder(self) -> str:
        """Return the name under which this process holds the lease."""
        return self.upkeep.holder

    @property
    def epoch(self) -> int:
        """Return the epoch of its lease."""
        return self.upkeep.epoch

    @property
    def leads(self) -> bool:
        """Return whether it does what is not divided between planners."""
        return self._sources is not None

    @property
    def price(self) -> float | None:
        """Return the price of a poll; None if the policy has none."""
        return self.planner.proposals.price or None

    async def start(self) -> None:
        """Load what is watched. Garbage collection is off meanwhile, since all of it lives
        long, and never searches it later; from then on it waits for `YOUNG_OBJECTS`.
        """
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            await self._load()
        finally:
            _spare_loaded()
            if was_enabled:
                gc.enable()

    async def _load(self) -> None:
        self.planner.touch(await self.watchlist.load())
        await self.ways_in.signals.load()
        await self.ways_in.hubs.load()
        await self.sitemaps.load()
        await self._memories.recall(self.clock.now())
        await self.polling.load()
        await self.rules.start(self.clock.now(), owed=await self.store.read(list_inherited))
        if self._sources is not None:  # the planner that leads reports it, once
            await self.upkeep.report_damage(self.watchlist)

    async def stop(self, *, patience: Duration = 0) -> None:
        """Start nothing more, give work in flight `patience` to commit, release the lease."""
        self.store.hurry()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=0 if self.hurry else patience / SECOND)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)
        if not self.upkeep.is_able():
            return
        try:
            await self.upkeep.store_again(self.clock.now())
            await self.sending.store_again()
            await self._memories.remember(self.clock.now())
            await self.rules.remember()
            await self.upkeep.release()
        except (StaleEpochError, StoreStalledError, StoreDamagedError) as error:
            log.error("stopped without storing what was learned in the last seconds: %s", error)  # noqa: TRY400 - the text says all

    def quiescent(self) -> bool:
        """Return whether no fetch, job, delivery attempt or commit is in flight (contracts §9)."""
        return not self._tasks and self.committer.quiet

    async def owes_deliveries(self) -> bool:
        """Return whether a message is due now, or an event that rules have yet to process."""
        now = self.clock.now()
        owes, due = await self.sending.owes(now), self.rules.next_due(now)
        return owes or (due is not None and self._parts.delay("rules", due) <= now)

    async def conclude(self) -> Collection[int]:
        """Do what is due of collections before a check ends; return the pages that are to be polled
        for that.
        """
        return () if self.discovery is None else await self.discovery.conclude(self.clock.now())

    async def rest(self, *, most: Duration) -> None:
        """Wait for input, for the next due work, or for `most`, whichever comes first."""
        now = self.clock.now()
        until = min(now + most, max(now, self.next_due(now)))
        sleep = asyncio.ensure_future(self.clock.sleep_until(until))
        wake = asyncio.ensure_future(self._inbox.wait())
        await asyncio.wait({sleep, wake}, return_when=asyncio.FIRST_COMPLETED)
        for waiter in (sleep, wake):
            waiter.cancel()
        await self._inbox.gather()

    def next_due(self, now: Instant) -> Instant:
        """Return the earliest instant at which a step would have work."""
        work = self.next_work(now)
        return self.upkeep.next_due if work is None else min(work, self.upkeep.next_due)

    def next_work(self, now: Instant) -> Instant | None:
        """Return the earliest instant at which a step would do more than renew the lease; None:
        never, unless something is written or arrives.
        """
        known = {
            "polls": self.polling.next_due(now),
            "messages": self.sending.next_due,
            "lives": self.lives.next_at,
            "rules": self.rules.next_due(now),
            **{_name(each): each.next_due for each in self._around},
        }
        found = [self._parts.delay(part, at) for part, at in known.items() if at is not None]
        if (end := self._parts.next_end(now)) is not None:
            found.append(end)
        return min(found, default=None)

    async def step(self) -> None:
        """Do what is due now. A part that fails is reported and held for some minutes, the others
        go on.

        Raises `StaleEpochError` once the lease is lost, `StoreStalledError` while nothing can be
        stored, `ClockSetBackError` once the machine's clock was set back.
        """
        self.upkeep.insist()
        begun = self.clock.now()
        try:
            await self.upkeep.make_ready()
            is_written = await self._read_inbox()
            now = self.clock.now()  # the wait for the database may have taken time
            await self._parts.do("time", self._note_time, now)
            await self._parts.do("lives", self._activate, now)
            if is_written:  # once the sentinels that others wrote before are enabled
                await self.polling.requests.read_new()
            await self._parts.do("rules", self.rules.follow, now)
            for each in self._around:
                await self._parts.do(_name(each), partial(self._ask, each), now)
            await self._parts.do("polls", self._poll, now)
            await self._parts.do("messages", self._send, now)
            self._collect(now)
            await self._parts.do("memories", self._remember, now)
        except StoreError as error:
            self._inbox.drain_again()  # what this step took from memory is not stored
            if isinstance(error, StoreStalledError):
                self.upkeep.begin_stall(error, begun)
            raise

    async def _note_failed(self, part: str, error: Exception, now: Instant) -> None:
        """Report a part of the step that failed, in the log and for health."""
        self.fault = error
        self._inbox.drain_again()  # what it took from memory is not stored
        self.upkeep.note_error(error, now, part=part)
        await self._store_failed(part, error, now)

    async def _store_failed(self, part: str, error: Exception, now: Instant) -> None:
        with contextlib.suppress(StoreError):
            await self.store.write(events.append, [make_problem(part, error, now)])

    async def _read_inbox(self) -> bool:
        """Apply what other processes wrote and what arrived from outside; return whether others
        wrote.
        """
        is_written, hinted = self._inbox.drain()
        self.planner.touch(hinted)
        if not (await self.store.has_changed() or is_written):
            return False
        self.planner.touch(await self.watchlist.follow())
        self.rules.wake()
        self.lives.wake()
        if self._sources is not None:
            self._sources.wake()
            await self.upkeep.report_damage(self.watchlist)
        self.sending.wake()
        for listener in self._written:
            listener()
        return True

    def listen_to_writing(self, listener: Callable[[], None]) -> None:
        """Let `listener` be called whenever others have written."""
        self._written.append(listener)

    async def _note_time(self, now: Instant) -> None:
        """Announce outages and record the time of this step; after a long pause, store it before
        acting on it.
        """
        await self.upkeep.announce_outages(now)
        self._has_missed = now - self._stepped_at > MISSED
        if self._has_missed and self._stepped_at:
            await self.upkeep.store_clock(now)
        self._stepped_at = now

    async def _activate(self, now: Instant) -> None:
        """Apply due lifecycle steps of sentinels; spread polls that fell due during a long
        pause.
        """
        await self.live()
        if self._has_missed:
            self.planner.catch_up(now)

    async def live(self) -> None:
        """Apply due lifecycle steps of sentinels."""
        await self.lives.live(self.clock.now())

    async def _ask(self, each: SideTask, now: Instant) -> None:
        """Start due work beside the polls, e.g. on source files, hubs and sitemaps."""
        for work in await each.due(now):
            self._spawn(work, part=_name(each))

    async def _poll(self, now: Instant) -> None:
        """Serve owed comparisons, and poll what is due and paid for."""
        self.polling.serve(now, self._spawn)
        await self.polling.poll(now, self._spawn, under_way=len(self._tasks), only=self.only)

    async def _send(self, now: Instant) -> None:
        for attempt in await self.sending.due(now):
            self._spawn(attempt)

    def _collect(self, now: Instant) -> None:
        """Start a collection of unneeded versions of a few pages; polls continue meanwhile."""
        if self._collector is None or self._collecting or self._parts.has("collector", now):
            return
        if self._collector.is_due(now):
            self._collecting = True
            self._spawn(self._collect_round(self._collector, now), part="collector")

    async def _collect_round(self, collector: Collector, now: Instant) -> None:
        try:
            await collector.round(now)
        finally:
            self._collecting = False

    async def _remember(self, now: Instant) -> None:
        if self._memories.is_due(now):
            await self._memories.remember(now)
            await self.polling.grants.end_unkept()

    def _spawn(self, work: Coroutine[Any, Any, None], page_id: int | None = None, *, part: str = "") -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._end(done, page_id, part))

    def _end(self, task: asyncio.Task[None], page_id: int | None, part: str) -> None:
        """Handle the end of a task; the page of a failed one is released, and polled again after
        its floor, and the part of the step that started it is held.
        """
        self._tasks.discard(task)
        self._inbox.wake()
        waiting = self.polling.end(page_id) if page_id is not None else []
        if page_id is not None:
            self.polled_ids.add(page_id)
        if task.cancelled() or (error := task.exception()) is None:
            return
        now = self.clock.now()
        if isinstance(error, StoreError):
            self._inbox.drain_again()  # memory may be behind: follow the database anew
        is_fault = stall_of(error) is None
        if page_id is not None:
            self.planner.hold(page_id, now + (HOLD_AFTER_FAULT if is_fault else AGAIN_AFTER))
        if part and is_fault and isinstance(error, Exception) and not isinstance(error, StaleEpochError):
            self._parts.begin(part, now)
            self._spawn(self._store_failed(part, error, now))
        self.upkeep.note_error(error, now, part=part)
        if not isinstance(error, StaleEpochError):
            for request_id in waiting:
                self._spawn(self.polling.requests.refuse(request_id, unkept(error)))

    def note_committed(self, unit: Unit) -> None:  # noqa: ARG002 - it came, which is all
        """Wake the monitor: a unit is durable."""
        self._inbox.wake()

    def note_refused(self, unit: Unit, error: Exception) -> None:
        """Release the page of a unit that was refused, so that it can be chosen again; read it anew
        if the unit contradicts what is stored.
        """
        if unit.page is not None:
            self.planner.release(unit.page.page_id)
            if isinstance(error, UnitError):
                self.watchlist.doubt(unit.page.page_id)
                self._inbox.drain_again()
        if not isinstance(error, StaleEpochError | StoreStalledError | MemoryError):
            log.error("a unit was refused by the store: %s", error)
        self._inbox.wake()


def _name(each: SideTask) -> str:
    """Return the name of the part of a step that a side task is."""
    return type(each).__name__


def _spare_loaded() -> None:
    """Keep all present objects out of collections, which come rarely from now on, and also out of
    the one at the end of the process.

    The first monitor of a process does so. A later one undoes it, since what the first left behind
    would stay for ever.
    """
    often, *older = gc.get_threshold()
    if often == YOUNG_OBJECTS:
        gc.unfreeze()
        return
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, *older)

"""The spine: activate → plan → poll → detect → deliver, one pass of it is a step.

A step never waits for a fetch: it charges grants, starts bounded tasks and returns; what they bring queues for the committer. `serve` loops
steps until it is stopped, `check` makes steps until what was due has been looked at.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import math
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidings.clock import HOUR, MINUTE, SECOND, put_forward, set_back
from tidings.errors import ClockSetBackError, StaleEpochError, StoreDamagedError, StoreError, StoreStalledError
from tidings.model.unit import Estimate, Event, Unit
from tidings.model.weight import WHOLE
from tidings.notification.retry import TRIED_EVERY
from tidings.scheduling.budget import TokenBucket, affords
from tidings.service.examine.page_state import AGAIN_AFTER
from tidings.service.explain.plan_summary import PRICED
from tidings.service.notify.bulletins import recipients_before
from tidings.service.poll.grants import Asked, unkept
from tidings.service.rules.rates_of_news import inherited
from tidings.service.run import wrong_clock
from tidings.service.run.stall import Stall, stall_of
from tidings.service.show.records import DAMAGED, spell_gap
from tidings.service.watch import noise
from tidings.storage.db.hindrance import hindrance
from tidings.storage.observed import comparisons, estimates
from tidings.storage.watches import deliveries, events, requests
from tidings.storage.write import charge, leases

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.fetching.politeness import HostGate
    from tidings.model.interval import Duration, Instant
    from tidings.model.unit import Charged
    from tidings.service.life.lives import Lives
    from tidings.service.notify.bulletins import Bulletins
    from tidings.service.notify.deliver import Deliverer
    from tidings.service.plan.planner import Planner
    from tidings.service.poll.frames import Frames
    from tidings.service.poll.grants import Grants
    from tidings.service.poll.poller import Poller
    from tidings.service.poll.sitemaps import Sitemaps
    from tidings.service.rules.follow import Rules
    from tidings.service.run.collector import Collector
    from tidings.service.run.outages import Outages
    from tidings.service.run.wrong_clock import Wrong
    from tidings.service.sources.outside_events import Outside
    from tidings.service.sources.outside_sources import Sources
    from tidings.service.sources.signals import Signals
    from tidings.service.sources.websub import Subscriber
    from tidings.service.watch.committer import Committer
    from tidings.service.watch.needs import Needs
    from tidings.service.watch.watchlist import WatchedPage, Watchlist
    from tidings.settings import Settings
    from tidings.storage.db.soundness import Soundness
    from tidings.storage.watches.deliveries import DeliveryRow
    from tidings.storage.write.commit import Committed
    from tidings.storage.write.copies import Copies
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service")
LEASE = "poller"
GRANTS_A_TICK = 64
REMEMBER_EVERY = 5 * SECOND
PRICED_EVERY = HOUR
MEMORIES_A_UNIT = 500
FAR = 2**62
"""an instant after all others"""
MISSED = MINUTE
"""a step so much later than the last one finds what fell due while nobody looked: the machine slept, say"""
HOLD_AFTER_FAULT = 10 * MINUTE
"""how long a page is left alone after a fault of ours"""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a monitor is made of; `assembly` builds it."""

    settings: Settings
    clock: Clock
    store: Store
    watchlist: Watchlist
    planner: Planner
    gate: HostGate
    committer: Committer
    poller: Poller
    frames: Frames
    grants: Grants
    bulletins: Bulletins
    lives: Lives
    needs: Needs
    signals: Signals
    subscriber: Subscriber
    sitemaps: Sitemaps
    rules: Rules
    outages: Outages
    outside: Outside
    sources: Sources
    deliverer: Deliverer
    collector: Collector
    copies: Copies
    epoch: int
    holder: str
    soundness: Soundness
    say: Callable[[str], None]
    """lets other processes know what keeps this one from its work"""


class Monitor:
    """One poller at work. `on_unit` hears every unit that was committed, in order."""

    def __init__(self, parts: Parts, *, on_unit: Callable[[Unit, Committed], None] | None = None) -> None:
        self.parts = parts
        self.on_unit = on_unit
        self.stall = Stall(parts.say)
        self.committer = parts.committer
        self.committer.on_committed = self._committed
        self.committer.on_refused = self._refused
        parts.outside.on_taken = self._hear_taken
        parts.signals.on_taken = self._hear_signal
        self.asked: dict[int, Asked] = {}
        """pages to be looked at now"""
        self.refused_by_budget: set[int] = set()
        self.looked: set[int] = set()
        """pages that were looked at since the start, well or not"""
        self.only: set[int] | None = None
        """if set, no other pages are looked at"""
        self.hurry = False
        """if set, `stop` waits for nobody"""
        self._tasks: set[asyncio.Task[None]] = set()
        self._unwritten: list[tuple[Unit, DeliveryRow]] = []
        """what attempts to deliver have brought that could not be stored yet"""
        self._owed: dict[int, tuple[int, int]] = {}
        self._answering: dict[int, list[int]] = {}
        """requests that looks under way will answer, by page"""
        self._wake = asyncio.Event()
        self._renew_at: Instant = 0
        self._stepped_at: Instant = 0
        self._remember_at: Instant = 0
        self._priced_at: Instant = 0
        self._next_delivery: Instant | None = 0
        self._budget_empty_until: Instant = 0
        self._classes_at: Instant | None = None
        """when a class whose pages are due can pay for one"""
        self._collecting = False
        self._has_taken = False

    # -- life ----------------------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Load what is watched; the garbage collector rests meanwhile, for all of it stays."""
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            await self._load()
        finally:
            if was_enabled:
                gc.enable()

    async def _load(self) -> None:
        parts = self.parts
        parts.planner.touch(await parts.watchlist.load())
        await parts.signals.load()
        await parts.subscriber.load()
        await parts.sitemaps.load()
        parts.planner.recall(await parts.store.read(estimates.load_all, parts.settings.schedule.policy))
        if (priced := await parts.store.read(events.newest, PRICED)) is not None:
            self._priced_at = min(priced.at, parts.clock.now())
            parts.planner.recall_price(priced.data, parts.clock.now() - self._priced_at)
        states = [page.state for page in parts.watchlist.pages.values()]
        for page_id, at in (await parts.store.read(noise.second_looks, states, parts.clock.now())).items():
            parts.planner.look_again(page_id, at)
        for row in await parts.store.read(comparisons.pending):
            self._owed[row.subscription_id] = (row.page_id, row.attempt)
        await self._hear_requests()
        await parts.rules.start(parts.clock.now(), owed=await parts.store.read(inherited))
        await self._report_damage()

    async def _report_damage(self) -> None:
        """Notify, once, of what is stored and makes no sense, and is therefore not watched."""
        parts = self.parts
        if not (items := parts.watchlist.set_aside):
            return
        last = await parts.store.read(events.newest, DAMAGED)
        if last is None or last.data.get("items") != items:
            event = Event(type=DAMAGED, at=parts.clock.now(), data={"items": items})
            unread = await parts.store.read(recipients_before, parts.watchlist.unread)
            await self.committer.write(parts.bulletins.unit(event, epoch=parts.epoch, unread=unread))
        log.error("not watched, for what is stored of it makes no sense: %s", "; ".join(items))

    async def stop(self, *, patience: Duration = 0) -> None:
        """Start nothing more, give what is in flight `patience` to be committed, let go of the lease."""
        self.parts.store.hurry()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=0 if self.hurry else patience / SECOND)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)
        if self.committer.lost is None and not self.parts.soundness.is_damaged:
            try:
                await self._go_on(self.parts.clock.now())
                await self._remember(self.parts.clock.now())
                await self.parts.rules.remember()
                await self.parts.store.write(leases.release, LEASE, self.parts.holder, self.parts.epoch)
            except (StaleEpochError, StoreStalledError, StoreDamagedError) as error:
                log.error("stopped without storing what was learned in the last seconds: %s", error)  # noqa: TRY400 - the text says all

    @property
    def budget_pays_at(self) -> Instant:
        """Return when the budget of all polls, or that of a class whose pages wait, pays again; the past if it does."""
        return max(self._budget_empty_until, self._classes_at or 0)

    def withdraw(self, page_id: int) -> None:
        """Take a request of this process back that has not been served."""
        self.asked.pop(page_id, None)
        self.parts.planner.unforce(page_id)

    def quiescent(self) -> bool:
        """Say whether no fetch, job, attempt or commit is under way (contracts §9)."""
        return not self._tasks and self.committer.quiet

    async def rest(self, *, most: Duration) -> None:
        """Wait until something has come in, something is due, or `most` has passed."""
        now = self.parts.clock.now()
        until = min(now + most, max(now, self.next_due(now)))
        sleep = asyncio.ensure_future(self.parts.clock.sleep_until(until))
        wake = asyncio.ensure_future(self._wake.wait())
        await asyncio.wait({sleep, wake}, return_when=asyncio.FIRST_COMPLETED)
        for waiter in (sleep, wake):
            waiter.cancel()
        self._wake.clear()

    def next_due(self, now: Instant) -> Instant:
        """Return the earliest instant at which a step would have something to do."""
        parts = self.parts
        known = (
            parts.planner.next_due(now, parts.gate) if now >= self._budget_empty_until else self._budget_empty_until,
            self._classes_at,
            self._next_delivery,
            parts.lives.next_at,
            parts.rules.next_due(now),
            parts.sources.next_due,
            parts.subscriber.next_due,
            parts.sitemaps.next_due,
            self._renew_at,
        )
        return min((i for i in known if i is not None), default=now + SECOND)

    # -- one step ------------------------------------------------------------------------------------------------------------------

    async def step(self) -> None:
        """Do what is due now. Raises `StaleEpochError` once the lease is lost, `StoreStalledError` while nothing can be stored, and
        `ClockSetBackError` once the machine's clock was set back.
        """
        if self.committer.lost is not None:
            raise self.committer.lost
        self.parts.soundness.insist()
        if back := set_back(self.parts.clock):
            message = f"the machine's clock was set back by {spell_gap(back)}"
            raise ClockSetBackError(message)
        now = self.parts.clock.now()
        try:
            await self._go_on(now)
            now = await self._follow_clock(now)
            await self._keep_lease(now)
            await self._hear_others()
            await self._do_what_is_due(self.parts.clock.now())  # the database may have been waited for
        except StoreStalledError as error:
            self.stall.begin(error, now)
            raise

    async def _follow_clock(self, now: Instant) -> Instant:
        """Where the machine's clock was put forward, go by what it says from now on, which fills no budget and ends no gap; return the new now."""
        parts = self.parts
        if not (ahead := put_forward(parts.clock)):
            return now
        await parts.store.write(charge.put_forward, ahead, at=now, epoch=parts.epoch)
        parts.gate.put_forward(ahead)
        return parts.clock.restart()

    async def _go_on(self, now: Instant) -> None:
        """After something could not be stored: write what waits for that, and report it. Raises `StoreStalledError` while that is not possible."""
        if self.stall.error is None:
            return
        if cause := hindrance(self.parts.settings.data):
            raise StoreStalledError(f"{self.parts.settings.data} takes nothing: {cause}")
        self._renew_at = 0
        await self._keep_lease(now)
        while self._unwritten:
            unit, delivery = self._unwritten[0]
            await self.committer.write(unit)
            del self._unwritten[0]
            self._free(delivery)
        if (report := self.stall.report(now)) is not None:
            await self.committer.write(self.parts.bulletins.unit(report, epoch=self.parts.epoch))
            self.stall.note_reported()
        self.stall.end()
        log.info("what is brought can be stored again")

    async def _hear_others(self) -> None:
        """Take in what other processes wrote, and what was taken from outside."""
        parts = self.parts
        has_taken, self._has_taken = self._has_taken, False
        if not (await parts.store.changed() or has_taken):
            return
        try:
            parts.planner.touch(await parts.watchlist.follow())
            await self._hear_requests()
        except StoreError:
            self._has_taken = True  # it is still to be heard
            raise
        parts.rules.wake()
        parts.lives.wake()
        parts.sources.wake()
        self._next_delivery = 0

    async def _do_what_is_due(self, now: Instant) -> None:
        parts = self.parts
        await parts.outages.announce(now)
        has_missed = now - self._stepped_at > MISSED
        if has_missed and self._stepped_at:
            # The machine slept, or its clock was put forward. What the clock says now is stored before anything is done by it, so that a
            # clock that is ahead is known by that however this process ends (`wrong_clock`).
            await parts.store.write(charge.touch, at=now, epoch=parts.epoch)
        self._stepped_at = now
        await self.live()
        if has_missed:
            parts.planner.catch_up(now)
        await parts.rules.follow(now)
        for helper in (parts.sources, parts.subscriber, parts.sitemaps):
            for work in await helper.due(now):
                self._spawn(work)
        self._sweep(now)
        await self._grant(now)
        await self._send(now)
        if not self._collecting and parts.collector.is_due(now):
            self._collecting = True
            self._spawn(self._collect(now))
        if now >= self._remember_at:
            await self._remember(now)
            await self.parts.grants.end_unkept()

    async def tell_wrong_clock(self, wrong: Wrong) -> None:
        """Write that the clock was wrong, with a message to each recipient where it may have kept something from them."""
        log.warning("%s", wrong.text)
        told = await self.parts.store.read(wrong_clock.told_at)
        await self.committer.write(wrong_clock.unit(wrong, self.parts.bulletins, epoch=self.parts.epoch, told=told))

    async def _remember(self, now: Instant) -> None:
        """Store what the policy has learned, some seconds' worth at a time: a crash costs it no more than that."""
        self._remember_at = now + REMEMBER_EVERY
        await self.parts.signals.remember()
        name = self.parts.settings.schedule.policy
        learned = [Estimate(page_id=i, name=name, state=m, at=now) for i, m in self.parts.planner.memories().items()]
        for start in range(0, len(learned), MEMORIES_A_UNIT):
            part = tuple(learned[start : start + MEMORIES_A_UNIT])
            try:
                await self.committer.write(Unit(at=now, epoch=self.parts.epoch, estimates=part))
            except StoreError:
                self.parts.planner.proposals.owe(each.page_id for each in learned[start:])
                raise
        await self._remember_price(now)

    async def _remember_price(self, now: Instant) -> None:
        """Store the price that the budget makes, once an hour."""
        if now < self._priced_at + PRICED_EVERY or (priced := self.parts.planner.priced()) is None:
            return
        self._priced_at = now
        event = Event(type=PRICED, at=now, data=priced)
        await self.committer.write(Unit(at=now, epoch=self.parts.epoch, events=(event,)))

    async def _keep_lease(self, now: Instant) -> None:
        if now < self._renew_at:
            return
        lease = round(self.parts.settings.serve.lease_seconds * SECOND)
        try:
            await self.parts.store.write(
                leases.renew, LEASE, self.parts.holder, self.parts.epoch, at=now, until=now + lease
            )
        except StaleEpochError as error:
            self.committer.lost = error
            raise
        self._renew_at = now + lease // 3

    async def _hear_requests(self) -> None:
        for row in await self.parts.store.read(requests.open_requests):
            if row.page_id not in self.parts.watchlist.pages:
                await self._refuse(row.id, "nothing that is enabled watches this page")
                continue
            asked = self.asked.setdefault(row.page_id, Asked())
            if row.id not in asked.requests:
                asked.requests.append(row.id)
                asked.sentinels.update(() if row.sentinel_id is None else (row.sentinel_id,))
                self.parts.planner.force(row.page_id)

    async def _refuse(self, request_id: int, reason: str) -> None:
        try:
            await self.parts.store.write(requests.refuse, request_id, reason)
        except StoreStalledError:
            self._has_taken = True  # it is still open, and is heard again
            raise

    # -- activate ------------------------------------------------------------------------------------------------------------------

    async def live(self) -> None:
        """Take the steps in sentinels' lives that are due."""
        await self.parts.lives.live(self.parts.clock.now())

    # -- plan and poll ---------------------------------------------------------------------------------------------------------------

    async def _grant(self, now: Instant) -> None:
        parts = self.parts
        free = min(GRANTS_A_TICK, parts.settings.schedule.concurrency - len(self._tasks))
        if free <= 0 or (now < self._budget_empty_until and not self.asked):
            return
        fills = parts.planner.fills(now)
        budgets = await self._budgets(now) if parts.settings.budget.classes or fills else {}
        grants = parts.planner.choose(
            now,
            parts.gate,
            tokens=math.inf,
            limit=free,
            only=self.only,
            purses={name: row.level for name, row in budgets.items() if name != WHOLE},
            empty_at=self._budget_empty_until,
            spare=budgets[WHOLE].level - budgets[WHOLE].burst / 2 if fills else 0.0,
        )
        self._classes_at = self._classes_pay_at(budgets, now) if budgets else None
        if not grants:
            return
        try:
            charged = await parts.store.charge(grants, at=now, epoch=parts.epoch, in_turn=True)
        except StoreError:
            for grant in grants:
                parts.planner.release(grant.page_id)
            raise
        for grant, paid in zip(grants, charged, strict=True):
            if paid is None:
                parts.planner.release(grant.page_id)
                if grant.page_id in self.asked:
                    await self._no_budget(grant.page_id)
                continue
            self._spawn(self._poll(paid), page_id=grant.page_id)
        if None in charged:
            wait = await self._until_budget(now, grants[charged.index(None)].cost)
            self._budget_empty_until = now + wait if wait else min(self._budget_empty_until, now)

    async def _until_budget(self, now: Instant, cost: float) -> Duration:
        """Return how long it takes until the budget of all polls pays for one of this cost, a minute at most; 0 if it does now.

        Then its class did not: no other page waits for that.
        """
        whole = (await self._budgets(now))[WHOLE]
        if affords(whole.level, cost):
            return 0
        wait = (cost - whole.level) / whole.rate_per_second if whole.rate_per_second > 0 else math.inf
        return round(min(max(wait, 0.01), 60.0) * SECOND)

    async def _budgets(self, now: Instant) -> dict[str, charge.BudgetRow]:
        return {row.name: row.refilled(now) for row in await self.parts.store.read(charge.budgets)}

    def _classes_pay_at(self, budgets: Mapping[str, charge.BudgetRow], now: Instant) -> Instant | None:
        """Return when the first of the classes whose pages wait can pay for the dearest of these; None: none has to wait for that."""
        at: list[Instant] = []
        for name, cost in self.parts.planner.wanting(now).items():
            row = budgets[name]
            bucket = TokenBucket(rate=row.rate_per_second, burst=row.burst, level=row.level, at=now)
            at += [paid for paid in (bucket.available_at(cost),) if paid is not None and paid > now]
        return min(at, default=None)

    async def _no_budget(self, page_id: int) -> None:
        self.refused_by_budget.add(page_id)
        self.parts.planner.unforce(page_id)
        for request_id in self.asked.pop(page_id).requests:
            await self._refuse(request_id, "budget")

    async def _poll(self, charged: Charged) -> None:
        parts, page_id = self.parts, charged.grant.page_id
        page = parts.watchlist.pages.get(page_id)
        if page is None:
            parts.planner.release(page_id)
            return  # dropped between the grant and now; what was charged stays charged
        asked = self.asked.pop(page_id, None) or Asked()
        self._answering[page_id] = asked.requests
        owed = {sub_id: attempt for sub_id, (its_page, attempt) in self._owed.items() if its_page == page_id}
        await parts.grants.look(charged, page, asked, owed)

    # -- owed comparisons --------------------------------------------------------------------------------------------------------------

    def _sweep(self, now: Instant) -> None:
        """Try comparisons again whose job died, and serve ticks from a version that was checked lately."""
        parts = self.parts
        by_page: dict[int, dict[int, int]] = {}
        for sub_id, (page_id, attempt) in self._owed.items():
            by_page.setdefault(page_id, {})[sub_id] = attempt
        for page_id in parts.planner.servable():
            by_page.setdefault(page_id, {})
        for page_id, attempts in by_page.items():
            page = parts.watchlist.pages.get(page_id)
            if page is None:
                for sub_id in attempts:
                    self._owed.pop(sub_id, None)
            elif parts.planner.reserve(page_id):
                self._spawn(self._serve(page, attempts, now), page_id=page_id)

    async def _serve(self, page: WatchedPage, attempts: dict[int, int], now: Instant) -> None:
        await self.parts.poller.serve(page, at=now, epoch=self.parts.epoch, owed=attempts)

    # -- collect -----------------------------------------------------------------------------------------------------------------------

    async def _collect(self, now: Instant) -> None:
        """Let go of what nobody needs of a few pages; polls go on meanwhile."""
        try:
            await self.parts.collector.round(now)
        finally:
            self._collecting = False

    # -- deliver -----------------------------------------------------------------------------------------------------------------------

    async def _send(self, now: Instant) -> None:
        parts = self.parts
        if self._next_delivery is None or now < self._next_delivery:
            return
        self._next_delivery = None  # whoever has something to send meanwhile, or a receiver that is free again, says so
        next_at: Instant | None = 0
        try:
            due = await parts.store.read(deliveries.first_due, now=now, tried_every=TRIED_EVERY)
            for delivery in parts.deliverer.choose(due):
                parts.deliverer.in_flight.add(delivery.endpoint_id)
                self._spawn(self._attempt(delivery))
            if due:  # the end of an attempt looks again; where all of these are under way, a second passes
                next_at = now + SECOND
            else:
                next_at = await parts.store.read(deliveries.next_due, now=now, tried_every=TRIED_EVERY)
        finally:
            if self._next_delivery is None:
                self._next_delivery = next_at

    async def _attempt(self, delivery: DeliveryRow) -> None:
        try:
            unit = await self.parts.deliverer.attempt(delivery, epoch=self.parts.epoch, now=self.parts.clock.now())
        except BaseException:
            self._free(delivery)
            raise
        try:
            await self.committer.write(unit)
        except StoreStalledError:
            self._unwritten.append((unit, delivery))  # its receiver is not asked again before this is stored
            raise
        except BaseException:
            self._free(delivery)
            raise
        self._free(delivery)

    def _free(self, delivery: DeliveryRow) -> None:
        """Let the next message to the same receiver go."""
        self.parts.deliverer.in_flight.discard(delivery.endpoint_id)
        self._next_delivery = 0

    # -- events of other origin ------------------------------------------------------------------------------------------------------

    def _hear_taken(self, name: str) -> None:  # noqa: ARG002 - which one the log says
        """Hear that an event was taken: the next step, which is now, follows it."""
        self._has_taken = True
        self._wake.set()

    def _hear_signal(self, page_ids: Iterable[int]) -> None:
        """Hear that hints about pages were taken: the policy weighs them at the next step, which is now."""
        self.parts.planner.touch(page_ids)
        self._wake.set()

    # -- bookkeeping -------------------------------------------------------------------------------------------------------------------

    def ask(self, page_id: int, *, sentinels: Iterable[int] = (), first: bool = False, alone: bool = False) -> None:
        """Ask for a look now, whatever the schedule says; host limits and budget hold."""
        asked = self.asked.setdefault(page_id, Asked())
        asked.sentinels.update(sentinels)
        asked.first = asked.first or first
        asked.alone = asked.alone or alone
        self.parts.planner.force(page_id)

    async def owes_deliveries(self) -> bool:
        """Say whether something waits to be sent now, or to be heard of by the rules that say what is."""
        now = self.parts.clock.now()
        waits = await self.parts.store.read(deliveries.next_due, now=now, tried_every=TRIED_EVERY)
        return any(due is not None and due <= now for due in (self.parts.rules.next_due(now), waits))

    def _spawn(self, work: Coroutine[Any, Any, None], *, page_id: int | None = None) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._ended(done, page_id))

    def _ended(self, task: asyncio.Task[None], page_id: int | None) -> None:
        """Hear that a task has ended; one that failed gives its page back, to be tried after its floor."""
        self._tasks.discard(task)
        self._wake.set()
        waiting = self._answering.pop(page_id, []) if page_id is not None else []
        if page_id is not None:
            self.looked.add(page_id)
            self.parts.frames.ended(page_id)
        if task.cancelled() or (error := task.exception()) is None:
            return
        now = self.parts.clock.now()
        stalled = stall_of(error)
        if page_id is not None:
            self.parts.planner.hold(page_id, now + (HOLD_AFTER_FAULT if stalled is None else AGAIN_AFTER))
        if isinstance(error, StaleEpochError):
            return
        if stalled is not None:
            if self.stall.error is None:
                log.error("%s", unkept(stalled))
            self.stall.begin(stalled, now)
        elif isinstance(error, StoreDamagedError):
            log.error("%s", error)
            self.parts.soundness.begin()  # a value that makes no sense is its page's affair, a file that is not whole ends the service
        elif isinstance(error, StoreError):  # people can mend it, and need no traceback for that
            log.error("%s", unkept(error))
        else:
            log.error("a task of the service failed", exc_info=error)
        for request_id in waiting:
            self._spawn(self._refuse(request_id, unkept(error)))

    def _committed(self, unit: Unit, committed: Committed) -> None:
        parts = self.parts
        if committed.event_seqs:
            parts.copies.note(committed.event_seqs[-1], unit.events[-1].at)
        parts.signals.observe(unit)
        parts.subscriber.hear(unit)
        parts.watchlist.settle(unit)
        parts.rules.note(unit)
        parts.lives.note(unit)
        if unit.page is not None:
            parts.planner.observe(unit)
        for row in unit.comparisons:
            if row.status == "pending":
                self._owed[row.subscription_id] = (row.page_id, row.attempt)
            else:
                self._owed.pop(row.subscription_id, None)
        if unit.deliveries:
            self._next_delivery = 0
        self._wake.set()
        if self.on_unit is not None:
            self.on_unit(unit, committed)

    def _refused(self, unit: Unit, error: Exception) -> None:
        if unit.page is not None:
            self.parts.planner.release(unit.page.page_id)
        if not isinstance(error, StaleEpochError | StoreStalledError | MemoryError):
            log.error("a unit was refused by the store: %s", error)
        self._wake.set()

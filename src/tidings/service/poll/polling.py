"""Start the polls of a step. The planner's grants are paid for in one commit before any request
leaves; then pages are polled, and owed comparisons with a stored version are made. `Payer` also
says when a spent budget can pay again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import SECOND
from tidings.errors import StoreError
from tidings.fetching.address import LOCAL_HOSTS
from tidings.model.watch.sentinel import WHOLE
from tidings.scheduling.budget import affords
from tidings.storage.observed import versions
from tidings.storage.write import charge

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from tidings.fetching.politeness import HostGate
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.unit import Charged, Grant, Unit
    from tidings.scheduling.budget import TokenBucket
    from tidings.service.plan.planner import Planner
    from tidings.service.poll.frames import Frames
    from tidings.service.poll.grants import PollRunner
    from tidings.service.poll.poll_now import Requests
    from tidings.service.poll.poller import Poller
    from tidings.service.watch.watchlist import WatchedPage
    from tidings.storage.observed.hosts import Refusals
    from tidings.storage.write.store import Store

Spawn = Callable[[Coroutine[Any, Any, None], int], None]
"""Starts a task for a page."""
GRANTS_A_TICK: Final = 64


class PollStarter:
    """Starts polls, at most `most` concurrently. `watched` is the watchlist's own table."""

    def __init__(
        self,
        store: Store,
        watched: Mapping[int, WatchedPage],
        planner: Planner,
        payer: BudgetSpender,
        requests: Requests,
        grants: PollRunner,
        poller: Poller,
        frames: Frames,
        *,
        most: int,
        epoch: int,
    ) -> None:
        self._store = store
        self._watched = watched
        self._planner = planner
        self.payer = payer
        self.requests = requests
        self.grants = grants
        self.poller = poller
        self._frames = frames
        self._most = most
        self._epoch = epoch
        self._owed: dict[int, tuple[int, int]] = {}
        """comparisons whose job died, by subscription: the page, and the number of attempts"""

    async def load(self) -> None:
        """Load owed comparisons and open requests."""
        for row in await self._store.read(versions.list_pending):
            self._owed[row.subscription_id] = (row.page_id, row.attempt)
        await self.requests.read_new()

    def note(self, unit: Unit) -> None:
        """Update the owed comparisons from a committed unit."""
        for row in unit.comparisons:
            if row.status == "pending":
                self._owed[row.subscription_id] = (row.page_id, row.attempt)
            else:
                self._owed.pop(row.subscription_id, None)

    def end(self, page_id: int) -> list[int]:
        """Mark the work on a page as ended; return the requests it was to answer."""
        self._frames.note_end(page_id)
        return self.requests.end(page_id)

    def next_due(self, now: Instant) -> Instant | None:
        """Return when there may be a grant to pay for, or an owed comparison to make after a
        pause of its page.
        """
        due = self.payer.next_due(now)
        held = [at for page_id in self._list_owed() if (at := self._planner.get_hold_end(page_id)) > now]
        return min((at for at in (due, *held) if at is not None), default=None)

    def serve(self, now: Instant, spawn: Spawn) -> None:
        """Retry comparisons whose job died, and serve ticks from a recently checked version."""
        for page, owed in self._servable(now):
            spawn(self.poller.serve(page, at=now, epoch=self._epoch, owed=owed), page.state.page_id)

    def _servable(self, now: Instant) -> Iterator[tuple[WatchedPage, dict[int, int]]]:
        """Yield the pages to serve, reserved, with what each is owed."""
        by_page = self._list_owed()
        for page_id in self._planner.servable():
            by_page.setdefault(page_id, {})
        for page_id, owed in by_page.items():
            page = self._watched.get(page_id)  # it may have been left since it was planned
            if page is not None and self._planner.get_hold_end(page_id) <= now and self._planner.reserve(page_id):
                yield page, owed

    def _list_owed(self) -> dict[int, dict[int, int]]:
        """Return the owed comparisons of those who watch a page now, with their attempts, by page.
        The others wait: a sentinel may be resumed.
        """
        by_page: dict[int, dict[int, int]] = {}
        for sub_id, (page_id, attempt) in self._owed.items():
            page = self._watched.get(page_id)
            if page is not None and sub_id in page.subscriptions:
                by_page.setdefault(page_id, {})[sub_id] = attempt
        return by_page

    async def poll(self, now: Instant, spawn: Spawn, *, under_way: int, only: Collection[int] | None) -> None:
        """Choose the pages to poll now, pay and start.

        Args:
            now: The present (µs).
            spawn: Starts a task.
            under_way: How many tasks run.
            only: The only pages that may be polled; None for all.
        """
        free = min(GRANTS_A_TICK, self._most - under_way)
        if free <= 0 or (self.payer.is_empty(now) and not self.requests):
            return
        charged, unpaid = await self.payer.pay(now, most=free, only=only)
        for paid in charged:
            spawn(self._poll(paid), paid.grant.page_id)
        for grant in unpaid:
            await self.requests.refuse_unpaid(grant.page_id)
        if unpaid:
            await self.payer.wait_for(unpaid[0], now)

    async def _poll(self, charged: Charged) -> None:
        page_id = charged.grant.page_id
        page = self._watched.get(page_id)
        if page is None:
            self._planner.release(page_id)  # unwatched between the grant and now; the charge stays
            self.grants.give_up(charged, StoreError("nobody watches the page any more"))
            return
        owed = {sub_id: attempt for sub_id, (its_page, attempt) in self._owed.items() if its_page == page_id}
        await self.grants.poll(charged, page, self.requests.begin(page_id), owed)


class BudgetSpender:
    """Chooses and pays for polls. `shares`: other planners may ask the same hosts."""

    def __init__(self, store: Store, planner: Planner, gate: HostGate, *, epoch: int, shares: bool = False) -> None:
        self._store = store
        self._shares = shares
        self._planner = planner
        self._gate = gate
        self._epoch = epoch
        self._empty_until: Instant = 0
        self._classes_at: Instant | None = None
        """when a class with due pages can pay for one"""

    @property
    def pays_at(self) -> Instant:
        """Return when the budget of all polls, or of a class with waiting pages, can pay again; in
        the past if it can now.
        """
        return max(self._empty_until, self._classes_at or 0)

    def is_empty(self, now: Instant) -> bool:
        """Return whether the budget of all polls was found spent and cannot pay yet."""
        return now < self._empty_until

    def next_due(self, now: Instant) -> Instant | None:
        """Return when there may be a grant to pay for."""
        due = self._empty_until if self.is_empty(now) else self._planner.next_due(now, self._gate)
        known = [at for at in (due, self._classes_at) if at is not None]
        return min(known, default=None)

    async def pay(self, now: Instant, *, most: int, only: Collection[int] | None) -> tuple[list[Charged], list[Grant]]:
        """Return the polls paid for now, and the grants that the budget could not pay for, whose
        pages are released.

        At most `most` are chosen; `only` excludes all other pages. Raises `StoreError`; then none
        is paid for.
        """
        grants = await self._choose(now, most=most, only=only)
        if not grants:
            return [], []
        try:
            charged, refused = await self._charge(grants, now)
        except StoreError:
            for grant in grants:
                self._planner.release(grant.page_id)
            raise
        unpaid = [grant for grant, paid in zip(grants, charged, strict=True) if paid is None]
        for grant in unpaid:
            self._planner.release(grant.page_id)
        for host, at in refused.asked.items():
            self._gate.note_start(host, at)
        for host, until in refused.paused.items():
            self._gate.pause(host, until)
            self._planner.interrupt(host)
        if self._shares:
            for paid in charged:
                if paid is not None:
                    self._gate.note_turn(paid.grant.host, paid.at)
        names = refused.names
        return [paid for paid in charged if paid is not None], [grant for grant in unpaid if grant.host not in names]

    async def _charge(self, grants: Sequence[Grant], now: Instant) -> tuple[list[Charged | None], Refusals]:
        """Pay for grants; return also which of their hosts may not be asked now, for what other
        processes did there.
        """
        gaps = {grant.host: self._gate.gap(grant.host) for grant in grants if grant.host not in LOCAL_HOSTS}
        return await self._store.write(charge.charge_in_turns, grants, gaps, at=now, epoch=self._epoch)

    async def wait_for(self, unpaid: Grant, now: Instant) -> None:
        """Block all choices until the budget of all polls can pay for this grant."""
        wait = await self._until_budget(now, unpaid.cost)
        self._empty_until = now + wait if wait else min(self._empty_until, now)

    async def _choose(self, now: Instant, *, most: int, only: Collection[int] | None) -> Sequence[Grant]:
        fills = self._planner.fills(now)
        budgets = await self._budgets(now) if self._planner.has_classes or fills else {}
        grants = self._planner.choose(
            now,
            self._gate,
            tokens=math.inf,
            limit=most,
            only=only,
            class_tokens={name: row.level for name, row in budgets.items() if name != WHOLE},
            empty_at=self._empty_until,
            spare=(budgets[WHOLE].level - budgets[WHOLE].burst / 2) / self._planner.planners if fills else 0.0,
        )
        self._classes_at = self._classes_pay_at(budgets, now) if budgets else None
        return grants

    async def _until_budget(self, now: Instant, cost: float) -> Duration:
        """Return how long until the budget of all polls can pay this cost, at most a minute; 0 if
        it can now.

        In that case its class could not pay, which no other page waits for.
        """
        whole = (await self._budgets(now))[WHOLE]
        if affords(whole.level, cost):
            return 0
        wait = (cost - whole.level) / whole.rate if whole.rate > 0 else math.inf
        return round(min(max(wait, 0.01), 60.0) * SECOND)

    async def _budgets(self, now: Instant) -> dict[str, TokenBucket]:
        return await self._store.read(charge.payable, at=now)

    def _classes_pay_at(self, budgets: Mapping[str, TokenBucket], now: Instant) -> Instant | None:
        """Return when the first class with waiting pages can pay for the most expensive of them;
        None: no class has to wait.
        """
        at: list[Instant] = []
        for name, cost in self._planner.wanting(now).items():
            at += [paid for paid in (budgets[name].available_at(cost),) if paid is not None and paid > now]
        return min(at, default=None)

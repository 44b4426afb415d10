"""Pay for the planner's grants in one commit before any request leaves, and compute when a spent
budget can pay again.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tidings.clock import SECOND
from tidings.errors import StoreError
from tidings.model.watch.weight import WHOLE
from tidings.scheduling.budget import affords
from tidings.storage.write import charge

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tidings.fetching.politeness import HostGate
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.unit import Charged, Grant
    from tidings.scheduling.budget import TokenBucket
    from tidings.service.plan.planner import Planner
    from tidings.storage.write.store import Store


class Payer:
    """Chooses and pays for polls."""

    def __init__(self, store: Store, planner: Planner, gate: HostGate, *, epoch: int) -> None:
        self._store = store
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
            charged = await self._store.charge(grants, at=now, epoch=self._epoch, in_turn=True)
        except StoreError:
            for grant in grants:
                self._planner.release(grant.page_id)
            raise
        unpaid = [grant for grant, paid in zip(grants, charged, strict=True) if paid is None]
        for grant in unpaid:
            self._planner.release(grant.page_id)
        return [paid for paid in charged if paid is not None], unpaid

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
            spare=budgets[WHOLE].level - budgets[WHOLE].burst / 2 if fills else 0.0,
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

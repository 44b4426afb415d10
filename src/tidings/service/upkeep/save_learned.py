"""Memories: store what the policy, the hints and the price have learned, every few seconds: a crash
loses no more than that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidings.clock import HOUR, SECOND
from tidings.errors import StoreError
from tidings.model.observed.unit import Estimate, Event, Unit
from tidings.service.explain.plan_summary import PRICED
from tidings.service.watch import noise
from tidings.storage.observed import estimates
from tidings.storage.watches import events

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidings.model.interval import Instant
    from tidings.service.plan.planner import Planner
    from tidings.service.sources.signals import Signals
    from tidings.service.watch.committer import Committer
    from tidings.service.watch.watchlist import WatchedPage
    from tidings.storage.write.store import Store

REMEMBER_EVERY: Final = 5 * SECOND
PRICED_EVERY: Final = HOUR
MEMORIES_A_UNIT: Final = 500


class LearnedStateWriter:
    """Learned state that no poll writes. `policy` is the name under which the policy's memories are
    stored.
    """

    def __init__(
        self,
        store: Store,
        committer: Committer,
        planner: Planner,
        signals: Signals,
        watched: Mapping[int, WatchedPage],
        *,
        policy: str,
        epoch: int,
    ) -> None:
        self._store = store
        self._committer = committer
        self._planner = planner
        self._signals = signals
        self._watched = watched
        self._policy = policy
        self._epoch = epoch
        self._remember_at: Instant = 0
        self._priced_at: Instant = 0

    async def recall(self, now: Instant) -> None:
        """Restore the planner's learned state, and the pages with a pending second poll."""
        self._planner.recall(await self._store.read(estimates.load_all, self._policy))
        if (priced := await self._store.read(events.newest, PRICED)) is not None:
            self._priced_at = min(priced.at, now)
            self._planner.recall_price(priced.data, now - self._priced_at)
        states = [page.state for page in self._watched.values()]
        for page_id, at in (await self._store.read(noise.find_second_polls, states, now)).items():
            self._planner.poll_again(page_id, at)

    def is_due(self, now: Instant) -> bool:
        """Return whether it is time to store what was learned."""
        return now >= self._remember_at

    async def remember(self, now: Instant) -> None:
        """Store what was learned since the last call. Before, take what an import learned of pages
        that are new since.
        """
        self._remember_at = now + REMEMBER_EVERY
        if new := self._planner.take_new():
            self._planner.recall(await self._store.read(estimates.load, self._policy, sorted(new)))
        await self._signals.remember()
        memories = self._planner.memories().items()
        learned = [Estimate(page_id=i, name=self._policy, state=m, at=now) for i, m in memories]
        for start in range(0, len(learned), MEMORIES_A_UNIT):
            part = tuple(learned[start : start + MEMORIES_A_UNIT])
            try:
                await self._committer.write(Unit(at=now, epoch=self._epoch, estimates=part))
            except StoreError:
                self._planner.proposals.owe(each.page_id for each in learned[start:])
                raise
        await self._remember_price(now)

    async def _remember_price(self, now: Instant) -> None:
        """Store the price that the budget sets, once an hour."""
        if now < self._priced_at + PRICED_EVERY or (priced := self._planner.dump_prices()) is None:
            return
        event = Event(type=PRICED, at=now, data=priced)
        await self._committer.write(Unit(at=now, epoch=self._epoch, events=(event,)))
        self._priced_at = now

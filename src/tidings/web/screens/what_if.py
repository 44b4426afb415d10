"""The curve of the plan screen, computed beside the requests: each budget as soon as the one before
is done, so that a screen shows those that are.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from tidings.clock import HOUR
from tidings.service.on_demand.what_if import BudgetPoint, BudgetTrial, read_sample
from tidings.web.markup.translations import translate
from tidings.web.problems import ProblemError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from tidings.model.interval import Instant
    from tidings.settings import Settings
    from tidings.storage.write.store import Store

CACHED_FOR: Final = 6 * HOUR
"""How long a curve is shown before it is computed anew."""
MOST: Final = 12
"""Most budgets of a curve."""


class WhatIf:
    """A curve and its computation.

    Args:
        store: The database.
        settings: The settings in use.
        work: Tries a budget in a separate process.
    """

    def __init__(self, store: Store, settings: Settings, work: Callable[[BudgetTrial], Awaitable[BudgetPoint]]) -> None:
        self._store = store
        self._settings = settings
        self._work = work
        self._begun: Instant | None = None
        self._task: asyncio.Task[None] | None = None
        self._left: list[float] = []
        self._points: dict[float, BudgetPoint] = {}
        self.share = 1.0
        """the share of pages that is simulated"""
        self.problem = ""
        """why it was not computed, empty for no reason"""

    @property
    def points(self) -> list[BudgetPoint]:
        """Return what is known, by budget."""
        return [self._points[budget] for budget in sorted(self._points)]

    @property
    def left(self) -> int:
        """Return how many budgets are still to be tried."""
        return len(self._left)

    def ask(self, budgets: Iterable[float], now: Instant) -> None:
        """Have budgets tried that were not, from the present history if the curve is old."""
        if self._begun is None or now - self._begun > CACHED_FOR or (self.problem and not self._left):
            self._points, self._left, self._begun, self.problem = {}, [], now, ""
        known = {*self._points, *self._left}
        self._left += [one for one in budgets if one not in known][: max(0, MOST - len(known))]
        if self._left and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._compute(now))

    async def close(self) -> None:
        """End the computation."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _compute(self, now: Instant) -> None:
        history, self.share = await self._store.read(read_sample, self._settings, now)
        if not history.made:
            self._left, self.problem = [], translate("Nothing was recorded yet. Come back in a day.")
        while self._left:
            budget = self._left[0]
            try:
                self._points[budget] = await self._work(BudgetTrial(budget, history, self.share, self._settings))
            except ProblemError as problem:
                self._left, self.problem = [], str(problem)
                return
            self._left.pop(0)

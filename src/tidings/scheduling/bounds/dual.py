"""The Lagrangian bound: OPT ≤ Σ_j C_j·λ_j + Σ_i V_i(λ) for any prices λ_j ≥ 0 (scheduling §9).

V_i is what page i earns if it buys its polls alone at those prices: a dynamic program over the
instants of its polls. The bound holds for any prices; `tighten` searches for good ones by
subgradients, one for all instants or one per position in a cycle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tidings.record import dataclass
from tidings.scheduling.population import Floats

Ticks: TypeAlias = NDArray[np.int64]
Backlog: TypeAlias = Callable[[Ticks, int], Floats]
"""The backlog of pages at the end of instant `end` since the ends of the instants `begins` (0 is
the start): shape (begins, pages).

For a page whose last poll was before the start, 0 stands for that poll.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Dual:
    """A bound, the prices of instants 1 … N that prove it, and how much the pages would spend at
    each of them.
    """

    bound: float
    prices: Floats
    spend: Floats


class Program:
    """The pages' own programs over instants 1 … `instants`, independent of prices.

    `cost` is per page. `credit` is the value of the backlog left at the end: credit(begins, N),
    shaped like `backlog`. `most` excludes polls further apart (instants): the bound then covers
    only schedules without such gaps. Memory: instants² · pages / 2 numbers of 4 bytes.
    """

    def __init__(
        self, backlog: Backlog, cost: Floats, instants: int, *, credit: Backlog | None = None, most: int | None = None
    ) -> None:
        self._cost = cost
        self._instants = instants
        self._firsts = [0 if most is None else max(0, now - most) for now in range(1, instants + 1)]
        self._gathered = [
            backlog(np.arange(first, now), now).astype(np.float32) for now, first in enumerate(self._firsts, start=1)
        ]
        self._left = np.zeros((instants + 1, len(cost)))
        if credit is not None:
            self._left = credit(np.arange(instants + 1), instants)

    def compute_bound(self, budget: Floats, prices: Floats) -> Dual:
        """Return the bound if instant j + 1 may spend `budget[j]` and charges `prices[j]`."""
        pages = len(self._cost)
        best = np.zeros((self._instants + 1, pages))
        before = np.zeros((self._instants + 1, pages), dtype=np.int64)
        for now, (first, gathered) in enumerate(zip(self._firsts, self._gathered, strict=True), start=1):
            earned = best[first:now] + gathered
            place = earned.argmax(axis=0)
            best[now] = np.take_along_axis(earned, place[None, :], axis=0)[0] - self._cost * prices[now - 1]
            before[now] = first + place
        final = best + self._left
        value = float(final.max(axis=0).sum())
        return Dual(value + float(budget @ prices), prices, self._spend(before, final.argmax(axis=0)))

    def _spend(self, before: Ticks, last: Ticks) -> Floats:
        spend = np.zeros(self._instants)
        pages = np.arange(len(last))
        at = last.copy()
        while (going := at > 0).any():
            np.add.at(spend, at[going] - 1, self._cost[going])
            at = np.where(going, before[at, pages], 0)
        return spend

    def tighten(self, budget: Floats, *, price: float, rounds: int = 60, cycle: int | None = None) -> Dual:
        """Return the least bound found in `rounds` steps from `price` on.

        Args:
            budget: What each instant may cost.
            price: The initial price.
            rounds: How often prices are adjusted.
            cycle: The length of a cycle with one price per position; None for one price for all.
        """
        places = np.zeros(len(budget), dtype=np.int64) if cycle is None else np.arange(len(budget)) % cycle
        given = np.bincount(places, weights=budget)
        level = np.full(len(given), price)
        found = best = self.compute_bound(budget, level[places])
        step = 0.5
        for _ in range(rounds):
            off = (np.bincount(places, weights=found.spend) - given) / np.maximum(given, 1e-12)
            level = np.maximum(level * np.exp(np.clip(step * off, -1, 1)), 1e-12)
            step = max(step * 0.93, 0.01)
            found = self.compute_bound(budget, level[places])
            best = min(best, found, key=lambda dual: dual.bound)
        return best

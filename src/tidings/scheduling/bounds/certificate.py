"""A certificate: how near the polls of the last days came to the optimum in the model, by the
Lagrangian bound (bid §6; scheduling §9).

The model is the estimate of the pages at the end of the window, for both sides; both start from the
true ages, and the backlog left at the end is worth the same to both. No schedule of equal cost
beats the bound: OPT ≤ Σ_j C_j·λ_j + Σ_i V_i(λ) for any prices λ_j ≥ 0, where V_i is what page i
earns if it buys its polls alone at those prices: a dynamic program over the instants of its polls.
`tighten` searches for good prices by subgradients, one for all instants or one per position in a
cycle.

The bound does not validate the model: so a certificate states its estimate, is shown beside what
the found changes say (`lookback`), and has no percentage if the number of found changes, or their
times, contradict the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tidings.model.interval import DAY, Duration
from tidings.record import dataclass
from tidings.scheduling.bounds.lookback import Misfit, ValueShare, WindowPolls, measure_value_share, misfits
from tidings.scheduling.bounds.steady import Steady
from tidings.scheduling.population import Floats, Mask, Rows

LEAST_WINDOW: Final[Duration] = 7 * DAY
LEAST_GAPS: Final = 5
FITS: Final = (0.8, 1.25)
"""The model fits while the ratio of predicted to found changes is between these."""
_HALVINGS: Final = 40
_PRECISION: Final = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Backlogs:
    """For each page of `steady`: the age of its backlog at the start, and the time from its start
    to the end (µs).
    """

    steady: Steady
    age: Floats
    length: Floats


@dataclass(frozen=True, slots=True, eq=False)
class ModelledPolls:
    """The polls of a window: the page, the time after the start (µs), whether a change was found,
    and its probability in the model.
    """

    page: Rows
    at: Floats
    changed: Mask
    chance: Floats

    def in_order(self) -> ModelledPolls:
        """Return the polls page by page, each page's in order of time."""
        order = np.lexsort((self.at, self.page))
        return ModelledPolls(self.page[order], self.at[order], self.changed[order], self.chance[order])


@dataclass(frozen=True, slots=True)
class Certificate:
    """The value earned by the polls of these pages, and the upper bound at equal `cost`, proved by
    `price`.

    `predicted` and `found` are the numbers of polls that find changes, in the model and in fact;
    `misfits` say where the times of changes contradict the model, `value_share` is the share of
    the value of all found changes (`lookback`).
    """

    pages: int
    polls: int
    cost: float
    value: float
    bound: float
    price: float
    predicted: float
    found: int
    misfits: tuple[Misfit, ...] = ()
    value_share: ValueShare | None = None

    @property
    def fit(self) -> float:
        """Return predicted over found changes; 1 if both are 0."""
        if not self.found:
            return np.inf if self.predicted >= 1 else 1.0
        return self.predicted / self.found

    @property
    def is_off(self) -> bool:
        """Return whether the model is off, in numbers or in times, so that the bound says nothing
        about the world.
        """
        return not FITS[0] <= self.fit <= FITS[1] or any(each.host is None for each in self.misfits)

    @property
    def share(self) -> float | None:
        """Return value over bound; None if the model is off."""
        if self.is_off:
            return None
        return min(self.value / self.bound, 1.0) if self.bound > 0 else 1.0

    def __str__(self) -> str:
        fit = f"{self.predicted:.0f} changes expected, {self.found} found"
        if self.is_off:
            return f"model off: {'; '.join([fit, *(each.why for each in self.misfits if each.host is None)])}"
        return f"if pages change as we believe: {self.share:.1%} of what any schedule of these polls could have earned ({fit})"


@dataclass(frozen=True, slots=True, eq=False)
class CertifiedPages:
    """Pages of a certificate with their polls: the value earned and its cost. `buy` returns the
    most that the pages can earn net of a price per unit of cost, and what that costs.
    """

    pages: int
    polls: ModelledPolls
    value: float
    cost: float
    buy: Callable[[float], tuple[float, float]]
    dearest: float
    """a price at which nothing is bought"""


def steadily(window: Backlogs, polls: ModelledPolls) -> CertifiedPages:
    """Return the part of pages that change at steady rates. Raise ValueError for a poll outside the
    window of its page.
    """
    polls = polls.in_order()
    if len(polls.at) and ((polls.at < 0) | (polls.at > window.length[polls.page])).any():
        message = "a check lies outside the window of its page"
        raise ValueError(message)
    steady = window.steady

    def buy(price: float) -> tuple[float, float]:
        value, number = steady.best(price, window.age, window.length)
        return float(value.sum()), float((number * steady.cost).sum())

    return CertifiedPages(
        steady.size,
        polls,
        float(measure_earnings(window, polls.page, polls.at).sum()),
        float(steady.cost[polls.page].sum()),
        buy,
        float((steady.most / steady.cost).max(initial=0.0)),
    )


def by_instants(backlog: Backlog, credit: Backlog, cost: Floats, instants: int, made: ModelledPolls) -> CertifiedPages:
    """Return the part of pages whose changes arrive at any rate (`Program`), over instants 1 …
    `instants`; `at` of a poll is an instant, and several polls at one instant count as one.

    Args:
        backlog: Returns what gathers on each page between two instants.
        credit: Returns what counts as gathered at the end.
        cost: The cost of a poll of each page.
        instants: How many instants there are.
        made: The polls that were made.
    """
    program = Program(backlog, cost, instants, credit=credit)
    last = np.zeros(len(cost), np.int64)
    value = spent = 0.0
    for now in range(1, instants + 1):
        pages = np.unique(made.page[made.at == now])
        if len(pages):
            begins, place = np.unique(last[pages], return_inverse=True)
            value += float(backlog(begins, now)[place, pages].sum())
            spent += float(cost[pages].sum())
            last[pages] = now
    begins, place = np.unique(last, return_inverse=True)
    value += float(credit(begins, instants)[place, np.arange(len(cost))].sum())

    def buy(price: float) -> tuple[float, float]:
        found = program.compute_bound(np.zeros(instants), np.full(instants, price))
        return found.bound, float(found.spend.sum())

    dearest = float((backlog(np.zeros(1, np.int64), instants) / cost).max(initial=0.0))
    return CertifiedPages(len(cost), made, value, spent, buy, dearest)


def certify(*parts: CertifiedPages, polls: WindowPolls | None = None) -> Certificate:
    """Return the certificate of all parts together, with one price. `polls` are the same polls, for
    `lookback`.
    """
    cost = sum(part.cost for part in parts)
    bound, price = _find_least_bound(parts, cost)
    return Certificate(
        sum(part.pages for part in parts),
        sum(len(part.polls.at) for part in parts),
        cost,
        sum(part.value for part in parts),
        bound,
        price,
        float(sum(part.polls.chance.sum() for part in parts)),
        int(sum(part.polls.changed.sum() for part in parts)),
        () if polls is None else misfits(polls),
        None if polls is None else measure_value_share(polls),
    )


def measure_earnings(window: Backlogs, page: Rows, at: Floats) -> Floats:
    """Return the value that each page earned by polls `at` (µs after the start; page by page, in
    time), with the backlog left at the end.
    """
    last = -window.age
    begins = np.where(np.diff(page, prepend=-1) != 0, last[page], np.concatenate([[0.0], at[:-1]])) if len(at) else at
    gains = np.bincount(page, window.steady.gather(at - begins, page), minlength=window.steady.size)
    last[page] = at  # the last of several wins, since they are in order
    return gains + window.steady.appraise_age(window.length - last)


def measure_window(gaps: Floats) -> Duration:
    """Return how long a window must be for pages that are polled at such gaps (µs)."""
    return max(LEAST_WINDOW, int(LEAST_GAPS * np.median(gaps)) if len(gaps) else 0)


def _find_least_bound(parts: Sequence[CertifiedPages], cost: float) -> tuple[float, float]:
    """Return the least bound for polls of that cost, and the price that proves it: where the pages
    would buy as much, or less.
    """
    low, high = 0.0, max(part.dearest for part in parts)
    least, proof = np.inf, 0.0
    for _ in range(_HALVINGS):
        price = (low + high) / 2 if low <= 0 or high > 4 * low else float(np.sqrt(low * high))
        bought = [part.buy(price) for part in parts]
        bound, spent = sum(value for value, _ in bought) + price * cost, sum(spent for _, spent in bought)
        if bound < least:
            least, proof = bound, price
        low, high = (price, high) if spent > cost else (low, price)
        if high <= low * (1 + _PRECISION):
            break
    return least, proof


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

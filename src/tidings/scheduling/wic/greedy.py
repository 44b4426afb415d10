"""WIC's algorithm: at every instant poll where the gain is largest (000 §3), over any feasible set;
the optimum, by exhaustive search; and exact WIC over millions of pages with numpy alone (scheduling
§8).

For pages whose changes are appended or overwritten and whose urgency is uniform or exponential the
recurrence is one product and one sum: G ← q·G + W·π with q = r for appended and r(1 − π) for
overwritten changes. The capacity-th best gain of one instant is close to that of the next, so
candidates are those slightly below it and above; the best are chosen among these, exactly.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tidings.record import dataclass
from tidings.scheduling.population import Floats, Rows
from tidings.scheduling.wic.accrual import Accrual
from tidings.scheduling.wic.urgency import WicLife, WicUrgency


def utility(
    chances: Floats, life: WicLife, urgency: WicUrgency, previous: int, now: int, *, weight: float = 1.0
) -> float:
    """Return g(previous, now) = W Σ_{k = previous+1 … now} u(now − k) · π_k · life_k(now).

    `chances[k − 1]` is π_k, the probability that the page changes in instant k = 1, 2, …. O((now −
    previous)²).

    Args:
        chances: The probability of a change in each instant, from the first on.
        life: How long a change can be captured.
        urgency: Its worth by age.
        previous: The instant of the last poll, 0 if there was none.
        now: The instant of the poll.
        weight: The importance of the page.
    """
    changes = np.arange(previous + 1, now + 1)
    worth = urgency.at(now - changes) * chances[previous:now]
    return weight * sum(
        float(value) * life.at(chances, int(k), now) for value, k in zip(worth, changes, strict=True) if value
    )


Choose: TypeAlias = Callable[[Floats, int], Rows]
"""Chooses pages by their gains at an instant 1, 2, … If it finds a best feasible set, and every
subset of a feasible set is feasible, the schedule earns at least 1/(1 + a) of any other (scheduling
§1.4).
"""


@dataclass(frozen=True, slots=True)
class Page:
    """A page as WIC sees it: its probability of change in each instant, and the worth of its
    changes.
    """

    chances: Floats
    life: WicLife
    urgency: WicUrgency
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Schedule:
    """The pages polled at instants 1, 2, … and the utility that they earned."""

    polls: tuple[tuple[int, ...], ...]
    utility: float


def top(capacity: int, *, worthless: bool = True) -> Choose:
    """Return the paper's choice: the `capacity` pages of largest gain, ties to the lower number;
    `worthless` fills up with pages of no gain.
    """

    def choose(gains: Floats, _: int) -> Rows:
        order = np.argsort(-gains, kind="stable")[:capacity]
        return order if worthless else order[gains[order] > 0]

    return choose


def wic(pages: Sequence[Page], choose: Choose) -> Schedule:
    """Return WIC's schedule over the instants of the pages' chances. Raise ValueError if these
    differ in number.
    """
    chances = np.array([page.chances for page in pages], dtype=np.float64)
    accruals, places = _accruals(pages)
    polls: list[tuple[int, ...]] = []
    total = 0.0
    for instant in range(1, chances.shape[1] + 1):
        gains = np.zeros(len(pages))
        for accrual, rows in zip(accruals, places, strict=True):
            accrual.step(chances[rows, instant - 1])
            gains[rows] = accrual.gains
        chosen = choose(gains, instant)
        total += float(gains[chosen].sum())
        polls.append(tuple(sorted(chosen.tolist())))
        for accrual, rows in zip(accruals, places, strict=True):
            accrual.poll(np.flatnonzero(np.isin(rows, chosen)))
    return Schedule(tuple(polls), total)


def earn(pages: Sequence[Page], polls: Sequence[Sequence[int]]) -> float:
    """Return the utility of any schedule, by the definition."""
    last = [0] * len(pages)
    total = 0.0
    for instant, polled in enumerate(polls, start=1):
        for number in polled:
            page = pages[number]
            total += utility(page.chances, page.life, page.urgency, last[number], instant, weight=page.weight)
            last[number] = instant
    return total


def best(
    pages: Sequence[Page], capacity: int, *, is_feasible: Callable[[Sequence[int]], bool] = lambda _: True
) -> Schedule:
    """Return the optimal schedule by exhaustive search, for small instances and as a reference
    (memoised over the last polls).
    """
    instants = len(pages[0].chances)
    sets = [
        s for size in range(capacity + 1) for s in itertools.combinations(range(len(pages)), size) if is_feasible(s)
    ]
    known: dict[tuple[int, tuple[int, ...]], tuple[float, tuple[tuple[int, ...], ...]]] = {}

    def go_on(instant: int, last: tuple[int, ...]) -> tuple[float, tuple[tuple[int, ...], ...]]:
        if instant > instants:
            return 0.0, ()
        if (instant, last) not in known:
            gains = [
                utility(p.chances, p.life, p.urgency, polled_at, instant, weight=p.weight)
                for p, polled_at in zip(pages, last, strict=True)
            ]
            outcomes = []
            for polled in sets:
                after = tuple(instant if number in polled else before for number, before in enumerate(last))
                value, rest = go_on(instant + 1, after)
                outcomes.append((value + sum(gains[number] for number in polled), (polled, *rest)))
            known[instant, last] = max(outcomes, key=lambda outcome: outcome[0])
        return known[instant, last]

    value, polls = go_on(1, (0,) * len(pages))
    return Schedule(polls, value)


def _accruals(pages: Sequence[Page]) -> tuple[list[Accrual], list[Rows]]:
    """Group pages by the worth of their changes."""
    groups: dict[tuple[WicLife, WicUrgency], list[int]] = {}
    for number, page in enumerate(pages):
        groups.setdefault((page.life, page.urgency), []).append(number)
    places = [np.array(rows, dtype=np.intp) for rows in groups.values()]
    made = [
        Accrual(np.array([pages[row].weight for row in rows]), life, urgency)
        for (life, urgency), rows in zip(groups, places, strict=True)
    ]
    return made, places


LOWERED = 0.97
"""Candidates gain more than this share of the least chosen gain of the previous instant."""


class DenseWic:
    """The gains of all pages in single precision, 4 bytes a page, and the choice of the best
    `capacity`; ties in memory order.

    `kept` (q) and `new` (W·π) are arrays or numbers, given at each step: the probabilities of pages
    may change.
    """

    def __init__(self, pages: int, capacity: int) -> None:
        if not 1 <= capacity <= pages:
            message = f"the capacity must be from 1 to the number of pages, {pages}; it is {capacity}"
            raise ValueError(message)
        self.gains: NDArray[np.float32] = np.zeros(pages, dtype=np.float32)
        self._capacity = capacity
        self._floor = np.float32(0.0)
        self.fallbacks = 0
        """Instants at which the floor was too high and all pages were compared."""

    def step(self, kept: NDArray[np.float32] | np.float32, new: NDArray[np.float32]) -> Rows:
        """Advance by one instant, poll the best pages and return them in no order."""
        gains = self.gains
        np.multiply(gains, kept, out=gains)
        np.add(gains, new, out=gains)
        candidates = np.flatnonzero(gains > self._floor)
        if candidates.size < self._capacity:
            self.fallbacks += 1
            candidates = np.arange(gains.size)
        values = gains[candidates]
        places = np.argpartition(values, candidates.size - self._capacity)[candidates.size - self._capacity :]
        self._floor = np.float32(values[places].min() * LOWERED)
        chosen: Rows = candidates[places]
        gains[chosen] = 0.0
        return chosen

"""The bid with hours of the week: the value of a poll now, against the best plan that waits (bid
§1).

Time is in ticks. A profile m of mean 1 repeats; F gathers over it, F[t] = e^−κ_t·F[t−1] + gain_t,
so that the backlog between any two ticks is g(a, b) = W(F[b] − e^−(S[b]−S[a])·F[a]). A plan
considers a few ticks ahead and ends at a horizon with what is then gathered. Pages are handled in
batches of one profile; arrays are in the order of the batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from tidings.record import dataclass
from tidings.scheduling.index import wait
from tidings.scheduling.population import Floats, Mask

OFFSETS: Final = 24
"""Instants ahead that a plan considers, geometrically spaced."""
_FEW: Final = 32
Ticks = NDArray[np.int64]


class Gathers(Protocol):
    """How the changes of a batch of pages gather: W·μ, θ and overwriting, per tick."""

    @property
    def inflow(self) -> Floats:
        """Return W·μ at the mean rate."""
        ...

    @property
    def decay(self) -> Floats:
        """Return θ."""
        ...

    @property
    def overwritten(self) -> Floats:
        """Return how much of the backlog further changes overwrite, at the mean rate."""
        ...

    def read(self, at: Ticks) -> tuple[Floats, Floats]:
        """Return F and S at the end of ticks, one per page or rows of them."""
        ...


def backlog(begin: tuple[Floats, Floats], end: tuple[Floats, Floats]) -> Floats:
    """Return the backlog between two instants, given F and S: F[b] − e^−(S[b]−S[a])·F[a]; e^S is
    never formed.
    """
    return np.asarray(end[0] - np.exp(-np.maximum(end[1] - begin[1], 0.0)) * begin[0])


@dataclass(frozen=True, slots=True, eq=False)
class Gathering:
    """How the changes of pages with one profile gather: prefix sums over two periods and more,
    shape (pages, ticks).
    """

    profile: Floats
    inflow: Floats
    decay: Floats
    overwritten: Floats
    _first: Floats
    _kappa: Floats

    @classmethod
    def of(cls, profile: Floats, inflow: Floats, decay: Floats, overwritten: Floats) -> Gathering:
        """Return how W·μ (`inflow`), θ (`decay`) and what is `overwritten` (all per tick, one per
        page) gather over a profile of mean 1.

        F starts at its fixed point, so that it is periodic. A page without decay and overwriting
        has none: its θ must be above 0.
        """
        if not (decay + overwritten > 0).all():
            message = "a backlog that never fades has no value at a horizon; give it a slow decay"
            raise ValueError(message)
        kappa = decay[:, None] + overwritten[:, None] * profile[None, :]
        gain = _gain(profile, inflow, kappa, overwritten)
        gathered = np.zeros((len(inflow), profile.size))
        level = np.zeros(len(inflow))
        for tick in range(profile.size):
            level = np.exp(-kappa[:, tick]) * level + gain[:, tick]
            gathered[:, tick] = level
        total = kappa.sum(axis=1)
        start = level / -np.expm1(-total)
        faded = np.exp(-np.cumsum(kappa, axis=1))
        return cls(profile, inflow, decay, overwritten, gathered + faded * start[:, None], np.cumsum(kappa, axis=1))

    @property
    def period(self) -> int:
        """Return the ticks after which the profile repeats."""
        return self.profile.size

    def read(self, at: Ticks) -> tuple[Floats, Floats]:
        """Return F and S at the end of ticks, one per page or rows of them."""
        rows = np.arange(len(self.inflow))
        turns, tick = np.divmod(at, self.period)
        return self._first[rows, tick], turns * self._kappa[:, -1] + self._kappa[rows, tick]

    def backlog(self, begin: Ticks, end: Ticks) -> Floats:
        """Return g(begin, end): the backlog at the end of tick `end` since the end of tick `begin`,
        one per page.
        """
        return backlog(self.read(begin), self.read(end))


@dataclass(frozen=True, slots=True, eq=False)
class HourPlan:
    """The plan of a batch of pages: the bid per unit of cost, whether each is to be polled if it
    waits, and when: else when to ask again.
    """

    bids: Floats
    is_polled: Mask
    due: Ticks


def plan(
    gathering: Gathers,
    cost: Floats,
    price: float,
    last: Ticks,
    now: int | Ticks,
    *,
    longest: int | Ticks,
    shortest: int | Ticks = 1,
    review: int = 72,
    day: int = 288,
) -> HourPlan:
    """Return bids and dues of pages last polled in tick `last`, at a price per unit of cost.

    bid = (g(last, now) + V[0] − R)/c: the value of a poll and of the best plan after it, less that
    of the best plan that waits. A page is to be polled if it bids the price, or is `longest` ticks
    old.

    Args:
        gathering: How changes of each page gather.
        cost: The cost of a poll of each.
        price: The price per unit of cost.
        last: The tick of each page's last poll.
        now: The present tick.
        longest: The most ticks between two polls.
        shortest: The least ticks between two polls.
        review: After how many ticks a page without a planned poll is asked again.
        day: One day in ticks.
    """
    mean = _Mean(gathering, cost, price, longest)
    horizon = np.where(np.isfinite(mean.wait), 2 * np.minimum(mean.wait, longest), day).astype(np.int64)
    horizon = np.maximum(horizon, 2)
    offsets = _offsets(horizon, mean.wait, now - last)
    seen, then, end = gathering.read(last), gathering.read(now + offsets), gathering.read(now + horizon)
    values = _values(mean, offsets, then, end, shortest)
    there = backlog(seen, then)
    waits = np.where(offsets > 0, there - cost * price + values, -np.inf)
    never = mean.appraise(backlog(seen, end))
    best = waits.max(axis=0)
    rest = np.maximum(never, best)
    chosen = np.take_along_axis(offsets, waits.argmax(axis=0)[None, :], axis=0)[0]
    is_polled = best >= never
    return HourPlan(
        (there[0] + values[0] - rest) / cost,
        is_polled,
        np.minimum(now + np.where(is_polled, chosen, review), last + longest),
    )


class _Mean:
    """The stationary solution at the mean rate: T*, the rate of reward ρ, and the value of a
    backlog at the horizon.
    """

    def __init__(self, gathering: Gathers, cost: Floats, price: float, longest: int | Ticks) -> None:
        self._kappa = gathering.decay + gathering.overwritten
        self._most = gathering.inflow / self._kappa
        self.due = cost * price
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(self._most > 0, self.due / self._most, np.inf)
        x = wait(np.minimum(share, 1 - 1e-16))
        is_worth_it = share < 1
        self.wait = np.where(is_worth_it, np.maximum(x / self._kappa, 1.0), np.inf)
        self._reward = np.where(is_worth_it, self._most * self._kappa * np.exp(-x), 0.0)
        self._full = np.where(
            is_worth_it, self._most * -np.expm1(-self._kappa * np.minimum(self.wait, longest)), np.inf
        )

    def appraise(self, backlog: Floats) -> Floats:
        """Return h(g): a ripe backlog is worth a poll, another one the time that it saves."""
        with np.errstate(divide="ignore", invalid="ignore"):
            age = -np.log1p(-np.minimum(backlog / self._most, 1 - 1e-12)) / self._kappa
        unripe = self._reward * np.minimum(np.where(np.isfinite(self.wait), self.wait, 0.0), age)
        ripe = backlog - self.due
        return np.asarray(
            np.where(np.isfinite(self.wait), np.where(backlog >= self._full, ripe, unripe), np.maximum(ripe, 0.0))
        )


def _values(
    mean: _Mean, offsets: Ticks, then: tuple[Floats, Floats], end: tuple[Floats, Floats], shortest: int | Ticks
) -> Floats:
    """Return V[x] for each instant of the plan: the best of waiting to the horizon after a poll at
    x, or of the next poll at a y > x.
    """
    values = mean.appraise(backlog(then, end))
    for place, earned in _sum_earned(offsets, then, shortest):
        np.maximum(values[place], (earned + values[place + 1 :]).max(axis=0) - mean.due, out=values[place])
    return values


def _sum_earned(offsets: Ticks, then: tuple[Floats, Floats], shortest: int | Ticks) -> Iterator[tuple[int, Floats]]:
    """Yield, from the last instant of the plan to the first, what a poll at each later one gathers
    since; −inf if it is too soon.
    """
    level, faded = then
    places = range(len(offsets) - 2, -1, -1)
    if offsets.shape[1] <= _FEW:  # all at once takes fewer steps, one by one less memory
        table = backlog((level[:, None], faded[:, None]), then)
        table[offsets - offsets[:, None] < shortest] = -np.inf
        yield from ((place, table[place, place + 1 :]) for place in places)
        return
    for place in places:
        after = slice(place + 1, None)
        row = backlog((level[place], faded[place]), (level[after], faded[after]))
        row[offsets[after] - offsets[place] < shortest] = -np.inf
        yield place, row


def _offsets(horizon: Ticks, waits: Floats, age: Ticks) -> Ticks:
    """Return the instants of a plan, shape (instants, pages), ascending per page: now, geometric
    ones up to its horizon, and T* after now and after its last poll.
    """
    offsets = np.zeros((OFFSETS + 3, len(horizon)), dtype=np.int64)
    offsets[1 : OFFSETS + 1] = np.round(horizon ** (np.arange(OFFSETS) / (OFFSETS - 1))[:, None])
    finite = np.where(np.isfinite(waits), np.round(waits), 0).astype(np.int64)
    offsets[-2:] = finite, finite - age
    outside = (offsets[-2:] <= 0) | (offsets[-2:] > horizon)
    offsets[-2:] = np.where(outside, horizon, offsets[-2:])
    offsets.sort(axis=0)
    return offsets


def _gain(profile: Floats, inflow: Floats, kappa: Floats, overwritten: Floats) -> Floats:
    """Return the gain of a tick: W·μ·m if changes accumulate, (W·μ·m/κ)(1 − e^−κ) if they overwrite
    each other within the tick.
    """
    arrives = inflow[:, None] * profile[None, :]
    within = np.where(kappa > 0, -np.expm1(-kappa) / np.where(kappa > 0, kappa, 1.0), 1.0)
    return np.where(overwritten[:, None] > 0, arrives * within, arrives)

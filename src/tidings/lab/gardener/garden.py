"""Gardens, schedules of a garden, and their cost, tardiness and demand (003 §3, §4).

A *day* is a time slot of any length. Day 0 is yesterday, when every plant was maintained; schedules
begin with day 1.

The demand-bound function tests whether a capacity can meet the demand: a garden that is on time can
be kept so only if, for every horizon of h days, the work due within it costs no more than the
capacity of h days. MEDD tests only the longest window; testing every horizon finds overload days
earlier (scheduling §4).

`construct` keeps every window at a daily workload of at most 4Ω + 2 (003 §3). Plants with the
longest window are packed into bins of one unit; two bins become one plant that is visited twice as
often and alternates between them; and so on until every plant is visited every day (Lemma 3.1,
Theorem 3.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidings.record import dataclass

Costs: TypeAlias = NDArray[np.float64]
Days: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Garden:
    """Plants by number: plant i costs `costs[i]` of the day's workload and needs care at least once
    in any `windows[i]` days.
    """

    costs: Costs
    windows: Days

    @classmethod
    def of(cls, costs: ArrayLike, windows: ArrayLike) -> Garden:
        """Return the garden with these costs (above 0) and windows (whole days, 1 or more). Raise
        ValueError for anything else.
        """
        c = np.atleast_1d(np.asarray(costs, dtype=np.float64))
        w = np.atleast_1d(np.asarray(windows))
        if c.shape != w.shape or c.ndim != 1 or not c.size:
            message = "a garden needs as many costs as windows, and one plant at least"
            raise ValueError(message)
        if not (np.isfinite(c).all() and (c > 0).all()):
            message = "costs must be finite and above 0"
            raise ValueError(message)
        if not (w == np.floor(w)).all() or not (w >= 1).all():
            message = "windows must be whole days, 1 or more"
            raise ValueError(message)
        return cls(c, w.astype(np.int64))

    @property
    def size(self) -> int:
        """Return the number of plants."""
        return self.costs.size

    @property
    def density(self) -> float:
        """Return Ω = Σ c/w: no schedule that keeps every window has less average workload a day
        (Gardener, Property 1).
        """
        return float((self.costs / self.windows).sum())

    def workload(self, plants: Collection[int]) -> float:
        """Return the cost of maintaining these plants."""
        return float(self.costs[list(plants)].sum())


@dataclass(frozen=True, slots=True)
class Cycle:
    """A periodic schedule: the plants of each day of one period, repeated."""

    days: tuple[tuple[int, ...], ...]

    @property
    def period(self) -> int:
        """Return the length of the period in days."""
        return len(self.days)

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        """Iterate over the days of one period."""
        return iter(self.days)

    def first(self, number: int) -> list[tuple[int, ...]]:
        """Return the first `number` days."""
        return [self.days[day % self.period] for day in range(number)]

    def gaps(self, plants: int) -> Days:
        """Return the longest gap in days between two visits of each plant, 0 for one that is never
        visited.
        """
        longest = np.zeros(plants, dtype=np.int64)
        visits: list[list[int]] = [[] for _ in range(plants)]
        for day, chosen in enumerate(self.days):
            for plant in chosen:
                visits[plant].append(day)
        for plant, days in enumerate(visits):
            if days:
                longest[plant] = max(np.diff([*days, days[0] + self.period]))
        return longest

    def keeps(self, garden: Garden) -> bool:
        """Return whether every plant is maintained at least once in any window of its length."""
        gaps = self.gaps(garden.size)
        return bool(((gaps > 0) & (gaps <= garden.windows)).all())


@dataclass(frozen=True, slots=True)
class Measures:
    """The Gardener's two measures of a schedule (003 §4): workload a day, and days of tardiness."""

    average_workload: float
    peak_workload: float
    average_tardiness: float
    peak_tardiness: int

    def dominates(self, other: Measures) -> bool:
        """Return whether this is nowhere worse and somewhere better."""
        return self != other and all(mine <= theirs for mine, theirs in zip(self.values(), other.values(), strict=True))

    def values(self) -> tuple[float, float, float, int]:
        """Return the four, in the order of the fields: K̄, K_max, T̄, T_max."""
        return self.average_workload, self.peak_workload, self.average_tardiness, self.peak_tardiness


def measure(garden: Garden, schedule: Sequence[Collection[int]]) -> Measures:
    """Return the measures of a schedule from day 1 on. Plants still waiting at its end count with
    their lateness then.
    """
    due = garden.windows.copy()
    loads = np.zeros(len(schedule))
    tardiness = 0
    worst = 0
    for day, plants in enumerate(schedule, start=1):
        chosen = list(plants)
        loads[day - 1] = garden.workload(chosen)
        late = np.maximum(day - due[chosen], 0)
        tardiness += int(late.sum())
        worst = max(worst, int(late.max(initial=0)))
        due[chosen] = day + garden.windows[chosen]
    worst = max(worst, int((len(schedule) - due).max(initial=0)))
    return Measures(float(loads.mean()), float(loads.max()), tardiness / len(schedule) / garden.size, worst)


MOST: Final = 500_000
"""The most due dates that are tested, the first ones."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """The workload that a day takes: `peak` on any day, `average` (k̄ of 003 §1; None: no bound)
    over all days.

    The average is a bucket: a day's rest may be spent later, within the peak, at most `saved` days
    of it.
    """

    peak: float
    average: float | None = None
    saved: float = 30.0

    def refill(self, level: float) -> float:
        """Return the level of the bucket on the next day, before anything is spent."""
        if self.average is None:
            return np.inf
        return min(level + self.average, self.average * max(self.saved, 1.0))

    def within(self, level: float, days: Days) -> Costs:
        """Return the capacity of the next `days` days, if the bucket holds `level` tonight."""
        peaks = self.peak * days.astype(np.float64)
        return peaks if self.average is None else np.minimum(peaks, level + self.average * days)


def demand(garden: Garden, due: Days, today: int, horizons: Days) -> Costs:
    """Return for each horizon of h days after today what must be spent in it, if all plants are
    maintained on their due days.

    `due` is in days; late plants count as due tomorrow. O(plants × horizons).

    Args:
        garden: The plants.
        today: The number of today.
        horizons: The horizons, in days.
    """
    next_due = np.maximum(due, today + 1)
    times = 1 + (today + horizons[:, None] - next_due[None, :]) // garden.windows[None, :]
    return np.asarray(np.maximum(times, 0) @ garden.costs, dtype=np.float64)


def overload(garden: Garden, due: Days, today: int, capacity: Capacity, level: float, horizons: Days) -> float:
    """Return the largest excess of a horizon's demand over its capacity, 0 if each can be met.

    Args:
        garden: The plants.
        due: The day on which each is due.
        today: The number of today.
        capacity: What can be spent.
        level: What is saved up.
        horizons: The horizons, in days.
    """
    excess = demand(garden, due, today, horizons) - capacity.within(level, horizons)
    return float(max(excess.max(), 0.0))


def excess(garden: Garden, due: Days, soonest: int, today: int, rate: float) -> float:
    """Return the largest excess of the demand of any horizon up to the longest window over `rate` a
    day, 0 if each can be met; days may be µs.

    What is late, or due before `soonest`, is due then. As `overload` with a steady capacity, but
    only at due dates: O(n log n) in their number.

    Args:
        garden: The plants.
        due: The day on which each is due.
        today: The number of today.
    """
    first = np.maximum(due, soonest)
    end = today + int(garden.windows.max())
    share = float((1 / garden.windows).sum())
    end = min(end, soonest + int(MOST / share)) if share * (end - soonest) > MOST else end
    times = np.maximum((end - first) // garden.windows + 1, 0)
    plants = np.repeat(np.arange(garden.size), times)
    number = np.arange(plants.size) - np.repeat(np.cumsum(times) - times, times)
    at = first[plants] + number * garden.windows[plants]
    order = np.argsort(at, kind="stable")
    asked = np.cumsum(garden.costs[plants[order]])
    return float(max((asked - rate * (at[order] - today)).max(initial=0.0), 0.0))


_EVEN = 1e-9  # sums of costs may exceed a bin by this much


@dataclass(frozen=True, slots=True)
class _Plant:
    number: int
    cost: float

    def visit(self, _: int) -> Iterator[int]:
        yield self.number


@dataclass(frozen=True, slots=True)
class _Turns:
    """Two bins that are visited alternately; together they cost as much as the more expensive
    one.
    """

    bins: tuple[tuple[_Item, ...], tuple[_Item, ...]]
    cost: float

    def visit(self, visit: int) -> Iterator[int]:
        for item in self.bins[visit % 2]:
            yield from item.visit(visit // 2)


_Item: TypeAlias = _Plant | _Turns
_Bins: TypeAlias = list[tuple[_Item, ...]]


def compute_bound(garden: Garden) -> float:
    """Return the daily bound of `construct`: 4Ω + 2, in units of the smallest power of two that no
    cost exceeds.
    """
    return 4 * garden.density + 2 * _unit(garden)


def construct(garden: Garden) -> Cycle:
    """Return the schedule of Theorem 3.3: it keeps every window, and no day's workload exceeds the
    bound.
    """
    unit = _unit(garden)
    return _schedule(garden, 1, lambda cost: 2.0 ** math.ceil(math.log2(cost / unit) - _EVEN), fills=True)


def refine(garden: Garden) -> Cycle:
    """Return the best result of the construction with true costs and other shortest windows,
    without unnecessary visits.

    Better than `construct` in all measurements (`bench/gardener.py`), and never worse, since that
    is a candidate. The least average workload wins, then the least peak.
    """
    unit = _unit(garden)
    tried = [construct(garden)]
    tried += [
        _schedule(garden, base, lambda cost: cost / unit, fills=False)
        for base in range(1, int(garden.windows.min()) + 1)
    ]
    return min((prune(garden, cycle) for cycle in tried), key=lambda cycle: _loads(garden, cycle))


def prune(garden: Garden, cycle: Cycle) -> Cycle:
    """Return a schedule without unnecessary visits, dropping the most expensive on the fullest days
    first.
    """
    days = [set(day) for day in cycle]
    loads = [garden.workload(day) for day in days]
    visits = [(day, plant) for day, plants in enumerate(cycle.days) for plant in plants]
    for day, plant in sorted(visits, key=lambda v: (-garden.costs[v[1]], -loads[v[0]], v)):
        mine = [d for d in range(cycle.period) if plant in days[d] and d != day]
        if not mine:
            continue
        before = max((d for d in mine if d < day), default=mine[-1] - cycle.period)
        after = min((d for d in mine if d > day), default=mine[0] + cycle.period)
        if after - before <= garden.windows[plant]:
            days[day].discard(plant)
    return Cycle(tuple(tuple(sorted(day)) for day in days))


def _unit(garden: Garden) -> float:
    return max(1.0, 2.0 ** math.ceil(math.log2(float(garden.costs.max())) - _EVEN))


def _loads(garden: Garden, cycle: Cycle) -> tuple[float, float]:
    loads = [garden.workload(day) for day in cycle]
    return sum(loads) / cycle.period, max(loads)


def _schedule(garden: Garden, base: int, size: Callable[[float], float], *, fills: bool) -> Cycle:
    """Merge from the longest window, a `base` times a power of two, down to `base`; `size` is what
    a cost takes of a bin.

    `fills`: two alternating bins count as a full bin, whatever their content, so that sizes stay
    powers of two (Lemma 3.1).
    """
    steps = [int(math.log2(window // base)) for window in garden.windows.tolist()]
    by_step: dict[int, list[_Item]] = {}
    for plant, step in enumerate(steps):
        by_step.setdefault(step, []).append(_Plant(plant, size(float(garden.costs[plant]))))
    longest = max(steps)
    for step in range(longest, 0, -1):
        bins = _pack(by_step.get(step, []))
        by_step.setdefault(step - 1, []).extend(_merge(bins, 1.0 if fills else 0.0))
    roots = _spread(by_step.get(0, []), base)
    period = base * 2**longest
    return Cycle(tuple(tuple(sorted(_of_day(roots[day % base], day // base))) for day in range(period)))


def _of_day(items: Sequence[_Item], visit: int) -> Iterator[int]:
    for item in items:
        yield from item.visit(visit)


def _pack(items: Sequence[_Item]) -> _Bins:
    """Put items into bins of one unit, the largest first, each into the fullest bin that takes it;
    powers of two leave one bin unfilled.
    """
    bins: list[list[_Item]] = []
    room: list[float] = []
    for item in sorted(items, key=lambda item: -item.cost):
        fits = [number for number, left in enumerate(room) if left + _EVEN >= item.cost]
        if fits:
            number = min(fits, key=lambda number: (room[number], number))
        else:
            number = len(bins)
            bins.append([])
            room.append(1.0)
        bins[number].append(item)
        room[number] -= item.cost
    return [tuple(contents) for contents in bins]


def _merge(bins: _Bins, least: float) -> Iterator[_Turns]:
    """Pair bins; the last of an odd number alternates with nothing. A pair costs as much as its
    more expensive bin, at least `least`.
    """
    for first in range(0, len(bins), 2):
        pair = (bins[first], bins[first + 1] if first + 1 < len(bins) else ())
        yield _Turns(pair, max(least, *(sum(item.cost for item in contents) for contents in pair)))


def _spread(items: Sequence[_Item], days: int) -> list[list[_Item]]:
    """Distribute what is visited once in `days` days, the most expensive first, each to the day
    with the least load.
    """
    shared: list[list[_Item]] = [[] for _ in range(days)]
    loads = np.zeros(days)
    for item in sorted(items, key=lambda item: -item.cost):
        day = int(np.argmin(loads))
        shared[day].append(item)
        loads[day] += item.cost
    return shared

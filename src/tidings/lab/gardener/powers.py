"""A schedule that keeps every window at a daily workload of at most 4Ω + 2: windows and costs as
powers of two (003 §3).

Plants with the longest window are packed into bins of one unit; two bins become one plant that is
visited twice as often and alternates between them; and so on until every plant is visited every day
(Lemma 3.1, Theorem 3.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from tidings.lab.gardener.garden import Cycle, Garden
from tidings.record import dataclass

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

"""Day by day: EDD, MEDD and its demand-bound form, and the alternatives of MMEDD (003 §4).

Readings of what the paper leaves open (scheduling §4): "choose the top" continues with what still
fits; wasteness is (due − today)/w · c, least first (with the printed negative lateness the most
wasteful would come first); ties go to the smaller cost, then the longer window, then the lower
number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tidings.lab.gardener.garden import Capacity, Costs, Days, Garden, Measures, measure, overload
from tidings.record import dataclass

_EVEN = 1e-9


@dataclass(frozen=True, slots=True)
class Morning:
    """The input of a rule: the garden, when each plant is due, today's number, the capacity, and
    what today may spend at most.
    """

    garden: Garden
    due: Days
    today: int
    capacity: Capacity
    level: float

    @property
    def room(self) -> float:
        """Return what today may cost."""
        return min(self.capacity.peak, self.level)


Rule: TypeAlias = Callable[[Morning], list[int]]
"""Chooses the plants of a day."""


def edd(morning: Morning) -> list[int]:
    """Choose the earliest due, late or not, until the day is full: never later than necessary, and
    never idle (003 §4).
    """
    order = _by_lateness(morning.garden, morning.due, np.arange(morning.garden.size))
    return _fill(morning.garden, order, morning.room)


def medd(morning: Morning) -> list[int]:
    """Choose what is due, and ahead of time as much as the next `max(w)` days could not take
    otherwise (Algorithm 1).
    """
    return _maintain(morning, np.array([morning.garden.windows.max()]), covers=False)


def medd_dbf(morning: Morning) -> list[int]:
    """Choose as MEDD does, with the overload of every horizon up to `max(w)` days: peaks are seen
    before they come.

    The overload is covered, the last plant exceeding it if necessary: otherwise a rest smaller than
    any plant would stay.
    """
    return _maintain(morning, np.arange(1, int(morning.garden.windows.max()) + 1), covers=True)


def tend(garden: Garden, rule: Rule, capacity: Capacity, days: int) -> list[list[int]]:
    """Return the choices of a rule on each of `days` days, from day 1 on."""
    due = garden.windows.copy()
    level = 0.0
    schedule: list[list[int]] = []
    for today in range(1, days + 1):
        level = capacity.refill(level)
        chosen = rule(Morning(garden, due, today, capacity, level))
        due[chosen] = today + garden.windows[chosen]
        level -= garden.workload(chosen)
        schedule.append(chosen)
    return schedule


@dataclass(frozen=True, slots=True)
class Alternative:
    """One undominated schedule: the capacity that it was made with, and its measures."""

    capacity: float
    measures: Measures


def mmedd(garden: Garden, capacity: float, days: int, *, rule: Rule = medd_dbf, most: int = 64) -> list[Alternative]:
    """Return mutually undominated schedules for capacities of `capacity` and less, the least
    average workload first.

    Capacities are bisected between two whose schedules differ, until `most` were tried: so every
    distinct outcome that is further apart is found (MMEDD, 003 §4).
    """
    tried: dict[float, Measures] = {}

    def outcome(k: float) -> Measures:
        if k not in tried:
            tried[k] = measure(garden, tend(garden, rule, Capacity(k), days))
        return tried[k]

    least = float(garden.costs.max())
    spans = [(least, max(least, capacity))]
    while spans and len(tried) < most:
        low, high = spans.pop(0)
        if outcome(low) != outcome(high) and high - low > _EVEN * high:
            spans += [(low, (low + high) / 2), ((low + high) / 2, high)]
    best = [
        Alternative(k, found)
        for k, found in sorted(tried.items())
        if not any(other.dominates(found) for other in tried.values())
    ]
    distinct = {alternative.measures: alternative for alternative in reversed(best)}
    return sorted(distinct.values(), key=lambda alternative: alternative.measures.values())


def _maintain(morning: Morning, horizons: Days, *, covers: bool) -> list[int]:
    def measure_need(due: Days, spent: float) -> float:
        return overload(morning.garden, due, morning.today, morning.capacity, morning.level - spent, horizons)

    late, early = maintain(morning.garden, morning.due, morning.today, morning.room, measure_need, covers=covers)
    return late + early


def maintain(
    garden: Garden, due: Days, today: int, room: float, needed: Callable[[Days, float], float], *, covers: bool = True
) -> tuple[list[int], list[int]]:
    """Return M₁ and M₂ of Algorithm 1: what is due and fits into `room`, and what is done ahead of
    time.

    `needed` returns the overload to come if plants are due at given days and so much of the room is
    spent. `covers`: the last plant done ahead of time may exceed it.
    """
    chosen = _fill(garden, _by_lateness(garden, due, np.flatnonzero(due <= today)), room)
    spent = garden.workload(chosen)
    coming = np.flatnonzero(due > today)
    if room - spent <= _EVEN or not coming.size:
        return chosen, []
    after = due.copy()
    after[chosen] = today + garden.windows[chosen]
    overloaded = needed(after, spent)
    if overloaded <= _EVEN:
        return chosen, []
    waste = wasteness(garden.costs[coming], garden.windows[coming], due[coming] - today)
    order = coming[np.lexsort((coming, -garden.windows[coming], garden.costs[coming], waste))]
    if covers:
        return chosen, _fill(garden, order, room - spent, until=overloaded)
    return chosen, _fill(garden, order, min(overloaded, room - spent))


def wasteness(costs: Costs, windows: Days, left: Days) -> Costs:
    """Return the waste of each plant's care if it comes so many days before it is due: days/w ·
    c.
    """
    return np.asarray(left / windows * costs, dtype=np.float64)


def _by_lateness(garden: Garden, due: Days, plants: Days) -> Days:
    return plants[np.lexsort((plants, -garden.windows[plants], garden.costs[plants], due[plants]))]


def _fill(garden: Garden, order: Days, room: float, *, until: float = np.inf) -> list[int]:
    """Take in order what fits into `room`, until it costs `until`."""
    chosen: list[int] = []
    for plant in order.tolist():
        if min(room, until) <= _EVEN:
            break
        if (cost := float(garden.costs[plant])) <= room + _EVEN:
            chosen.append(plant)
            room -= cost
            until -= cost
    return chosen

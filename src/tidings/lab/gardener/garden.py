"""Gardens, schedules of a garden, and what a schedule costs and misses (003 §3, §4).

A *day* is a time slot of any length. Day 0 is yesterday, when every plant was maintained; schedules begin with day 1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidings.record import dataclass

Costs: TypeAlias = NDArray[np.float64]
Days: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Garden:
    """Plants by number: plant i costs `costs[i]` of the day's workload and wants care at least once in any `windows[i]` days."""

    costs: Costs
    windows: Days

    @classmethod
    def of(cls, costs: ArrayLike, windows: ArrayLike) -> Garden:
        """Return the garden with these costs (above 0) and windows (whole days, 1 or more). Raises ValueError for anything else."""
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
        """Return Ω = Σ c/w: no schedule that keeps every window has less workload a day on average (Gardener, Property 1)."""
        return float((self.costs / self.windows).sum())

    def workload(self, plants: Collection[int]) -> float:
        """Return what it costs to maintain these plants."""
        return float(self.costs[list(plants)].sum())


@dataclass(frozen=True, slots=True)
class Cycle:
    """A periodic schedule: the plants of each day of one period, over and over."""

    days: tuple[tuple[int, ...], ...]

    @property
    def period(self) -> int:
        """Return the number of days after which it begins anew."""
        return len(self.days)

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        """Iterate over the days of one period."""
        return iter(self.days)

    def first(self, number: int) -> list[tuple[int, ...]]:
        """Return the first days."""
        return [self.days[day % self.period] for day in range(number)]

    def gaps(self, plants: int) -> Days:
        """Return the longest number of days between two visits of each plant, 0 for one that is never visited."""
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
        """Say whether every plant is maintained at least once in any window of its length."""
        gaps = self.gaps(garden.size)
        return bool(((gaps > 0) & (gaps <= garden.windows)).all())


@dataclass(frozen=True, slots=True)
class Measures:
    """What the Gardener's two measures say of a schedule (003 §4): workload a day, and days of tardiness."""

    average_workload: float
    peak_workload: float
    average_tardiness: float
    peak_tardiness: int

    def dominates(self, other: Measures) -> bool:
        """Say whether this is nowhere worse and somewhere better."""
        return self != other and all(mine <= theirs for mine, theirs in zip(self.values(), other.values(), strict=True))

    def values(self) -> tuple[float, float, float, int]:
        """Return the four, in the order of the fields: K̄, K_max, T̄, T_max."""
        return self.average_workload, self.peak_workload, self.average_tardiness, self.peak_tardiness


def measure(garden: Garden, schedule: Sequence[Collection[int]]) -> Measures:
    """Return the measures of a schedule from day 1 on. Plants that still wait at its end count as late as they are then."""
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

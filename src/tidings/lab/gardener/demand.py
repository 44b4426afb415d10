"""What falls due when: the demand of a garden over a horizon, and whether a capacity can meet it (classic demand-bound function).

A garden that was cared for in time can be kept so only if, for every horizon of h days, what falls due within it costs no more than
the capacity of h days. MEDD asks this for the longest window only; asked for every horizon it tells overload days earlier (study of
scheduling §4).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidings.lab.gardener.garden import Costs, Days, Garden
from tidings.record import dataclass

MOST: Final = 500_000
"""Falls due that are polled, the first ones: what comes after is left to later."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """How much workload a day takes: `peak` on any day, `average` (k̄ of 003 §1; None: no bound) over all days.

    The average is a bucket: what a day leaves of it may be spent later, as far as the peak lets it, `saved` days of it at most.
    """

    peak: float
    average: float | None = None
    saved: float = 30.0

    def refill(self, level: float) -> float:
        """Return what the bucket holds on the next day, before anything is spent."""
        if self.average is None:
            return np.inf
        return min(level + self.average, self.average * max(self.saved, 1.0))

    def within(self, level: float, days: Days) -> Costs:
        """Return what the next so many days can take, if the bucket holds `level` tonight."""
        peaks = self.peak * days.astype(np.float64)
        return peaks if self.average is None else np.minimum(peaks, level + self.average * days)


def demand(garden: Garden, due: Days, today: int, horizons: Days) -> Costs:
    """Return for each horizon of h days after today what must be spent in it, if all plants are maintained on their due days.

    `due` is in days; plants that are late already count as due tomorrow. O(plants × horizons).
    """
    next_due = np.maximum(due, today + 1)
    times = 1 + (today + horizons[:, None] - next_due[None, :]) // garden.windows[None, :]
    return np.asarray(np.maximum(times, 0) @ garden.costs, dtype=np.float64)


def overload(garden: Garden, due: Days, today: int, capacity: Capacity, level: float, horizons: Days) -> float:
    """Return the most by which a horizon's demand is more than its capacity, 0 if each can be met."""
    excess = demand(garden, due, today, horizons) - capacity.within(level, horizons)
    return float(max(excess.max(), 0.0))


def excess(garden: Garden, due: Days, soonest: int, today: int, rate: float) -> float:
    """Return the most by which any horizon up to the longest window asks for more than `rate` a day, 0 if each can be met; days may be µs.

    What is late, or due before `soonest`, is due then. As `overload` with a steady capacity, but only where something falls due: O(n log n) in
    the number of these.
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

"""Whether all polls of fixed intervals can be made in time (bid §7; 003 §3).

Admission tests the demand bound. The demand of a stretch h is Σ c·⌊h/T⌋, all intervals beginning at
once; it and the blocking of one poll of maximal cost, which is not preempted, must fit into the
supply of h. A sum of c/T below the capacity is necessary; with blocking it is not sufficient.
A pinwheel density says more only with a schedule in hand.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tidings.record import dataclass
from tidings.scheduling.population import Floats

MOST = 4_096
"""The number of stretches that are tested, the shortest first."""


@dataclass(frozen=True, slots=True)
class Admission:
    """`load` is the share of the capacity that the intervals take in the long run; `worst` the
    highest ratio of demand (with blocking) to supply of any stretch, and `stretch` (µs) which one.
    """

    load: float
    worst: float
    stretch: int

    @property
    def holds(self) -> bool:
        """Return whether all intervals can be kept."""
        return self.worst <= 1 + 1e-9


def admit(intervals: NDArray[np.int64], costs: Floats, capacity: float) -> Admission:
    """Return whether polls of these costs at these intervals (µs) fit a capacity (cost per µs, a
    host's is 1/gap).

    A stretch h demands at most load·h plus blocking, so none beyond blocking/(capacity − load) is
    overloaded. If more than `MOST` stretches would have to be tested, the rest is assumed to demand
    that maximum: the answer errs towards no.
    """
    if not intervals.size:
        return Admission(0.0, 0.0, 0)
    asked = float((costs / intervals).sum())
    load = asked / capacity if capacity > 0 else np.inf
    if load > 1:
        return Admission(load, load, int(intervals.max()))
    blocking = float(costs.max()) if intervals.size > 1 else 0.0
    last = max(MOST / float((1 / intervals).sum()), float(intervals.min()))  # `MOST` multiples are not longer than this
    stretches = np.unique(np.concatenate([np.arange(1, int(last // each) + 1) * each for each in intervals.tolist()]))
    share = (_demand(intervals, costs, stretches) + blocking) / (capacity * stretches)
    worst = int(share.argmax())
    beyond = load + blocking / (capacity * last)
    if beyond > max(1.0, float(share[worst])):
        return Admission(load, beyond, int(last))
    return Admission(load, float(share[worst]), int(stretches[worst]))


def _demand(intervals: NDArray[np.int64], costs: Floats, stretches: NDArray[np.int64]) -> Floats:
    """Return Σ c·⌊h/T⌋ for each stretch."""
    total = np.zeros(stretches.size)
    for interval, cost in zip(intervals.tolist(), costs.tolist(), strict=True):
        total += cost * (stretches // interval)
    return total

"""One price for all: what the budget can pay for (bid_and_defaults §2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tidings.scheduling.policy import Floats, Instants

_HALVINGS: Final = 60
PRECISION: Final = 1e-6
"""To what part of itself the price is found."""
TRIMMED: Final = 0.05
"""How strongly spend beside the plan moves the trim."""


@dataclass(frozen=True, slots=True)
class Market:
    """The price, the spend per µs that it leads to, and by how much `longest` had to be stretched (1: not at all)."""

    price: float
    spend: float
    stretched: float = 1.0


def clear(
    gaps: Callable[[float], Instants], cost: Floats, floor: float, budget: float, *, open_share: Floats | float = 1.0
) -> Market:
    """Return the price at which looks cost `budget` per µs, the `floor` if they cost less there. `gaps` are the waits (µs) at a price.

    `open_share` is the part of the time in which pages may be asked (During). A page that nobody looked at yet counts with the rate that
    it is taken to have. If even looks at the longest wait cost more no price is high enough: `stretched` is by how much waits must grow.
    """
    if not len(cost):
        return Market(floor, 0.0)
    paid = cost * open_share

    def spend(price: float) -> float:
        return float((paid / np.maximum(gaps(price), 1)).sum())

    low = floor
    if (cheapest := spend(low)) <= budget:
        return Market(low, cheapest)
    high = low
    for _ in range(_HALVINGS):
        high *= 4
        if spend(high) <= budget:
            break
    else:
        least = spend(high)
        return Market(high, least, stretched=least / budget if budget > 0 else np.inf)
    for _ in range(_HALVINGS):
        if high <= low * (1 + PRECISION):
            break
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if spend(middle) > budget else (low, middle)
    return Market(high, spend(high))


@dataclass(frozen=True, slots=True)
class Trim:
    """A factor on the price that keeps real spend at the plan: ×(spent/planned)^0.05 every ten minutes, from ½ to 2 (bid_and_defaults §2).

    `planned` must be the modelled spend of the same hours: against a flat plan the factor swings with day and night.
    """

    factor: float = 1.0

    def after(self, spent: float, planned: float) -> Trim:
        """Return the trim after ten minutes in which the last six hours cost `spent` and were planned to cost `planned`."""
        if planned <= 0:
            return self
        ratio = max(spent / planned, 1e-6)
        return replace(self, factor=float(np.clip(self.factor * ratio**TRIMMED, 0.5, 2.0)))

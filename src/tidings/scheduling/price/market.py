"""One price for all pages: what the budget can pay for (bid §2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tidings.record import dataclass
from tidings.scheduling.budget import TOLERANCE
from tidings.scheduling.policy import Floats, Instants, Market

_HALVINGS: Final = 60
PRECISION: Final = 1e-4
"""The relative precision of the price."""
TRIMMED: Final = 0.05
"""How strongly spend off the plan moves the trim."""
REMEMBERED: Final = 36
"""Steps of ten minutes that the trim remembers: six hours."""
CALM: Final = 20.0
"""Polls added to both the spent and the planned ones: with only a few in six hours, chance does not
move the price.
"""


def clear(
    gaps: Callable[[float], Instants | Floats],
    cost: Floats,
    floor: float,
    budget: float,
    *,
    open_share: Floats | float = 1.0,
) -> Market:
    """Return the price at which polls cost `budget` per µs, the `floor` if they cost less there.
    `gaps` are the waits (µs) at a price.

    `open_share` is the part of the time in which pages may be polled (During). A page that was
    never polled counts with its assumed rate. If even polls at the longest wait cost more, no price
    is high enough: then it is the least at which all wait so long.
    """
    if not len(cost):
        return Market(floor, 0.0, floor)
    paid = cost * open_share

    def spend(price: float) -> float:
        return float((paid / np.maximum(gaps(price), 1)).sum())

    low = floor
    least = spend(low * 4.0**_HALVINGS)
    load = least / budget if budget > 0 else np.inf
    budget = max(budget, least)
    if (cheapest := spend(low)) <= budget * (1 + TOLERANCE):
        return Market(low, cheapest, floor, load, cheapest)
    high = low * 4
    while spend(high) > budget * (1 + TOLERANCE):
        low, high = high, high * 4
    for _ in range(_HALVINGS):
        if high <= low * (1 + PRECISION):
            break
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if spend(middle) > budget * (1 + TOLERANCE) else (low, middle)
    return Market(high, spend(high), floor, load, cheapest)


@dataclass(frozen=True, slots=True)
class Trim:
    """A factor on the price that keeps real spend at the plan: ×(spent/planned)^0.05 every ten
    minutes, from ½ to 2 (bid §2).

    `steps` are spent and planned costs of the last six hours, ten minutes a pair, oldest first;
    earlier time counts as planned. The plan must be modelled for the hour: against a flat plan the
    factor would swing with day and night.
    """

    factor: float = 1.0
    steps: tuple[tuple[float, float], ...] = ()

    def after(self, spent: float, planned: float) -> Trim:
        """Return the trim after another ten minutes."""
        steps = (*self.steps, (spent, planned))[-REMEMBERED:]
        made, wished = (sum(column) for column in zip(*steps, strict=True))
        even = CALM + wished / len(steps) * (REMEMBERED - len(steps))
        if wished <= 0:
            return Trim(self.factor, steps)
        ratio = (made + even) / (wished + even)
        return Trim(float(np.clip(self.factor * ratio**TRIMMED, 0.5, 2.0)), steps)

"""WIC under a price: the myopic bid, beside which `contest` puts `Price`; and what it shares with other answers to the same question.

Each says how long a page waits at a price and what a poll is then worth; bounds, new pages, pages that never look the same, and the price
that a budget makes are those of `Price`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from tidings.scheduling.policy import Floats
from tidings.scheduling.population import Population
from tidings.scheduling.price.policy import Price
from tidings.scheduling.price.value import NOTHING, Values, values


@dataclass(frozen=True, slots=True)
class Other(Price):
    """A policy whose floor is, like that of `Price`, where a page of default importance that changes once a day waits the pace."""

    @property
    def floor(self) -> float:
        """Return the price at which polls are made if the budget does not bind."""
        return _floor(self.waits, self.pace)


@dataclass(frozen=True, slots=True)
class Wic(Other):
    """What has gathered is what a poll is worth (000 §3): the myopic bid. It looks at what costs nothing to put off as soon as at what does."""

    spares_rare: ClassVar[bool] = False

    def waits(self, worth: Values, price: float) -> Floats:
        """Return when G(t) = c·price."""
        kappa = worth.decay + worth.overwritten
        share = worth.cost * price * kappa / np.maximum(worth.inflow, NOTHING)
        return np.where(share < 1, -np.log1p(-np.minimum(share, 1 - 1e-16)) / kappa, np.inf)

    def gather(self, worth: Values, age: Floats, price: float) -> Floats:  # noqa: ARG002 - what has gathered has gathered
        """Return G(age)/c."""
        kappa = worth.decay + worth.overwritten
        return np.asarray(worth.inflow / kappa * -np.expm1(-kappa * np.maximum(age, 0.0)) / worth.cost)


@lru_cache(maxsize=64)
def _floor(waits: Callable[[Values, float], Floats], pace: int) -> float:
    """Return the price at which the page that the pace is said of waits so long, by bisection."""
    one = values(Population({"id": [0], "rate": [1.0]}))
    low, high = 1e-30, 1e30
    for _ in range(200):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if waits(one, middle)[0] > pace else (middle, high)
    return high

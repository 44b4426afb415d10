"""WIC at a price: the myopic bid that `contest` compares with `Price`; and what it shares with
other such policies.

Each defines how long a page waits at a price and the value of a poll then; bounds, new pages,
saturation and the price of a budget are those of `Price`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ClassVar

import numpy as np

from tidings.record import dataclass
from tidings.scheduling.policy import Floats
from tidings.scheduling.population import Population
from tidings.scheduling.price.policy import Price
from tidings.scheduling.price.value import NOTHING, Values, values


@dataclass(frozen=True, slots=True)
class Other(Price):
    """A policy with the floor of `Price`: a page of default importance that changes once a day
    waits the pace.
    """

    @property
    def floor(self) -> float:
        """Return the price of polls if the budget does not bind."""
        return _floor(self.waits, self.pace)


@dataclass(frozen=True, slots=True)
class Wic(Other):
    """The value of a poll is the backlog (000 §3): the myopic bid. It ignores whether a poll can be
    delayed at no loss.
    """

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
    """Return the price at which the page that defines the pace waits so long, by bisection."""
    one = values(Population({"id": [0], "rate": [1.0]}))
    low, high = 1e-30, 1e30
    for _ in range(200):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if waits(one, middle)[0] > pace else (middle, high)
    return high

"""Alternatives to `price`, as policies under one price: the bare index, LambdaCrawl, freshness at
fixed intervals.

Each defines how long a page waits at a price and the value of a poll then; the rest is that of
`Price`. The papers' own allocations under a budget are in `lab.refresh`; at the budget's price
these waits are their rates.
"""

from __future__ import annotations

import math
from typing import ClassVar, Final

import numpy as np

from tidings.lab.refresh.rates import divergence, fresh_wait, harmonic
from tidings.record import dataclass
from tidings.scheduling.index import HINTS, wait
from tidings.scheduling.index import worth as index
from tidings.scheduling.paced.turns import TURNS
from tidings.scheduling.policy import Floats
from tidings.scheduling.price.value import NOTHING, Values
from tidings.scheduling.price.wic import Other

STALENESS: Final = TURNS | {"cost", "importance", "rate"}
"""The columns of policies that ask only whether the last seen version is current: urgency is
ignored.
"""


@dataclass(frozen=True, slots=True)
class Index(Other):
    """The bare index G − t·G′ of `Price`, without its guard of urgent rare pages, plus a share of
    the backlog.

    A change that keeps its worth can be delayed at no cost, and its index hardly grows: the share ε
    of G gives each poll some value, growing with the delay, and `longest` ends every wait (bid §4,
    guard 1).
    """

    spares_rare: ClassVar[bool] = False
    share: float = 0.05

    def waits(self, worth: Values, price: float) -> Floats:
        """Return when the index plus ε·G is c·price: 1 + ε − e^−x(1 + ε + x) = y is a wait from ε
        on.
        """
        kappa = worth.decay + worth.overwritten
        worthless = worth.cost * price * kappa / np.maximum(worth.inflow, NOTHING)
        x = wait(np.maximum(1 - (1 + self.share - worthless) * math.exp(-self.share), 0.0)) - self.share
        return np.where(worthless < 1 + self.share, np.maximum(x, 0.0) / kappa, np.inf)

    def gather(self, worth: Values, age: Floats, price: float) -> Floats:  # noqa: ARG002 - independent of the price
        """Return the index and ε·G, per unit of cost."""
        kappa = worth.decay + worth.overwritten
        x = kappa * np.maximum(age, 0.0)
        return np.asarray(worth.inflow / (kappa * worth.cost) * (index(x) - self.share * np.expm1(-x)))


@dataclass(frozen=True, slots=True)
class LambdaCrawl(Other):
    """Rates of least harmonic penalty: no page is abandoned (Kolobov et al., NeurIPS 2019)."""

    reads: ClassVar[frozenset[str]] = STALENESS | HINTS

    def waits(self, worth: Values, price: float) -> Floats:
        """Return 1/ρ."""
        return 1 / np.maximum(harmonic(worth.rate, worth.importance, worth.cost * price), 1e-300)

    def gather(self, worth: Values, age: Floats, price: float) -> Floats:
        """Return the lateness of a page, in waits, at this price."""
        return np.asarray(price * np.maximum(age, 0.0) / self.waits(worth, price))


@dataclass(frozen=True, slots=True)
class Sbr(Other):
    """Most freshness at fixed intervals; pages that change too quickly wait their longest (002 §5,
    SBR; Cho and Garcia-Molina 2000).
    """

    reads: ClassVar[frozenset[str]] = STALENESS | HINTS

    def waits(self, worth: Values, price: float) -> Floats:
        """Return the interval at which one more poll is worth its price."""
        return fresh_wait(worth.rate, worth.importance, worth.cost * price)

    def gather(self, worth: Values, age: Floats, price: float) -> Floats:  # noqa: ARG002 - independent of the price
        """Return Olston and Pandey's divergence at an age, per unit of cost."""
        rate = np.maximum(worth.rate, 1e-300)
        return np.asarray(worth.importance * divergence(rate, np.maximum(age, 0.0)) / worth.cost)

"""The value of a page's changes and how it gathers: W, μ, θ and κ of bid §1, from the columns of a
population.

Rates are per µs. An exponential urgency decays as given; others are replaced by the exponential of
equal total value (a window of length w: 1/w), a uniform one by the slowest (guard 5). A life that
ends by further changes is overwritten by each Z-th as much as by each; one that ends after a time
decays by as much more. The exact forms are in `lab.wic`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np

from tidings.model.interval import DAY
from tidings.record import dataclass
from tidings.scheduling.index import wait, worth
from tidings.scheduling.population import HALF_LIFE, Floats, LifeKind, Population, Rows

SLOWEST: Final = math.log(2) / (30 * DAY)
"""The slowest decay: a half-life of thirty days; so even pages without urgency are polled
eventually (guard 5; guard 1).
"""
STEEPEST: Final = 0.53516
"""The maximum of 1 − e^−x(1 + x) at equal slope, at x = 1.7933 (bid §4, guard 5)."""
_OVERWRITE, _CHANGES, _FADES = int(LifeKind.OVERWRITE), int(LifeKind.CHANGES), int(LifeKind.WINDOW)
_LOST: Final = np.array([0.0, math.log(2), 1.0])
_SLOW: Final = np.array([SLOWEST, 0.0, 0.0])
"""By kind of urgency: what decays within its scale, and what decays regardless."""
NOTHING: Final = 1e-200
"""Replaces 0 as a divisor."""
COLUMNS: Final = frozenset({"cost", "importance", "rate", "urgency_kind", "urgency_scale", "life_kind", "life_scale"})
"""The columns that determine values."""


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """For each page: importance W, rate of change μ, decay of urgency θ, overwriting by further
    changes (all three per µs), and cost.

    Unless `guarded`, urgency decays as given, however little that leaves of a poll's value.
    """

    importance: Floats
    rate: Floats
    decay: Floats
    overwritten: Floats
    cost: Floats
    guarded: bool = True

    @property
    def inflow(self) -> Floats:
        """Return W·μ: the inflow of value per µs."""
        return self.importance * self.rate

    def compute_effective_price(self, price: float) -> Floats:
        """Return θ_eff: urgent, rare pages decay slowly enough to be worth a poll now and then
        (guard 5).
        """
        if not self.guarded:
            return self.decay
        needed = STEEPEST * self.inflow / (self.cost * max(price, NOTHING)) - self.overwritten
        return np.minimum(self.decay, np.maximum(needed, SLOWEST))

    def gaps(self, price: float) -> Floats:
        """Return T*(price) in µs: the time after a poll at which the next one is worth its price,
        inf if it never is.
        """
        kappa = self.compute_effective_price(price) + self.overwritten
        share = self.cost * price * kappa / np.maximum(self.inflow, NOTHING)
        return np.where(share < 1, wait(share) / kappa, np.inf)

    def bids(self, age: Floats, price: float) -> Floats:
        """Return the index of each page at an age (µs), per unit of cost."""
        kappa = self.compute_effective_price(price) + self.overwritten
        return np.asarray(self.inflow / (kappa * self.cost) * worth(kappa * np.maximum(age, 0.0)))


def values(population: Population, rows: Rows | slice = slice(None), *, guarded: bool = True) -> Values:
    """Return the values of some pages."""
    rate = population["rate"][rows].astype(np.float64) / DAY
    kind, scale = population["urgency_kind"][rows], population["urgency_scale"][rows]
    decay = _LOST[kind] / np.maximum(scale, 1) + _SLOW[kind]
    overwritten = np.zeros(len(rate))
    kind = population["life_kind"][rows]
    if kind.any():
        counted = np.maximum(population["life_scale"][rows], 1)
        decay = decay + np.where(kind == _FADES, 1.0 / counted, 0.0)
        overwritten = np.where(kind == _OVERWRITE, rate, np.where(kind == _CHANGES, rate / counted, 0.0))
    return Values(population["importance"][rows], rate, decay, overwritten, population["cost"][rows], guarded)


@lru_cache(maxsize=64)
def floor_price(pace: float) -> float:
    """Return λf: the index, after `pace` µs, of a page of default importance that changes once a
    day and costs 1 (bid §3).
    """
    decay = math.log(2) / HALF_LIFE
    return float(0.5 / DAY / decay * worth(np.array(decay * pace)))

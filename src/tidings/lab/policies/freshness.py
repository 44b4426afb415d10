"""Freshness in other ways than `others.Sbr`: at memoryless instants, and by whole numbers of polls in a cycle."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar, Final

import numpy as np

from tidings.lab.policies.index_and_rates import STALENESS
from tidings.lab.refresh.rates import memoryless
from tidings.lab.refresh.whole import ebr_looks, staleness
from tidings.model.interval import DAY
from tidings.record import dataclass
from tidings.scheduling.effective import HINTS
from tidings.scheduling.paced.lateness import phases, wait_in_phase
from tidings.scheduling.policy import UNPOLLED, Floats, Instants, Rows
from tidings.scheduling.population import Population
from tidings.scheduling.price.policy import Price, PriceState
from tidings.scheduling.price.value import Values, values
from tidings.scheduling.price.wic import Other

PACES: Final = 24
"""A cycle of EBR is so many paces long, and a day at least."""


@dataclass(frozen=True, slots=True)
class Azar(Other):
    """Most freshness if polls come without memory; what changes too quickly waits its longest (Azar et al., PNAS 2018).

    The rates are those of the paper, the instants are not drawn but evenly apart.
    """

    reads: ClassVar[frozenset[str]] = STALENESS | HINTS

    def waits(self, worth: Values, price: float) -> Floats:
        """Return 1/ρ."""
        rates = memoryless(worth.rate, worth.importance, worth.cost * price)
        with np.errstate(divide="ignore"):
            return np.asarray(1 / rates)

    def gather(self, worth: Values, age: Floats, price: float) -> Floats:
        """Return how late a page is, in waits, at this price."""
        return np.asarray(price * np.maximum(age, 0.0) / self.waits(worth, price))


@dataclass(frozen=True, slots=True)
class Ebr(Price):
    """The least embarrassment: of a cycle's polls each page gets a whole number, evenly apart (002 §5, EBR; Wolf et al., WWW 2002).

    The embarrassment of a stale page is its importance. A page's ideal instants are fixed: those of different pages lie apart, so that there
    is little left for the transportation step to move, which is the allocator's: who comes too late is served in the order of ideal instants,
    and what it makes late moves nothing after it.
    """

    reads: ClassVar[frozenset[str]] = STALENESS
    weighs_hints: ClassVar[bool] = False
    index_tells: ClassVar[bool] = False

    @property
    def floor(self) -> float:
        """Return what the last poll of a cycle brings at the page that the pace is said of."""
        return _floor(self._cycle, round(self._cycle / self.pace))

    def waits(self, worth: Values, price: float) -> Floats:
        """Return the cycle over the number of polls in it, inf where that is 0."""
        most = int(self._cycle // self.shortest)
        looks = ebr_looks(worth.rate, worth.importance / worth.cost, price, self._cycle, most)
        with np.errstate(divide="ignore"):
            return np.asarray(self._cycle / looks)

    def gather(self, worth: Values, age: Floats, price: float) -> Floats:
        """Return how late a page is, in waits, at this price."""
        return np.asarray(price * np.maximum(age, 0.0) / self.waits(worth, price))

    def gaps(
        self, state: PriceState, price: float, rows: Rows | slice = slice(None), *, worth: Values | None = None
    ) -> Instants:
        """Return how long each page waits after its last poll: until the ideal instant after the one that this poll served."""
        even = Price.gaps(self, state, price, rows, worth=worth)
        population = state.population
        last = population["last_polled"][rows]
        least = population["shortest"][rows]
        most = np.maximum(np.minimum(population["longest"][rows], self.oldest), least)
        ideal = np.clip(wait_in_phase(last, even, phases(population.ids[rows])), least, most)
        return np.where((last == UNPOLLED) | state.saturated[rows], even, ideal)

    @property
    def _cycle(self) -> float:
        return float(max(PACES * self.pace, DAY))


@lru_cache(maxsize=64)
def _floor(cycle: float, looks: int) -> float:
    worth = values(Population({"id": [0], "rate": [1.0]}))
    before, after = (staleness(worth.rate, np.array([float(number)]), cycle) for number in (looks - 1, looks))
    return float((worth.importance * (before - after))[0]) * (1 - 1e-9)

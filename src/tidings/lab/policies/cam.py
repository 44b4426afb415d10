"""`cam`: continuous adaptive monitoring, adapted to an endless run (Pandey, Ramamritham and
Chakrabarti, WWW 2003; 000 §5.4).
"""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from tidings.lab.policies.index_and_rates import STALENESS
from tidings.model.interval import DAY, HOUR
from tidings.record import dataclass
from tidings.scheduling.paced.turns import phases, wait_in_phase
from tidings.scheduling.policy import UNPOLLED, Floats, Ids, Instants, Market, Rows
from tidings.scheduling.price.hours import HOURS, HoursState, PriceHours
from tidings.scheduling.price.market import clear
from tidings.scheduling.price.policy import Price, PriceState
from tidings.scheduling.price.value import Values, values

_IMPORTANCE: Final = 0.5
"""The default importance of a page."""


@dataclass(frozen=True, slots=True)
class Cam(PriceHours):
    """Of all instants of the week, buy those at which a page is most likely to change, by W·ρ.

    The paper plans an epoch whose updates are forecast; here the epoch is the week, its instants
    are a pace long, and the forecast is the page's rate in its host's learned hours. The resource
    allocation, the most W·ρ that can be paid for, is the price: it buys what reaches it. A change
    is worth nothing after its instant, so a page that is not bought waits its longest; that is
    CAM's objective, not an oversight. Simultaneous polls are served by W·ρ of a mean hour, where
    the paper's list is first come, first served.
    """

    reads: ClassVar[frozenset[str]] = STALENESS
    weighs_hints: ClassVar[bool] = False

    @property
    def floor(self) -> float:
        """Return W·ρ of the page that defines the pace, in one pace."""
        return float(_IMPORTANCE * -np.expm1(-self.pace / DAY))

    def waits(self, worth: Values, price: float) -> Floats:
        """Return one pace if a page with uniform hours is bought, else inf."""
        return np.where(self._find_needed(worth, price) <= 1, float(self.pace), np.inf)

    def gather(self, worth: Values, age: Floats, price: float) -> Floats:  # noqa: ARG002 - what is older than an instant is lost
        """Return W·ρ of one instant of a mean hour, per unit of cost."""
        return np.asarray(worth.importance * -np.expm1(-worth.rate * self.pace) / worth.cost)

    def gaps(
        self, state: PriceState, price: float, rows: Rows | slice = slice(None), *, worth: Values | None = None
    ) -> Instants:
        """Return how long each page waits after its last poll: until its first bought instant."""
        even = Price.gaps(self, state, price, rows, worth=worth)
        population = state.population
        last = population["last_polled"][rows]
        weights, which = _profiles(state)
        which = which[rows]
        needed = self._find_needed(values(population, rows), max(price, self.floor))
        waiting = (last != UNPOLLED) & ~state.saturated[rows] & (weights.max(axis=1)[which] >= needed)
        most = np.maximum(np.minimum(population["longest"][rows], self.oldest), population["shortest"][rows])
        found = even.copy()
        found[waiting] = np.clip(
            self._wait(last[waiting], phases(population.ids[rows][waiting]), weights, which[waiting], needed[waiting]),
            population["shortest"][rows][waiting],
            most[waiting],
        )
        return found

    def market(self, state: PriceState, budget: float, *, open_share: Floats | float = 1.0) -> Market:
        """Return the price at which the pages cost `budget` per µs over a week."""
        weights, which = _profiles(state)
        heavier, worth = np.sort(weights, axis=1), values(state.population)
        of = {profile: np.flatnonzero(which == profile) for profile in np.unique(which).tolist()}
        least, longest = state.population["shortest"], state.population["longest"]
        most = np.maximum(np.minimum(longest, self.oldest), least)

        def gaps(price: float) -> Instants:
            needed, bought = self._find_needed(worth, price), np.zeros(state.population.size)
            for profile, rows in of.items():
                bought[rows] = 1 - np.searchsorted(heavier[profile], needed[rows]) / HOURS
            wished = np.minimum(self.pace / np.maximum(bought, 1e-9), most)
            return np.asarray(np.maximum(wished.astype(np.int64), least))

        return clear(gaps, state.population["cost"], self.floor, budget, open_share=open_share)

    def _find_needed(self, worth: Values, price: float) -> Floats:
        """Return the least weight of an hour whose instants are bought: W(1 − e^{−μ·m·pace}) ≥
        c·price.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(worth.importance > 0, worth.cost * price / worth.importance, np.inf)
            needed = -np.log1p(-np.minimum(share, 1.0)) / (worth.rate * self.pace)
        return np.where(share < 1, needed, np.inf)

    def _wait(self, last: Instants, phase: Floats, weights: Floats, which: Ids, needed: Floats) -> Instants:
        at = last + wait_in_phase(last, np.full(len(last), self.pace), phase)
        offset = (phase * self.pace).astype(np.int64)
        for _ in range(HOURS + 1):
            passed = weights[which, (at // HOUR) % HOURS] < needed
            if not passed.any():
                break
            later = np.maximum(at + self.pace, (at // HOUR + 1) * HOUR)
            at = np.where(passed, later + (offset - later) % self.pace, at)
        return np.asarray(at - last)


def _profiles(state: PriceState) -> tuple[Floats, Ids]:
    """Return the hourly weights of profiles, and the profile of each page: the last, uniform one if
    none is known.
    """
    if not isinstance(state, HoursState):
        return np.ones((1, HOURS)), np.full(state.population.size, -1)
    return np.vstack([state.weights, np.ones((1, HOURS))]), state.which

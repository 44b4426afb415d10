"""WIC beside price: which of the two earns more in the model, from the state that the pages are in (guard 7 of bid §4).

Both spend as much a day on the same pages, and both take rare urgent pages for as urgent as guard 5 makes them at the price: so like is compared
with like. What is left at the end counts on both sides: WIC harvests what has gathered, and in an epoch that ends there it would win wrongly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Final

import numpy as np

from tidings.model.interval import HOUR, Duration, Instant
from tidings.scheduling.bounds.steady import Steady
from tidings.scheduling.index import worth as worth_of
from tidings.scheduling.policy import UNPOLLED, Floats, Rows
from tidings.scheduling.price.policy import Price, PriceState, without_hints
from tidings.scheduling.price.value import Values
from tidings.scheduling.price.wic import Wic

GAPS: Final = 3
"""An epoch is so many median waits, an hour at least."""
STEPS: Final = 96
MOST: Final = 1024
"""So many pages are compared, evenly out of all."""


@dataclass(frozen=True, slots=True)
class GuardedWic(Wic):
    """WIC with guard 5: urgency decays as it is heeded at the price `level`."""

    spares_rare: ClassVar[bool] = True
    level: float = 0.0

    def worth(self, state: PriceState, price: float, rows: Rows | slice) -> Values:
        """Return what changes of some pages are worth, rare urgent ones taken for less urgent."""
        own = Wic.worth(self, state, price, rows)
        return replace(own, decay=own.compute_effective_price(self.level))


@dataclass(frozen=True, slots=True)
class Contest:
    """What both earn in an `epoch` (µs) net of the price of their polls, and the policy that WIC is then."""

    price: float
    wic: float
    epoch: Duration
    rival: GuardedWic

    @property
    def wic_wins(self) -> bool:
        """Say whether WIC earns more by more than rounding."""
        return self.wic > self.price * (1 + 1e-6)


def contest(policy: Price, state: PriceState, now: Instant, price: float) -> Contest:
    """Return what `policy` at a price and WIC with the same budget earn from now on; pages that nobody has polled yet are left out.

    Hints that wait make pages older at the start; how often they are polled later they do not say.

    Args:
        policy: The policy that is compared.
        state: What it knows.
        now: The present (µs).
        price: The price per unit of cost.
    """
    rows = _sample(state)
    rival = GuardedWic(
        pace=policy.pace, longest=policy.longest, shortest=policy.shortest, guarded=policy.guarded, level=price
    )
    if not len(rows):
        return Contest(0.0, 0.0, HOUR, rival)
    field = Field.of(policy, without_hints(state), rows, price)
    epoch = max(HOUR, int(GAPS * np.median(field.gaps)))
    age = policy.age(state.population, now, rows)
    own, other = (field.run(bids, least, age, epoch) for bids, least in ((field.index, price), (field.backlog, 0.0)))
    return Contest(own.net, other.net, epoch, rival)


@dataclass(frozen=True, slots=True)
class Run:
    """What polls gathered, and that with what is left at the end, net of the price of the polls."""

    gathered: float
    net: float


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """Pages on which policies are run in the model: their values, their waits at the price, and the least and most of those (µs)."""

    steady: Steady
    gaps: Floats
    least: Floats
    most: Floats

    @classmethod
    def of(cls, policy: Price, state: PriceState, rows: Rows, price: float) -> Field:
        """Return some pages as they are worth a poll at a price."""
        worth = policy.worth(state, price, rows)
        kappa = worth.compute_effective_price(price) + worth.overwritten
        population = state.population
        least = population["shortest"][rows].astype(np.float64)
        most = np.maximum(np.minimum(population["longest"][rows], policy.oldest), least).astype(np.float64)
        gaps = policy.gaps(state, price, rows).astype(np.float64)
        return cls(Steady(worth.inflow / kappa, kappa, worth.cost, price), gaps, least, most)

    def index(self, age: Floats) -> Floats:
        """Return what `price` bids for pages of an age."""
        return self.steady.most / self.steady.cost * worth_of(self.steady.kappa * age)

    def backlog(self, age: Floats) -> Floats:
        """Return what WIC bids."""
        return self.steady.gather(age) / self.steady.cost

    def run(
        self, bids: Callable[[Floats], Floats], price: float, age: Floats, length: Duration, *, steps: int = STEPS
    ) -> Run:
        """Return what comes of looking, for `length` µs in so many steps, at those that bid most, and the price at least, or have waited their most.

        A step may spend what the waits of these pages cost in its time; what it does not spend is saved.
        """
        cost, step = self.steady.cost, length / steps
        flow = float((cost / self.gaps).sum()) * step
        gathered = spent = saved = 0.0
        for _ in range(steps):
            age, saved = age + step, saved + flow
            wished = np.where(age >= self.most, np.inf, np.where(age < self.least, -np.inf, bids(age)))
            ripe = np.flatnonzero(wished >= price)
            best = ripe[np.argsort(-wished[ripe], kind="stable")]
            best = best[np.cumsum(cost[best]) <= saved]
            gathered += float(self.steady.gather(age[best], best).sum())
            age[best] = 0.0
            saved -= float(cost[best].sum())
            spent += float(cost[best].sum())
        return Run(gathered, gathered + float(self.steady.appraise_age(age).sum()) - self.steady.level * spent)


def _sample(state: PriceState) -> Rows:
    known = np.flatnonzero(state.population["last_polled"] != UNPOLLED)
    return (
        known[np.unique(np.linspace(0, len(known) - 1, min(MOST, len(known))).astype(np.intp))] if len(known) else known
    )

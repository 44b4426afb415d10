"""WIC at a price: the myopic bid, and its contest with `Price`: which of the two earns more in the
model (guard 7 of bid §4).

Policies of this kind define how long a page waits at a price and the value of a poll then; bounds,
new pages, saturation and the price of a budget are those of `Price`. In the contest both spend as
much a day on the same pages, from their current state, and both treat rare urgent pages as guard 5
does at the price, so that the comparison is fair. The backlog left at the end counts on both sides:
WIC harvests what has gathered, and would win wrongly if the epoch ended there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np

from tidings.model.interval import HOUR, Duration, Instant
from tidings.record import dataclass, replace
from tidings.scheduling.bounds.steady import Steady
from tidings.scheduling.index import worth as worth_of
from tidings.scheduling.population import UNPOLLED, Floats, Population, Rows
from tidings.scheduling.price.policy import Price, PriceState, without_hints
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


GAPS: Final = 3
"""The length of an epoch in median waits; an hour at least."""
STEPS: Final = 96
MOST: Final = 1024
"""The number of pages compared, sampled evenly."""


@dataclass(frozen=True, slots=True)
class GuardedWic(Wic):
    """WIC with guard 5: urgency decays with the effective decay at the price `level`."""

    spares_rare: ClassVar[bool] = True
    level: float = 0.0

    def worth(self, state: PriceState, price: float, rows: Rows | slice) -> Values:
        """Return the values of some pages, with less urgency for rare urgent ones."""
        own = Wic.worth(self, state, price, rows)
        return replace(own, decay=own.compute_effective_price(self.level))


@dataclass(frozen=True, slots=True)
class Contest:
    """What both earn in an `epoch` (µs) net of the price of their polls, and the WIC policy. Each
    of the compared pages stands for `weight` pages.
    """

    price: float
    wic: float
    epoch: Duration
    rival: GuardedWic
    weight: float = 1.0

    @property
    def wic_wins(self) -> bool:
        """Return whether WIC earns more by more than rounding."""
        return wic_wins(self.price, self.wic)


def wic_wins(price: float, wic: float) -> bool:
    """Return whether WIC earns more than `price` does, by more than rounding."""
    return wic > price * (1 + 1e-6)


def make_rival(policy: Price, price: float) -> GuardedWic:
    """Return WIC for the pages of a policy; it spares rare urgent ones as that does at a price."""
    return GuardedWic(
        pace=policy.pace, longest=policy.longest, shortest=policy.shortest, guarded=policy.guarded, level=price
    )


def contest(policy: Price, state: PriceState, now: Instant, price: float) -> Contest:
    """Return what `policy` at a price and WIC with the same budget earn from now on; pages that
    were never polled are left out.

    Pending hints make pages older at the start; they do not say how often pages will be polled
    later.

    Args:
        policy: The policy to compare.
        state: Its state.
        now: The present (µs).
        price: The price per unit of cost.
    """
    rows, rival = _sample(state), make_rival(policy, price)
    if not len(rows):
        return Contest(0.0, 0.0, HOUR, rival)
    field = Field.of(policy, without_hints(state), rows, price)
    epoch = max(HOUR, int(GAPS * np.median(field.gaps)))
    age = policy.age(state.population, now, rows)
    own, other = (field.run(bids, least, age, epoch) for bids, least in ((field.index, price), (field.backlog, 0.0)))
    known = int((state.population["last_polled"] != UNPOLLED).sum())
    return Contest(own.net, other.net, epoch, rival, known / len(rows))


@dataclass(frozen=True, slots=True)
class Run:
    """The value gathered by polls, and the same with the backlog left at the end, net of the price
    of the polls.
    """

    gathered: float
    net: float


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """Pages on which policies are run in the model: their values, their waits at the price, and the
    bounds of those (µs).
    """

    steady: Steady
    gaps: Floats
    least: Floats
    most: Floats

    @classmethod
    def of(cls, policy: Price, state: PriceState, rows: Rows, price: float) -> Field:
        """Return some pages with their values at a price.

        Args:
            policy: The policy whose values and waits are used.
            state: Its state.
            rows: Places in the population.
            price: The price per unit of cost.
        """
        worth = policy.worth(state, price, rows)
        kappa = worth.compute_effective_price(price) + worth.overwritten
        population = state.population
        least = population["shortest"][rows].astype(np.float64)
        most = np.maximum(np.minimum(population["longest"][rows], policy.oldest), least).astype(np.float64)
        gaps = policy.gaps(state, price, rows).astype(np.float64)
        return cls(Steady(worth.inflow / kappa, kappa, worth.cost, price), gaps, least, most)

    def index(self, age: Floats) -> Floats:
        """Return the bids of `price` for pages of an age."""
        return self.steady.most / self.steady.cost * worth_of(self.steady.kappa * age)

    def backlog(self, age: Floats) -> Floats:
        """Return the bids of WIC."""
        return self.steady.gather(age) / self.steady.cost

    def run(
        self, bids: Callable[[Floats], Floats], price: float, age: Floats, length: Duration, *, steps: int = STEPS
    ) -> Run:
        """Return the result of polling, for `length` µs in `steps` steps, the pages with the
        highest bids, at least the price, or with the longest wait reached.

        A step may spend what the waits of these pages cost in its time; the rest is saved.

        Args:
            bids: Returns the bids of pages of these ages (µs).
            price: The least bid at which a page is polled.
            age: The age of each page at the start (µs).
            length: How long the run lasts (µs).
            steps: In how many steps.
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

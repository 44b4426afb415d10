"""One price for all pages: what the budget can pay for, and when in the day a policy spends it (bid
§2).

The hours come from the polls of the coming day, simulated at one price (the trim's z).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from tidings.model.interval import DAY, MINUTE, Duration, Instant
from tidings.record import dataclass
from tidings.scheduling.budget import TOLERANCE
from tidings.scheduling.policy import Market, Policy, State
from tidings.scheduling.population import PRESENT, UNPOLLED, Floats, Ids, Instants

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

    return find_price(spend, floor, budget)


def find_price(spend: Callable[[float], float], floor: float, budget: float) -> Market:
    """Return the price at which pages spend the budget, the floor if they spend less there.

    Args:
        spend: Returns what they spend at a price, per µs; it falls with the price.
        floor: The least price.
        budget: The budget, per µs.
    """
    low = floor
    least = spend(low * 4.0**_HALVINGS)
    load = least / budget if budget > 0 else np.inf
    budget = max(budget, least)
    if (cheapest := spend(low)) <= budget * (1 + TOLERANCE):
        return Market(low, cheapest, floor, load, cheapest, spend)
    high = low * 4
    while spend(high) > budget * (1 + TOLERANCE):
        low, high = high, high * 4
    for _ in range(_HALVINGS):
        if high <= low * (1 + PRECISION):
            break
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if spend(middle) > budget * (1 + TOLERANCE) else (low, middle)
    return Market(high, spend(high), floor, load, cheapest, spend)


OCTAVES: Final = 40
"""How many doublings of the floor a demand is known for."""
TINY: Final = 1e-300
FINE: Final = 8
"""Steps of an octave near the present price."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What pages spend at each of several prices, from the least on, by their logarithms."""

    prices: Floats
    spends: Floats

    @classmethod
    def of(cls, market: Market, near: float) -> Demand:
        """Return the demand of the pages of a market; it is most exact within two octaves of a
        price.
        """
        floor = max(market.floor, TINY)
        coarse = floor * 2.0 ** np.arange(OCTAVES)
        close = max(near, floor) * 2.0 ** (np.arange(-2 * FINE, 2 * FINE + 1) / FINE)
        prices = np.unique(np.concatenate([coarse, close[close > floor]]))
        spends, least = np.zeros(len(prices)), market.spends(float(prices[-1]))
        for place, price in enumerate(prices.tolist()):
            spends[place] = market.spends(price)
            if spends[place] <= least * (1 + PRECISION):  # all pages wait their longest
                spends[place:] = least
                break
        return cls(np.log(prices), np.log(np.maximum(spends, TINY)))

    @classmethod
    def read(cls, pairs: Sequence[tuple[float, float]]) -> Demand:
        """Return the demand that `to_json` wrote."""
        known = np.asarray(pairs, dtype=np.float64).reshape(-1, 2)
        return cls(known[:, 0], known[:, 1])

    def to_json(self) -> list[list[float]]:
        """Return the demand as plain JSON, without points that say nothing more."""
        last = int(np.searchsorted(-self.spends, -self.spends[-1])) + 1 if len(self.spends) else 0
        return [
            [round(price, 5), round(spend, 5)]
            for price, spend in zip(self.prices[:last], self.spends[:last], strict=True)
        ]

    def spend(self, price: float) -> float:
        """Return what the pages spend at a price, per µs."""
        if not len(self.prices):
            return 0.0
        return float(np.exp(np.interp(np.log(max(price, TINY)), self.prices, self.spends)))


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


STEP: Final[Duration] = 10 * MINUTE
STEPS: Final = DAY // STEP
EVEN: Final = 0.25
"""Polls of mean cost added to each step: the hours of few polls a day are chance."""
MOST: Final = 256
"""The number of pages simulated, sampled evenly, since only the shape of their spend matters."""

Opens = Callable[[Ids, Instants], Instants]
"""For pages and instants: when each may first be polled from then on."""


def hourly_spend(
    policy: Policy[Any], state: State, now: Instant, price: float, *, opens: Opens | None = None, most: int = MOST
) -> Floats:
    """Return how spend is spread over the day from `now` on, 144 steps of ten minutes with a mean
    of 1.

    Step 0 begins at midnight UTC; estimates stay as they are, and pages that were never polled are
    left out.

    Args:
        policy: The policy.
        state: Its state.
        now: The present (µs).
        price: The price per unit of cost.
        opens: When closed pages open.
        most: How many pages are simulated at most.
    """
    state = _sample(policy, state, most)
    ids, cost = state.population.ids, state.population["cost"]
    spend = np.zeros(STEPS)
    due = _dues(policy, state, ids, now, price, opens)
    for step in range(STEPS):
        end = now + (step + 1) * STEP
        while len(rows := np.flatnonzero(due < end)):
            spend[(now // STEP + step) % STEPS] += cost[rows].sum()
            at = np.maximum(due[rows], end - STEP)
            state = policy.on_update(state, ids[rows], {"last_polled": at})
            due[rows] = np.maximum(_dues(policy, state, ids[rows], now, price, opens), at + 1)
    spend += EVEN * (float(cost.mean()) if len(cost) else 1.0)
    return np.asarray(spend / spend.mean())


def _sample(policy: Policy[Any], state: State, most: int) -> State:
    """Return the state with at most `most` pages, all of which have been polled."""
    population = state.population
    known = np.flatnonzero(population["last_polled"] != UNPOLLED)
    chosen = known[np.linspace(0, len(known) - 1, min(most, len(known))).astype(np.intp)] if len(known) else known
    others = np.delete(population.ids, chosen)
    sampled: State = policy.on_update(state, others, {PRESENT: np.zeros(len(others), np.bool_)})
    return sampled


def _dues(policy: Policy[Any], state: State, ids: Ids, now: Instant, price: float, opens: Opens | None) -> Instants:
    due = policy.next_due(state, ids, now, price)
    return due if opens is None else opens(ids, due)

"""The parts of a page's bid, and the rule that determines when it is due (for `plan --expert`)."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from tidings.model.interval import DAY, Duration, Instant
from tidings.record import dataclass
from tidings.scheduling.policy import UNPOLLED
from tidings.scheduling.price.policy import Price, PriceState

Rule = Literal["new", "saturated", "shortest", "longest", "price"]
"""Why a page waits as long as it does: never polled; saturated; its least or longest time between
polls; its price.
"""


@dataclass(frozen=True, slots=True)
class BidParts:
    """The parts of a page's bid: importance W, `rate` μ (changes a day), the effective `half_life`
    (µs) of its urgency at this price, the cost of a poll; its `age` (µs, None: never polled), the
    backlog `gathered` since, and the `index`, per unit of cost.

    The index reaches the price after `wait` µs (T*, None: never); with its bounds the page waits
    `gap`, by `rule`.
    """

    importance: float
    rate: float
    half_life: float
    cost: float
    age: Duration | None
    gathered: float
    index: float
    wait: float | None
    gap: Duration
    rule: Rule


def explain(policy: Price, state: PriceState, now: Instant, price: float) -> list[BidParts]:
    """Return the parts of the bid of each page at a price, in the order of the population.

    Args:
        policy: The policy.
        state: Its state.
        now: The present (µs).
        price: The price per unit of cost.
    """
    population, everything = state.population, slice(None)
    level = max(price, policy.floor)
    worth = policy.worth(state, level, everything)
    last = population["last_polled"]
    age = np.where(last == UNPOLLED, 0.0, policy.age(population, now, everything))
    decay = worth.compute_effective_price(level)
    kappa = decay + worth.overwritten
    gathered = worth.inflow / kappa * -np.expm1(-kappa * age)
    index, waits, gaps = policy.gather(worth, age, level), policy.waits(worth, level), policy.gaps(state, level)
    rules = _rules(policy, state, waits, gaps)
    return [
        BidParts(
            float(worth.importance[row]),
            float(worth.rate[row] * DAY),
            math.log(2) / float(decay[row]),
            float(worth.cost[row]),
            None if last[row] == UNPOLLED else int(now - last[row]),
            float(gathered[row]),
            float(index[row]),
            float(waits[row]) if np.isfinite(waits[row]) else None,
            int(gaps[row]),
            rules[row],
        )
        for row in range(population.size)
    ]


def _rules(policy: Price, state: PriceState, waits: np.ndarray, gaps: np.ndarray) -> list[Rule]:
    population = state.population
    most = np.maximum(np.minimum(population["longest"], policy.oldest), population["shortest"])
    conditions = [
        population["last_polled"] == UNPOLLED,
        state.saturated,
        (waits < gaps) & (gaps <= population["shortest"]),
        (waits > gaps) & (gaps >= most),
    ]
    rules: list[Rule] = np.select(conditions, ["new", "saturated", "shortest", "longest"], default="price").tolist()
    return rules

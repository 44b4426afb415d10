"""When in the day a policy spends: its polls of the coming day, simulated at one price (bid §2, the
trim's z).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tidings.model.interval import DAY, MINUTE, Duration, Instant
from tidings.scheduling.policy import PRESENT, UNPOLLED, Floats, Ids, Instants, Policy, State

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
    kept = known[np.linspace(0, len(known) - 1, min(most, len(known))).astype(np.intp)] if len(known) else known
    others = np.delete(population.ids, kept)
    sampled: State = policy.on_update(state, others, {PRESENT: np.zeros(len(others), np.bool_)})
    return sampled


def _dues(policy: Policy[Any], state: State, ids: Ids, now: Instant, price: float, opens: Opens | None) -> Instants:
    due = policy.next_due(state, ids, now, price)
    return due if opens is None else opens(ids, due)

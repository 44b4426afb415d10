"""Random polls: all pages have the same chance, and a seed gives the same draws. Periodic polls:
each page has its own instants.
"""

from __future__ import annotations

import numpy as np
import pytest

from tidings.lab.policies.baselines import Lottery, LotteryState, PeriodicPolling
from tidings.model.interval import HOUR, SECOND
from tidings.scheduling.policy import NEVER, Observation, Population

START = 1_000_000 * HOUR


def waits(policy: Lottery, state: LotteryState, polls: int, price: float = 0.0) -> np.ndarray:
    """Return (polls, pages): how long each page waited, in hours, if every poll is made when it is
    due.
    """
    found = np.zeros((polls, state.population.size))
    for poll in range(polls):
        last = state.population["last_polled"]
        due = policy.next_due(state, state.population.ids, 0, price)
        found[poll] = (due - last) / HOUR
        state = policy.on_poll(state, state.population.ids, Observation.of(due, np.zeros(len(due), dtype=bool)))
    return found


def begin(pages: int = 40, seed: int = 1) -> tuple[Lottery, LotteryState]:
    policy = Lottery(HOUR)
    population = Population({"id": np.arange(pages), "last_polled": np.full(pages, START)})
    return policy, policy.begin(population, np.random.default_rng(seed))


def test_random_waits_are_exponential():
    """Mean and deviation are the pace, and one in e waits is longer; no page is preferred."""
    found = waits(*begin(), 400)

    assert 1 == pytest.approx(found.mean(), rel=0.03)
    assert 1 == pytest.approx(found.std(), rel=0.05)
    assert np.exp(-1) == pytest.approx((found > 1).mean(), abs=0.01)
    assert abs(found.mean(axis=0) - 1).max() < 4 / 400**0.5


def test_short_budget_makes_all_waits_longer():
    """If it pays for half of the polls, the pace is twice as long."""
    policy, state = begin(40)
    price = policy.market(state, 20 / HOUR).price

    assert 2 == pytest.approx(price, rel=1e-4)
    assert np.allclose(price * waits(policy, state, 1), waits(policy, state, 1, price))
    assert 1 == policy.market(state, 80 / HOUR).price
    assert 1 == policy.market(policy.begin(Population({"id": []}), np.random.default_rng(0)), 0.0).price
    assert policy.market(state, 0.0).price > 1e9


def test_bounds_of_waits_are_paid_for():
    """With bounds the budget buys longer draws than without. If even the longest waits cost more,
    the market says so.
    """
    policy, state = begin(400)
    state = policy.on_update(state, state.population.ids, {"shortest": HOUR // 2, "longest": 3 * HOUR})
    market = policy.market(state, 200 / HOUR)
    found = waits(policy, state, 100, market.price)

    assert 2 == pytest.approx(found.mean(), rel=0.01)
    assert 200 / HOUR == pytest.approx(market.spend, rel=0.001)
    assert 400 / 3 / 100 == pytest.approx(policy.market(state, 100 / HOUR).load)


def test_draws_depend_on_the_seed_only():
    """The order of pages and the other pages do not matter; another seed draws otherwise."""
    policy, state = begin()
    turned = Population({name: column[::-1] for name, column in state.population.items()})
    again = policy.begin(turned, np.random.default_rng(1))
    other = policy.begin(state.population, np.random.default_rng(2))
    due = policy.next_due(state, [3, 7], 0, 0.0).tolist()

    assert due == policy.next_due(again, [3, 7], 0, 0.0).tolist()
    assert due != policy.next_due(other, [3, 7], 0, 0.0).tolist()


def test_bounds_of_a_page_are_kept():
    """They are its own shortest and longest interval."""
    policy, state = begin()
    state = policy.on_update(state, state.population.ids, {"shortest": HOUR // 2, "longest": HOUR})
    due = policy.next_due(state, state.population.ids, 0, 0.0) - START

    assert (HOUR // 2, HOUR) == (due.min(), due.max())
    assert (policy.bid(state, START + 2 * HOUR, 0.0) >= HOUR / SECOND).all()


MINUTE = 60_000_000
PACE = 60 * MINUTE
NOW = 1_700_000_000_000_000


def test_distant_instants_do_not_overflow():
    """A very long pace after a late poll is never due, not due long ago."""
    policy = PeriodicPolling(NEVER)
    state = policy.begin(Population({"id": [1], "last_polled": [NOW]}), np.random.default_rng(0))

    assert [NEVER] == policy.next_due(state, [1], NOW, 0.0).tolist()


def test_periodic_polls_keep_their_phase():
    """A late poll moves none after it; a poll serves the nearest instant."""
    policy = PeriodicPolling(PACE)
    state = policy.begin(Population({"id": [7], "last_polled": [NOW]}), np.random.default_rng(0))
    first = int(policy.next_due(state, [7], NOW, 0.0)[0])
    found = []
    for late in (0, 29 * MINUTE, -29 * MINUTE):
        after = policy.on_poll(state, [7], Observation.of(first + late, changed=False))
        found.append(int(policy.next_due(after, [7], 0, 0.0)[0]) - first)

    assert NOW + PACE // 2 < first <= NOW + 3 * PACE // 2
    assert [PACE] * 3 == found


def test_periodic_polls_of_new_pages_are_spread():
    """A hundred pages that were checked at once are due one by one, no two of them within a third
    of an even share.
    """
    policy = PeriodicPolling(PACE)
    ids = np.arange(100)
    state = policy.begin(Population({"id": ids, "last_polled": np.full(100, NOW)}), np.random.default_rng(0))
    due = policy.next_due(state, ids, NOW, 0.0)

    assert np.diff(np.sort(due)).min() > PACE / 300

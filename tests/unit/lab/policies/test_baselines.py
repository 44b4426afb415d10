"""Who is drawn by lot: all pages alike, and the same again from the same seed.

Periodic looks: at instants of their own.
"""

from __future__ import annotations

import numpy as np
import pytest

from tidings.lab.policies.baselines import Lottery, LotteryState, PeriodicPolling
from tidings.model.interval import HOUR, SECOND
from tidings.scheduling.policy import NEVER, Observation, Population

START = 1_000_000 * HOUR


def waits(policy: Lottery, state: LotteryState, looks: int, price: float = 0.0) -> np.ndarray:
    """Return (looks, pages): how long each page waited, in hours, if every look is made when it is due."""
    found = np.zeros((looks, state.population.size))
    for look in range(looks):
        last = state.population["last_polled"]
        due = policy.next_due(state, state.population.ids, 0, price)
        found[look] = (due - last) / HOUR
        state = policy.on_poll(state, state.population.ids, Observation.of(due, np.zeros(len(due), dtype=bool)))
    return found


def begin(pages: int = 40, seed: int = 1) -> tuple[Lottery, LotteryState]:
    policy = Lottery(HOUR)
    population = Population({"id": np.arange(pages), "last_polled": np.full(pages, START)})
    return policy, policy.begin(population, np.random.default_rng(seed))


def test_waits_have_no_memory_and_all_pages_the_same_mean():
    """Exponential: mean and deviation are the pace, one in e waits is longer; no page is preferred."""
    found = waits(*begin(), 400)

    assert 1 == pytest.approx(found.mean(), rel=0.03)
    assert 1 == pytest.approx(found.std(), rel=0.05)
    assert np.exp(-1) == pytest.approx((found > 1).mean(), abs=0.01)
    assert abs(found.mean(axis=0) - 1).max() < 4 / 400**0.5


def test_a_budget_makes_waits_longer_for_all_alike():
    """Twice what the budget pays for: twice the pace."""
    policy, state = begin(40)
    price = policy.market(state, 20 / HOUR).price

    assert 2 == pytest.approx(price, rel=1e-4)
    assert np.allclose(price * waits(policy, state, 1), waits(policy, state, 1, price))
    assert 1 == policy.market(state, 80 / HOUR).price
    assert 1 == policy.market(policy.begin(Population({"id": []}), np.random.default_rng(0)), 0.0).price
    assert policy.market(state, 0.0).price > 1e9


def test_waits_that_are_cut_off_are_paid_for():
    """With bounds a budget buys longer draws than without; where even the longest waits cost more, that is said."""
    policy, state = begin(400)
    state = policy.on_update(state, state.population.ids, {"shortest": HOUR // 2, "longest": 3 * HOUR})
    market = policy.market(state, 200 / HOUR)
    found = waits(policy, state, 100, market.price)

    assert 2 == pytest.approx(found.mean(), rel=0.01)
    assert 200 / HOUR == pytest.approx(market.spend, rel=0.001)
    assert 400 / 3 / 100 == pytest.approx(policy.market(state, 100 / HOUR).load)


def test_what_is_drawn_hangs_on_the_seed_alone():
    """Not on the order of pages, nor on who else is there; another seed draws otherwise."""
    policy, state = begin()
    turned = Population({name: column[::-1] for name, column in state.population.items()})
    again = policy.begin(turned, np.random.default_rng(1))
    other = policy.begin(state.population, np.random.default_rng(2))
    due = policy.next_due(state, [3, 7], 0, 0.0).tolist()

    assert due == policy.next_due(again, [3, 7], 0, 0.0).tolist()
    assert due != policy.next_due(other, [3, 7], 0, 0.0).tolist()


def test_bounds_hold():
    """A page's own shortest and longest interval, whatever is drawn."""
    policy, state = begin()
    state = policy.on_update(state, state.population.ids, {"shortest": HOUR // 2, "longest": HOUR})
    due = policy.next_due(state, state.population.ids, 0, 0.0) - START

    assert (HOUR // 2, HOUR) == (due.min(), due.max())
    assert (policy.bid(state, START + 2 * HOUR, 0.0) >= HOUR / SECOND).all()


MINUTE = 60_000_000
PACE = 60 * MINUTE
NOW = 1_700_000_000_000_000


def test_far_instants_do_not_overflow():
    """A pace of for ever after a late look is never, not long ago."""
    policy = PeriodicPolling(NEVER)
    state = policy.begin(Population({"id": [1], "last_polled": [NOW]}), np.random.default_rng(0))

    assert [NEVER] == policy.next_due(state, [1], NOW, 0.0).tolist()


def test_periodic_looks_are_in_phase():
    """What comes late moves nothing after it; a look serves the instant that is nearest."""
    policy = PeriodicPolling(PACE)
    state = policy.begin(Population({"id": [7], "last_polled": [NOW]}), np.random.default_rng(0))
    first = int(policy.next_due(state, [7], NOW, 0.0)[0])
    found = []
    for late in (0, 29 * MINUTE, -29 * MINUTE):
        after = policy.on_poll(state, [7], Observation.of(first + late, changed=False))
        found.append(int(policy.next_due(after, [7], 0, 0.0)[0]) - first)

    assert NOW + PACE // 2 < first <= NOW + 3 * PACE // 2
    assert [PACE] * 3 == found


def test_periodic_looks_at_pages_that_come_together_are_spread():
    """A hundred pages that were checked at once are due one by one: no two of them within a third of an even share."""
    policy = PeriodicPolling(PACE)
    ids = np.arange(100)
    state = policy.begin(Population({"id": ids, "last_polled": np.full(100, NOW)}), np.random.default_rng(0))
    due = policy.next_due(state, ids, NOW, 0.0)

    assert np.diff(np.sort(due)).min() > PACE / 300

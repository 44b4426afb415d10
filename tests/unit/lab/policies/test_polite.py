"""LambdaCrawl beside hosts that take only so many checks."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.estimation.learner import GammaLearner
from tidings.lab.policies.index_and_rates import LambdaCrawl
from tidings.lab.policies.polite import PoliteLambdaCrawl, PoliteState
from tidings.model.interval import DAY, HOUR
from tidings.scheduling.budget import TokenBucket
from tidings.scheduling.learned import Learned
from tidings.scheduling.policy import Population
from tidings.scheduling.simulate.simulator import World, simulate
from tidings.scheduling.simulate.trace import make_trace

POLITE = PoliteLambdaCrawl(pace=1, longest=10**6 * DAY, shortest=1)
PAGES = Population({"id": [0, 1, 2, 3], "host": [70, 70, 70, 9], "rate": [1.0] * 4, "importance": [1.0] * 4})


def loads(state: PoliteState, budget: float) -> list[float]:
    """Return the looks a day at each host, for a budget of looks a day."""
    rates = DAY / POLITE.gaps(state, POLITE.price(state, budget / DAY))
    return [float(rates[:3].sum()), float(rates[3:].sum())]


def test_a_full_host_passes_its_looks_on():
    """The worked budget: four looks a day, of which one host takes one and a half."""
    state = POLITE.begin(PAGES, np.random.default_rng(0))
    told = POLITE.on_hosts(state, {70: round(DAY / 1.5)})

    assert [3, 1] == pytest.approx(loads(state, 4), rel=1e-3)
    assert [1.5, 2.5] == pytest.approx(loads(told, 4), rel=1e-3)
    assert [3, 1] == pytest.approx(loads(POLITE.on_hosts(told, {70: 1, 9: 1}), 4), rel=1e-3)
    assert [3, 1] == pytest.approx(loads(POLITE.on_hosts(told, {}), 4), rel=1e-3)


def test_looks_of_a_full_host_bid_what_it_could_sell_them_for():
    """Never less than the price of all."""
    state = POLITE.on_hosts(POLITE.begin(PAGES, np.random.default_rng(0)), {70: DAY})
    price = POLITE.price(state, 4 / DAY)
    looked = POLITE.on_update(state, PAGES.ids, {"last_polled": [10 * DAY] * 4})
    due = POLITE.next_due(looked, PAGES.ids, 0, price)
    bids = [float(POLITE.bid(looked, int(at), price)[row]) for row, at in enumerate(due.tolist())]

    assert due[0] > due[3]
    assert [price] * 4 == pytest.approx(bids, rel=1e-6)


def test_before_it_hears_of_hosts_it_is_lambda_crawl():
    """To the letter; and a page that comes in has the surcharge of its host, one of a new host none."""
    state = POLITE.begin(PAGES, np.random.default_rng(0))
    plain = LambdaCrawl(pace=1, longest=10**6 * DAY, shortest=1)
    told = POLITE.on_hosts(state, {70: DAY})
    more = POLITE.on_update(told, [5, 6], {"host": [70, 8], "rate": 1.0, "importance": 1.0})

    assert (
        POLITE.gaps(state, 2e-12).tolist() == plain.gaps(plain.begin(PAGES, np.random.default_rng(0)), 2e-12).tolist()
    )
    assert [more.full[0], 0.0] == more.full[4:].tolist()
    assert more.full[0] > 0
    assert POLITE.on_update(told, [3], {"present": False}).full.tolist() == told.full[:3].tolist()


def test_what_matters_more_has_more_of_a_full_host():
    """A surcharge is one price for all pages of a host."""
    pages = PAGES.set([0], {"importance": 4.0})
    state = POLITE.on_hosts(POLITE.begin(pages, np.random.default_rng(0)), {70: HOUR})
    gaps = POLITE.gaps(state, 0.0)

    assert 24 == pytest.approx((DAY / gaps[:3]).sum(), rel=1e-3)
    assert gaps[0] < gaps[1] == gaps[2]


@pytest.mark.parametrize("learns", [False, True])
def test_a_simulation_tells_what_hosts_take(learns: bool):
    """Three pages of a host that takes one look in six hours, and one by itself: the budget goes where it can be spent."""
    policy = PoliteLambdaCrawl(pace=HOUR, shortest=1)
    population = PAGES.set(np.arange(4), {"last_polled": [0] * 4, "rate": [20.0] * 4})
    bucket = TokenBucket(rate=1.0, burst=9.0, level=9.0, at=0)
    world = World(
        population=population,
        trace=make_trace({}, start=0, end=10 * DAY),
        bucket=bucket,
        tick=HOUR // 4,
        host_gap=6 * HOUR,
    )
    made = Learned(policy, GammaLearner()) if learns else policy
    ledger = simulate(made, world, rng=np.random.default_rng(0))
    plain = simulate(LambdaCrawl(pace=HOUR, shortest=1), world, rng=np.random.default_rng(0))
    looks, others = (np.bincount(found.polls.page, minlength=4)[:3] for found in (ledger, plain))

    assert 25 <= looks.sum() <= 40 == others.sum()
    assert np.ptp(looks) <= 2

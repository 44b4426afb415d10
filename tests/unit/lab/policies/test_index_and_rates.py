"""Other policies under one price: at the price of a budget their waits are the rates of their papers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.lab.policies.index_and_rates import Index, LambdaCrawl, Sbr
from tidings.lab.refresh.rates import lambda_crawl, sbr
from tidings.lab.simulator import World, simulate
from tidings.model.interval import DAY, HOUR, MINUTE
from tidings.scheduling.budget import TokenBucket
from tidings.scheduling.ledger import make_trace
from tidings.scheduling.policy import LifeKind, Population, UrgencyKind
from tidings.scheduling.price.policy import Price
from tidings.scheduling.price.value import values
from tidings.scheduling.price.wic import Wic

CHANGES = np.array([0.1, 1.0, 5.0])


@pytest.mark.parametrize(("policy", "allocate"), [(LambdaCrawl, lambda_crawl), (Sbr, sbr)])
def test_the_rates_of_a_budget(policy: type[Price], allocate: object):
    """Three looks a day for three pages."""
    made = policy(pace=1, longest=10**6 * DAY, shortest=1)
    state = made.begin(
        Population({"id": [0, 1, 2], "rate": CHANGES, "importance": 1.0 * np.ones(3)}), np.random.default_rng(0)
    )
    price = made.price(state, 3 / DAY)

    assert allocate(CHANGES, 3.0).rates.tolist() == pytest.approx((DAY / made.gaps(state, price)).tolist(), rel=1e-3)  # type: ignore[operator]


@pytest.mark.parametrize("policy", [Index, LambdaCrawl, Sbr, Wic])
def test_the_pace_is_what_a_page_waits_that_changes_once_a_day(policy: type[Price]):
    """One human number for all policies."""
    made = policy(pace=3 * HOUR)
    state = made.begin(Population({"id": [0], "rate": [1.0]}), np.random.default_rng(0))

    assert 3 * HOUR == pytest.approx(made.gaps(state, 0.0)[0], rel=1e-6)


def test_wic_looks_at_what_can_be_put_off_as_soon_as_at_what_cannot():
    """Its waits hardly depend on urgency while little has decayed; those of the index do."""
    pages = Population(
        {
            "id": [0, 1],
            "rate": [1.0, 1.0],
            "urgency_kind": [UrgencyKind.EXPONENTIAL] * 2,
            "urgency_scale": [HOUR, 30 * DAY],
        }
    )
    wic, price = (made.gaps(made.begin(pages, np.random.default_rng(0)), 0.0) for made in (Wic(), Price()))

    assert wic[1] / wic[0] < 1.5
    assert price[1] / price[0] > 4


@given(
    rate=st.floats(1e-3, 1e3),
    half_life=st.integers(MINUTE, 30 * DAY),
    price=st.floats(1e-5, 10),
    overwrite=st.booleans(),
)
def test_the_index_is_the_price_when_its_wait_is_over(rate: float, half_life: int, price: float, overwrite: bool):
    """What says how long and what says how much are the same sum of index and ε·G."""
    life = LifeKind.OVERWRITE if overwrite else LifeKind.FOREVER
    worth = values(Population({"id": [0], "rate": [rate], "urgency_scale": [half_life], "life_kind": [life]}))
    wait = Index().waits(worth, price)
    most = worth.inflow / (worth.decay + worth.overwritten) * (1 + Index().share)

    if np.isinf(wait[0]):
        assert most[0] <= price * (1 + 1e-9)
    else:
        assert price == pytest.approx(Index().gather(worth, wait, price)[0], rel=1e-6)


def test_what_keeps_its_worth_is_not_put_off_for_ever():
    """Append and uniform urgency: the index alone sees no reason to look at it before the others, at any time. It is looked at, and in its time."""
    population = Population(
        {
            "id": [0, 1, 2, 3],
            "rate": [0.5, 40.0, 40.0, 40.0],
            "urgency_kind": [UrgencyKind.UNIFORM, *[UrgencyKind.EXPONENTIAL] * 3],
            "urgency_scale": [0, HOUR, HOUR, HOUR],
            "last_polled": [20_000 * DAY] * 4,
        }
    )
    start, policy = 20_000 * DAY, Index(pace=1, longest=4 * DAY)
    bucket = TokenBucket(rate=1 / 3_600, burst=24.0, level=12.0, at=start)
    price = policy.price(policy.begin(population, np.random.default_rng(0)), 1 / HOUR)
    world = World(
        population=population,
        trace=make_trace({}, start=start, end=start + 20 * DAY),
        bucket=bucket,
        tick=HOUR // 2,
        price=price,
    )
    polls = simulate(policy, world, rng=np.random.default_rng(0)).polls
    waits = np.diff(polls.at[polls.page == 0], prepend=start, append=start + 20 * DAY)

    bare, mixed = (
        made.gaps(made.begin(population, np.random.default_rng(0)), price)[0]
        for made in (Index(pace=1, longest=99 * DAY, share=0.0), Index(pace=1, longest=99 * DAY))
    )

    assert len(polls.at) > 400
    assert waits.max() <= 4 * DAY + HOUR
    assert mixed < 0.9 * bare


def test_without_its_maximum_age_a_page_that_is_urgent_and_rare_starves():
    """That is what guard 5 is against: the bare index has the end of its wait alone, `price` looks in hours, `price` in the laboratory never."""
    pages = Population({"id": [0], "rate": [0.02], "urgency_scale": [10 * MINUTE]})
    made = (Index(longest=9 * DAY), Price(longest=9 * DAY), Price(longest=9 * DAY, guarded=False))
    index, price, lab = (int(one.gaps(one.begin(pages, np.random.default_rng(0)), 0.0)[0]) for one in made)

    assert 9 * DAY == index
    assert 2.4 == pytest.approx(price / HOUR, rel=0.05)
    assert lab > 30_000 * DAY


def test_in_the_laboratory_a_page_s_own_longest_wait_holds():
    """It is the policy's own end of waits that is off."""
    pages = Population({"id": [0], "rate": [1e-9], "longest": [3 * DAY]})
    lab = Price(guarded=False)

    assert 3 * DAY == lab.gaps(lab.begin(pages, np.random.default_rng(0)), 0.0)[0]

"""Other policies under one price: at the price of a budget their waits are the rates of their papers."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.model.interval import DAY, HOUR
from tidings.scheduling.policy import Population, UrgencyKind
from tidings.scheduling.price.others import LambdaCrawl, Sbr, Wic
from tidings.scheduling.price.policy import Price
from tidings.scheduling.refresh.rates import lambda_crawl, sbr

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


@pytest.mark.parametrize("policy", [LambdaCrawl, Sbr, Wic])
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

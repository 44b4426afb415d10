"""The parts of a bid, and the rule that delays or advances a page."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.model.interval import DAY, HOUR, MINUTE
from tidings.scheduling.policy import UNPOLLED, Observation, Population
from tidings.scheduling.price.policy import Price, explain
from tidings.scheduling.price.wic import Wic

NOW = 20_000 * DAY


def begin(price: Price, **columns):
    """Return the state of pages with these columns."""
    size = len(columns["last_polled"])
    return price.begin(Population({"id": np.arange(size), **columns}), np.random.default_rng(0))


def test_parts_make_the_bid():
    """At the end of the wait the index is the price; W·μ/κ (1 − e^−κt) has gathered; ages and rates
    are those of the pages.
    """
    price = Price()
    state = begin(
        price, rate=[1.0, 8.0], last_polled=[NOW - HOUR, NOW - 3 * HOUR], importance=[0.5, 0.25], cost=[1.0, 2.0]
    )
    (one, other) = explain(price, state, NOW, 0.0)
    kappa = np.log(2) / one.half_life

    assert (0.5, 1.0, 1.0, HOUR) == pytest.approx((one.importance, one.rate, one.cost, one.age))
    assert one.gathered == pytest.approx(0.5 / DAY / kappa * -np.expm1(-kappa * HOUR))
    assert one.index == pytest.approx(price.floor, rel=1e-3)  # an hour old, at the pace of an hour
    assert one.wait == pytest.approx(HOUR, rel=1e-3)
    assert DAY == pytest.approx(one.half_life)
    assert other.index == pytest.approx(price.bid(state, NOW, 0.0)[1])
    assert other.gap == price.gaps(state, 0.0)[1]


def test_rule_of_each_page_is_named():
    """The pages are new, always different, at their shortest wait, at their longest, and at their
    price.
    """
    price = Price()
    last = [UNPOLLED, NOW - MINUTE, NOW - HOUR, NOW - HOUR, NOW - HOUR]
    state = begin(price, rate=[1.0, 50.0, 500.0, 1e-9, 1.0], last_polled=last, shortest=[0, MINUTE, 2 * HOUR, 0, 0])
    for poll in range(20):
        state = price.on_poll(state, [1], Observation.of([NOW + poll * MINUTE], [True]))
    parts = explain(price, state, NOW + HOUR, 0.0)

    assert ["new", "saturated", "shortest", "longest", "price"] == [each.rule for each in parts]
    assert parts[0].age is None
    assert [2 * HOUR, DAY] == [each.gap for each in parts[2:4]]


def test_wic_bids_what_has_gathered():
    """It has no guard for urgent rare pages: its half-life is the given one, and its index is what
    has gathered per unit of cost.
    """
    wic = Wic()
    state = begin(wic, rate=[0.02], last_polled=[NOW - HOUR], urgency_scale=[10 * MINUTE], cost=[2.0])
    (one,) = explain(wic, state, NOW, 4 * wic.floor)

    assert 10 * MINUTE == pytest.approx(one.half_life)
    assert one.gathered == pytest.approx(one.index * one.cost)

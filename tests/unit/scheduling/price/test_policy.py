"""The parts of a bid make the bid, and the rule is the one that holds a page back or hurries it."""

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


def test_the_parts_make_the_bid():
    """When the wait is over the index is the price; what has gathered is W·μ/κ (1 − e^−κt); ages and rates are those of the pages."""
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


def test_each_rule_is_named():
    """Of a new page, one that always differs, one at its least time, one at its most, and one at its price."""
    price = Price()
    last = [UNPOLLED, NOW - MINUTE, NOW - HOUR, NOW - HOUR, NOW - HOUR]
    state = begin(price, rate=[1.0, 50.0, 500.0, 1e-9, 1.0], last_polled=last, shortest=[0, MINUTE, 2 * HOUR, 0, 0])
    for look in range(20):
        state = price.on_poll(state, [1], Observation.of([NOW + look * MINUTE], [True]))
    parts = explain(price, state, NOW + HOUR, 0.0)

    assert ["new", "saturated", "shortest", "longest", "price"] == [each.rule for each in parts]
    assert parts[0].age is None
    assert [2 * HOUR, DAY] == [each.gap for each in parts[2:4]]


def test_what_wic_gathers_is_what_it_bids():
    """It has no guard of urgent rare pages: its half-life is the one that was told, its index what has gathered, per unit of cost."""
    wic = Wic()
    state = begin(wic, rate=[0.02], last_polled=[NOW - HOUR], urgency_scale=[10 * MINUTE], cost=[2.0])
    (one,) = explain(wic, state, NOW, 4 * wic.floor)

    assert 10 * MINUTE == pytest.approx(one.half_life)
    assert one.gathered == pytest.approx(one.index * one.cost)

"""The price policy: the gaps of bid §3, its guards, and the price that a budget makes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.model.interval import DAY, HOUR, MINUTE
from tidings.scheduling.index import wait, worth
from tidings.scheduling.policy import LifeKind, Observation, Population, UrgencyKind
from tidings.scheduling.price.market import Trim
from tidings.scheduling.price.policy import RELOOK_EVERY, Price, PriceState
from tidings.scheduling.price.value import SLOWEST, Values, floor_price

NOBODY = np.random.default_rng(0)
START = 20_000 * DAY


def begin(price: Price, **columns: object) -> PriceState:
    """Return the state of pages that were looked at at `START`."""
    size = max((len(column) for column in columns.values() if isinstance(column, list)), default=1)
    made = {name: np.broadcast_to(np.asarray(column), size) for name, column in columns.items()}
    return price.begin(Population({"id": np.arange(size), "last_polled": np.full(size, START), **made}), NOBODY)


def test_the_defaults_without_any_setting():
    """By how often a page changes (a day), how often it is looked at, at the pace of one hour."""
    price = Price(longest=30 * DAY)
    hours = {0.005: 16.3, 0.02: 7.5, 0.04: 5.2, 0.2: 2.3, 1.0: 1.0, 5.0: 27 / 60, 25.0: 12 / 60, 100.0: 6 / 60}
    state = begin(price, rate=list(hours))

    assert list(hours.values()) == pytest.approx((price.gaps(state, 0.0) / HOUR).tolist(), rel=0.03)
    assert 2.95e-4 == pytest.approx(price.floor, rel=2e-3)
    assert price.floor == floor_price(HOUR)


def test_no_page_waits_longer_than_a_day_nor_less_than_it_may():
    """Bounds of the policy, of the page, and of the floor."""
    state = begin(Price(), rate=[0.0, 1e-6, 1e9, 1e9], shortest=[0, 0, 0, 2 * HOUR])

    assert [DAY, DAY] == Price().gaps(state, 0.0)[:2].tolist()
    assert Price().gaps(state, 0.0)[2] < MINUTE
    assert 2 * HOUR == Price().gaps(state, 0.0)[3]


@given(x=st.floats(0, 30))
def test_waiting_is_the_inverse_of_its_worth(x: float):
    """To the precision that either has."""
    assert worth(np.array([x])) == pytest.approx(worth(wait(worth(np.array([x])))), rel=1e-6, abs=1e-18)
    assert x == pytest.approx(float(wait(worth(np.array([x])))[0]), rel=1e-5, abs=1e-7) or x > 25


@given(
    inflow=st.floats(1e-16, 1e-8),
    decay=st.floats(SLOWEST, 1e-7),
    steeper=st.floats(1, 100),
    more=st.floats(1, 100),
    price=st.floats(1e-6, 10),
    overwritten=st.sampled_from([0.0, 1e-11, 1e-9]),
)
def test_more_urgent_or_more_important_never_waits_longer(inflow, decay, steeper, more, price, overwritten):
    """Guard 5: without it an urgent rare page would starve."""

    def gap(inflow: float, decay: float) -> float:
        one = np.ones(1)
        return float(Values(one, inflow * one, decay * one, overwritten * one, one).gaps(price)[0])

    assert gap(inflow, decay * steeper) <= gap(inflow, decay) * (1 + 1e-6)
    assert gap(inflow * more, decay) <= gap(inflow, decay) * (1 + 1e-6)


def test_an_urgent_rare_page_does_not_starve():
    """Half-lives of a day, an hour and ten minutes at .02 changes a day: 7.5 h, 2.4 h and 2.4 h, where the last would be never."""
    price = Price(longest=30 * DAY)
    state = begin(price, rate=0.02, urgency_scale=[DAY, HOUR, 10 * MINUTE], importance=0.5)

    assert [7.5, 2.4, 2.4] == pytest.approx((price.gaps(state, 0.0) / HOUR).tolist(), rel=0.05)


def test_what_is_worth_less_waits_longer():
    """Costs, lives that end, other urgencies: each moves the gap the way it must."""
    price = Price(longest=300 * DAY)
    plain = price.gaps(begin(price, rate=1.0), 0.0)[0]

    def gap(**columns: object) -> int:
        return int(price.gaps(begin(price, **{"rate": 1.0, **columns}), 0.0)[0])

    assert gap(cost=4.0) == pytest.approx(2 * plain, rel=0.05)
    assert gap(importance=1.0) < plain
    assert gap(life_kind=LifeKind.WINDOW, life_scale=HOUR) < plain
    assert gap(life_kind=LifeKind.OVERWRITE) < gap(life_kind=LifeKind.CHANGES, life_scale=20) < plain
    assert gap(urgency_kind=UrgencyKind.UNIFORM, urgency_scale=0) > plain
    assert gap(urgency_kind=UrgencyKind.WINDOW, urgency_scale=HOUR) < plain


def test_the_index_is_the_price_when_the_wait_is_over():
    """Poll iff age ≥ T*: before it the page bids nothing, then what it is worth."""
    price = Price()
    state = begin(price, rate=[0.3, 3.0], cost=[1.0, 2.0])
    due = price.next_due(state, [0, 1], START, 0.01)

    for row in (0, 1):
        assert 0 == price.bid(state, int(due[row]) - 1, 0.01)[row]
        assert 0.01 == pytest.approx(price.bid(state, int(due[row]), 0.01)[row], rel=1e-3)
        assert price.bid(state, int(due[row]) + HOUR, 0.01)[row] > 0.01


class WithoutShortCut(Price):
    """The policy that finds every wait, whatever the index says."""

    index_tells = False


@given(seed=st.integers(0, 10**6), later=st.sampled_from([-1, 0, 1, 10**6, HOUR]), price=st.sampled_from([0.0, 1e-3]))
def test_the_index_tells_no_more_than_the_wait(seed: int, later: int, price: float):
    """Bids are the same to the last digit whether waits are found or seen to be over: of new, saturated, hinted and resting pages too."""
    rng = np.random.default_rng(seed)
    state = begin(
        Price(),
        rate=rng.lognormal(0, 2, 9).tolist(),
        shortest=rng.choice([0, 6 * HOUR], 9),
        not_before=START + rng.choice([0, 5 * HOUR], 9),
        hinted=rng.choice([0, HOUR], 9),
    )
    state = replace(state, suspicion=rng.choice([0, 3, 64, 73], 9).astype(np.uint8))
    due = Price().next_due(state, range(9), START, price)
    for row in range(9):
        now, rows = int(due[row]) + later, np.array([row])
        assert WithoutShortCut().bid(state, now, price, rows=rows) == Price().bid(state, now, price, rows=rows)


def test_a_page_that_never_looks_the_same_is_found_out_and_believed_again():
    """Twenty changes in a row as soon as may be: then the pace, a second look now and then, and two of those without a change end it (guard 6)."""
    price = Price()
    state = begin(price, rate=5_000.0, shortest=MINUTE)
    at = START
    for _ in range(20):
        at += MINUTE
        state = price.on_poll(state, [0], Observation.of([at], [True]))
    assert HOUR == price.gaps(state, 0.0)[0]
    relooks = 0
    for _ in range(48):
        gap = int(price.gaps(state, 0.0)[0])
        relooks += gap == MINUTE
        at += gap
        state = price.on_poll(state, [0], Observation.of([at], [gap != MINUTE]))
        if not state.saturated[0]:
            break
    assert not state.saturated[0]
    assert 2 == relooks
    assert at - START >= 2 * RELOOK_EVERY


def test_a_busy_page_is_not_taken_for_one():
    """Eighteen of twenty is no reason: it really changes two hundred times a day."""
    price = Price()
    state = begin(price, rate=200.0, shortest=MINUTE)
    at = START
    for look in range(200):
        at += MINUTE
        state = price.on_poll(state, [0], Observation.of([at], [look % 10 != 0]))

    assert not state.saturated[0]


def test_the_price_is_what_the_budget_can_pay():
    """It spends the budget; where that is ample it is the floor; where nothing can be enough it says by how much."""
    price = Price()
    rng = np.random.default_rng(1)
    state = begin(price, rate=rng.lognormal(0, 2, 500).tolist(), cost=rng.choice([1.0, 2.0, 5.0], 500).tolist())
    budget = 4_000 / DAY
    market = price.market(state, budget)

    assert market.price > price.floor
    assert budget == pytest.approx(market.spend, rel=1e-3)
    assert price.floor == price.market(state, 1.0).price
    assert not price.market(state, 1.0).binds
    assert price.market(state, 1.0).load < 1
    assert price.market(state, 100 / DAY).load > 5
    assert 0 == price.market(begin(price, rate=[]), 1.0).spend


def test_the_trim_follows_spend_within_bounds():
    """Too much spent makes looks dearer, a little at a time, and never more than twice; six hours count, and those before the start as planned."""
    first = Trim().after(spent=20_000.0, planned=10_000.0)
    later = first
    for _ in range(1_000):
        later = later.after(spent=20_000.0, planned=10_000.0)

    assert (37 / 36) ** 0.05 == pytest.approx(first.factor, rel=1e-4)
    assert 2.0 == later.factor
    assert 36 == len(later.steps)
    assert 1.0 == Trim().after(spent=1.0, planned=0.0).factor
    assert Trim().after(spent=2.0, planned=1.0).factor < 1.0009  # a few looks are chance


def test_what_no_price_can_pay_stretches_the_longest_waits():
    """Then the price is the least at which all wait their longest, so that bids still rank; stretched, the pages cost what there is."""
    price = Price()
    state = begin(price, rate=np.random.default_rng(1).lognormal(0, 2, 500).tolist())
    market = price.market(state, 100 / DAY)
    wider = price.stretch(market.load)

    assert 5.0 == pytest.approx(market.load)
    assert 500 / DAY == pytest.approx(market.spend, rel=1e-5)
    assert price.gaps(state, market.price / 1.1).min() < 0.99 * DAY <= price.gaps(state, market.price).min()
    assert 100 / DAY == pytest.approx(wider.market(state, 100 / DAY).spend, rel=1e-3)
    assert 1.0 == pytest.approx(wider.market(state, 100 / DAY).load)


@pytest.mark.parametrize("bounds", [{"pace": 0}, {"longest": 0}, {"shortest": -1}])
def test_bounds_are_above_nothing(bounds: dict[str, Any]):
    """They are durations."""
    with pytest.raises(ValueError, match="above 0"):
        Price(**bounds)

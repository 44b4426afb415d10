"""The price policy: the gaps of bid §3, its guards, and the price for a budget."""

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
from tidings.scheduling.price.policy import REPOLL_EVERY, Price, PriceState
from tidings.scheduling.price.value import SLOWEST, Values, floor_price

NOBODY = np.random.default_rng(0)
START = 20_000 * DAY


def begin(price: Price, **columns: object) -> PriceState:
    """Return the state of pages that were polled at `START`."""
    size = max((len(column) for column in columns.values() if isinstance(column, list)), default=1)
    made = {name: np.broadcast_to(np.asarray(column), size) for name, column in columns.items()}
    return price.begin(Population({"id": np.arange(size), "last_polled": np.full(size, START), **made}), NOBODY)


def test_default_gaps_depend_on_the_rate():
    """The table has changes a day and polls, at the pace of one hour."""
    price = Price(longest=30 * DAY)
    hours = {0.005: 16.3, 0.02: 7.5, 0.04: 5.2, 0.2: 2.3, 1.0: 1.0, 5.0: 27 / 60, 25.0: 12 / 60, 100.0: 6 / 60}
    state = begin(price, rate=list(hours))

    assert list(hours.values()) == pytest.approx((price.gaps(state, 0.0) / HOUR).tolist(), rel=0.03)
    assert 2.95e-4 == pytest.approx(price.floor, rel=2e-3)
    assert price.floor == floor_price(HOUR)


def test_wait_is_within_all_bounds():
    """They are those of the policy, of the page, and of the floor."""
    state = begin(Price(), rate=[0.0, 1e-6, 1e9, 1e9], shortest=[0, 0, 0, 2 * HOUR])

    assert [DAY, DAY] == Price().gaps(state, 0.0)[:2].tolist()
    assert Price().gaps(state, 0.0)[2] < MINUTE
    assert 2 * HOUR == Price().gaps(state, 0.0)[3]


@given(x=st.floats(0, 30))
def test_wait_is_the_inverse_of_its_worth(x: float):
    """This holds to the precision of both."""
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
def test_urgent_or_important_page_never_waits_longer(inflow, decay, steeper, more, price, overwritten):
    """Guard 5: without it an urgent rare page would starve."""

    def gap(inflow: float, decay: float) -> float:
        one = np.ones(1)
        return float(Values(one, inflow * one, decay * one, overwritten * one, one).gaps(price)[0])

    assert gap(inflow, decay * steeper) <= gap(inflow, decay) * (1 + 1e-6)
    assert gap(inflow * more, decay) <= gap(inflow, decay) * (1 + 1e-6)


def test_urgent_rare_page_does_not_starve():
    """Half-lives of a day, an hour and ten minutes at .02 changes a day give 7.5 h, 2.4 h and 2.4
    h; the last would be never.
    """
    price = Price(longest=30 * DAY)
    state = begin(price, rate=0.02, urgency_scale=[DAY, HOUR, 10 * MINUTE], importance=0.5)

    assert [7.5, 2.4, 2.4] == pytest.approx((price.gaps(state, 0.0) / HOUR).tolist(), rel=0.05)


def test_page_worth_less_waits_longer():
    """Costs, ending lives and other urgencies move the gap in the right direction."""
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


def test_index_is_the_price_when_the_wait_is_over():
    """Poll iff age ≥ T*: before it the page bids nothing, then its worth."""
    price = Price()
    state = begin(price, rate=[0.3, 3.0], cost=[1.0, 2.0])
    due = price.next_due(state, [0, 1], START, 0.01)

    for row in (0, 1):
        assert 0 == price.bid(state, int(due[row]) - 1, 0.01)[row]
        assert 0.01 == pytest.approx(price.bid(state, int(due[row]), 0.01)[row], rel=1e-3)
        assert price.bid(state, int(due[row]) + HOUR, 0.01)[row] > 0.01


class WithoutShortCut(Price):
    """The policy that computes every wait, whatever the index is."""

    follows_index = False


@given(seed=st.integers(0, 10**6), later=st.sampled_from([-1, 0, 1, 10**6, HOUR]), price=st.sampled_from([0.0, 1e-3]))
def test_short_cut_by_the_index_changes_no_bid(seed: int, later: int, price: float):
    """Bids are the same to the last digit whether waits are computed or seen to be over, also of
    new, saturated, hinted and resting pages.
    """
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


def test_page_that_always_differs_is_saturated_until_two_quiet_polls():
    """After twenty changes in a row as soon as possible it waits the pace, with a second poll now
    and then; two of those without a change end it (guard 6).
    """
    price = Price()
    state = begin(price, rate=5_000.0, shortest=MINUTE)
    at = START
    for _ in range(20):
        at += MINUTE
        state = price.on_poll(state, [0], Observation.of([at], [True]))
    assert HOUR == price.gaps(state, 0.0)[0]
    second_polls = 0
    for _ in range(48):
        gap = int(price.gaps(state, 0.0)[0])
        second_polls += gap == MINUTE
        at += gap
        state = price.on_poll(state, [0], Observation.of([at], [gap != MINUTE]))
        if not state.saturated[0]:
            break
    assert not state.saturated[0]
    assert 2 == second_polls
    assert at - START >= 2 * REPOLL_EVERY


def test_busy_page_is_not_saturated():
    """It differs eighteen times of twenty: it really changes two hundred times a day."""
    price = Price()
    state = begin(price, rate=200.0, shortest=MINUTE)
    at = START
    for poll in range(200):
        at += MINUTE
        state = price.on_poll(state, [0], Observation.of([at], [poll % 10 != 0]))

    assert not state.saturated[0]


def test_price_spends_the_budget():
    """If the budget is ample it is the floor; if nothing is enough, the market says by how much."""
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


def test_trim_follows_the_spending_within_bounds():
    """If too much is spent, polls become more expensive, a little at a time, and never more than
    twice; six hours count, and those before the start as planned.
    """
    first = Trim().after(spent=20_000.0, planned=10_000.0)
    later = first
    for _ in range(1_000):
        later = later.after(spent=20_000.0, planned=10_000.0)

    assert (37 / 36) ** 0.05 == pytest.approx(first.factor, rel=1e-4)
    assert 2.0 == later.factor
    assert 36 == len(later.steps)
    assert 1.0 == Trim().after(spent=1.0, planned=0.0).factor
    assert Trim().after(spent=2.0, planned=1.0).factor < 1.0009  # a few polls are chance


def test_price_that_is_not_enough_stretches_the_longest_waits():
    """The price is the least at which all wait their longest, so bids still rank; after stretching
    the pages cost what there is.
    """
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
def test_bounds_must_be_positive(bounds: dict[str, Any]):
    """They are durations."""
    with pytest.raises(ValueError, match="above 0"):
        Price(**bounds)

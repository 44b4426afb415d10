"""Token buckets: the budget in costs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.scheduling.budget import TokenBucket, pay

SECOND = 1_000_000
AT = 1_700_000_000 * SECOND


def bucket(level=0.0, rate=2.0, burst=10.0):
    return TokenBucket(rate=rate, burst=burst, level=level, at=AT)


def test_tokens_flow_in_at_their_rate():
    """Two tokens a second make three in a second and a half."""
    assert 3.0 == bucket().refill(AT + 3 * SECOND // 2).level


def test_tokens_are_saved_up_to_the_burst():
    """A long rest fills the bucket and no more."""
    assert 10.0 == bucket().refill(AT + 3_600 * SECOND).level


def test_time_that_goes_back_changes_nothing():
    """Level and instant stay, so that nothing is given twice."""
    full = bucket(5.0)

    assert full == full.refill(AT - 3_600 * SECOND)


def test_taken_tokens_are_gone():
    """Tokens that flowed in before count."""
    after = bucket(1.0).take(2.5, now=AT + SECOND)

    assert TokenBucket(rate=2.0, burst=10.0, level=0.5, at=AT + SECOND) == after


def test_cost_above_the_level_is_refused():
    """Nothing is owed."""
    assert bucket(1.0).take(1.01, now=AT) is None


def test_ten_tenths_are_one_token():
    """Rounding costs no poll."""
    tenths = bucket(0.0, rate=0.1)
    for step in range(1, 11):
        tenths = tenths.refill(AT + step * SECOND)

    assert tenths.take(1.0, now=AT + 10 * SECOND) is not None


def test_available_at_is_the_first_instant_for_a_cost():
    """A µs before it the cost cannot be taken."""
    unpaid = bucket(1.0, rate=0.3)
    at = unpaid.available_at(2.0)

    assert at is not None
    assert unpaid.take(2.0, now=at) is not None
    assert unpaid.take(2.0, now=at - 1) is None


@pytest.mark.parametrize(
    ("level", "rate", "cost", "expected"), [(5.0, 0.0, 5.0, AT), (5.0, 0.0, 6.0, None), (5.0, 1.0, 11.0, None)]
)
def test_available_at_can_be_now_or_never(level, rate, cost, expected):
    """A cost that is there is available now; one that the bucket cannot hold or never gains is
    never available.
    """
    assert expected == bucket(level, rate).available_at(cost)


@given(st.lists(st.tuples(st.integers(0, 5 * SECOND), st.floats(0.01, 4)), max_size=40))
def test_spending_is_limited_by_burst_and_inflow(wishes):
    """For all requests, the granted sum is at most the first level plus what flowed in."""
    now, spent, budget = AT, 0.0, bucket(10.0)
    for wait, cost in wishes:
        now += wait
        after = budget.take(cost, now=now)
        if after is not None:
            budget, spent = after, spent + cost

    assert spent <= 10.0 + 2.0 * (now - AT) / SECOND + 1e-6


@pytest.mark.parametrize(
    "fields",
    [
        {"rate": -1.0},
        {"burst": -1.0},
        {"level": 11.0},
        {"level": -1.0},
        {"rate": float("inf")},
        {"level": float("nan")},
    ],
)
def test_impossible_bucket_is_refused(fields):
    """The error comes at once."""
    with pytest.raises(ValueError, match="a bucket needs"):
        bucket(**fields)


def test_polls_are_paid_in_order():
    """One that lacks tokens holds back later ones of the same budget, and none of another; none
    takes from only one of its budgets.
    """
    budgets = {
        name: TokenBucket(rate=0.0, burst=9.0, level=level, at=0) for name, level in (("all", 9.0), ("small", 2.0))
    }
    asked = [(("all", "small"), 1.0), (("all", "small"), 2.0), (("all", "small"), 0.5), (("all",), 3.0)]

    paid, left = pay(budgets, asked, now=0)
    always, _ = pay(budgets, asked, now=0, in_turn=False)

    assert [True, False, False, True] == paid
    assert {"all": 5.0, "small": 1.0} == {name: bucket.level for name, bucket in left.items()}
    assert [True, False, True, True] == always

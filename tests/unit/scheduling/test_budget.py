import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.scheduling.budget import TokenBucket, pay

SECOND = 1_000_000
AT = 1_700_000_000 * SECOND


def bucket(level=0.0, rate=2.0, burst=10.0):
    return TokenBucket(rate=rate, burst=burst, level=level, at=AT)


def test_budget_flows_in_at_its_rate():
    """Two tokens a second make three in a second and a half."""
    assert 3.0 == bucket().refill(AT + 3 * SECOND // 2).level


def test_budget_is_saved_up_to_the_burst():
    """A long rest fills the bucket and no more."""
    assert 10.0 == bucket().refill(AT + 3_600 * SECOND).level


def test_time_that_goes_back_neither_gives_nor_takes():
    """A clock set back leaves level and instant as they were, so that nothing is given twice."""
    full = bucket(5.0)

    assert full == full.refill(AT - 3_600 * SECOND)


def test_take_spends():
    """What is spent is gone, after what has flowed in."""
    after = bucket(1.0).take(2.5, now=AT + SECOND)

    assert TokenBucket(rate=2.0, burst=10.0, level=0.5, at=AT + SECOND) == after


def test_take_refuses_what_is_not_there():
    """A cost above the level is not granted; nothing is owed."""
    assert bucket(1.0).take(1.01, now=AT) is None


def test_tenths_add_up():
    """Rounding costs nobody a poll: ten tenths are one."""
    tenths = bucket(0.0, rate=0.1)
    for step in range(1, 11):
        tenths = tenths.refill(AT + step * SECOND)

    assert tenths.take(1.0, now=AT + 10 * SECOND) is not None


def test_available_at_names_the_first_instant():
    """At that µs the cost can be taken, a µs before it cannot."""
    poor = bucket(1.0, rate=0.3)
    at = poor.available_at(2.0)

    assert at is not None
    assert poor.take(2.0, now=at) is not None
    assert poor.take(2.0, now=at - 1) is None


@pytest.mark.parametrize(
    ("level", "rate", "cost", "expected"), [(5.0, 0.0, 5.0, AT), (5.0, 0.0, 6.0, None), (5.0, 1.0, 11.0, None)]
)
def test_available_at_knows_never(level, rate, cost, expected):
    """What is there is there now; what the bucket cannot hold or never gains is never there."""
    assert expected == bucket(level, rate).available_at(cost)


@given(st.lists(st.tuples(st.integers(0, 5 * SECOND), st.floats(0.01, 4)), max_size=40))
def test_no_more_is_spent_than_burst_and_inflow(wishes):
    """Whatever is asked for and when, the sum granted stays within level at the start plus what flowed in."""
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
def test_bucket_that_makes_no_sense_is_refused(fields):
    """Numbers that a bucket cannot have are an error at once."""
    with pytest.raises(ValueError, match="a bucket needs"):
        bucket(**fields)


def test_polls_are_paid_in_turn():
    """One that lacks tokens holds back those after it of the same budget, and none of another; none takes of one budget alone."""
    budgets = {
        name: TokenBucket(rate=0.0, burst=9.0, level=level, at=0) for name, level in (("all", 9.0), ("small", 2.0))
    }
    asked = [(("all", "small"), 1.0), (("all", "small"), 2.0), (("all", "small"), 0.5), (("all",), 3.0)]

    paid, left = pay(budgets, asked, now=0)
    anyhow, _ = pay(budgets, asked, now=0, in_turn=False)

    assert [True, False, False, True] == paid
    assert {"all": 5.0, "small": 1.0} == {name: bucket.level for name, bucket in left.items()}
    assert [True, False, True, True] == anyhow

"""Runs on recorded changes: groups are moved as a whole, the budget is kept, and the results agree
with brute force.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tidings.estimation.hourly import HourlyLearner
from tidings.estimation.learner import GammaLearner
from tidings.lab.compare import ALL
from tidings.lab.traces import (
    Series,
    follow,
    hindsight,
    hindsight_bound,
    interval,
    is_calibrated_on,
    outcome,
    page_equal,
    quantile,
    replay,
    resamples,
    windows,
    worth,
)
from tidings.model.interval import DAY, WEEK
from tidings.scheduling.learned import Learned
from tidings.scheduling.ledger import Polls
from tidings.scheduling.paced.turns import RoundRobin
from tidings.scheduling.policy import HeedsHours
from tidings.scheduling.price.policy import Price
from tidings.scheduling.timetable import RATE

HOUR = DAY // 24


def make(
    changes: list[int], *, page: int = 0, group: int = 0, begin: int = 0, end: int = 30 * DAY, step: int = HOUR
) -> Series:
    """Return a series of these instants."""
    return Series(page, group, "page", np.array(changes, dtype=np.int64), begin, end, step)


def random_series(pages: int, seed: int, end: int = 30 * DAY) -> list[Series]:
    """Return pages that change between a hundredth of a time and ten times a day."""
    rng = np.random.default_rng(seed)
    return [
        make(
            np.unique(rng.integers(1, end, rng.poisson(rate * end / DAY))).tolist(), page=page, group=page // 2, end=end
        )
        for page, rate in enumerate(10 ** rng.uniform(-2, 1, pages))
    ]


def polls(*polls_made: tuple[int, int]) -> Polls:
    """Return polls: when, and of which page."""
    at, page = zip(*polls_made, strict=True)
    return Polls(np.array(at), np.array(page), np.ones(len(at)))


@pytest.mark.parametrize("name", list(ALL))
def test_every_policy_runs_on_a_trace(name: str):
    """Those that use rates get them; each spends about its budget."""
    policy = ALL[name](HOUR)
    if RATE in policy.reads:
        policy = Learned(policy, HourlyLearner() if isinstance(policy, HeedsHours) else GammaLearner())
    made = replay(policy, random_series(6, 1), share=1 / 16, tick=HOUR, rng=np.random.default_rng(1))

    assert 0.5 < len(made.at) / (6 * 30 * 24 / 16) < 1.05


def test_half_of_the_groups_is_for_calibration():
    """It is chosen by a hash of the group, so it is always the same."""
    halves = [is_calibrated_on(group) for group in range(2_000)]

    assert 900 < sum(halves) < 1_100
    assert [True, False, True, True, True, False, False, True] == halves[:8]


def test_groups_are_moved_by_whole_weeks():
    """They keep their hours on a line that begins at 0; a group with little data is left out."""
    first = 2_600 * WEEK + 3 * HOUR
    long = [
        make([first + k * DAY for k in range(1, 300)], page=page, begin=first, end=first + 300 * DAY)
        for page in range(2)
    ]
    short = make([], page=2, group=1, begin=first, end=first + DAY)
    found = windows([*long, short], 60 * DAY, np.random.default_rng(3), least=7 * DAY)

    assert [0, 1] == [one.page for one in found]
    assert found[0].changes.tolist() == found[1].changes.tolist()
    assert {3 * HOUR} == set((found[0].changes % DAY).tolist())
    assert all(0 <= one.begin < one.end <= 60 * DAY for one in found)
    assert 58 <= len(found[0].changes) <= 60


@pytest.mark.parametrize(
    "policy", [RoundRobin(pace=HOUR), Learned(Price(pace=HOUR // 6, longest=3_650 * DAY), GammaLearner())]
)
def test_run_keeps_its_budget(policy: object):
    """It has a quarter of the polls of an hourly source, on pages that come and go; no page is
    polled more often than the source.
    """
    series = random_series(8, 1, 15 * DAY)
    series[0] = make(series[0].changes.tolist(), begin=5 * DAY, end=10 * DAY)
    found = replay(policy, series, share=1 / 4, tick=HOUR, rng=np.random.default_rng(0))  # type: ignore[arg-type]
    budget = sum((one.end - one.begin) / one.step for one in series) / 4
    own = np.sort(found.at[found.page == 0])

    assert 0.9 * budget < len(found.at) <= budget + 8 * 24 / 4
    assert 5 * DAY < own[0] <= own[-1] < 10 * DAY
    assert min(np.diff(np.sort(found.at[found.page == 3]))) >= HOUR


def test_page_without_limits_is_polled_when_due():
    """A fixed interval of three hours is eight polls a day."""
    found = follow(RoundRobin(pace=3 * HOUR), [make([])], shortest=0, rng=np.random.default_rng(0))

    assert list(range(3 * HOUR, 30 * DAY, 3 * HOUR)) == found.at.tolist()


def test_delays_of_found_changes():
    """A delay lasts until the first poll after a change; newer changes are merged; the free poll at
    the end does not count.
    """
    series = [make([1 * DAY, 2 * DAY, 9 * DAY], end=10 * DAY), make([4 * DAY], page=1, end=10 * DAY)]
    found = outcome(series, polls((3 * DAY, 0), (5 * DAY, 1)))

    assert [2 * DAY, 1 * DAY, 1 * DAY, 1 * DAY] == found.delay.tolist()
    assert [False, True, False, True] == found.alone.tolist()
    assert 2 == found.spent
    assert [1 / 3, 1 / 3, 1 / 3, 1.0] == pytest.approx(page_equal(found).tolist())
    assert [0.25, 0.5, 0.5, 0.5] == pytest.approx(worth(found.delay, DAY).tolist())


def test_weighted_quantile_is_the_least_value_above_its_share():
    """The share lies below it."""
    assert 3.0 == quantile(np.array([3.0, 1.0, 9.0]), np.array([2.0, 1.0, 1.0]), 0.5)
    assert np.isnan(quantile(np.zeros(0), np.zeros(0), 0.5))


def test_groups_are_resampled_with_repetition():
    """There are as many as before; the figures of the resamples give an interval."""
    draws = resamples(np.array([0, 0, 1, 2]), 400, np.random.default_rng(0))

    assert (400, 3) == draws.shape
    assert {3} == set(draws.sum(axis=1).tolist())
    assert interval(np.arange(1_001.0)) == pytest.approx((25.0, 975.0))


def test_hindsight_is_the_best_of_all_sets_of_polls():
    """Brute force tries polls at all changes and halfway between them."""
    changes = [1 * DAY, 2 * DAY, 2 * DAY + HOUR, 6 * DAY, 9 * DAY]
    one = make(changes, end=10 * DAY)
    instants = sorted([*changes, *(at + HOUR // 2 for at in changes)])
    for price in (0.05, 0.4, 1.1):
        best = max(
            worth(outcome([one], polls(*((at, 0) for at in polls_made))).delay, DAY).sum() - price * len(polls_made)
            for number in range(1, 6)
            for polls_made in itertools.combinations(instants, number)
        )
        best = max(best, worth(10 * DAY - np.array(changes), DAY).sum())

        assert best == pytest.approx(hindsight(one, DAY, price)[0])


def test_no_policy_beats_the_bound():
    """Not even one with the true rates does. With so many polls that hardly anything is missed, the
    bound is near.
    """
    series = random_series(6, 5)
    for share in (1 / 64, 1 / 4):
        found = replay(
            Price(pace=HOUR // 6, longest=3_650 * DAY), series, share=share, tick=6 * HOUR, rng=np.random.default_rng(0)
        )
        earned = worth(found_delays := outcome(series, found).delay, DAY).sum()
        bound = hindsight_bound(series, DAY, len(found.at))

        assert earned <= bound <= len(found_delays) * 1.01

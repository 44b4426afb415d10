"""Hours that are learned: a host has a profile after a week and enough changes, and it is the one that its pages have."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tidings.estimation.hourly import HourlyLearner
from tidings.estimation.learner import NEVER_SEEN

HOUR = 3_600_000_000
DAY = 24 * HOUR
HOSTS = np.array([7, 7, 8])


def learn_polls(learner: HourlyLearner, known: Any, days: int) -> Any:
    """Return what is known after hourly looks: pages of host 7 change in each hour from 8 to 20, the page of host 8 never."""
    rows = np.arange(3)
    quiet, told = np.zeros(3, dtype=np.bool_), np.full(3, NEVER_SEEN)
    for hour in range(days * 24):
        changed = np.array([9 <= hour % 24 <= 20] * 2 + [False])
        known = learner.observe(known, rows, np.full(3, hour * HOUR), changed, told, quiet)
    return known


@pytest.fixture(scope="module")
def after_ten_days() -> Any:
    """What is known after ten days."""
    learner = HourlyLearner()
    return learn_polls(learner, learner.begin(HOSTS), 10)


def test_a_host_that_changes_by_day_has_a_profile(after_ten_days):
    """By day it is many times what it is by night; the host that never changed has none, and rates are learned as ever."""
    learner = HourlyLearner()
    weights, which = learner.profiles(after_ten_days)

    assert [0, 0, -1] == which.tolist()
    assert weights.mean() == pytest.approx(1)
    assert weights[0, 24 + 10 : 24 + 18].min() > 3 * weights[0, 24 : 24 + 7].max()
    assert learner.rates(after_ten_days)[:2].min() > 5 > learner.rates(after_ten_days)[2]


def test_there_is_none_before_a_week():
    """Three days of two pages are 144 hours."""
    learner = HourlyLearner()

    assert [-1, -1, -1] == learner.profiles(learn_polls(learner, learner.begin(HOSTS), 3))[1].tolist()


def test_pages_that_come_have_that_of_their_host(after_ten_days):
    """And what is counted of a host goes with its last page."""
    learner = HourlyLearner()
    more = learner.arrange(after_ten_days, np.array([0, -1, -1]), np.array([7, 7, 9]))
    fewer = learner.arrange(more, np.array([2]), np.array([9]))

    assert [0, 0, -1] == learner.profiles(more)[1].tolist()
    assert [{7}, set()] == [set(known.counts) for known in (more, fewer)]


def test_hours_survive_a_restart(after_ten_days):
    """As JSON, with any page of the host; the profile is there again with the first check."""
    learner = HourlyLearner()
    plain = json.loads(json.dumps(learner.remember(after_ten_days, 1)))
    known = learner.recall(learner.begin(HOSTS), np.array([0]), [plain])
    at = np.array([10 * DAY])
    known = learner.observe(known, np.array([0]), at, np.array([False]), np.array([NEVER_SEEN]), np.array([False]))

    assert [0, 0, -1] == learner.profiles(known)[1].tolist()
    assert np.corrcoef(learner.profiles(known)[0][0], learner.profiles(after_ten_days)[0][0])[0, 1] > 0.98
    assert "hours" not in learner.remember(after_ten_days, 2)


@pytest.mark.parametrize("hours", [None, "x", ["x", "y"], ["AAAA"], [1, 2], ["AAAA", "AAAA"]])
def test_hours_that_cannot_be_read_cost_no_more_than_the_hours(after_ten_days, hours):
    """The rate of the page is remembered all the same."""
    learner = HourlyLearner()
    plain = {**learner.remember(after_ten_days, 0), "hours": hours}
    known = learner.recall(learner.begin(HOSTS), np.array([0]), [plain])

    assert {} == known.counts
    assert learner.rates(after_ten_days)[0] == learner.rates(known)[0]


def one_look(known: Any, begin: int, end: int, *, changed: bool, modified_at: int = NEVER_SEEN) -> Any:
    """Return what is known of pages 0 and 2 after a look at `end`, when the last one was at `begin`."""
    rows, quiet = np.array([0, 2]), np.zeros(2, dtype=np.bool_)
    none = np.full(2, NEVER_SEEN)
    for at, found, told in ((begin, False, none), (end, changed, np.full(2, modified_at))):
        known = HourlyLearner().observe(known, rows, np.full(2, at), np.full(2, found), told, quiet)
    return known


def test_a_quiet_night_says_little_of_a_page_of_the_day(after_ten_days):
    """Time is that of the profile: eight hours of night lower its rate less than eight hours of day; without a profile an hour is an hour."""
    night, day = 20 * DAY + 22 * HOUR, 20 * DAY + 9 * HOUR
    slept, seen = (one_look(after_ten_days, at, at + 8 * HOUR, changed=False).rates.posterior for at in (night, day))
    before = [one_look(after_ten_days, at, at, changed=False).rates.posterior for at in (night, day)]
    scales = [after.scale - then.scale for after, then in zip((slept, seen), before, strict=True)]

    assert 3 * scales[0][0] < scales[1][0]
    assert scales[0][2] == pytest.approx(scales[1][2], rel=0.02)


def test_ages_of_changes_are_operational_too(after_ten_days):
    """A change that is dated eight hours back, at the end of a day, is hardly older in the morning than one that is an hour old."""
    morning = 21 * DAY + 6 * HOUR
    old, new = (
        one_look(after_ten_days, morning - DAY, morning, changed=True, modified_at=morning - hours * HOUR)
        for hours in (8, 1)
    )
    older = old.rates.posterior.scale - new.rates.posterior.scale

    assert older[2] == pytest.approx(7 / 24)
    assert 0 < older[0] < 0.5 * older[2]


def test_forgetting_goes_by_the_calendar(after_ten_days):
    """A page of the day forgets by night as well: after a year without looks nothing is left of what was learned but the last look."""
    later = 400 * DAY + 6 * HOUR
    known = one_look(after_ten_days, later, later + HOUR, changed=False)

    assert known.rates.posterior.shape[0] == pytest.approx(known.rates.priors.shape[known.rates.prior[0]], abs=0.02)

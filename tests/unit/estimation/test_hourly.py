"""Hours of change are learned: a host has a profile after a week with enough changes."""

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
    """Return what is known after hourly polls: pages of host 7 change in each hour from 8 to 20,
    the page of host 8 never.
    """
    rows = np.arange(3)
    quiet, dated = np.zeros(3, dtype=np.bool_), np.full(3, NEVER_SEEN)
    for hour in range(days * 24):
        changed = np.array([9 <= hour % 24 <= 20] * 2 + [False])
        known = learner.observe(known, rows, np.full(3, hour * HOUR), changed, dated, quiet)
    return known


@pytest.fixture(scope="module")
def after_ten_days() -> Any:
    """Return what is known after ten days."""
    learner = HourlyLearner()
    return learn_polls(learner, learner.begin(HOSTS), 10)


def test_host_that_changes_by_day_has_a_profile(after_ten_days):
    """Its weights by day are many times those by night. The host that never changed has none, and
    its rates are learned as usual.
    """
    learner = HourlyLearner()
    weights, which = learner.profiles(after_ten_days)

    assert [0, 0, -1] == which.tolist()
    assert weights.mean() == pytest.approx(1)
    assert weights[0, 24 + 10 : 24 + 18].min() > 3 * weights[0, 24 : 24 + 7].max()
    assert learner.rates(after_ten_days)[:2].min() > 5 > learner.rates(after_ten_days)[2]


def test_no_profile_is_learned_before_a_week():
    """Three days of two pages are 144 hours."""
    learner = HourlyLearner()

    assert [-1, -1, -1] == learner.profiles(learn_polls(learner, learner.begin(HOSTS), 3))[1].tolist()


def test_new_page_gets_the_profile_of_its_host(after_ten_days):
    """The counts of a host are removed with its last page."""
    learner = HourlyLearner()
    more = learner.arrange(after_ten_days, np.array([0, -1, -1]), np.array([7, 7, 9]))
    fewer = learner.arrange(more, np.array([2]), np.array([9]))

    assert [0, 0, -1] == learner.profiles(more)[1].tolist()
    assert [{7}, set()] == [set(known.counts) for known in (more, fewer)]


def test_hours_survive_a_restart(after_ten_days):
    """They are stored as JSON with each page of the host; the profile is there again with the first
    poll.
    """
    learner = HourlyLearner()
    plain = json.loads(json.dumps(learner.remember(after_ten_days, 1)))
    known = learner.recall(learner.begin(HOSTS), np.array([0]), [plain])
    at = np.array([10 * DAY])
    known = learner.observe(known, np.array([0]), at, np.array([False]), np.array([NEVER_SEEN]), np.array([False]))

    assert [0, 0, -1] == learner.profiles(known)[1].tolist()
    assert np.corrcoef(learner.profiles(known)[0][0], learner.profiles(after_ten_days)[0][0])[0, 1] > 0.98
    assert "hours" not in learner.remember(after_ten_days, 2)


@pytest.mark.parametrize("hours", [None, "x", ["x", "y"], ["AAAA"], [1, 2], ["AAAA", "AAAA"]])
def test_unreadable_hours_do_not_affect_the_rate(after_ten_days, hours):
    """The rate of the page is restored all the same."""
    learner = HourlyLearner()
    plain = {**learner.remember(after_ten_days, 0), "hours": hours}
    known = learner.recall(learner.begin(HOSTS), np.array([0]), [plain])

    assert {} == known.counts
    assert learner.rates(after_ten_days)[0] == learner.rates(known)[0]


def poll_once(known: Any, begin: int, end: int, *, changed: bool, modified_at: int = NEVER_SEEN) -> Any:
    """Return what is known of pages 0 and 2 after a poll at `end`, when the last one was at
    `begin`.
    """
    rows, quiet = np.array([0, 2]), np.zeros(2, dtype=np.bool_)
    none = np.full(2, NEVER_SEEN)
    for at, found, dated in ((begin, False, none), (end, changed, np.full(2, modified_at))):
        known = HourlyLearner().observe(known, rows, np.full(2, at), np.full(2, found), dated, quiet)
    return known


def test_quiet_night_lowers_the_rate_of_a_daytime_page_little(after_ten_days):
    """The time of the profile counts: eight hours of night lower its rate less than eight hours of
    day. Without a profile, an hour is an hour.
    """
    night, day = 20 * DAY + 22 * HOUR, 20 * DAY + 9 * HOUR
    slept, seen = (poll_once(after_ten_days, at, at + 8 * HOUR, changed=False).rates.posterior for at in (night, day))
    before = [poll_once(after_ten_days, at, at, changed=False).rates.posterior for at in (night, day)]
    scales = [after.scale - then.scale for after, then in zip((slept, seen), before, strict=True)]

    assert 3 * scales[0][0] < scales[1][0]
    assert scales[0][2] == pytest.approx(scales[1][2], rel=0.02)


def test_age_of_a_change_is_in_hours_of_the_profile(after_ten_days):
    """In the morning, a change dated eight hours back, at the end of a day, is hardly older than
    one of an hour ago.
    """
    morning = 21 * DAY + 6 * HOUR
    old, new = (
        poll_once(after_ten_days, morning - DAY, morning, changed=True, modified_at=morning - hours * HOUR)
        for hours in (8, 1)
    )
    older = old.rates.posterior.scale - new.rates.posterior.scale

    assert older[2] == pytest.approx(7 / 24)
    assert 0 < older[0] < 0.5 * older[2]


def test_knowledge_is_forgotten_by_the_calendar(after_ten_days):
    """A daytime page forgets by night as well: after a year without polls, nothing is left but the
    last poll.
    """
    later = 400 * DAY + 6 * HOUR
    known = poll_once(after_ten_days, later, later + HOUR, changed=False)

    assert known.rates.posterior.shape[0] == pytest.approx(known.rates.priors.shape[known.rates.prior[0]], abs=0.02)

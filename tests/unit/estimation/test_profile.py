"""Hours of the week, and the time that they weigh."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.estimation.hourly import HOURS, HourCounts, Profile
from tidings.model.interval import HOUR, WEEK

BUSY_DAYS = Profile.of(np.where(np.arange(HOURS) % 24 < 8, 0.25, 1.0))


@given(st.integers(-WEEK, 3000 * WEEK), st.integers(0, 3 * WEEK), st.integers(0, 3 * WEEK))
def test_operational_time_is_additive_and_keeps_the_week(begin: int, first: int, second: int):
    """Its mean weight is 1 for every profile."""
    whole = BUSY_DAYS.measure_elapsed(begin, begin + first + second)
    parts = BUSY_DAYS.measure_elapsed(begin, begin + first) + BUSY_DAYS.measure_elapsed(
        begin + first, begin + first + second
    )

    assert whole == pytest.approx(parts, abs=HOUR * 1e-6)
    assert float(WEEK) == pytest.approx(BUSY_DAYS.measure_elapsed(begin, begin + WEEK))
    assert first == pytest.approx(Profile.flat().measure_elapsed(begin, begin + first), abs=1e3)


def test_hours_are_learned_from_polls_that_only_show_whether_a_page_changed():
    """Most of a year of polls every five hours shows that a page changes by day: the night's weight
    is low; that of a page without hours stays flat.
    """
    rng = np.random.default_rng(2)
    rate = 0.4 / HOUR
    counts, even = HourCounts.none(), HourCounts.none()
    profile = Profile.flat()
    ends = np.arange(1_700) * 5 * HOUR
    chances = -np.expm1(-rate * np.diff(BUSY_DAYS.clock(ends)))
    for poll in range(1, 1_700):
        begin, end = int(ends[poll - 1]), int(ends[poll])
        changed = rng.uniform() < chances[poll - 1]
        counts = counts.add(begin, end, float(changed), profile)
        even = even.add(begin, end, float(rng.uniform() < 0.3), Profile.flat())
        if poll % 400 == 0:
            profile = counts.profile(Profile.flat())
    learned = counts.profile(Profile.flat())
    night = np.arange(HOURS) % 24 < 8

    assert learned.weights[night].mean() < 0.7 * learned.weights[~night].mean()
    assert 0.5 < even.profile(Profile.flat()).weights.min() <= even.profile(Profile.flat()).weights.max() < 1.6


def test_profile_without_knowledge_is_the_base():
    """That is so without polls, without changes, and with gaps too long to show hours."""
    none = HourCounts.none()

    assert none.profile(BUSY_DAYS) is BUSY_DAYS
    assert none.add(0, 5 * WEEK, 1.0, BUSY_DAYS) is none
    assert none.add(0, HOUR, 0.0, BUSY_DAYS).profile(BUSY_DAYS) is BUSY_DAYS


@pytest.mark.parametrize("weights", [[1.0] * 10, [0.0] * 168, [np.nan] * 168])
def test_invalid_profile_is_refused(weights: list[float]):
    """Its weights must be 168 positive numbers."""
    with pytest.raises(ValueError, match="168 finite weights"):
        Profile.of(weights)

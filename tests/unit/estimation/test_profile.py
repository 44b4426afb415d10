"""Hours of the week, and the clock that runs by them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.estimation.hourly import HOURS, HourCounts, Profile
from tidings.model.interval import HOUR, WEEK

BUSY_DAYS = Profile.of(np.where(np.arange(HOURS) % 24 < 8, 0.25, 1.0))


@given(st.integers(-WEEK, 3000 * WEEK), st.integers(0, 3 * WEEK), st.integers(0, 3 * WEEK))
def test_operational_time_adds_up_and_a_week_is_a_week(begin: int, first: int, second: int):
    """Whatever the profile, it is additive and its mean is 1."""
    whole = BUSY_DAYS.measure_elapsed(begin, begin + first + second)
    parts = BUSY_DAYS.measure_elapsed(begin, begin + first) + BUSY_DAYS.measure_elapsed(
        begin + first, begin + first + second
    )

    assert whole == pytest.approx(parts, abs=HOUR * 1e-6)
    assert float(WEEK) == pytest.approx(BUSY_DAYS.measure_elapsed(begin, begin + WEEK))
    assert first == pytest.approx(Profile.flat().measure_elapsed(begin, begin + first), abs=1e3)


def test_hours_are_learned_from_looks_that_only_say_whether():
    """Most of a year of looks every five hours at a page that changes by day: the night's weight comes out low, the flat one's stays flat."""
    rng = np.random.default_rng(2)
    rate = 0.4 / HOUR
    counts, even = HourCounts.none(), HourCounts.none()
    profile = Profile.flat()
    ends = np.arange(1_700) * 5 * HOUR
    chances = -np.expm1(-rate * np.diff(BUSY_DAYS.clock(ends)))
    for look in range(1, 1_700):
        begin, end = int(ends[look - 1]), int(ends[look])
        changed = rng.uniform() < chances[look - 1]
        counts = counts.add(begin, end, float(changed), profile)
        even = even.add(begin, end, float(rng.uniform() < 0.3), Profile.flat())
        if look % 400 == 0:
            profile = counts.profile(Profile.flat())
    learned = counts.profile(Profile.flat())
    night = np.arange(HOURS) % 24 < 8

    assert learned.weights[night].mean() < 0.7 * learned.weights[~night].mean()
    assert 0.5 < even.profile(Profile.flat()).weights.min() <= even.profile(Profile.flat()).weights.max() < 1.6


def test_who_knows_nothing_takes_the_base():
    """No looks, looks without changes, and gaps too long to say anything about hours."""
    none = HourCounts.none()

    assert none.profile(BUSY_DAYS) is BUSY_DAYS
    assert none.add(0, 5 * WEEK, 1.0, BUSY_DAYS) is none
    assert none.add(0, HOUR, 0.0, BUSY_DAYS).profile(BUSY_DAYS) is BUSY_DAYS


@pytest.mark.parametrize("weights", [[1.0] * 10, [0.0] * 168, [np.nan] * 168])
def test_no_profile(weights: list[float]):
    """It is refused."""
    with pytest.raises(ValueError, match="168 finite weights"):
        Profile.of(weights)

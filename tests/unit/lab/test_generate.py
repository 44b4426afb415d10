"""Random instances: numbers and times are as asked for."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.lab.generate import BURSTS, FEED, feeds
from tidings.model.interval import DAY, HOUR, WEEK


@pytest.fixture(scope="module")
def many():
    """Return feeds with the same rate, two entries a day, over four weeks."""
    return feeds(400, 28, np.random.default_rng(1), middle=2.0, spread=0.0)


def test_feeds_have_the_given_rate(many):
    """Entries that follow at once are counted."""
    entries = sum(len(one.changes) for one in many)

    assert entries / 400 / 28 == pytest.approx(2.0, rel=0.02)
    assert {FEED} == {one.kind for one in many}
    assert all((np.diff(one.changes) > 0).all() and one.changes[-1] < 28 * DAY for one in many)


def test_rates_have_the_given_spread():
    """The median has the given rate, and a sixth of them is more than a deviation below it."""
    counts = np.sort(
        [len(one.changes) / 200 for one in feeds(600, 200, np.random.default_rng(2), middle=5.0, spread=1.0)]
    )

    assert counts[300] == pytest.approx(5.0, rel=0.15)
    assert counts[95] == pytest.approx(5.0 * np.exp(-1), rel=0.15)


def test_feed_has_hours_and_weekends_of_its_own(many):
    """Its ten best hours of the day have nearly nine tenths of its entries, its two poorest days a
    tenth; other feeds have other hours.
    """
    in_hours = [np.bincount(one.changes % DAY // HOUR, minlength=24) for one in many]
    by_hour = np.sum(in_hours, axis=0)
    best = sum(max(np.roll(hours, shift)[:10].sum() for shift in range(24)) for hours in in_hours) / sum(
        map(np.sum, in_hours)
    )
    by_day = sum(np.sort(np.bincount(one.changes % WEEK // DAY, minlength=7))[:2].sum() for one in many)

    assert 0.8 < best < 0.95
    assert by_day / sum(len(one.changes) for one in many) < 0.15
    assert by_hour.max() < 1.3 * by_hour.min()


def test_some_entries_follow_within_half_an_hour(many):
    """They are a fifth of all gaps, which at two entries a day would hardly happen by chance."""
    gaps = np.concatenate([np.diff(one.changes) for one in many])

    assert (gaps < HOUR / 2).mean() == pytest.approx(BURSTS / (1 + BURSTS), rel=0.35)


def test_same_seed_makes_the_same_feeds():
    """Another seed makes others."""
    made = [[one.changes.tolist() for one in feeds(3, 30, np.random.default_rng(seed))] for seed in (1, 1, 2)]

    assert made[0] == made[1] != made[2]

"""Instances from a generator of chance: as many, and at such times, as is said."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.lab.generate import BURSTS, FEED, feeds
from tidings.model.interval import DAY, HOUR, WEEK


@pytest.fixture(scope="module")
def many():
    """Feeds of which each has the same rate, two entries a day, over four weeks."""
    return feeds(400, 28, np.random.default_rng(1), middle=2.0, spread=0.0)


def test_feeds_have_the_rate_that_is_asked_for(many):
    """Entries that follow at once are among them."""
    entries = sum(len(one.changes) for one in many)

    assert entries / 400 / 28 == pytest.approx(2.0, rel=0.02)
    assert {FEED} == {one.kind for one in many}
    assert all((np.diff(one.changes) > 0).all() and one.changes[-1] < 28 * DAY for one in many)


def test_rates_differ_as_their_spread_says():
    """The middle one has the middle rate, a sixth has less than a deviation below it."""
    counts = np.sort(
        [len(one.changes) / 200 for one in feeds(600, 200, np.random.default_rng(2), middle=5.0, spread=1.0)]
    )

    assert counts[300] == pytest.approx(5.0, rel=0.15)
    assert counts[95] == pytest.approx(5.0 * np.exp(-1), rel=0.15)


def test_a_feed_keeps_hours_and_weekends_of_its_own(many):
    """Its ten best hours of the day have nearly nine tenths of its entries, its two poorest days a tenth; the hours are not everybody's."""
    in_hours = [np.bincount(one.changes % DAY // HOUR, minlength=24) for one in many]
    by_hour = np.sum(in_hours, axis=0)
    best = sum(max(np.roll(hours, shift)[:10].sum() for shift in range(24)) for hours in in_hours) / sum(
        map(np.sum, in_hours)
    )
    by_day = sum(np.sort(np.bincount(one.changes % WEEK // DAY, minlength=7))[:2].sum() for one in many)

    assert 0.8 < best < 0.95
    assert by_day / sum(len(one.changes) for one in many) < 0.15
    assert by_hour.max() < 1.3 * by_hour.min()


def test_some_entries_follow_at_once(many):
    """A fifth of all gaps is under half an hour, which at two a day hardly ever happens by chance."""
    gaps = np.concatenate([np.diff(one.changes) for one in many])

    assert (gaps < HOUR / 2).mean() == pytest.approx(BURSTS / (1 + BURSTS), rel=0.35)


def test_the_same_chance_makes_the_same_feeds():
    """And another one others."""
    made = [[one.changes.tolist() for one in feeds(3, 30, np.random.default_rng(seed))] for seed in (1, 1, 2)]

    assert made[0] == made[1] != made[2]

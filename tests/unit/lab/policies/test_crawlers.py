"""Intervals as the crawlers' code moves them."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.lab.policies.crawlers import Nutch, StormCrawler
from tidings.model.interval import DAY
from tidings.scheduling.policy import Observation, Population

HOUR = 3_600_000_000
START = 1_000 * DAY


def gaps(policy: Nutch | StormCrawler, found: list[bool]) -> list[float]:
    """Return, in hours, how long after each look the next one is due, when looks are made when they are due."""
    state = policy.begin(Population({"id": [1]}), np.random.default_rng(0))
    at, told = START, []
    for changed in found:
        state = policy.on_poll(state, [1], Observation.of([at], [changed]))
        due = int(policy.next_due(state, [1], at, 0.0)[0])
        told.append((due - at) / HOUR)
        at = due
    return told


def test_nutch_as_its_code_has_it():
    """×1.2 and ×0.8; the time since the last change holds the interval up, and a fifth of it is taken off."""
    first, quiet, changed, again = gaps(Nutch(pace=10 * HOUR), [True, False, True, True])

    assert 10 == first
    assert 12 - 0.2 * 10 == pytest.approx(quiet)
    assert 0.8 * 12 == pytest.approx(changed)
    assert 0.8 * 0.8 * 12 == pytest.approx(again)


def test_nutch_waits_as_long_as_a_page_has_rested():
    """A page that has not changed for long is left alone for long."""
    told = gaps(Nutch(pace=HOUR), [True, *[False] * 40])

    assert told[-1] > 20
    assert max(told) <= 365 * 24


def test_stormcrawler_goes_half_way_down_and_half_as_much_up():
    """Between its least and most interval."""
    crawler = StormCrawler(pace=8 * HOUR, least=HOUR)

    assert [8, 12, 6.5, 3.75, 5.625] == pytest.approx(gaps(crawler, [True, False, True, True, False]))
    assert 14 * 24 == gaps(crawler, [True, *[False] * 30])[-1]

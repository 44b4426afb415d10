"""Intervals as in the code of two crawlers."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.lab.policies.baselines import Nutch, StormCrawler
from tidings.model.interval import DAY
from tidings.scheduling.policy import Observation, Population

HOUR = 3_600_000_000
START = 1_000 * DAY


def gaps(policy: Nutch | StormCrawler, found: list[bool]) -> list[float]:
    """Return, in hours, how long after each poll the next one is due, if polls are made when they
    are due.
    """
    state = policy.begin(Population({"id": [1]}), np.random.default_rng(0))
    at, result = START, []
    for changed in found:
        state = policy.on_poll(state, [1], Observation.of([at], [changed]))
        due = int(policy.next_due(state, [1], at, 0.0)[0])
        result.append((due - at) / HOUR)
        at = due
    return result


def test_nutch_changes_intervals_as_in_its_code():
    """They are multiplied by 1.2 and 0.8. The time since the last change limits the interval, and a
    fifth of it is taken off.
    """
    first, quiet, changed, again = gaps(Nutch(pace=10 * HOUR), [True, False, True, True])

    assert 10 == first
    assert 12 - 0.2 * 10 == pytest.approx(quiet)
    assert 0.8 * 12 == pytest.approx(changed)
    assert 0.8 * 0.8 * 12 == pytest.approx(again)


def test_nutch_waits_longer_for_a_page_that_rests():
    """A page that has not changed for long is polled rarely."""
    result = gaps(Nutch(pace=HOUR), [True, *[False] * 40])

    assert result[-1] > 20
    assert max(result) <= 365 * 24


def test_stormcrawler_halves_and_extends_intervals_by_half():
    """They stay between its shortest and longest."""
    crawler = StormCrawler(pace=8 * HOUR, least=HOUR)

    assert [8, 12, 6.5, 3.75, 5.625] == pytest.approx(gaps(crawler, [True, False, True, True, False]))
    assert 14 * 24 == gaps(crawler, [True, *[False] * 30])[-1]

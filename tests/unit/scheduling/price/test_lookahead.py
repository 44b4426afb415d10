"""Plans over the hours of the week: with a flat profile they are the index; otherwise they wait for
the right hour.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tidings.scheduling.index import wait
from tidings.scheduling.price.lookahead import Gathering, plan

DAY = 288


def gathering(profile: np.ndarray, rate: np.ndarray, theta: np.ndarray, *, overwrites: bool = False) -> Gathering:
    """Return how pages gather, rates and decays by tick."""
    return Gathering.of(profile, 0.5 * rate, theta, rate if overwrites else np.zeros_like(rate))


@pytest.mark.parametrize("overwrites", [False, True])
def test_backlog_is_the_sum_of_the_changes(overwrites: bool):
    """Prefix sums over several periods agree with sums tick by tick."""
    rng = np.random.default_rng(1)
    profile = rng.uniform(0.2, 2, 12)
    profile /= profile.mean()
    rate, theta = np.array([0.03, 0.4]), np.array([0.05, 0.2])
    found = gathering(profile, rate, theta, overwrites=overwrites)
    level = np.zeros(2)
    for tick in range(8, 45):
        kappa = theta + (rate * profile[tick % 12] if overwrites else 0)
        arrives = 0.5 * rate * profile[tick % 12]
        level = np.exp(-kappa) * level + (arrives * -np.expm1(-kappa) / kappa if overwrites else arrives)

    assert level == pytest.approx(found.backlog(np.array([7, 7]), np.array([44, 44])))


def test_plan_of_a_flat_profile_is_the_index():
    """Poll iff age ≥ T*, except for cases within a tick and a few hundredths of it (bid §1: 99.4
    %).
    """
    rng = np.random.default_rng(2)
    size = 400
    theta = math.log(2) / rng.uniform(50, 2_000, size)
    rate = 10 ** rng.uniform(-4, -1, size)
    flat = gathering(np.ones(12), rate, theta)
    cost = np.ones(size)
    price = 0.05
    share = price * theta / (0.5 * rate)
    best_wait = np.where(share < 1, wait(np.minimum(share, 1 - 1e-12)) / theta, np.inf)
    age = rng.uniform(1, 3, size) * np.minimum(best_wait, 500) / 2
    found = plan(
        flat, cost, price, np.zeros(size, dtype=np.int64) + 5_000 - np.round(age).astype(np.int64), 5_000, longest=10**6
    )
    clear_cut = np.isfinite(best_wait) & (np.abs(np.round(age) - best_wait) > 1 + 0.03 * best_wait)
    agrees = (found.bids >= price) == (np.round(age) >= best_wait)

    assert clear_cut.sum() > 100
    assert agrees[clear_cut].mean() > 0.98


def test_page_that_changes_by_day_is_not_polled_by_night():
    """At the end of a quiet night it is better to wait for the morning, at noon it is not."""
    profile = np.where((np.arange(DAY) >= 96) & (np.arange(DAY) < 216), 2.2, 0.14)
    profile = profile / profile.mean()
    rate, theta = np.full(1, 12 / DAY), np.full(1, math.log(2) / DAY)
    one = gathering(profile, rate, theta)
    polls = []
    last, now = 0, 1
    while now < 3 * DAY:
        found = plan(one, np.ones(1), 0.02, np.array([last]), now, longest=DAY)
        if found.bids[0] >= 0.02 or now - last >= DAY:
            polls.append(now % DAY)
            last, now = now, now + 1
        else:
            assert now < found.due[0] <= last + DAY
            now = int(found.due[0])
    by_day = np.mean([(96 <= at < 222) for at in polls])

    assert len(polls) > 10
    assert by_day > 0.8


def test_backlog_that_never_fades_gets_a_slow_decay():
    """It would be worth the same at all times, so there would be no plan."""
    with pytest.raises(ValueError, match="slow decay"):
        gathering(np.ones(4), np.ones(1), np.zeros(1))

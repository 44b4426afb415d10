"""The polls of some days compared with the best possible ones, by the model that the policy has of
each page.
"""

from __future__ import annotations

import numpy as np
import pytest

from tidings.clock import DAY, HOUR
from tidings.scheduling.policy import Population
from tidings.scheduling.price.hours import PriceHours
from tidings.scheduling.price.policy import Price, PriceState
from tidings.service.explain.plan_expert import MOST_TIMED, Book

BEGIN = 20_006 * DAY  # a Thursday
BY_DAY = np.where((np.arange(168) % 24 >= 8) & (np.arange(168) % 24 < 20), 1.9, 0.1)
PRICE = 0.05


def begin(policy: Price, size: int) -> PriceState:
    """Return the state of `size` pages that were polled at the beginning of the window."""
    return policy.begin(
        Population({"id": np.arange(1, size + 1), "last_polled": np.full(size, BEGIN), "rate": np.full(size, 3.0)}),
        np.random.default_rng(0),
    )


def book(state: PriceState, hours: list[int], *, sure: float = 1e6) -> Book:
    """Return a week in which each page is polled at these hours of each day; every second poll finds a change."""
    ids = state.population.ids.tolist()
    polls = [
        (page, BEGIN + day * DAY + hour * HOUR, (day + hour) % 2 == 0)
        for day in range(7)
        for hour in hours
        for page in ids
    ]
    rates = {page: {"shape": 3.0 * sure, "scale": sure} for page in ids}
    return Book(state, rates, PRICE, dict.fromkeys(ids, BEGIN - 2 * HOUR), polls, BEGIN, BEGIN + 7 * DAY)


def test_polls_by_day_are_better_if_hours_matter():
    """For a policy without hours, day and night are almost equal."""
    timed = begin(PriceHours(profile=tuple(BY_DAY / BY_DAY.mean())), 3)
    plain = begin(Price(), 3)
    day, night = (book(timed, hours).certificate() for hours in ([11, 15, 20], [0, 3, 6]))
    flat = [book(plain, hours).certificate() for hours in ([11, 15, 20], [0, 3, 6])]

    assert (63, 3) == (day.polls, day.pages)
    assert night.value / night.bound < 0.8 < day.value / day.bound <= 1
    assert flat[0].value == pytest.approx(flat[1].value, rel=0.05)


def test_prediction_is_the_chance_of_each_poll():
    """For certain rates it is 1 − e^−μτ, for uncertain rates less (Lomax)."""
    sure, vague = (book(begin(Price(), 2), [0, 12], sure=each).certificate() for each in (1e9, 0.1))
    gaps = np.array([2.0, *[12.0] * 13]) / 24

    assert sure.predicted == pytest.approx(2 * -np.expm1(-3 * gaps).sum(), rel=1e-6)
    assert vague.predicted < 0.6 * sure.predicted
    assert 16 == sure.found


def test_of_many_pages_with_hours_a_sample_is_certified():
    """The sample is even. A page without an earlier poll counts from its first one, if its rate is
    steady.
    """
    timed = begin(PriceHours(profile=tuple(BY_DAY / BY_DAY.mean())), 2 * MOST_TIMED)
    plain = book(begin(Price(), 2), [0, 12])
    late = Book(plain.state, plain.rates, PRICE, {1: BEGIN}, plain.recorded, BEGIN, plain.end)

    assert MOST_TIMED == book(timed, [12]).certificate().pages
    assert plain.certificate().polls - 1 == late.certificate().polls

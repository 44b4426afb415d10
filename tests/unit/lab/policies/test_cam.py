"""The allocation of CAM, bought at a price, for each hour of a week."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.lab.policies.baselines import Cam
from tidings.lab.refresh import cam
from tidings.model.interval import DAY, HOUR
from tidings.scheduling.policy import Observation, Population
from tidings.scheduling.price.hours import HOURS

START = 52 * 7 * DAY
"""A Thursday, 00:00 UTC."""


def test_instants_of_a_week_are_those_of_the_paper():
    """For five pages with hours of their own, they are the most probable updates, W·ρ, as many as
    are paid for.
    """
    rng = np.random.default_rng(5)
    policy = Cam(pace=HOUR, longest=60 * DAY, shortest=1)
    rates, importance = rng.uniform(0.2, 4, 5), rng.uniform(1, 2, 5)
    weights = rng.gamma(0.4, size=(5, HOURS))
    weights /= weights.mean(axis=1, keepdims=True)
    population = Population(
        {"id": np.arange(5), "rate": rates, "importance": importance, "last_polled": [START - 1] * 5}
    )
    state = policy.on_hours(policy.begin(population, rng), weights, np.arange(5))
    price = policy.price(state, 60 / (7 * DAY))
    bought = []
    while (due := policy.next_due(state, np.arange(5), 0, price)).min() < START + 7 * DAY:
        page = int(due.argmin())
        bought.append(((int(due[page]) - START) // HOUR, page))
        state = policy.on_poll(state, [page], Observation.of(due[page], changed=False))

    assert cam(-np.expm1(-rates[:, None] / 24 * weights), importance, 60) == sorted(bought)


def test_page_without_hours_is_polled_at_its_pace_or_not_at_all():
    """A page whose W·ρ is the price is polled at each pace, one below it not before its longest
    interval: what is older than an instant counts for nothing.
    """
    policy = Cam(pace=HOUR)
    population = Population(
        {"id": [0, 1], "rate": [1.01, 0.99], "last_polled": [START, START], "importance": [0.5, 0.5]}
    )
    state = policy.begin(population, np.random.default_rng(0))
    gaps = policy.gaps(state, 0.0)

    assert HOUR / 2 < gaps[0] <= 3 * HOUR / 2
    assert DAY == gaps[1]
    assert [DAY, DAY] == policy.gaps(state, 2 * policy.floor).tolist()


@pytest.mark.parametrize("pace", [HOUR // 7, 5 * HOUR])
def test_polls_are_made_in_the_bought_hours(pace: int):
    """Instants may be shorter or longer than hours."""
    policy = Cam(pace=pace)
    weights = np.where((np.arange(HOURS) % 24 >= 8) & (np.arange(HOURS) % 24 < 20), 2.0, 0.0)[None]
    population = Population({"id": np.arange(30), "rate": [1.5] * 30, "last_polled": START + np.arange(30) * HOUR})
    state = policy.on_hours(policy.begin(population, np.random.default_rng(0)), weights, np.zeros(30, dtype=np.int64))
    due = policy.next_due(state, np.arange(30), 0, 0.0)
    hour = due // HOUR % 24

    assert ((hour >= 8) & (hour < 20)).all()
    assert (due - population["last_polled"]).min() < 3 * pace // 2 + 1
    assert (due - population["last_polled"]).max() < DAY

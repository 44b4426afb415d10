"""A policy with a learner: polls of one page may change the rates of others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tidings.estimation.hourly import HourlyLearner
from tidings.estimation.learner import GammaLearner
from tidings.lab.simulator import DenseScan, DueQueue, World, simulate
from tidings.model.interval import DAY, HOUR
from tidings.scheduling.budget import TokenBucket
from tidings.scheduling.learned import Learned, LearnedState, has_compared
from tidings.scheduling.ledger import make_trace
from tidings.scheduling.policy import Observation, Population
from tidings.scheduling.price.hours import PriceHours
from tidings.scheduling.price.policy import Price

START = 20_000 * DAY


def test_queue_follows_rates_that_change_with_their_host():
    """Once an hour polls of some pages change the rates, and so the due times, of all: queue and
    scan choose the same pages.
    """
    rng = np.random.default_rng(0)
    hosts = np.arange(20) // 5
    rates = rng.lognormal(2, 1.5, 4)[hosts]
    world = World(
        population=Population({"id": np.arange(20), "host": hosts, "last_polled": np.full(20, START - HOUR)}),
        trace=make_trace(
            {
                page: START + rng.integers(0, 6 * HOUR, rng.poisson(rate / 4))
                for page, rate in enumerate(rates.tolist())
            },
            start=START,
            end=START + 6 * HOUR,
        ),
        bucket=TokenBucket(rate=10.0, burst=1_000.0, level=1_000.0, at=START),
        tick=HOUR // 60,
    )
    policy = Learned(Price(HOUR), GammaLearner())
    scan, queue = (
        simulate(policy, world, rng=np.random.default_rng(0), make_driver=driver) for driver in (DenseScan, DueQueue)
    )

    assert len(scan.polls.at) > 100
    assert (scan.polls.at.tolist(), scan.polls.page.tolist()) == (queue.polls.at.tolist(), queue.polls.page.tolist())


@pytest.mark.parametrize(
    ("policy", "every"),
    [
        (Learned(Price(HOUR), GammaLearner()), HOUR),
        (Learned(PriceHours(HOUR), HourlyLearner(changes=1, hours=1)), HOUR),
    ],
)
def test_policy_reports_when_all_rates_changed(policy: Learned, every: int):
    """Priors are fitted once an hour; polls in between teach only their own pages."""
    state: Any = policy.begin(Population({"id": [1, 2], "host": [7, 7]}), np.random.default_rng(0))
    text = []
    for at in (0, every // 2, every, every + 1):
        after: LearnedState = policy.on_poll(state, [1], Observation.of(START + at, changed=True))
        text.append(has_compared(state, after))
        state = after

    assert [True, False, True, False] == text
    assert not has_compared(state, policy.on_update(state, [2], {"importance": 0.7}))

"""A policy beside what learns its rates: what looks teach of other pages is heard of."""

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


def test_the_queue_hears_of_pages_that_are_taken_for_others_of_their_host():
    """Once an hour looks at some pages change the rates, and so the dues, of all: queue and scan look at the same pages."""
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
def test_looks_say_when_they_taught_something_of_all_pages(policy: Learned, every: int):
    """When priors are found anew, once an hour; looks in between teach of their own pages alone."""
    state: Any = policy.begin(Population({"id": [1, 2], "host": [7, 7]}), np.random.default_rng(0))
    said = []
    for at in (0, every // 2, every, every + 1):
        after: LearnedState = policy.on_poll(state, [1], Observation.of(START + at, changed=True))
        said.append(has_compared(state, after))
        state = after

    assert [True, False, True, False] == said
    assert not has_compared(state, policy.on_update(state, [2], {"importance": 0.7}))

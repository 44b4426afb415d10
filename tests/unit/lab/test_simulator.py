"""Simulations of polls in ticks."""

import numpy as np
import pytest

from tidings.lab.simulator import Update, World, simulate
from tidings.scheduling.budget import TokenBucket
from tidings.scheduling.ledger import make_trace
from tidings.scheduling.paced.turns import RoundRobin
from tidings.scheduling.policy import UNPOLLED, Population

SECOND = 1_000_000


def run(
    population, *, times=None, end=100 * SECOND, pace=10 * SECOND, level=1_000.0, rate=1_000.0, burst=1_000.0, **other
):
    world = World(
        population=Population(population),
        trace=make_trace(times or {}, start=0, end=end),
        bucket=TokenBucket(rate=rate, burst=burst, level=level, at=0),
        tick=SECOND,
        **other,
    )
    return simulate(RoundRobin(pace), world, rng=np.random.default_rng(0))


def report(ledger):
    return [(at // SECOND, page) for at, page in zip(ledger.polls.at.tolist(), ledger.polls.page.tolist(), strict=True)]


def test_page_is_polled_at_its_pace_after_its_last_poll():
    """Its polls are ten seconds apart; the end is not polled."""
    assert [(at, 1) for at in range(7, 100, 10)] == report(run({"id": [1], "last_polled": [-3 * SECOND]}))


def test_changes_between_two_polls_are_found_together():
    """The next poll finds both."""
    ledger = run({"id": [1], "last_polled": [0]}, times={1: [11 * SECOND, 15 * SECOND, 41 * SECOND]})

    assert [0, 2, 0, 0, 1, 0, 0, 0, 0] == ledger.found.tolist()
    assert [9 * SECOND, 5 * SECOND, 9 * SECOND] == ledger.delay.tolist()


def test_pages_of_a_host_share_its_gap():
    """Two of them are never polled closer together."""
    ledger = run(
        {"id": [1, 2], "host": [0, 0], "last_polled": UNPOLLED * np.ones(2, dtype=int)},
        host_gap=4 * SECOND,
        end=12 * SECOND,
    )

    assert [(0, 1), (4, 2), (10, 1)] == report(ledger)


def test_budget_spreads_polls():
    """One token in five seconds gives one poll in five seconds, the longest overdue page first."""
    ledger = run(
        {"id": [1, 2, 3], "last_polled": [-30 * SECOND, -20 * SECOND, -25 * SECOND]},
        level=1.0,
        rate=0.2,
        burst=1.0,
        end=12 * SECOND,
    )

    assert [(0, 1), (5, 3), (10, 2)] == report(ledger)


def test_updates_add_and_remove_pages():
    """An added page starts with a baseline; a removed one is not polled and misses nothing."""
    ledger = run(
        {"id": [1], "last_polled": [0]},
        times={1: [55 * SECOND], 2: [30 * SECOND, 41 * SECOND]},
        updates=(Update(50 * SECOND, [1], {"present": False}), Update(33_500_000, [2], {})),
        end=60 * SECOND,
    )

    assert [(10, 1), (20, 1), (30, 1), (34, 2), (40, 1), (44, 2), (54, 2)] == report(ledger)
    assert [0, 0, 0, 0, 0, 1, 0] == ledger.found.tolist()
    assert 0 == ledger.missed


@pytest.mark.parametrize("count", [1, 300])
def test_waiting_pages_cost_nothing(count):
    """A day without a due page takes no step for each second."""
    ledger = run({"id": np.arange(count), "last_polled": np.zeros(count)}, pace=100_000 * SECOND, end=86_400 * SECOND)

    assert [] == report(ledger)

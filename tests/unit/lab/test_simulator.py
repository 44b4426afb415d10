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


def test_page_is_polled_at_its_pace():
    """One page, ten seconds apart, from its last look on; the end is not polled."""
    assert [(at, 1) for at in range(7, 100, 10)] == report(run({"id": [1], "last_polled": [-3 * SECOND]}))


def test_last_poll_decides_what_is_found():
    """Two changes between polls are found together by the next."""
    ledger = run({"id": [1], "last_polled": [0]}, times={1: [11 * SECOND, 15 * SECOND, 41 * SECOND]})

    assert [0, 2, 0, 0, 1, 0, 0, 0, 0] == ledger.found.tolist()
    assert [9 * SECOND, 5 * SECOND, 9 * SECOND] == ledger.delay.tolist()


def test_hosts_share_their_gap():
    """Two pages of one host are never asked closer than its gap."""
    ledger = run(
        {"id": [1, 2], "host": [0, 0], "last_polled": UNPOLLED * np.ones(2, dtype=int)},
        host_gap=4 * SECOND,
        end=12 * SECOND,
    )

    assert [(0, 1), (4, 2), (10, 1)] == report(ledger)


def test_budget_spreads_polls():
    """One token in five seconds gives one poll in five seconds, the longest overdue first."""
    ledger = run(
        {"id": [1, 2, 3], "last_polled": [-30 * SECOND, -20 * SECOND, -25 * SECOND]},
        level=1.0,
        rate=0.2,
        burst=1.0,
        end=12 * SECOND,
    )

    assert [(0, 1), (5, 3), (10, 2)] == report(ledger)


def test_updates_bring_pages_in_and_out():
    """A page added later starts with a baseline; a page taken out is polled no more and misses nothing."""
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
    """A day in which nothing is due takes no step for each of its seconds."""
    ledger = run({"id": np.arange(count), "last_polled": np.zeros(count)}, pace=100_000 * SECOND, end=86_400 * SECOND)

    assert [] == report(ledger)

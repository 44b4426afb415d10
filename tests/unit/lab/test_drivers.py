"""The queue and the scan that find due pages in a simulation."""

import numpy as np

from tidings.lab.simulator import DenseScan, DueQueue
from tidings.scheduling.paced.turns import RoundRobin
from tidings.scheduling.policy import NEVER, Observation, Population

NOW = 1_000_000


def begin():
    policy = RoundRobin(100)
    state = policy.begin(
        Population({"id": [8, 4, 6], "last_polled": NOW - np.array([50, 150, 120])}), np.random.default_rng(0)
    )
    queue = DueQueue(policy, 0.0)
    queue.touch(state, [8, 4, 6], NOW)
    return policy, state, queue


def test_queue_asks_only_those_that_are_due():
    """Their places come in the order of the population, with their bids."""
    policy, state, queue = begin()
    rows, bids = queue.ask(state, NOW)

    assert [1, 2] == rows.tolist()
    assert policy.bid(state, NOW, 0.0)[1:].tolist() == bids.tolist()
    assert NOW == queue.next_instant(NOW)


def test_due_page_stays_due_until_it_is_polled():
    """A page without budget is asked again; a polled one waits."""
    policy, state, queue = begin()
    queue.ask(state, NOW)
    state = policy.on_poll(state, [4], Observation.of(NOW, changed=False))
    queue.touch(state, [4], NOW)

    assert [2] == queue.ask(state, NOW + 1)[0].tolist()


def test_next_instant_is_the_first_due_one():
    """If no page is due, the queue returns when the next one is; without pages it returns never."""
    policy, state, queue = begin()
    queue.ask(state, NOW)
    state = policy.on_poll(state, [4, 6], Observation.of([NOW, NOW], [False, False]))
    queue.touch(state, [4, 6], NOW)
    first = queue.next_instant(NOW)
    state = policy.on_update(state, [8, 4, 6], {"present": False})
    queue.touch(state, [8, 4, 6], NOW)

    assert NOW + 50 == first
    assert NEVER == queue.next_instant(NOW)
    assert 0 == len(queue.ask(state, NOW + 500)[0])


def test_page_without_a_bid_waits_again():
    """The queue asks it again when the policy says so, without a loop."""
    policy, state, queue = begin()
    late = policy.on_update(state, [4, 6, 8], {"not_before": NOW + 1_000})  # the queue is not notified
    rows, bids = queue.ask(late, NOW)

    assert [1, 2] == rows.tolist()
    assert [0.0, 0.0] == bids.tolist()
    assert NOW + 50 == queue.next_instant(NOW)


def test_dense_scan_asks_all_pages():
    """It does so at each instant."""
    policy, state, _ = begin()
    scan = DenseScan(policy, 0.0)

    assert [0, 1, 2] == scan.ask(state, NOW)[0].tolist()
    assert NOW == scan.next_instant(NOW)

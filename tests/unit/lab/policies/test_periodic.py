"""Periodic looks: at instants of their own."""

from __future__ import annotations

import numpy as np

from tidings.lab.policies.periodic import PeriodicPolling
from tidings.scheduling.policy import NEVER, Observation, Population

MINUTE = 60_000_000
PACE = 60 * MINUTE
NOW = 1_700_000_000_000_000


def test_far_instants_do_not_overflow():
    """A pace of for ever after a late look is never, not long ago."""
    policy = PeriodicPolling(NEVER)
    state = policy.begin(Population({"id": [1], "last_polled": [NOW]}), np.random.default_rng(0))

    assert [NEVER] == policy.next_due(state, [1], NOW, 0.0).tolist()


def test_periodic_looks_are_in_phase():
    """What comes late moves nothing after it; a look serves the instant that is nearest."""
    policy = PeriodicPolling(PACE)
    state = policy.begin(Population({"id": [7], "last_polled": [NOW]}), np.random.default_rng(0))
    first = int(policy.next_due(state, [7], NOW, 0.0)[0])
    found = []
    for late in (0, 29 * MINUTE, -29 * MINUTE):
        after = policy.on_poll(state, [7], Observation.of(first + late, changed=False))
        found.append(int(policy.next_due(after, [7], 0, 0.0)[0]) - first)

    assert NOW + PACE // 2 < first <= NOW + 3 * PACE // 2
    assert [PACE] * 3 == found


def test_periodic_looks_at_pages_that_come_together_are_spread():
    """A hundred pages that were checked at once are due one by one: no two of them within a third of an even share."""
    policy = PeriodicPolling(PACE)
    ids = np.arange(100)
    state = policy.begin(Population({"id": ids, "last_polled": np.full(100, NOW)}), np.random.default_rng(0))
    due = policy.next_due(state, ids, NOW, 0.0)

    assert np.diff(np.sort(due)).min() > PACE / 300

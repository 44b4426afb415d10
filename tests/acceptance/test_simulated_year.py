"""Promise: however often the service is killed, sentinels live, find and notify the same (the law
of sentinels §2.3).
"""

from __future__ import annotations

import pytest

from tests.simulated_year import History, differences, run
from tidings.clock import DAY

MARCH = 1_772_582_400_000_000
"""2026-03-04T00:00Z"""


@pytest.mark.parametrize("seed", [1])
def test_kills_at_any_commit_change_nothing(seed: int):
    """A month with clock changes in New York and Paris, users who alter, pause and drop, and kills
    equals one without kills.
    """
    history = History(sentinels=14, length=32 * DAY, acts=14, seed=seed, begin=MARCH)
    steady, commits = run(history)
    killed, _ = run(history, kills=12, commits=commits)

    assert steady.changes
    assert steady.deliveries
    assert {"enabled", "ended"} <= {row[1] for row in steady.sentinels}
    assert 6 <= killed.kills
    assert [] == differences(steady, killed)

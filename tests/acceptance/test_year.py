"""Promise: however often the service is killed, sentinels live, find and tell the same (the law of sentinels_and_events §2.3)."""

from __future__ import annotations

import pytest

from tests.year import History, differences, run
from tidings.clock import DAY


@pytest.mark.parametrize("seed", [1])
def test_kills_at_any_commit_change_nothing(seed: int):
    """A hundred days with a change of clocks, people who alter, pause and drop, and a dozen kills: all is as without them."""
    history = History(sentinels=14, length=100 * DAY, acts=20, seed=seed)
    steady, commits = run(history)
    killed, _ = run(history, kills=12, commits=commits)

    assert steady.changes
    assert steady.deliveries
    assert {"enabled", "ended"} <= {row[1] for row in steady.sentinels}
    assert 6 <= killed.kills
    assert [] == differences(steady, killed)

"""A cycle of poll, archive and notify killed at chosen system calls; `bench/faults.py --strace` takes all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.syscall_kills import Cycle, Lane, is_possible

CHOSEN = (
    (Lane("rename"), 1),
    (Lane("fsync", "tidings.db-wal"), 2),
    (Lane("fsync", "tidings.db-wal"), 5),
    (Lane("unlink"), 1),
)
"""A body's file before it has its name, commits before the request and after the answer, and the end of the file it replaces."""


@pytest.mark.skipif(not is_possible(), reason="strace is not here, or may not trace")
def test_a_kill_at_a_system_call_leaves_nothing_half_done(tmp_path: Path):
    """After each kill one start makes everything as if there had been none: two versions, one change, told under one id."""
    with Cycle(tmp_path) as cycle:
        outcomes = [cycle.enumerate(lane, only=range(number, number + 1)) for lane, number in CHOSEN]

    assert [] == [fault for outcome in outcomes for fault in outcome.faults]
    assert [1] * len(CHOSEN) == [outcome.kills for outcome in outcomes]

"""Promise: no silent stop: after each fault the watch goes on, or its owner is told, within the time that the fault names beforehand.

Every third fault is played here, and those that were silent once; `bench/faults.py --silence` plays all of them, and those of real processes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.silence import Fault, judge
from tests.silence_rows import ROWS

ONCE_SILENT = {"the text of a sentinel is none"}
PLAYED = [row for number, row in enumerate(ROWS) if number % 3 == 0 or row.name in ONCE_SILENT]


def test_the_faults_have_names_of_their_own():
    """A hundred and more, each by its name."""
    assert len(ROWS) == len({(row.kind, row.name) for row in ROWS})
    assert len(ROWS) > 100
    assert {row.name for row in PLAYED} >= ONCE_SILENT


@pytest.mark.parametrize("fault", PLAYED, ids=lambda fault: fault.name)
def test_nothing_stops_without_a_word(fault: Fault, tmp_path: Path):
    """What must be seen is seen, and no invariant is broken on the way."""
    sight = judge(fault, tmp_path)

    assert sight.verdict in fault.expect, sight
    assert () == sight.violations

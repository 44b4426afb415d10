"""Promise: no fault stops a watch silently: it continues, or its owner is notified, within the time
limit of the fault.

Every third fault is played here, and those that were silent once; `bench/faults.py --silence` plays all of them, and those of real processes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.silent_fault_rows import ROWS
from tests.silent_faults import Fault, judge

ONCE_SILENT = {"the text of a sentinel is none"}
PLAYED = [row for number, row in enumerate(ROWS) if number % 3 == 0 or row.name in ONCE_SILENT]


def test_faults_have_unique_names():
    """There are at least a hundred."""
    assert len(ROWS) == len({(row.kind, row.name) for row in ROWS})
    assert len(ROWS) > 100
    assert {row.name for row in PLAYED} >= ONCE_SILENT


@pytest.mark.parametrize("fault", PLAYED, ids=lambda fault: fault.name)
def test_no_fault_is_silent(fault: Fault, tmp_path: Path):
    """The expected event happens, and no invariant is broken."""
    sight = judge(fault, tmp_path)

    assert sight.verdict in fault.expect, sight
    assert () == sight.violations

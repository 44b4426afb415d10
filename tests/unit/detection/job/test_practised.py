"""Workers are forked after one examination, so that it is loaded once."""

import subprocess
import sys

from tidings.detection.job import practised
from tidings.service.run.from_settings import PRELOAD


def test_workers_are_forked_after_a_first_examination():
    """What the first page would load is there before the first worker, without numpy."""
    code = (
        f"import sys, {', '.join(PRELOAD)}; from tidings.detection.doubt import walls; "
        "from tidings.detection.job.contract import Examination; "
        "print(walls._table.cache_info().currsize, Examination.__init__.__code__.co_name, 'numpy' in sys.modules)"
    )

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "1 __init__ False\n" == ran.stdout


def test_practice_has_no_fault():
    """A fault would be ignored when workers are forked, so it must show here."""
    practised.practise()


def test_workers_start_if_the_practice_fails():
    """The module is loaded all the same."""
    code = (
        "import tidings.detection.job.examiner as examiner; examiner.examine = lambda job: 1 / 0; "
        f"import {', '.join(PRELOAD)}; print('there')"
    )

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ("there\n", "") == (ran.stdout, ran.stderr)

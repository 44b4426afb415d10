"""Lines have at most 120 columns in code and 100 in prose; longer lines become fewer."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
MOST = {
    "src": {"E501": 290},
    "tests": {"E501": 584, "W505": 481},
    "bench": {"E501": 192, "W505": 175},
}
"""How many longer lines of code and of prose there are yet, at most, by Ruff's count. A number only ever falls."""


@pytest.mark.parametrize("folder", MOST)
def test_longer_lines_become_fewer(folder):
    """Wrap the lines that you write. When there are fewer than `MOST` says, lower its number."""
    command = ["-m", "ruff", "check", "--quiet", "--no-cache", "--exit-zero", "--select", "E501,W505", "--statistics"]
    prose = ["--config", "lint.pycodestyle.max-doc-length = 100"]

    text = subprocess.run(
        [sys.executable, *command, *prose, folder], cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout

    counts = {rule: int(count) for count, rule in re.findall(r"^\s*(\d+)\s+(\w\d+)", text, re.MULTILINE)}
    assert {} == {rule: count for rule, count in counts.items() if count > MOST[folder].get(rule, 0)}
    assert counts.keys() == MOST[folder].keys()

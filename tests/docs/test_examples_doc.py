"""Each row of each table has an example in the reference, and what it prints is true."""

import doctest
import re
from pathlib import Path

import pytest

from tidings.detection.kinds.registry import KINDS
from tidings.events.operators.operators import OPERATORS
from tidings.notification.channels import CHANNELS
from tidings.presentation.presenters import PRESENTERS
from tidings.scheduling.policies import POLICIES

PAGE = Path(__file__).parents[2] / "docs" / "design" / "examples.md"
NAMED = {"Or(": "OR", "And(": "AND", "Seq(": "SEQ", "NotBetween(": "NOT", "Plus(": "PLUS"}
"""Operators that an example names by their class; the others stand in a comment."""


def test_examples_print_what_they_say():
    """All examples of the page run, from top to bottom."""
    text = re.sub(r"^```.*$", "", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    output: list[str] = []

    doctest.DocTestRunner(verbose=False).run(examples, out=output.append)

    assert [] == output
    assert len(examples.examples) > 60


@pytest.mark.parametrize("table", [KINDS, OPERATORS, PRESENTERS, CHANNELS, POLICIES], ids=lambda table: table.noun)
def test_every_row_has_an_example(table):
    """Nobody adds a change type, an operator, a presenter, a channel or a policy without one."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(">>> ")]
    shown = {name for line in lines for name in re.findall(r'"([\w-]+)"', line)}
    shown |= {line.partition("  # ")[2] for line in lines}
    shown |= {name for form, name in NAMED.items() if any(form in line for line in lines)}

    assert set() == set(table) - shown

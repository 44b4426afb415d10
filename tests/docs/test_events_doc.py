"""The page about events is true: its example runs, its tables list all there is."""

import re
from pathlib import Path

from tidings.events.expression import EXPRESSIONS, Primitive
from tidings.events.operators.node import Context
from tidings.events.rule import Coupling

PAGE = (Path(__file__).parents[2] / "docs" / "design" / "events.md").read_text(encoding="utf-8")


def test_the_example_runs():
    """The example does what it says: its assertions hold."""
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    exec(compile(example, "events.md", "exec"), {})

    assert "assert outcome.effects" in example


def test_every_operator_is_in_the_table():
    """The page names each operator, by its class and as the papers write it."""
    rows = dict(re.findall(r"^\| `(\w+)` \| `([A-Z]+\*?)\(", PAGE, re.MULTILINE))

    assert {kind.__name__: kind.operator for kind in EXPRESSIONS.values() if kind is not Primitive} == rows


def test_every_context_and_coupling_is_named():
    """So are all contexts and couplings."""
    assert [] == [str(word) for word in (*Context, *Coupling) if f"`{word}`" not in PAGE]

import ast
from pathlib import Path

import pytest

import tidings
from tidings.model.event_type import EventType

SOURCE = Path(tidings.__file__).parent
OUTWARD = {"notification/payload.py"}
"""Names what receivers are sent, which only sounds alike."""


RENAMED = {"PAGE_POLLED": "page.looked"}
"""Types whose stored text is older than their name; no log is rewritten for a name."""


@pytest.mark.parametrize("kind", EventType)
def test_a_type_is_named_as_it_is_stored(kind):
    """Who reads a log finds its types in the table."""
    assert RENAMED.get(kind.name, kind.value) == kind.value
    assert kind.name in RENAMED or kind.name == kind.value.replace(".", "_").upper()


def test_no_type_is_spelled_out_anywhere_else():
    """One that is written wrong would be an event that nobody hears."""
    types = {str(kind) for kind in EventType}
    spelled = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in SOURCE.rglob("*.py")
        if path.name != "event_type.py" and str(path.relative_to(SOURCE)) not in OUTWARD
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value in types
    ]

    assert [] == spelled

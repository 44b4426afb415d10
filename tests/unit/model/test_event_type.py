import ast
from pathlib import Path

import pytest

import tidings
from tidings.model.event_type import EventType

SOURCE = Path(tidings.__file__).parent
OUTWARD = {"notification/payload.py"}
"""Names what receivers are sent, which only sounds alike."""


RENAMED = {"page.looked": "PAGE_POLLED"}
"""Stored texts that are older than the name of their type; no log is rewritten for a name."""


@pytest.mark.parametrize("kind", EventType)
def test_a_type_is_named_as_it_is_stored(kind):
    """Who reads a log finds its types in the table."""
    assert RENAMED.get(kind.value, kind.value.replace(".", "_").upper()) == kind.name


def test_a_new_name_leaves_the_stored_text():
    """Logs of earlier versions are still read."""
    assert set(RENAMED) <= set(EventType)


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

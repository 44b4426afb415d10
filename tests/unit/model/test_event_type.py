"""Event types are values of one table."""

import ast
from pathlib import Path

import pytest

import tidings
from tidings.model.event_type import EventType

SOURCE = Path(tidings.__file__).parent
OUTWARD = {"notification/payload.py"}
"""Names what receivers are sent, which only sounds alike."""


RENAMED = {"page.looked": "PAGE_POLLED", "life.told": "LIFE_NOTIFIED"}
"""Stored texts that are older than the name of their type; no log is rewritten for a name."""


@pytest.mark.parametrize("kind", EventType)
def test_event_type_is_named_as_it_is_stored(kind):
    """A reader of a log finds its types in the table."""
    assert RENAMED.get(kind.value, kind.value.replace(".", "_").upper()) == kind.name


def test_renamed_type_is_stored_under_its_old_text():
    """Logs of earlier versions are still read."""
    assert set(RENAMED) <= set(EventType)


def test_event_types_are_not_written_as_text():
    """A mistyped one would be an event that no rule follows."""
    types = {str(kind) for kind in EventType}
    written = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in SOURCE.rglob("*.py")
        if path.name != "event_type.py" and str(path.relative_to(SOURCE)) not in OUTWARD
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value in types
    ]

    assert [] == written

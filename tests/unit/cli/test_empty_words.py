"""An empty word, as a script passes for an unset variable, is an error of the user, not a fault."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("verb", ["disable", "enable", "drop", "rename", "check", "show", "pause", "resume", "snooze"])
def test_empty_name_is_refused(tidings, server, verb):
    """The error is one line, with the code of a wrong command or of an unknown name."""
    tidings("add", "--url", server.url("/news"), "--name", "a", "--no-test")
    ran = tidings(verb, "a", "")

    assert ran.code in {2, 3}
    assert "Traceback" not in ran.err
    assert ran.err.startswith("tidings: ")

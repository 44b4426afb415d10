import json
import logging
import sys

import pytest

from tidings.cli.run.serve import announce, set_up
from tidings.errors import SettingError
from tidings.model.secret import Secret


@pytest.fixture(autouse=True)
def _as_before():
    """Leave the root logger as it was."""
    root = logging.getLogger()
    before, level = [*root.handlers], root.level
    yield
    root.handlers[:] = before
    root.setLevel(level)


def test_json_log_has_one_line_for_each_record(capsys):
    """This includes announcements and tracebacks; a secret is printed as `***`."""
    set_up("json")
    log = logging.getLogger("tidings.service")
    log.warning("two\nlines of %s", Secret("hunter2"))
    try:
        raise ValueError("no")
    except ValueError:
        log.exception("failed")
    announce("ready: 1 page")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]

    assert ["two\nlines of ***", "failed", "ready: 1 page"] == [line["message"] for line in lines]
    assert ["warning", "error", "info"] == [line["level"] for line in lines]
    assert "ValueError: no" in lines[1]["exception"]
    assert {"at", "level", "logger", "message"} == set(lines[0])


def test_text_log_begins_with_the_program_name(capsys):
    """An announcement is one line."""
    set_up("text")
    announce("stopped")

    assert "tidings: stopped\n" == capsys.readouterr().err


def test_unknown_log_format_is_refused():
    """The error names the setting and its values."""
    with pytest.raises(SettingError, match=r"serve\.log_format cannot be 'xml': expected text or json"):
        set_up("xml")
    assert sys.stderr is not None

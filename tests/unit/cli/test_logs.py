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


def test_each_record_is_a_line_of_json(capsys):
    """Whatever is logged or announced is one line each; a secret stays one."""
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


def test_text_is_for_people(capsys):
    """What is announced begins with the name of the program."""
    set_up("text")
    announce("stopped")

    assert "tidings: stopped\n" == capsys.readouterr().err


def test_another_format_is_refused():
    """The error names the setting and what it may be."""
    with pytest.raises(SettingError, match=r"serve\.log_format cannot be 'xml': expected text or json"):
        set_up("xml")
    assert sys.stderr is not None

"""Colours and progress are for terminals alone."""

import io
import re
import sys

import pytest

from tidings.cli import terminal
from tidings.cli.output import table, write_beside, write_line

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LINES = {
    "ok    database     sound": {"ok": "32"},
    "fail  disk         full": {"fail": "31"},
    "changed  http://a.example/": {"changed": "1", "http://a.example/": "2"},
    "error(walled)  http://a.example/  a login": {"error(walled)": "31", "http://a.example/": "2"},
    'kettle: It costs "30" → "25" euro.': {'"30"': "31", '"25"': "32"},
    "  It costs [-30-]{+25+} euro.": {"[-30-]": "31", "{+25+}": "32"},
    "NAME    STATE    HEALTH  CHANGED (UTC)        URL": {"NAME    STATE    HEALTH  CHANGED (UTC)        URL": "1"},
    "all is ok here": {},
}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def one_screen(monkeypatch) -> Terminal:
    """Let standard output and error be one terminal; after fixtures pytest puts its own back."""
    screen = Terminal()
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, screen)
    for name in ("NO_COLOR", "TERM", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return screen


@pytest.mark.parametrize("line", LINES)
def test_states_edits_and_addresses_are_in_colour(monkeypatch, line):
    """Nothing is added or lost but the colours."""
    screen = one_screen(monkeypatch)
    write_line(line)
    written = screen.getvalue()

    assert line + "\n" == COLOUR.sub("", written)
    assert LINES[line] == {text: code for code, text in re.findall(r"\x1b\[(\d+)m(.*?)\x1b\[0m", written)}


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colour_can_be_refused(monkeypatch, name, value):
    """By the variables that programs go by."""
    screen = one_screen(monkeypatch)
    monkeypatch.setenv(name, value)
    write_line("ok  a")

    assert "ok  a\n" == screen.getvalue()


def test_a_pipe_gets_neither_colour_nor_progress(capsys):
    """Whoever reads a pipe is a program."""
    terminal.progress("1 of 2 checked")
    write_line("ok  a")
    write_beside("warning: b")

    assert ("ok  a\n", "warning: b\n") == capsys.readouterr()


def test_a_page_cannot_colour(monkeypatch):
    """What a page brings is spelled out before colours are added."""
    screen = one_screen(monkeypatch)
    write_line("\x1b[31mred")

    assert "\\u001b[31mred\n" == screen.getvalue()


def test_progress_takes_one_line_and_goes(monkeypatch):
    """Each text takes the place of the one before, and nothing of it stays before other output."""
    screen = one_screen(monkeypatch)
    terminal.progress("1 of 20 checked")
    terminal.progress("x" * 200)
    table([["a", "b"]], ["ONE", "TWO"])

    first, second, rest = screen.getvalue().split("\r\x1b[K", 3)[1:]
    assert ("1 of 20 checked", 79) == (first, len(second))
    assert ["ONE  TWO", "a    b"] == COLOUR.sub("", rest).splitlines()


def test_a_message_to_the_console_stands_on_a_line_of_its_own(monkeypatch):
    """What a channel writes takes the line of progress away, and is as it was elsewhere."""
    screen = one_screen(monkeypatch)
    terminal.progress("1 of 1 checked")
    stream = terminal.BesideProgress(screen)
    stream.write("kettle: changed\n")

    assert "\r\x1b[K1 of 1 checked\r\x1b[Kkettle: changed\n" == screen.getvalue()
    assert stream.isatty()

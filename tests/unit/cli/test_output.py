"""Output to a terminal or a file. Colours and progress are for terminals only."""

import contextlib
import io
import json
import re
import sys

import pytest

from tidings.cli import output
from tidings.cli.output import table, write_beside, write_json, write_line, write_page


def write_encoded(encoding, *writes):
    """Return the bytes that reach a standard output in an encoding."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n")
    with contextlib.redirect_stdout(stream):
        for write, *words in writes:
            write(*words)
        stream.flush()
    return stream.buffer.getvalue()


def test_control_characters_of_pages_are_escaped():
    """This includes bidirectional overrides, in lines and in tables. Tabs and joiners stay."""
    out = write_encoded(
        "utf-8",
        (write_line, "a\x1b[2J\tb\u202ec 👩\u200d🔬"),
        (table, [("x\ny", "\x9b")], ("A", "B")),
    )

    assert "a\\u001b[2J\tb\\u202ec 👩\u200d🔬\nA         B\nx\\u000ay  \\u009b\n".encode() == out


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("utf-8", "<p>é → 🙂</p>\n".encode()),
        ("latin-1", b"<p>&#233; &#8594; &#128578;</p>\n"),
        ("ascii", b"<p>&#233; &#8594; &#128578;</p>\n"),
    ],
)
def test_html_page_is_valid_in_every_output_encoding(encoding, expected):
    """The page declares UTF-8, so other encodings get character references."""
    assert expected == write_encoded(encoding, (write_page, "<p>é → 🙂</p>\n"))


STRANGE = {"text": "a\x9b2J\u202ec\u200f\u2028é\u00a0中 👩\u200d🔬\x85", "name": "z_ürich"}


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "ascii", "cp1252", "cp437"])
def test_json_is_complete_and_escaped_in_every_encoding(encoding):
    """The output parses to the same record. Control characters, direction marks and lone surrogates
    are escaped.
    """
    record = {**STRANGE, "half": "\ud800"}
    out = write_encoded(encoding, (write_json, record)).decode(encoding)

    assert record == json.loads(out)
    assert not {*"\x9b\u202e\u200f\u2028\x85\x1b"} & set(out)


def test_json_keeps_letters_of_all_scripts():
    """Wide spaces stay too."""
    assert '{"a": "Zürich\u00a0中"}\n' == write_encoded("utf-8", (write_json, {"a": "Zürich\u00a0中"})).decode()


def test_letters_outside_the_encoding_become_escapes():
    """The line is still printed."""
    assert b"5 \\u2192 6\n" == write_encoded("ascii", (write_line, "5 → 6"))


@pytest.fixture
def narrow(monkeypatch):
    """A terminal of 24 columns."""
    monkeypatch.setenv("COLUMNS", "24")


ROWS = [("kettle", "https://shop.example/kettle/30"), ("tea", "https://x.example/")]


@pytest.mark.usefixtures("narrow")
def test_table_fits_the_terminal():
    """Only the widest column is cut."""
    out = write_encoded("utf-8", (table, ROWS, ("NAME", "URL"))).decode().splitlines()

    assert ["NAME    URL", "kettle  https://shop.ex…", "tea     https://x.examp…"] == out


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(
    ("text", "shown"),
    [("値段が変わりました", "値段が変…"), ("e\u0301" * 12, "e\u0301" * 8 + "…"), ("値段", "値段     ")],
)
def test_wide_letters_take_two_columns_and_marks_none(text, shown):
    """Columns stay aligned, and no line is too long."""
    out = write_encoded(
        "utf-8", (table, [(text, "a" * 15, "x"), ("b" * 12, "c" * 12, "y")], ("TITLE", "NAME", "N"))
    ).decode()

    assert [f"{shown}  aaaaaaaa…  x", "bbbbbbbb…  cccccccc…  y"] == out.splitlines()[1:]


@pytest.mark.parametrize("columns", ["60", "52"])
def test_times_are_cut_after_addresses(monkeypatch, columns):
    """The address of a list row is cut first."""
    monkeypatch.setenv("COLUMNS", columns)
    row = ("kettle", "enabled", "2026-11-28 09:36:26", "https://shop.example/kettle/30")
    (_, line) = write_encoded("utf-8", (table, [row], ("NAME", "STATE", "CHANGED (UTC)", "URL"))).decode().splitlines()

    assert line.startswith("kettle  enabled  2026-11-28 09:36:26  https://")
    assert int(columns) == len(line)


def test_table_in_a_file_is_not_cut(monkeypatch):
    """A file has no width."""
    monkeypatch.delenv("COLUMNS", raising=False)
    out = write_encoded("utf-8", (table, [("a" * 300, "b" * 300)], ("A", "B")))

    assert "a" * 300 + "  " + "b" * 300 == out.decode().splitlines()[1]


COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LINES = {
    "ok    database     sound": {"ok": "32"},
    "fail  disk         full": {"fail": "31"},
    "changed  http://a.example/": {"changed": "1", "http://a.example/": "2"},
    "error(walled)  http://a.example/  a login": {"error(walled)": "31", "http://a.example/": "2"},
    'kettle: It costs "25" (was "30") euro.': {'"25"': "32", '"30"': "31"},
    "  It costs [-30-]{+25+} euro.": {"[-30-]": "31", "{+25+}": "32"},
    "NAME    STATE    HEALTH  CHANGED (UTC)        URL": {"NAME    STATE    HEALTH  CHANGED (UTC)        URL": "1"},
    "all is ok here": {},
}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def one_screen(monkeypatch) -> Terminal:
    """Make standard output and error one terminal; call it in the test, since pytest replaces them after fixtures."""
    screen = Terminal()
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, screen)
    for name in ("NO_COLOR", "TERM", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return screen


@pytest.mark.parametrize("line", LINES)
def test_states_edits_and_addresses_are_coloured(monkeypatch, line):
    """Without the colour codes the line is unchanged."""
    screen = one_screen(monkeypatch)
    write_line(line)
    written = screen.getvalue()

    assert line + "\n" == COLOUR.sub("", written)
    assert LINES[line] == {text: code for code, text in re.findall(r"\x1b\[(\d+)m(.*?)\x1b\[0m", written)}


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colour_can_be_turned_off(monkeypatch, name, value):
    """`NO_COLOR` and `TERM=dumb` are the usual variables."""
    screen = one_screen(monkeypatch)
    monkeypatch.setenv(name, value)
    write_line("ok  a")

    assert "ok  a\n" == screen.getvalue()


def test_pipe_gets_no_colour_and_no_progress(capsys):
    """The reader of a pipe is a program."""
    output.progress("1 of 2 checked")
    write_line("ok  a")
    write_beside("warning: b")

    assert ("ok  a\n", "warning: b\n") == capsys.readouterr()


def test_page_cannot_set_colours(monkeypatch):
    """Escapes of a page are spelled out before colours are added."""
    screen = one_screen(monkeypatch)
    write_line("\x1b[31mred")

    assert "\\u001b[31mred\n" == screen.getvalue()


def test_progress_takes_one_line_and_is_removed(monkeypatch):
    """Each text replaces the one before; none is left before other output."""
    screen = one_screen(monkeypatch)
    output.progress("1 of 20 checked")
    output.progress("x" * 200)
    table([["a", "b"]], ["ONE", "TWO"])

    first, second, rest = screen.getvalue().split("\r\x1b[K", 3)[1:]
    assert ("1 of 20 checked", 79) == (first, len(second))
    assert ["ONE  TWO", "a    b"] == COLOUR.sub("", rest).splitlines()


def test_console_message_is_on_its_own_line(monkeypatch):
    """The line of progress is removed before the message."""
    screen = one_screen(monkeypatch)
    output.progress("1 of 1 checked")
    stream = output.BesideProgress(screen)
    stream.write("kettle: changed\n")

    assert "\r\x1b[K1 of 1 checked\r\x1b[Kkettle: changed\n" == screen.getvalue()
    assert stream.isatty()

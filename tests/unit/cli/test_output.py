"""What reaches a terminal or a file."""

import contextlib
import io
import json

import pytest

from tidings.cli.output import table, write_json, write_line, write_page


def write_encoded(encoding, *writes):
    """Return the bytes that reach a standard output in an encoding."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n")
    with contextlib.redirect_stdout(stream):
        for write, *words in writes:
            write(*words)
        stream.flush()
    return stream.buffer.getvalue()


def test_no_page_steers_a_terminal():
    """Escapes and overrides are spelled, in lines and in tables; tabs and joiners stay."""
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
def test_a_page_is_what_it_says_it_is(encoding, expected):
    """A page that says it is in UTF-8 can be read wherever it was written."""
    assert expected == write_encoded(encoding, (write_page, "<p>é → 🙂</p>\n"))


STRANGE = {"text": "a\x9b2J\u202ec\u200f\u2028é\u00a0中 👩\u200d🔬\x85", "name": "z_ürich"}


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "ascii", "cp1252", "cp437"])
def test_json_is_whole_and_steers_nothing_in_any_encoding(encoding):
    """It is read as it was meant; controls, marks of direction and lone surrogates stand in it as escapes, on every terminal."""
    record = {**STRANGE, "half": "\ud800"}
    out = write_encoded(encoding, (write_json, record)).decode(encoding)

    assert record == json.loads(out)
    assert not {*"\x9b\u202e\u200f\u2028\x85\x1b"} & set(out)


def test_json_keeps_letters_where_it_can():
    """Letters of all scripts and wide spaces stay readable."""
    assert '{"a": "Zürich\u00a0中"}\n' == write_encoded("utf-8", (write_json, {"a": "Zürich\u00a0中"})).decode()


def test_a_terminal_without_the_letters_gets_their_numbers():
    """A line is never lost for want of an encoding."""
    assert b"5 \\u2192 6\n" == write_encoded("ascii", (write_line, "5 → 6"))


@pytest.fixture
def narrow(monkeypatch):
    """A terminal of 24 columns."""
    monkeypatch.setenv("COLUMNS", "24")


ROWS = [("kettle", "https://shop.example/kettle/30"), ("tea", "https://x.example/")]


@pytest.mark.usefixtures("narrow")
def test_a_table_fits_into_its_terminal():
    """The widest column is cut, the others stay whole."""
    out = write_encoded("utf-8", (table, ROWS, ("NAME", "URL"))).decode().splitlines()

    assert ["NAME    URL", "kettle  https://shop.ex…", "tea     https://x.examp…"] == out


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(
    ("text", "shown"),
    [("値段が変わりました", "値段が変…"), ("e\u0301" * 12, "e\u0301" * 8 + "…"), ("値段", "値段     ")],
)
def test_wide_letters_take_two_places_and_marks_none(text, shown):
    """Columns stay below one another, and nothing runs over."""
    out = write_encoded(
        "utf-8", (table, [(text, "a" * 15, "x"), ("b" * 12, "c" * 12, "y")], ("TITLE", "NAME", "N"))
    ).decode()

    assert [f"{shown}  aaaaaaaa…  x", "bbbbbbbb…  cccccccc…  y"] == out.splitlines()[1:]


@pytest.mark.parametrize("columns", ["60", "52"])
def test_times_are_cut_last(monkeypatch, columns):
    """Of a list it is the address that has less room."""
    monkeypatch.setenv("COLUMNS", columns)
    row = ("kettle", "enabled", "2026-11-28 09:36:26", "https://shop.example/kettle/30")
    (_, line) = write_encoded("utf-8", (table, [row], ("NAME", "STATE", "CHANGED (UTC)", "URL"))).decode().splitlines()

    assert line.startswith("kettle  enabled  2026-11-28 09:36:26  https://")
    assert int(columns) == len(line)


def test_a_table_in_a_file_is_whole(monkeypatch):
    """What is not looked at on a screen is not cut."""
    monkeypatch.delenv("COLUMNS", raising=False)
    out = write_encoded("utf-8", (table, [("a" * 300, "b" * 300)], ("A", "B")))

    assert "a" * 300 + "  " + "b" * 300 == out.decode().splitlines()[1]

"""What reaches a terminal or a file."""

import contextlib
import io

import pytest

from tidings.cli.output import table, write_line, write_page


def written(encoding, *writes):
    """Return the bytes that reach a standard output in an encoding."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n")
    with contextlib.redirect_stdout(stream):
        for write, *words in writes:
            write(*words)
        stream.flush()
    return stream.buffer.getvalue()


def test_no_page_steers_a_terminal():
    """Escapes and overrides are spelled, in lines and in tables; tabs and joiners stay."""
    out = written(
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
    assert expected == written(encoding, (write_page, "<p>é → 🙂</p>\n"))


def test_a_terminal_without_the_letters_gets_their_numbers():
    """A line is never lost for want of an encoding."""
    assert b"5 \\u2192 6\n" == written("ascii", (write_line, "5 → 6"))

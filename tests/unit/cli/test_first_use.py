"""What somebody meets at first: odd files, names that are not there, outputs that are closed or full."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.fakes import Page
from tidings.cli.change import first_check

FULL = Path("/dev/full")
COMMAND = (sys.executable, "-m", "tidings")


@pytest.fixture
def watched(tidings, server):
    """A page with a baseline; its sentinel is called `n`."""
    tidings("add", "--url", server.url("/news"), "--name", "n")
    return tidings


@pytest.mark.parametrize("verb", ["add", "apply"])
def test_a_file_as_windows_writes_it_is_read(tidings, server, tmp_path, verb):
    """A byte order mark and line ends of two characters are no part of the text."""
    path = tmp_path / "w.sentinel"
    path.write_bytes(f"\ufeffCreate Sentinel w Using {server.url('/news')}\r\n  Monitor all words\r\n".encode())

    ran = tidings(verb, str(path))

    assert 0 == ran.code
    assert ["w"] == [r["name"] for r in tidings("list", "--json").records]


@pytest.mark.parametrize("verb", ["add", "apply", "test"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"-- one\nCreate \xff", "line 2 is not text in UTF-8; save the file in UTF-8"),
        (None, "No such file or directory\n"),
    ],
    ids=["bytes", "missing"],
)
def test_a_file_that_cannot_be_read_says_where_and_why(tidings, tmp_path, verb, content, said):
    """In words of people: no codec, no number of an error."""
    path = tmp_path / "x.sentinel"
    if content is not None:
        path.write_bytes(content)

    ran = tidings(verb, str(path))

    assert 2 == ran.code
    assert f"tidings: {path} cannot be read: {said}" in ran.err
    assert "Errno" not in ran.err
    assert "codec" not in ran.err


def test_an_end_that_has_passed_is_not_said_to_be_watched(tidings, server, tmp_path):
    """`add` warns (W11) and does not say the contrary beside it."""
    path = tmp_path / "s.sentinel"
    path.write_text(f"Create Sentinel s Using {server.url('/news')} Monitor all words From 2002-12-02 To 2003-01-02")

    ran = tidings("add", str(path))

    assert "s is not watched: its end has passed on 2003-01-02 00:00:00\n" == ran.out


def test_statements_say_what_they_did_as_the_verbs_do(watched, tmp_path):
    """Disable, Enable and Drop in a text are told in the words of `tidings disable` and its siblings."""
    path = tmp_path / "s.sentinel"
    path.write_text("Disable n; Enable n; Drop n")

    ran = watched("add", str(path))

    assert ["n is paused", "n is watched again", "n is dropped; its changes are kept"] == ran.out.splitlines()


def test_what_was_dropped_is_not_said_to_be_watched(watched):
    """The record of `drop` is that of a sentinel that has ended."""
    (record,) = watched("drop", "n", "--json").records

    assert ("n", "ended", "dropped") == (record["name"], record["state"], record["reason"])


def test_an_empty_list_says_why_it_is_empty(watched):
    """No sentinel with that tag is not the same as none at all."""
    by_tag = watched("list", "--tag", "work").out
    watched("drop", "n")

    assert 'no sentinel has the tag "work"; `tidings list` shows all\n' == by_tag
    assert "nothing is watched now; `tidings list --all` shows ended sentinels\n" == watched("list").out


@pytest.mark.parametrize("verb", ["show", "changes", "history", "diff", "check", "disable"])
def test_an_unknown_name_is_told_alike_by_all(watched, verb):
    """What is not there, and where to look."""
    ran = watched(verb, "zzz")

    assert (2, 'tidings: there is no sentinel "zzz"; `tidings list` shows all\n') == (ran.code, ran.err)


def test_add_says_what_it_waited_for_in_vain(tidings, server, monkeypatch):
    """The page is watched all the same, and the message says which command checks it again."""
    over = threading.Event()

    def hang(_, wire):
        over.wait(10)

    server.pages["/slow"] = hang
    monkeypatch.setattr(first_check, "PATIENCE_SECONDS", 0.3)

    ran = tidings("add", "--url", server.url("/slow"), "--name", "slow")
    over.set()

    assert 0 == ran.code
    assert (
        "warning   the page has not answered within 1 s; `tidings check slow` or a running service tries again"
        in ran.out
    )
    assert ["slow"] == [
        record["name"] for record in tidings("list", "--json").records if record["record"] == "sentinel"
    ]


def test_test_counts_nothing_on_a_page_that_did_not_answer(tidings, server, tmp_path):
    """Nought words of a page that is not there would read as an empty page."""
    path = tmp_path / "s.sentinel"
    path.write_text(f"Create Sentinel s Using {server.url('/gone')} Monitor all words")

    ran = tidings("test", str(path))

    assert "404" in ran.out
    assert "    watched  all words\n" in ran.out


def test_history_does_not_call_a_new_link_markup(tidings, server):
    """A version with the same words may have other links or images: only that its text is the same is known of it."""
    server.pages["/news"] = Page(b"<p>one <a href='/a'>two</a></p>", {"Content-Type": "text/html"})
    tidings("add", "--url", server.url("/news"), "--name", "n", "--monitor", "all links")
    server.pages["/news"] = Page(b"<p>one <a href='/b'>two</a></p>", {"Content-Type": "text/html"})

    assert 'link "two": "' in tidings("check", "n").out
    assert ["baseline", "not the text"] == [
        line[37:49].strip() for line in tidings("history", "n").out.splitlines()[2:]
    ]


@pytest.mark.skipif(not FULL.exists(), reason="only where there is a device that is always full")
@pytest.mark.parametrize("words", [("list",), ("list", "--json"), ("settings",)], ids=" ".join)
def test_an_output_that_is_full_is_an_error_of_its_own(watched, words):
    """Exit code 3, one line, no traceback; 1 would say that the thing asked about is so."""
    with FULL.open("w", encoding="utf-8") as full:
        ran = subprocess.run([*COMMAND, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    assert (
        3,
        "tidings: standard output cannot be written: No space left on device; the command has done its work\n",
    ) == (
        ran.returncode,
        ran.stderr,
    )


def test_a_closed_output_is_written_to_nowhere(watched):
    """`>&-` is no fault, and no file that is opened later, the database say, takes its place."""
    ran = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *COMMAND, "list"], stderr=subprocess.PIPE, text=True, check=False
    )

    assert (0, "") == (ran.returncode, ran.stderr)

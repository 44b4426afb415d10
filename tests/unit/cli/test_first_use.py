"""First use: unusual files, unknown names, and closed or full outputs."""

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
    """Watch a page as `n`; it has a baseline."""
    tidings("add", "--url", server.url("/news"), "--name", "n")
    return tidings


@pytest.mark.parametrize("verb", ["add", "apply"])
def test_windows_file_is_read(tidings, server, tmp_path, verb):
    """The byte order mark and CRLF line ends are not part of the text."""
    path = tmp_path / "w.sentinel"
    path.write_bytes(f"\ufeffCreate Sentinel w Using {server.url('/news')}\r\n  Monitor all words\r\n".encode())

    ran = tidings(verb, str(path))

    assert 0 == ran.code
    assert ["w"] == [r["name"] for r in tidings("list", "--json").records]


@pytest.mark.parametrize("verb", ["add", "apply", "test"])
@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"-- one\nCreate \xff", "line 2 is not text in UTF-8; save the file in UTF-8"),
        (None, "No such file or directory\n"),
    ],
    ids=["bytes", "missing"],
)
def test_unreadable_file_is_an_error_with_place_and_reason(tidings, tmp_path, verb, content, text):
    """The message has no codec and no errno."""
    path = tmp_path / "x.sentinel"
    if content is not None:
        path.write_bytes(content)

    ran = tidings(verb, str(path))

    assert 2 == ran.code
    assert f"tidings: {path} cannot be read: {text}" in ran.err
    assert "Errno" not in ran.err
    assert "codec" not in ran.err


def test_sentinel_whose_end_has_passed_is_not_reported_as_watched(tidings, server, tmp_path):
    """`add` warns (W11), and its result agrees with the warning."""
    path = tmp_path / "s.sentinel"
    path.write_text(f"Create Sentinel s Using {server.url('/news')} Monitor all words From 2002-12-02 To 2003-01-02")

    ran = tidings("add", str(path))

    assert "s is not watched: its end has passed on 2003-01-02 00:00:00\n" == ran.out


def test_statements_print_the_same_results_as_commands(watched, tmp_path):
    """Disable, Enable and Drop in a text have the lines of `tidings disable`, `enable` and `drop`."""
    path = tmp_path / "s.sentinel"
    path.write_text("Disable n; Enable n; Drop n")

    ran = watched("add", str(path))

    assert ["n is paused", "n is watched again", "n is dropped; its changes are kept"] == ran.out.splitlines()


def test_record_of_a_dropped_sentinel_has_ended(watched):
    """The state must not be that of a watched sentinel."""
    (record,) = watched("drop", "n", "--json").records

    assert ("n", "ended", "dropped") == (record["name"], record["state"], record["reason"])


def test_empty_list_gives_its_reason(watched):
    """No sentinel with a tag differs from no sentinel at all."""
    by_tag = watched("list", "--tag", "work").out
    watched("drop", "n")

    assert 'no sentinel has the tag "work"; `tidings list` shows all\n' == by_tag
    assert "nothing is watched now; `tidings list --all` shows ended sentinels\n" == watched("list").out


@pytest.mark.parametrize("verb", ["show", "changes", "history", "diff", "check", "disable"])
def test_unknown_name_has_the_same_error_in_all_commands(watched, verb):
    """The error names the command that lists all names."""
    ran = watched(verb, "zzz")

    assert (2, 'tidings: there is no sentinel "zzz"; `tidings list` shows all\n') == (ran.code, ran.err)


def test_add_reports_a_page_that_does_not_answer_in_time(tidings, server, monkeypatch):
    """The page is watched, and the message names the command that checks it again."""
    over = threading.Event()

    def hang(_, wire):
        over.wait(10)

    server.pages["/slow"] = hang
    monkeypatch.setattr(first_check, "PATIENCE_SECONDS", 0.3)

    ran = tidings("add", "--url", server.url("/slow"), "--name", "slow")
    over.set()

    assert 0 == ran.code
    assert "warning   the page has not answered within 1 s; `tidings check` or a running service tries again" in ran.out
    assert ["slow"] == [
        record["name"] for record in tidings("list", "--json").records if record["record"] == "sentinel"
    ]


def test_command_counts_nothing_on_a_failed_page(tidings, server, tmp_path):
    """A count of 0 words would read as an empty page."""
    path = tmp_path / "s.sentinel"
    path.write_text(f"Create Sentinel s Using {server.url('/gone')} Monitor all words")

    ran = tidings("test", str(path))

    assert "404" in ran.out
    assert "    watched  all words\n" in ran.out


def test_history_does_not_call_a_new_link_markup(tidings, server):
    """A version with the same words may have other links or images: only its text is known to be
    equal.
    """
    server.pages["/news"] = Page(b"<p>one <a href='/a'>two</a></p>", {"Content-Type": "text/html"})
    tidings("add", "--url", server.url("/news"), "--name", "n", "--monitor", "all links")
    server.pages["/news"] = Page(b"<p>one <a href='/b'>two</a></p>", {"Content-Type": "text/html"})

    assert 'link "two": "' in tidings("check", "n").out
    assert ["baseline", "not the text"] == [
        line[37:49].strip() for line in tidings("history", "n").out.splitlines()[2:]
    ]


@pytest.mark.skipif(not FULL.exists(), reason="only where there is a device that is always full")
@pytest.mark.parametrize("words", [("list",), ("list", "--json"), ("settings",)], ids=" ".join)
def test_full_output_is_exit_code_3(watched, words):
    """The error is one line without a traceback. Exit code 1 would be a result of the command."""
    with FULL.open("w", encoding="utf-8") as full:
        ran = subprocess.run([*COMMAND, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    assert (
        3,
        "tidings: standard output cannot be written: No space left on device; the command has done its work\n",
    ) == (
        ran.returncode,
        ran.stderr,
    )


def test_closed_output_is_no_error(watched):
    """With `>&-`, no file that is opened later, such as the database, becomes standard output."""
    ran = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *COMMAND, "list"], stderr=subprocess.PIPE, text=True, check=False
    )

    assert (0, "") == (ran.returncode, ran.stderr)

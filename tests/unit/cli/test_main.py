"""Finding the verb, exit codes, errors as text and as JSON."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tidings.cli.verbs import MEANT, VERBS

HEAVY = (
    "aiohttp",
    "lark",
    "lxml",
    "apprise",
    "numpy",
    "feedparser",
    "tldextract",
    "smtplib",
    "selectolax",
)
STARTS: dict[str, set[str]] = {
    "list": set(),
    "show n": {"lark"},
    "changes": {"lark"},
    "history n": {"lark"},
    "diff n": {"lark"},
    "deliveries": {"lark"},
    "plan": {"lark"},
    "explain n": {"lark", "numpy"},
    "mask n": {"lark"},
    "queries": set(),
    "settings": set(),
    "secret list": set(),
    "token list": set(),
    "user list": set(),
    "doctor": {"lark", "lxml"},
    "disable n": {"lark"},
}
"""What each verb that checks no page may load of the heavy libraries."""


def test_no_verb_is_a_usage_error_that_lists_all(tidings):
    """Exit code 2 and every verb with what it does."""
    ran = tidings()

    assert 2 == ran.code
    assert all(name in ran.err for name in VERBS)


def test_an_unknown_verb_is_named(tidings):
    """A typo is a usage error."""
    ran = tidings("lst")

    assert 2 == ran.code
    assert "tidings: there is no verb 'lst'; try: tidings list\n" == ran.err


def test_a_verb_that_resembles_none_is_answered_in_one_line(tidings):
    """The list of all verbs is offered, not printed: it would hide the message."""
    assert "tidings: there is no verb 'xyzzy'; `tidings help` lists all\n" == tidings("xyzzy").err


@pytest.mark.parametrize(("word", "meant"), [*MEANT.items(), ("lst", "list"), ("chek", "check")])
def test_a_word_of_other_programs_is_answered_with_ours(tidings, word, meant):
    """What is offered is a verb, and the words of other programs are none."""
    assert f"there is no verb '{word}'; try: tidings {meant}\n" in tidings(word).err
    assert meant.split()[0] in VERBS
    assert word not in VERBS


def test_help_of_every_verb_prints(tidings):
    """Each verb's module can be imported and explains itself."""
    codes = {name: tidings(name, "--help").code for name in VERBS}

    assert dict.fromkeys(VERBS, 0) == codes


def test_a_bad_setting_says_where_and_what(tidings):
    """The source, the key and what is expected."""
    ran = tidings("list", "--set", "fetch.host_gap_seconds=soon")

    assert 2 == ran.code
    assert "fetch.host_gap_seconds" in ran.err


def test_an_error_of_the_language_is_a_record_with_its_place(tidings, tmp_path):
    """With --json each problem is a line with line, column, code, message, expected, hint."""
    path = tmp_path / "s.txt"
    path.write_text("Create Sentinel s Using http://a.example/ Monitor all imges")

    ran = tidings("add", str(path), "--json")

    assert 2 == ran.code
    assert [("E10", 1)] == [(r["code"], r["line"]) for r in ran.records]
    assert {"record", "line", "column", "code", "message", "expected", "hint"} <= set(ran.records[0])


def test_an_unused_directory_is_not_made_by_reading(tidings, tmp_path):
    """`list` in an empty place says how to begin and exits with 3."""
    ran = tidings("list")

    assert 3 == ran.code
    assert "tidings add" in ran.err


@pytest.mark.parametrize("words", STARTS)
def test_a_verb_starts_without_the_heavy_libraries(tidings, server, words):
    """A verb that checks no page imports no parser and no client, and numpy only to explain (contracts §10)."""
    tidings("add", "--url", server.url("/news"), "--name", "n")
    code = "import sys; from tidings.cli.main import main; main(sys.argv[2:]); print(*({*sys.argv[1].split()} & {*sys.modules}))"

    ran = subprocess.run(
        [sys.executable, "-c", code, " ".join(HEAVY), *words.split()], capture_output=True, text=True, check=True
    )

    assert STARTS[words] >= {*ran.stdout.splitlines()[-1].split()}


def test_what_a_verb_imports_is_never_searched_for_garbage():
    """And numpy's linear algebra starts no threads, unless the caller's environment asks for them."""
    code = "import gc, os; from tidings.cli.verbs import module_of; module_of('list'); print(gc.get_freeze_count() > 0, os.environ['OPENBLAS_NUM_THREADS'])"

    said = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, **more}
        ).stdout.split()
        for more in ({}, {"OPENBLAS_NUM_THREADS": "3"})
    ]

    assert [["True", "1"], ["True", "3"]] == said


def test_the_parent_loads_no_parser_of_pages(tidings, server, monkeypatch):
    """`check` polls and compares; lxml, selectolax, feedparser, Apprise and smtplib stay in its children (contracts §10), and nothing is left to chance."""
    tidings("add", "--url", server.url("/news"), "--name", "n")
    monkeypatch.setenv("TIDINGS_DETECT_ISOLATION", "killable")
    parsers = ("lxml", "selectolax", "feedparser", "apprise", "smtplib", "numpy.random")
    code = (
        "import sys; from tidings.cli.main import main; main(['check', 'n']); "
        f"print([m for m in {parsers!r} if m in sys.modules])"
    )
    server.pages["/news"] = type(server.pages["/news"])(b"<p>count 2</p>", {"Content-Type": "text/html"})

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "1 changed" in ran.stdout
    assert "[]" == ran.stdout.splitlines()[-1]

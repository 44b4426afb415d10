"""The command is found; exit codes; errors as text and as JSON."""

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
    "cluster": {"lark"},
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
"""The heavy libraries that each command without polls may load."""


def test_missing_command_is_a_usage_error_that_lists_all(tidings):
    """The exit code is 2, and each command is listed."""
    ran = tidings()

    assert 2 == ran.code
    assert all(name in ran.err for name in VERBS)


def test_mistyped_command_suggests_the_nearest(tidings):
    """The exit code is 2."""
    ran = tidings("lst")

    assert 2 == ran.code
    assert "tidings: there is no verb 'lst'; try: tidings list\n" == ran.err


def test_unknown_command_without_a_near_one_is_answered_in_one_line(tidings):
    """A list of all commands would hide the message."""
    assert "tidings: there is no verb 'xyzzy'; `tidings help` lists all\n" == tidings("xyzzy").err


@pytest.mark.parametrize(("word", "meant"), [*MEANT.items(), ("lst", "list"), ("chek", "check")])
def test_command_of_another_program_suggests_ours(tidings, word, meant):
    """The suggestion exists here, and the other program's word does not."""
    assert f"there is no verb '{word}'; try: tidings {meant}\n" in tidings(word).err
    assert meant.split()[0] in VERBS
    assert word not in VERBS


def test_every_command_has_help(tidings):
    """Printing the help imports the module of each command."""
    codes = {name: tidings(name, "--help").code for name in VERBS}

    assert dict.fromkeys(VERBS, 0) == codes


def test_invalid_setting_is_named_in_the_error(tidings):
    """The exit code is 2."""
    ran = tidings("list", "--set", "fetch.host_gap_seconds=soon")

    assert 2 == ran.code
    assert "fetch.host_gap_seconds" in ran.err


def test_json_error_of_the_language_has_its_place(tidings, tmp_path):
    """Each problem is a record with line, column, code, message, expected and hint."""
    path = tmp_path / "s.txt"
    path.write_text("Create Sentinel s Using http://a.example/ Monitor all imges")

    ran = tidings("add", str(path), "--json")

    assert 2 == ran.code
    assert [("E10", 1)] == [(r["code"], r["line"]) for r in ran.records]
    assert {"record", "line", "column", "code", "message", "expected", "hint"} <= set(ran.records[0])


def test_list_does_not_create_a_data_directory(tidings, tmp_path):
    """In an empty directory it names the first command, and exits with 3."""
    ran = tidings("list")

    assert 3 == ran.code
    assert "tidings add" in ran.err


@pytest.mark.parametrize("words", STARTS)
def test_command_without_polls_loads_no_heavy_libraries(tidings, server, words):
    """No parser and no client is imported, and numpy only to explain (contracts §10)."""
    tidings("add", "--url", server.url("/news"), "--name", "n")
    code = "import sys; from tidings.cli.main import main; main(sys.argv[2:]); print(*({*sys.argv[1].split()} & {*sys.modules}))"

    ran = subprocess.run(
        [sys.executable, "-c", code, " ".join(HEAVY), *words.split()], capture_output=True, text=True, check=True
    )

    assert STARTS[words] >= {*ran.stdout.splitlines()[-1].split()}


def test_imported_objects_are_frozen_for_garbage_collection():
    """Also, numpy's linear algebra starts no threads, unless the environment asks for them."""
    code = "import gc, os; from tidings.cli.verbs import module_of; module_of('list'); print(gc.get_freeze_count() > 0, os.environ['OPENBLAS_NUM_THREADS'])"

    said = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, **more}
        ).stdout.split()
        for more in ({}, {"OPENBLAS_NUM_THREADS": "3"})
    ]

    assert [["True", "1"], ["True", "3"]] == said


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (
            ["add", "https://a.example", "--browser", "--price-below", "100"],
            "(write --render; --monitor 'price < 100')",
        ),
        (["diff", "a", "--from", "1", "--to", "3"], "(write the versions after the name: tidings diff NAME 1 3)"),
        (["import", "urls.yaml", "--format=urlwatch"], "(write the file alone: Tidings recognises its format)"),
        (["history", "a", "--last", "10"], "(write --limit N)"),
        (["drop", "a", "--yes"], "(write the command without it: Tidings asks nothing)"),
    ],
)
def test_flags_of_other_programs_are_answered_with_ours(tidings, words, meant):
    """All of them at once, and those of one verb only for this verb."""
    assert tidings(*words).err.endswith(f"{meant}\n")


def test_parent_process_of_a_check_loads_no_parser(tidings, server, monkeypatch):
    """`check` polls and compares; lxml, selectolax, feedparser, Apprise and smtplib stay in its
    child processes (contracts §10), and random numbers are not needed.
    """
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

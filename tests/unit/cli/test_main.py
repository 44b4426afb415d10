"""The command is found; exit codes; errors as text and as JSON."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

import pytest

from tidings.cli.meant import ALONE, FLAGS, VERBS_MEANT, find_command
from tidings.cli.verbs import VERBS

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
    assert "tidings: there is no verb 'lst'; write: tidings list\n" == ran.err


def test_unknown_command_without_a_near_one_is_answered_in_one_line(tidings):
    """A list of all commands would hide the message."""
    assert "tidings: there is no verb 'xyzzy'; `tidings help` lists all\n" == tidings("xyzzy").err


@pytest.mark.parametrize(("word", "meant"), [*VERBS_MEANT.items(), ("lst", "list"), ("chek", "check")])
def test_verb_of_another_program_is_answered_with_ours(word, meant):
    """The command exists here, and the other program's word does not; what it needs is named."""
    verb, *_ = find_command(word, []).removeprefix("tidings ").split()

    assert verb in VERBS
    assert word not in VERBS
    assert verb == meant.split()[0] or word in ALONE


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("pause jobs", "disable jobs"),
        ("remove shoes boots", "drop shoes boots"),
        ("rm", "drop NAME"),
        ("stop", "disable NAME"),
        ("start", "serve"),
        ("start jobs", "enable jobs"),
        ("status", "doctor"),
        ("status jobs", "show jobs"),
        ("edit kettle", "alter kettle 'Fetch every 2 hour'"),
        ("edit kettle --every 2h --tag home", "alter kettle 'Fetch every 2h' 'Tags home'"),
        ("tag kettle kitchen tea", "alter kettle 'Tags kitchen, tea'"),
        ("untag kettle", "alter kettle 'Tags none'"),
        ("watch https://a.example/ price", "add --url https://a.example/ --monitor price"),
        ("watch a.example tea --below 30", "add --url https://a.example --monitor 'price < 30' --name tea"),
        ("sentinel add https://a.example", "add --url https://a.example"),
        ("logs kettle --tail 20", "changes kettle --limit 20"),
        ("notify test mailto:me@example.com", "test --notify mailto:me@example.com"),
        ("pause --all --until 2027-08-15", "disable --all --until 2027-08-15"),
        ("snooze kettle 3 days", "disable kettle --for '3 days'"),
        ("mute kettle until friday", "disable kettle --until friday"),
        ("tail -f", "changes --follow"),
        ("login uni", "secret set uni"),
        ("budget", "plan"),
        ("config", "settings"),
        ("help pauze", "disable NAME"),
        ("log kettle --errors", "history kettle --polls"),
        ("messages --failed --retry", "deliveries --dead"),
        ("cat kettle --version 2 --text", "show kettle --version 2"),
        ("notify test --email me@a.example", "test --notify me@a.example"),
        ("notify --test kettle", "test --notify you@example.org"),
        ("notify console", "test --notify console"),
        ("remove sentinel kettle", "drop kettle"),
        ("edit jobs --every 2h", "alter jobs 'Fetch every 2h'"),  # its name is also a noun
        ("edit watch jobs --every 2h", "alter jobs 'Fetch every 2h'"),
        ("rename jobs careers --force", "rename jobs careers"),
        ("pause all", "disable --all"),
        ("set kettle every 2h", "alter kettle 'Fetch every 2h'"),
        ("adduser anna", "user add anna"),
        ("passwd anna", "user password anna"),
        ("secrets", "secret list"),
    ],
)
def test_unknown_verb_is_answered_with_the_whole_command(tidings, line, meant):
    """The user's own names and values stay in it."""
    assert tidings(*shlex.split(line)).err.endswith(f"; write: tidings {meant}\n")


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("add https://a.example --browser --price-below 100", "add --url https://a.example --render --monitor 'price < 100'"),
        ("add --url https://a.example --watch price --below 4", "add --url https://a.example --monitor 'price < 4'"),
        ("add --url https://a.example --keyword b --keyword c", "add --url https://a.example --monitor 'keyword \"b\" OR keyword \"c\"'"),
        ("add --url https://a.example --css '#x' --email me@a.example", "add --url https://a.example --select '#x' --notify me@a.example"),
        ("add https://a.example --price below 100 --render", "add --url https://a.example --monitor 'price below 100' --render"),
        ("add https://a.example --price '< 100'", "add --url https://a.example --monitor 'price < 100'"),
        ("add --price --below 4 https://a.example", "add --url https://a.example --monitor 'price < 4'"),
        ("add https://a.example --when in stock", "add --url https://a.example --monitor 'availability where becomes \"in stock\"'"),
        ("add https://a.example --number-after=Total:", "add --url https://a.example --monitor 'number after \"Total:\"'"),
        ("add https://a.example --column Price", "add --url https://a.example --monitor 'column Price'"),
        ("add https://a.example --ntfy my-topic", "add --url https://a.example --notify ntfy://my-topic"),
        ("add https://a.example --lacks 'sold out'", "add --url https://a.example --monitor 'any change where page lacks \"sold out\"'"),
        ("add --url https://a.example --css=.x", "add --url https://a.example --select .x"),
        ("add jobs.txt --dry-run", "test jobs.txt"),
        ("test --url https://a.example --css .x", "test --url https://a.example --select .x"),
        ("diff a --from 1 --to 3", "diff a 1 3"),
        ("list --paused", "list"),
        ("list --state paused", "list"),
        ("user invite anna", "user add anna"),
        ("user add anna --email me@a.example --role editor", "user add anna --role editor"),
        ("import urlwatch urls.yaml", "import urls.yaml"),
        ("import --from urlwatch urls.yaml", "import urls.yaml"),
        ("import urls.yaml --format=urlwatch", "import urls.yaml"),
        ("export --format csv", "export csv"),
        ("export sentinels", "export text"),
        ("export changes --from monday", "export csv --since monday"),
        ("history a --count 10", "history a --limit 10"),
        ("changes --to yesterday", "changes --until yesterday"),
        ("show a --versions", "history a"),
        ("drop a --yes", "drop a"),
        ("list all", "list"),
        ("changes -f", "changes --follow"),
        ("diff a --last", "diff a"),
        ("search oil --all-versions", "search oil"),
        ("search oil --in a", "search oil --sentinel a"),
        ("list --tag work --sort changed", "list --tag work"),
        ("import huginn scenario.json --dry-run", "import scenario.json --dry-run"),
        ("drop a --purge", "drop a"),
        ("export a --format csv", "export csv a"),
        ("export a b", "export text a b"),
        ("export a --csv", "export csv a"),
        ("test email me@a.example", "test --notify me@a.example"),
        ("list --format json", "list --json"),
        ("history a -n 10", "history a --limit 10"),
        ("search --text oil", "search oil"),
        ("alter a --fetch 'every 2 hours'", "alter a 'Fetch every 2 hours'"),
        ("user create anna --admin", "user add anna --role admin"),
        ("token new ci", "token add ci"),
        ("secret add key", "secret set key"),
        ("backup --to x.tar", "backup x.tar"),
        ("add https://a.example price below 30", "add --url https://a.example --monitor 'price below 30'"),
        ("add https://a.example tea price", "add --url https://a.example --name tea --monitor price"),
        ("add https://a.example --slack https://hooks.slack.com/services/A/B/C", "add --url https://a.example --notify slack://A/B/C"),
    ],
)  # fmt: skip
def test_flags_of_other_programs_are_answered_with_the_whole_command(tidings, line, meant):
    """With one line, which Tidings reads."""
    ran = tidings(*shlex.split(line), checks=True)

    assert 2 == ran.code
    assert ran.err.endswith(f"; write: tidings {meant}\n")
    assert 1 == len(ran.err.splitlines())


@pytest.mark.parametrize(
    "line",
    ["config set budget 5000", "settings budget.polls_per_day 5000", "set budget.polls_per_day=5000"],
)
def test_setting_that_is_to_be_set_is_answered_with_its_line(tidings, line):
    """No command sets one for good."""
    assert "write: polls_per_day = 5000 below [budget] in tidings.toml" in tidings(*shlex.split(line)).err


def test_flag_without_meaning_is_answered_with_the_help(tidings):
    """Nothing is guessed, and no value becomes a file."""
    ran = tidings("add", "https://a.example", "--quiet", "22:00-07:00")

    assert ran.err.endswith("; `tidings help add` explains it\n")
    assert tidings("list", "--colour", "blue").err.endswith("; `tidings help list` explains it\n")
    assert not [flag for flag in FLAGS if not flag.rpartition(" ")[2].startswith("-")]


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

    text = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, **more}
        ).stdout.split()
        for more in ({}, {"OPENBLAS_NUM_THREADS": "3"})
    ]

    assert [["True", "1"], ["True", "3"]] == text


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

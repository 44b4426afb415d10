"""`tidings changes --follow` prints what comes; `tidings check --tag` checks the sentinels of a tag."""

from __future__ import annotations

import argparse
import json

from tests.fakes import Page
from tidings.cli.show import history
from tidings.model.interval import ALWAYS
from tidings.settings import load
from tidings.storage.db.database import open_database

HTML = {"Content-Type": "text/html"}


def test_followed_changes_are_printed_once_each_in_their_order(tidings, server, tmp_path, capsys):
    """The last ones first, from the oldest to the newest, then each new one, until interrupted."""
    tidings("add", "--url", server.url("/news"), "--name", "n", "--every", "1h")
    numbers = iter((2, 3, 4, 5))

    def change() -> None:
        server.pages["/news"] = Page(f"<p>count {next(numbers)}</p>".encode(), HTML)
        tidings("check", "n")

    change()
    change()
    database = open_database(load(tmp_path / "data"), create=False)
    arguments = argparse.Namespace(name="n", tag=None, quiet=False, limit=50, json=False)
    pauses: list[float] = []
    printed: list[str] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        printed.append(capsys.readouterr().out)
        if len(pauses) == 4:
            raise KeyboardInterrupt
        if len(pauses) != 2:
            change()
            capsys.readouterr()

    try:
        history.follow(database, arguments, ALWAYS, pause=pause)
    except KeyboardInterrupt:
        pass
    finally:
        database.close()

    assert [["2 (was", "3 (was"], ["4 (was"], [], ["5 (was"]] == [
        [new for new in ("2 (was", "3 (was", "4 (was", "5 (was") if new in text.replace('"', "")] for text in printed
    ]
    assert [1, 1, 1, 1] == pauses


def test_followed_changes_have_no_limit(tidings, server, tmp_path, capsys):
    """It is about the past: of three that come at once, all are printed with a limit of one."""
    for name in "abc":
        tidings("add", "--url", server.url("/news"), "--name", name, "--every", "1h")
    database = open_database(load(tmp_path / "data"), create=False)
    arguments = argparse.Namespace(name=None, tag=None, quiet=False, limit=1, json=False)
    printed: list[str] = []

    def pause(_seconds: float) -> None:
        printed.append(capsys.readouterr().out)
        if len(printed) == 2:
            raise KeyboardInterrupt
        server.pages["/news"] = Page(b"<p>count 2</p>", HTML)
        tidings("check", "--all")
        capsys.readouterr()

    try:
        history.follow(database, arguments, ALWAYS, pause=pause)
    except KeyboardInterrupt:
        pass
    finally:
        database.close()

    assert [0, 3] == [text.count(server.url("/news")) for text in printed]


def test_check_of_a_tag_checks_its_enabled_sentinels(tidings, server):
    """Others are left alone, and an unknown tag is an error that names it."""
    for name, tag in (("a", "work"), ("b", "work"), ("c", "home")):
        server.pages[f"/{name}"] = Page(b"<p>one", HTML)
        tidings("add", "--url", server.url(f"/{name}"), "--name", name, "--every", "1h", "--tag", tag)
        server.pages[f"/{name}"] = Page(b"<p>two", HTML)
    tidings("disable", "b")
    checked = tidings("check", "--tag", "work").out
    unknown = tidings("check", "--tag", "wrk")
    both = tidings("check", "--all", "--tag", "work")

    assert "1 checked, 1 changed" in checked
    assert "/a" in checked
    assert 'no enabled sentinel has the tag "wrk"' in unknown.err
    assert "leave out the names and the tag" in both.err
    assert [2, 2] == [unknown.code, both.code]


def test_changes_of_a_tag_are_those_of_its_sentinels(tidings, server):
    """Changes of other sentinels are left out."""
    for name, tag in (("a", "work"), ("b", "home")):
        server.pages[f"/{name}"] = Page(b"<p>one", HTML)
        tidings("add", "--url", server.url(f"/{name}"), "--name", name, "--every", "1h", "--tag", tag)
        server.pages[f"/{name}"] = Page(b"<p>two", HTML)
        tidings("check", name)

    assert ["a"] == [
        json.loads(line)["sentinel"] for line in tidings("changes", "--tag", "work", "--json").out.splitlines()
    ]

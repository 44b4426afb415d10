"""A sentinel with a new address: what was seen at the former one can still be read."""

from __future__ import annotations

import pytest

from tests.fakes import Page

HTML = {"Content-Type": "text/html"}


@pytest.fixture
def moved(tidings, server):
    """Let `n` change twice at `/news` and once at `/new`."""
    tidings("add", "--url", server.url("/news"), "--name", "n", "--every", "1h")
    for path, words in (("/news", (2, 3)), ("/new", (8, 9))):
        if path == "/new":
            tidings("alter", "n", f"Using {server.url(path)}")
        for number in words:
            server.pages[path] = Page(f"<title>The News</title><p>count {number}</p>".encode(), HTML)
            tidings("check", "n")
    return tidings


def test_versions_at_the_former_address_are_listed_and_compared(moved, server):
    """By the ids in old messages, or by the address; without either, the present page is meant."""
    history = moved("history", "n").out
    ids = [record["id"] for record in moved("history", "n", "--json").records]

    assert ["3.1", "3.2", "1.1", "1.2", "1.3"] == ids
    assert history.index("/new\n") < history.index("watched until") < history.index("/news\n")
    assert "{+3+}" in moved("diff", "n", "1.2", "1.3").out
    assert "{+3+}" in moved("diff", "n", "--page", server.url("/news")).out
    assert "{+9+}" in moved("diff", "n").out
    assert "count 2\n" in moved("show", "n", "--version", "1.2").out
    assert "is not a version of this page" in moved("diff", "n", "9.1").err
    assert "does not watch" in moved("history", "n", "--page", server.url("/other")).err


def test_statistics_go_on_at_a_new_address(moved):
    """Each check of the former page was in time, and the last change is that of the sentinel."""
    (record,) = moved("show", "n", "--json").records
    changed = [record["detected_at"] for record in moved("changes", "n", "--json").records]

    assert {"interval": {"captured": 1, "partial": 0, "missed": 0}} == record["captures"]
    assert f"{changed[0][:10]} {changed[0][11:19]}" in moved("list").out


def test_last_change_is_that_of_the_sentinel(tidings, server):
    """A page that changed before, or for another sentinel, has reported nothing to this one."""
    tidings("add", "--url", server.url("/news"), "--name", "old")
    server.pages["/news"] = Page(b"<title>The News</title><p>count 7</p>", HTML)
    tidings("check", "old")
    tidings("add", "--url", server.url("/news"), "--name", "young")
    tidings("add", "--url", server.url("/news"), "--name", "links", "--monitor", "links")

    rows = {line.split()[0]: line.split() for line in tidings("list").out.splitlines()[1:]}
    assert ["-", "-"] == [rows["young"][3], rows["links"][3]]
    assert rows["old"][3].startswith("20")

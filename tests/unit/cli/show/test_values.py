"""`tidings history NAME --values`: when a watched value became which."""

from __future__ import annotations

from tests.fakes import Page

HTML = {"Content-Type": "text/html"}


def test_values_are_listed_with_when_they_began(tidings, server):
    """The first one comes with the baseline."""
    tidings("add", "--url", server.url("/news"), "--name", "n", "--monitor", "number")
    server.pages["/news"] = Page(b"<p>count 2</p>", HTML)
    tidings("check", "n")
    head, *lines = tidings("history", "n", "--values").out.splitlines()
    records = tidings("history", "n", "--values", "--json").records

    assert ["SINCE", "(UTC)", "VALUE", "WHAT"] == head.split()
    assert [["1", "number"], ["2", "number"]] == [line.split()[2:] for line in lines]
    assert [("value", "n", "1", "1.1"), ("value", "n", "2", "1.2")] == [
        (one["record"], one["sentinel"], one["number"], one["version"]) for one in records
    ]


def test_the_course_goes_on_at_a_new_address(tidings, server):
    """A page that moved keeps its course, and each row says at which address."""
    tidings("add", "--url", server.url("/news"), "--name", "n", "--monitor", "number")
    server.pages["/new"] = Page(b"<p>count 3</p>", HTML)
    tidings("alter", "n", "Using", server.url("/new"))
    tidings("check", "n")
    records = tidings("history", "n", "--values", "--json").records

    assert [("1", "/news"), ("3", "/new")] == [(one["value"], "/" + one["url"].rpartition("/")[2]) for one in records]
    assert "PAGE" in tidings("history", "n", "--values").out


def test_what_has_no_single_value_says_so(tidings, server):
    """Words have no course."""
    tidings("add", "--url", server.url("/news"), "--name", "n")

    assert "n has no stored values yet" in tidings("history", "n", "--values").out

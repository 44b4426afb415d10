"""`tidings history NAME --values` lists the values of a page with the time of each."""

from __future__ import annotations

from tests.fakes import Page

HTML = {"Content-Type": "text/html"}


def test_values_are_listed_with_their_start(tidings, server):
    """The first value is that of the baseline."""
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


def test_values_continue_at_a_new_address(tidings, server):
    """A page that moved keeps its values, and each row has its address."""
    tidings("add", "--url", server.url("/news"), "--name", "n", "--monitor", "number")
    server.pages["/new"] = Page(b"<p>count 3</p>", HTML)
    tidings("alter", "n", "Using", server.url("/new"))
    tidings("check", "n")
    records = tidings("history", "n", "--values", "--json").records

    assert [("1", "/news"), ("3", "/new")] == [(one["value"], "/" + one["url"].rpartition("/")[2]) for one in records]
    assert "PAGE" in tidings("history", "n", "--values").out


def test_values_of_one_page_are_found_behind_those_of_another(tidings, server):
    """`--limit` counts the values of the page, and none in a time is not none at all."""
    server.pages["/other"] = Page(b"<p>count 7</p>", HTML)
    tidings("add", f"Create Sentinel n Using {server.url('/news')}, {server.url('/other')} Monitor number")
    tidings("check", "n")
    for count in (2, 3, 4):
        server.pages["/news"] = Page(f"<p>count {count}</p>".encode(), HTML)
        tidings("check", "n")
    asked = ("history", "n", "--values", "--limit", "2", "--json", "--page")

    assert ["7"] == [one["value"] for one in tidings(*asked, server.url("/other")).records]
    assert ["3", "4"] == [one["value"] for one in tidings(*asked, server.url("/news")).records]
    assert "n has no stored values in this time" in tidings("history", "n", "--values", "--until", "2001-01-01").out


def test_sentinel_without_a_single_value_says_so(tidings, server):
    """Words have no stored values."""
    tidings("add", "--url", server.url("/news"), "--name", "n")

    assert "n has no stored values yet" in tidings("history", "n", "--values").out

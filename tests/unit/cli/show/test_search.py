"""`tidings search` and `tidings queries`, and their errors."""

from tests.fakes import Page


def test_search_by_words_and_by_date(tidings, server):
    """The first search builds the index, and checks update it. Exit code 1 means no result."""
    tidings("add", "--url", server.url("/news"), "--name", "news", checks=True)
    assert 0 == tidings("search", "count").code
    server.pages["/news"] = Page(b"<title>The News</title><p>tally 2</p>", {"Content-Type": "text/html"})
    tidings("check", "news")

    found = tidings("search", "tally", "--json").records
    nothing = tidings("search", "count")
    text = tidings("search", "count OR tally", "--changed-since", "2020-01-01").out

    assert [("The News", "1.2", [[0, 5]])] == [(one["title"], one["version"], one["marks"]) for one in found]
    assert (1, "no watched page contains count\n") == (nothing.code, nothing.out)
    assert "1. The News" in text
    assert "[tally] 2" in text
    assert "1 page: 1 of 127.0.0.1" in text
    assert "2 texts, 1 of them from the newest versions" in tidings("search", "--rebuild").out
    assert 1 == tidings("search", "count", "--at", "2020-01-01").code


def test_search_that_cannot_be_counted_is_answered_with_a_warning(tidings, server, tmp_path):
    """The file of counts is damaged."""
    tidings("add", "--url", server.url("/news"), checks=True)
    tidings("search", "count")
    (tmp_path / "data" / "searches.db").write_bytes(b"none" * 2_000)

    ran = tidings("search", "count")

    assert (0, True) == (ran.code, "[count]" in ran.out)
    assert "warning: this search is not counted" in ran.err


def test_invalid_search_is_a_usage_error(tidings, server):
    """The error says what is allowed."""
    tidings("add", "--url", server.url("/news"), checks=True)

    for words, why in (
        (["search"], "give words to search for"),
        (["search", "--", "-count"], "say a word"),
        (["search", "count", "--at", "soon"], "not a date"),
        (["queries", "import"], "needs a FILE"),
        (["queries", "erase", "x"], "takes no file"),
    ):
        ran = tidings(*words)
        assert (2, True) == (ran.code, why in ran.err), words


def test_searches_are_counted_imported_and_erased(tidings, server, tmp_path):
    """The counts show which pages are worth a check."""
    server.pages["/other"] = Page(b"<p>count three</p>", {"Content-Type": "text/html"})
    server.pages["/news"] = Page(b"<title>The News</title><p>nothing 1</p>", {"Content-Type": "text/html"})
    tidings("add", "--url", server.url("/news"), "--name", "news", checks=True)
    tidings("add", "--url", server.url("/other"), checks=True)
    assert "nothing was searched for yet\n" == tidings("queries").out
    (tmp_path / "log.csv").write_text("query,frequency\ntally,3\n", encoding="utf-8")
    assert "1 query counted\n" == tidings("queries", "import", str(tmp_path / "log.csv")).out
    tidings("search", "count")
    tidings("search", "Tally")

    listed = tidings("queries", "--json").records

    assert [("tally", 4, False), ("count", 1, True)] == [(one["query"], one["searches"], one["kept"]) for one in listed]
    server.pages["/news"] = Page(b"<title>The News</title><p>count count 2</p>", {"Content-Type": "text/html"})
    tidings("check", "news")
    tidings("search", "count")
    gain, *_ = tidings("queries", "pages", "--json").records
    assert server.url("/news") == gain["url"]
    assert gain["gained"] > 0
    assert "2 queries forgotten\n" == tidings("queries", "erase").out
    assert "nothing was searched for yet\n" == tidings("queries").out

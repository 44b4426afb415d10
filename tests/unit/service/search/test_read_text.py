"""The text of a version as it is searched and shown."""

from __future__ import annotations

from tidings.detection.job.contract import Body
from tidings.service.search.read_text import MOST_CHARACTERS, UNREAD, read_texts


def body(html: str) -> Body:
    """Return a web page."""
    return Body(data=html.encode(), content_type="text/html; charset=utf-8", url="http://a.example/")


def test_text_of_a_page_includes_its_frames():
    """The title is that of the page, in one line."""
    page = body("<title>One\n  page</title><p>first</p>")
    (read,) = read_texts([[page, body("<title>Frame</title><p>second</p>")]])

    assert ("One page", ["first", "second"]) == (read.title, read.text.splitlines()[-2:])


def test_version_without_bodies_has_no_text():
    """Other versions do."""
    first, second = read_texts([[], [body("<p>a</p>")]])

    assert (UNREAD, "a") == (first, second.text)


def test_text_is_cut():
    """A very long page does not fill the index."""
    (read,) = read_texts([[body("<p>" + "word " * (MOST_CHARACTERS // 4) + "</p>")]])

    assert 0 < len(read.text) <= MOST_CHARACTERS

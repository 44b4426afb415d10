"""The hub of a feed."""

import pytest

from tidings.document.data.structured import root_of
from tidings.document.feeds.feeds import hub_of
from tidings.document.parse import parse
from tidings.model.observed.version import LONGEST_HUB, Hub

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title>{}<entry><title>e</title>
<link rel="hub" href="https://evil.example/"/></entry></feed>"""
RSS = """<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>t</title><link>https://x.example/</link>{}
<item><title>i</title></item></channel></rss>"""
LINKS = '<{0}link rel="self" href="https://x.example/feed"/><{0}link rel="hub" href="https://hub.example/"/>'


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (ATOM.format(LINKS.format("")), ("https://hub.example/", "https://x.example/feed")),
        (RSS.format(LINKS.format("atom:")), ("https://hub.example/", "https://x.example/feed")),
        (ATOM.format('<link rel="HUB self" href=" /h "/>'), ("/h", "/h")),
        (ATOM.format('<link rel="hub" href="/1"/><link rel="hub" href="/2"/>'), ("/1", "")),
        (ATOM.format('<link rel="self" href="/f"/>'), ("", "")),
        (ATOM.format('<link rel="hub"/><link href="/x"/>'), ("", "")),
        (ATOM.format(f'<link rel="hub" href="/{"x" * LONGEST_HUB}"/>'), ("", "")),
        (ATOM.format('<link rel="alternate" href="/x"/>' * 300 + '<link rel="hub" href="/late"/>'), ("", "")),
        ('<page><link rel="hub" href="/h"/></page>', ("", "")),
    ],
    ids=["atom", "rss", "one link", "first", "no hub", "empty", "long", "many", "no feed"],
)
def test_hub_is_at_the_head_of_a_feed(text, found):
    """It is the first one, never one in an entry."""
    assert Hub(*found) == hub_of(root_of(text))


def test_document_of_a_feed_has_its_hub():
    """An HTML page and broken XML have none."""
    feed = parse(ATOM.format(LINKS.format("")).encode(), "application/atom+xml", url="https://x.example/")
    broken = parse(b"<feed><link rel='hub' href='/h'>", "application/atom+xml", url="https://x.example/")

    assert ("https://hub.example/", "https://x.example/feed") == feed.hub
    assert Hub() == broken.hub

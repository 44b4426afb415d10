"""The last change of a feed, by the dates of its entries."""

import pytest

from tidings.document.data.structured import root_of
from tidings.document.feeds.feeds import newest_of
from tidings.document.parse import parse

SECOND = 1_000_000
ATOM = '<feed xmlns="http://www.w3.org/2005/Atom"><updated>2030-01-01T00:00:00Z</updated>{}</feed>'
ENTRY = "<entry><title>e</title><updated>{}</updated></entry>"
RSS = "<rss><channel><lastBuildDate>Tue, 01 Jan 2030 00:00:00 GMT</lastBuildDate>{}</channel></rss>"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (ATOM.format(ENTRY.format("2023-11-14T22:13:20Z") + ENTRY.format("2020-01-01T00:00:00Z")), 1_700_000_000),
        (ATOM.format(ENTRY.format(" 2023-11-14T23:13:20+01:00 ")), 1_700_000_000),
        (ATOM.format(ENTRY.format("2023-11-14T22:13:20")), 1_700_000_000),
        (ATOM.format("<entry><published>2023-11-14T22:13:20Z</published><updated>?</updated></entry>"), 1_700_000_000),
        (RSS.format("<item><pubDate>Tue, 14 Nov 2023 22:13:20 GMT</pubDate></item>"), 1_700_000_000),
        (ATOM.format(ENTRY.format("soon")), None),
        (ATOM.format(ENTRY.format("9" * 50)), None),
        (ATOM.format(""), None),
    ],
    ids=["newest", "zone", "no zone", "published", "rss", "no date", "long", "no entry"],
)
def test_newest_date_of_the_entries_counts(text, seconds):
    """The build date does not: it differs at each poll."""
    found = newest_of(root_of(text))

    assert (None if seconds is None else seconds * SECOND) == found


def test_document_of_a_feed_has_the_date():
    """A page has none."""
    feed = parse(
        ATOM.format(ENTRY.format("2023-11-14T22:13:20Z")).encode(), "application/atom+xml", url="https://x.example/"
    )

    assert 1_700_000_000 * SECOND == feed.updated
    assert parse(b"<p>2023-11-14T22:13:20Z</p>", "text/html").updated is None

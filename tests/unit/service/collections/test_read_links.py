"""The links of a version with their words, feeds and sitemaps, compressed ones too."""

from __future__ import annotations

import gzip

import pytest

from tidings.detection.job.contract import Body
from tidings.service.collections.read_links import read_links

HTML = "text/html; charset=utf-8"


def body(text: str, content_type: str = HTML, url: str = "https://a.example/d/") -> Body:
    """Return a body."""
    return Body(data=text.encode(), content_type=content_type, url=url)


def test_links_have_their_words():
    """Links are resolved against the base. Feeds in the head are maps."""
    found = read_links(
        (
            body(
                '<title>T</title><base href="/e/"><link rel=alternate type="application/rss+xml"'
                ' href="/feed?a=1&amp;b=2">'
                '<a href="x">The <b>first</b></a> <a href="mailto:a@b.example">m</a> <a href="https://b.example/y">second</a>'
            ),
        )
    )

    assert "page" == found.kind
    assert "T" == found.title
    assert (("https://a.example/e/x", "The first"), ("https://b.example/y", "second")) == found.links
    assert ("https://a.example/feed?a=1&b=2",) == found.maps


@pytest.mark.parametrize("value", ["noindex, nofollow", "NOINDEX,NOFOLLOW", " None ", "max-snippet:9, NoFollow"])
def test_nofollow_is_respected(value: str):
    """The robots meta element has the value, in any case of letters."""
    found = read_links((body(f'<META NAME="Robots" content="{value}"><a href="/x">x</a>'),))

    assert () == found.links


def test_other_robots_values_allow_links():
    """A value that only contains the word is another one."""
    found = read_links((body('<meta name="robots" content="noindex, nofollow-images"><a href="/x">x</a>'),))

    assert 1 == len(found.links)


def test_sitemaps_are_read_plain_and_compressed():
    """A sitemap names pages, an index of sitemaps names sitemaps."""
    urls = (
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://a.example/1</loc></url></urlset>'
    )
    index = '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>https://a.example/s1.xml.gz</loc></sitemap></sitemapindex>'
    packed = Body(data=gzip.compress(urls.encode()), content_type="application/gzip", url="https://a.example/s1.xml.gz")

    assert ("map", (("https://a.example/1", ""),)) == (read_links((packed,)).kind, read_links((packed,)).links)
    assert ("https://a.example/s1.xml.gz",) == read_links((body(index, "application/xml"),)).maps
    assert () == read_links((body("<urlset><url><loc>", "application/xml"),)).links


def test_feed_names_its_entries():
    """The entries have their titles, and the feed is a map."""
    feed = (
        '<rss version="2.0"><channel><title>F</title><item><title>One</title><link>https://a.example/1</link></item>'
        "<item><title>None</title></item></channel></rss>"
    )
    found = read_links((body(feed, "application/rss+xml"),))

    assert "map" == found.kind
    assert (("https://a.example/1", "One"),) == found.links

"""Sitemaps are read within limits, and only the asked addresses are returned."""

import gzip

import pytest

from tidings.document.feeds import sitemaps
from tidings.document.feeds.sitemaps import SitemapQuestion, read

URLSET = '<?xml version="1.0"?>{}<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</urlset>'
URL = "<url><loc>{}</loc><lastmod>{}</lastmod></url>"
A, B = "https://x.example/a?b=1&c=2", "https://x.example/b"
TWO = URLSET.format(
    "",
    URL.format(A.replace("&", "&amp;"), "2026-05-01")
    + f"<url><loc> {B}\n</loc></url>"
    + URL.format("https://x.example/other", "2026"),
)


def ask(body, *wanted):
    return read(SitemapQuestion(body.encode() if isinstance(body, str) else body, frozenset(wanted)))


@pytest.mark.parametrize("pack", [str.encode, lambda text: gzip.compress(text.encode())], ids=["plain", "gzip"])
def test_listed_addresses_are_returned(pack):
    """They are as written; one without a time is there."""
    found = ask(pack(TWO), A, B, "https://x.example/none")

    assert ({A: "2026-05-01", B: ""}, {}, "") == (found.pages, found.children, found.problem)


def test_index_names_its_sitemaps():
    """Each has its date."""
    index = '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>https://x.example/1.xml.gz</loc><lastmod>2026-05-01T00:00:00Z</lastmod></sitemap></sitemapindex>'

    assert {"https://x.example/1.xml.gz": "2026-05-01T00:00:00Z"} == ask(index).children


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no xml",
        TWO[: len(TWO) // 2],
        b"\x1f\x8bbroken",
        gzip.compress(TWO.encode())[:-30],
        '<!DOCTYPE r [<!ENTITY a "'
        + "a" * 1_000
        + '"><!ENTITY b "'
        + "&a;" * 1_000
        + '">]><urlset><url><loc>&b;</loc></url></urlset>',
        '<!DOCTYPE r [<!ENTITY f SYSTEM "file:///etc/passwd">]><urlset><url><loc>&f;</loc></url></urlset>',
        "<urlset>" + "<url>" * 5_000,
    ],
    ids=["empty", "no xml", "cut", "no gzip", "cut gzip", "entities", "file", "deep"],
)
def test_broken_and_hostile_sitemaps_do_no_harm(body):
    """Nothing is returned or raised; entries before a cut may count."""
    found = ask(body, A, "root:x:0:0")

    assert set(found.pages) <= {A}
    assert {} == found.children


def test_sitemap_is_read_within_limits(monkeypatch):
    """A bomb is not decompressed completely, and no more entries are read than the format allows."""
    assert (50_000_000, 50_000) == (sitemaps.MOST_BYTES, sitemaps.MOST_URLS)
    monkeypatch.setattr(sitemaps, "MOST_BYTES", 10_000)
    monkeypatch.setattr(sitemaps, "MOST_URLS", 3)
    bomb = gzip.compress(b" " * 10_001)
    many = URLSET.format("", "<url><loc>https://x.example/</loc></url>" * 4)

    assert "more than 10,000 bytes" in ask(bomb).problem
    assert "more than 3 entries" in ask(many).problem

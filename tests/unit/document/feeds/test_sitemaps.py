"""Sitemaps are read in bounds, and only what is asked about comes back."""

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
def test_what_is_listed_and_asked_about_comes_back(pack):
    """As it is written; who says nothing of the time says that it is there."""
    found = ask(pack(TWO), A, B, "https://x.example/none")

    assert ({A: "2026-05-01", B: ""}, {}, "") == (found.pages, found.children, found.problem)


def test_an_index_names_its_sitemaps():
    """Each with its date."""
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
def test_what_is_broken_or_hostile_does_no_harm(body):
    """Nothing that was asked about comes of it, and nothing is raised; what stood before a cut may hold."""
    found = ask(body, A, "root:x:0:0")

    assert set(found.pages) <= {A}
    assert {} == found.children


def test_it_is_bounded(monkeypatch):
    """A bomb is not unpacked whole, and no more entries are read than the format allows."""
    assert (50_000_000, 50_000) == (sitemaps.MOST_BYTES, sitemaps.MOST_URLS)
    monkeypatch.setattr(sitemaps, "MOST_BYTES", 10_000)
    monkeypatch.setattr(sitemaps, "MOST_URLS", 3)
    bomb = gzip.compress(b" " * 10_001)
    many = URLSET.format("", "<url><loc>https://x.example/</loc></url>" * 4)

    assert "more than 10,000 bytes" in ask(bomb).problem
    assert "more than 3 entries" in ask(many).problem

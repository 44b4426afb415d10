import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.document.html import links
from tidings.document.html.links import base_of, images_of, links_of, without_noise, without_query

BASE = "http://Example.org/dir/page?q=1"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("a", "http://example.org/dir/a"),
        ("/a?b=c#d", "http://example.org/a?b=c"),
        ("../a", "http://example.org/a"),
        ("//Other.org:80/a", "http://other.org/a"),
        ("HTTPS://Other.org:443", "https://other.org/"),
        ("https://other.org:8443/A", "https://other.org:8443/A"),
        ("http://USER@Other.org/", "http://USER@other.org/"),
        (" \n/a\tb ", "http://example.org/ab"),
        ("", "http://example.org/dir/page?q=1"),
        ("#part", "http://example.org/dir/page?q=1"),
        ("http://[broken", "http://[broken"),
        ("ftp://x.org:21/f", "ftp://x.org/f"),
    ],
)
def test_resolved_form(raw, expected):
    """Joined with the base; scheme and host in lower case; default port and fragment gone; what is no URL stays."""
    assert [expected] == links_of([raw], BASE)


@pytest.mark.parametrize(
    "raw",
    ["JavaScript:void(0)", "MAILTO:a@b.org", "tel:+1", "java\nscript:x", " javascript:x", "data:,x", "about:blank"],
)
def test_what_is_no_link(raw):
    """Scripts, mail addresses and telephone numbers are no links, however they are spelled (004 §5.3.1)."""
    assert [] == links_of([raw], BASE)


@pytest.mark.parametrize(
    ("identity", "expected"),
    [
        ("raw", "a;jsessionid=1?s=1&utm_source=x#p"),
        ("resolved", "http://example.org/dir/a;jsessionid=1?s=1&utm_source=x"),
        ("canonical", "http://example.org/dir/a?s=1"),
        ("plain", "http://example.org/dir/a"),
    ],
)
def test_levels_of_identity(identity, expected):
    """As written; resolved; without what says nothing of where it leads; without any query."""
    assert [expected] == links_of(["a;jsessionid=1?s=1&utm_source=x#p"], BASE, identity)


def test_a_site_s_own_parameters_can_be_learned():
    """What was seen to vary by itself is handed in; the rest stays, in its order."""
    resolver = links.Resolver(BASE, "canonical", frozenset({"visit"}))

    assert ["http://example.org/a?b=1&c=2"] == resolver.links(["/a?b=1&Visit=99&c=2"])


def test_images_lose_the_mark_of_their_copy():
    """`v=3` and a build's fingerprint tell copies of one image apart; in a link `v` is what is watched."""
    image = "/logo-3f9c2d71.png?v=3&w=200"

    assert ["http://example.org/logo.png?w=200"] == images_of([image], BASE, "canonical")
    assert ["http://example.org/logo.png"] == images_of([image], BASE, "plain")
    assert ["http://example.org/watch?v=3"] == links_of(["/watch?v=3"], BASE, "canonical")


def test_an_image_in_the_page_is_known_by_its_digest():
    """A `data:` image is an image; other pictures are other images."""
    first, second = images_of(["data:image/png;base64,AAAA", "data:image/png;base64,BBBB"], BASE)

    assert first.startswith("data:")
    assert first != second


def test_base_is_joined_with_the_pages_own_address():
    """`<base href>` may be relative; without one the address of the page holds."""
    assert "http://Example.org/dir/page?q=1" == base_of(BASE, None)
    assert "http://example.org/other/" == base_of(BASE, "/other/")


_part = st.text("ab./-_~%:?#=&+ ,;@AÄ", max_size=12)


@given(_part, st.sampled_from(["http://h.org/", "https://h.org", "http://h.org/x/", ""]))
def test_the_quick_way_is_the_long_way(part, start):
    """Addresses that are plain enough to be taken as they are would have been joined to the same."""
    address = start + part
    quick = links_of([address], BASE)
    simple, links._SIMPLE = links._SIMPLE, re.compile("(?!)")
    try:
        slow = links_of([address], BASE)
    finally:
        links._SIMPLE = simple

    assert slow == quick


def test_without_query():
    """Up to the query or the fragment."""
    assert ["a", "a", "a"] == [without_query(address) for address in ("a?b#c", "a#c?b", "a")]


@given(
    st.sampled_from(
        [
            "http://a.example/x/y",
            "https://A.example:443/",
            "http://a.example:8080",
            "https://u@a.example/x?q",
            "",
            "file:///a",
            "x",
            "http:///x",
            "//b.example/",
        ]
    ),
    st.from_regex(r"/(?:[a-z0-9_~%.\-]{1,4}/){0,2}[a-z0-9_.]{0,4}(?:\?[a-z=&]{0,5})?(?:#[a-z]{0,2})?", fullmatch=True),
)
def test_the_short_way_of_a_local_address_is_the_long_one(base, address):
    """Addresses on the page's own host are joined without the library, to the same result."""
    assert links._resolve(base, address) == links._join(base, address)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("/café", "/caf%C3%A9", True),
        ("/a b.pdf", "/a%20b.pdf", True),
        ("/q?s=a b", "/q?s=a%20b", True),
        ('/"q"', "/%22q%22", True),
        ("\\a\\b", "/a/b", True),
        ("/x/../y", "/y", True),
        ("/a|b", "/a%7Cb", False),
        ("/a", "/%61", False),
        ("/a%2Fb", "/a/b", False),
    ],
)
def test_an_address_is_compared_as_a_browser_would_ask_for_it(one, other, is_same):
    """Percent-encoded as the WHATWG URL standard says, and no further: what a server may tell apart stays apart."""
    first, second = (links_of([address], "http://x.org/d/") for address in (one, other))

    assert is_same == (first == second)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ""),
        ("id=7&utm_source=a&utm_medium=b", "id=7"),
        ("fbclid=x&q=a+b&gclid=y", "q=a+b"),
        ("PHPSESSID=abc&page=2", "page=2"),
        ("ASPSESSIONIDQQ=1&osCsid=2", ""),
        ("_=1730000000123&a", "a"),
        ("t=1730000000&ts=1730000000.25", ""),
        ("t=30&s=books&v=dQw4w9WgXcQ&sid=5", "t=30&s=books&v=dQw4w9WgXcQ&sid=5"),
        ("sid=9f86d081884c7d659a2feaa0c55ad015&a=1", "a=1"),
        ("token=eyJhbGciOiJIUzI1NiJ9.abc", ""),
        ("b=2&a=1&&b=2", "b=2&a=1&b=2"),
    ],
)
def test_parameters_that_say_nothing(query, expected):
    """Sessions, tracking and cache busters go, by name or by a value made by chance; what is left keeps its order and number."""
    assert expected == without_noise(query)


def test_of_an_image_its_version_says_nothing():
    """And what was learned of a site goes too."""
    assert "w=2" == without_noise("v=12&w=2&ver=5.8.1&rev=7&k=1", frozenset({"k"}), of_image=True)

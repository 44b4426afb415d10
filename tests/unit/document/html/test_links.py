"""Addresses of links and images, at several levels of identity."""

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
def test_resolved_address_is_normalized(raw, expected):
    """It is joined with the base; scheme and host are in lower case; default port and fragment are
    removed; an invalid one stays.
    """
    assert [expected] == links_of([raw], BASE)


@pytest.mark.parametrize(
    "raw",
    ["JavaScript:void(0)", "MAILTO:a@b.org", "tel:+1", "java\nscript:x", " javascript:x", "data:,x", "about:blank"],
)
def test_scripts_mail_and_telephone_numbers_are_no_links(raw):
    """This is so for every spelling (004 §5.3.1)."""
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
def test_addresses_have_levels_of_identity(identity, expected):
    """They are: as written, resolved, without parameters of no meaning, without any query."""
    assert [expected] == links_of(["a;jsessionid=1?s=1&utm_source=x#p"], BASE, identity)


def test_images_lose_the_mark_of_their_version():
    """`v=3` and a build's fingerprint distinguish copies of one image; in a link, `v` is compared."""
    image = "/logo-3f9c2d71.png?v=3&w=200"

    assert ["http://example.org/logo.png?w=200"] == images_of([image], BASE, "canonical")
    assert ["http://example.org/logo.png"] == images_of([image], BASE, "plain")
    assert ["http://example.org/watch?v=3"] == links_of(["/watch?v=3"], BASE, "canonical")


def test_data_image_is_compared_by_its_digest():
    """It is an image like others."""
    first, second = images_of(["data:image/png;base64,AAAA", "data:image/png;base64,BBBB"], BASE)

    assert first.startswith("data:")
    assert first != second


def test_base_is_joined_with_the_address_of_the_page():
    """`<base href>` may be relative; without one the page's address counts."""
    assert "http://Example.org/dir/page?q=1" == base_of(BASE, None)
    assert "http://example.org/other/" == base_of(BASE, "/other/")


_part = st.text("ab./-_~%:?#=&+ ,;@AÄ", max_size=12)


@given(_part, st.sampled_from(["http://h.org/", "https://h.org", "http://h.org/x/", ""]))
def test_quick_and_full_resolution_agree(part, start):
    """Plain addresses that are taken unchanged would be joined to the same."""
    address = start + part
    quick = links_of([address], BASE)
    simple, links._SIMPLE = links._SIMPLE, re.compile("(?!)")
    try:
        slow = links_of([address], BASE)
    finally:
        links._SIMPLE = simple

    assert slow == quick


def test_query_and_fragment_are_removed():
    """The rest stays."""
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
def test_quick_and_full_joining_of_local_addresses_agree(base, address):
    """Addresses on the page's own host are joined without the library."""
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
def test_address_is_encoded_as_browsers_do(one, other, is_same):
    """Percent-encoding follows the WHATWG URL standard, and no further: differences for a server
    stay.
    """
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
def test_parameters_without_meaning_are_removed(query, expected):
    """They are sessions, tracking and cache busters, by name or by a random value; the others keep
    order and number.
    """
    assert expected == without_noise(query)


def test_version_of_an_image_is_removed():
    """Its width is not."""
    assert "w=2" == without_noise("v=12&w=2&ver=5.8.1&rev=7", of_image=True)

"""Which addresses belong to a collection, and under which form an address is one."""

from __future__ import annotations

import pytest

from tidings.search.scope import address_of, belongs, is_page

OWN = ("https://docs.example",)


@pytest.mark.parametrize(
    ("url", "patterns", "expected"),
    [
        ("https://docs.example/a/b", ("/a/*",), True),
        ("https://docs.example/b", ("/a/*",), False),
        ("https://docs.example/a/", ("/a/*",), True),
        ("https://docs.example/a/old/x", ("/a/*", "!/a/old/*"), False),
        ("https://docs.example/a/old/x", ("!/a/old/*", "/a/*"), False),
        ("https://other.example/a/b", ("/a/*",), False),
        ("https://other.example/a/b", ("https://other.example/a/*",), True),
        ("https://docs.example/a/b.c", ("/a/b?c",), False),
        ("https://docs.example/a?p=2", ("/a*",), True),
        ("https://docs.example", ("/*",), True),
    ],
)
def test_patterns_say_what_belongs(url: str, patterns: tuple[str, ...], *, expected: bool):
    """A star stands for any letters, an exclamation mark leaves out, a path is one of the own
    sites.
    """
    assert expected == belongs(url, patterns, OWN)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://A.example/x?utm_source=n&b=2&a=1#top", "https://a.example/x?a=1&b=2"),
        ("https://a.example/x;jsessionid=0A1B2C?b=1", "https://a.example/x?b=1"),
        ("https://a.example", "https://a.example/"),
        ("mailto:anna@a.example", ""),
        ("javascript:void(0)", ""),
        ("ftp://a.example/x", ""),
        (f"https://a.example/{'x' * 2_000}", ""),
    ],
)
def test_an_address_is_one_however_it_is_written(url: str, expected: str):
    """Sessions, tracking, fragments and the order of parameters say nothing."""
    assert expected == address_of(url)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example/x.pdf", True),
        ("https://a.example/x.PNG", False),
        ("https://a.example/v1.2/x", True),
        ("https://a.example/png", True),
        ("https://a.example/x.html", True),
    ],
)
def test_no_request_is_spent_on_pictures(url: str, *, expected: bool):
    """The end of a path says what is no page."""
    assert expected == is_page(url)

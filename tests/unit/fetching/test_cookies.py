from __future__ import annotations

import pytest

from tidings.clock import SECOND
from tidings.errors import UsageError
from tidings.fetching import cookies
from tidings.model.secret import Secret

JAR = """# Netscape HTTP Cookie File
# https://curl.se/docs/http-cookies.html

shop.example\tFALSE\t/\tFALSE\t0\tsession\tc4nary
.shop.example\tTRUE\t/account\tTRUE\t2000000000\tdeep\tb%2F=x
#HttpOnly_www.shop.example\tFALSE\t/\tFALSE\t1000\told\t1
"""


def sent(text: str, url: str, *, now: int = 1_500_000_000) -> str:
    return cookies.header(cookies.fitting(cookies.read(text), url, now=now * SECOND)).reveal()


def test_a_file_of_cookies_is_read_as_browsers_export_it():
    """Seven fields with tabs; comments and blank lines are none, `#HttpOnly_` is no comment; 0 is a cookie without an end."""
    first, second, third = cookies.read(JAR)

    assert ("session", Secret("c4nary"), "shop.example", False, None) == (
        first.name,
        first.value,
        first.domain,
        first.subdomains,
        first.expires_at,
    )
    assert (True, "/account", True, 2_000_000_000 * SECOND) == (
        second.subdomains,
        second.path,
        second.secure,
        second.expires_at,
    )
    assert "www.shop.example" == third.domain
    assert "c4nary" not in repr(cookies.read(JAR))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://shop.example/", "session=c4nary"),
        ("http://shop.example:8080/a?b", "session=c4nary"),
        ("https://shop.example/account", "deep=b%2F=x; session=c4nary"),
        ("https://shop.example/account/a", "deep=b%2F=x; session=c4nary"),
        ("https://shop.example/accounting", "session=c4nary"),
        ("http://shop.example/account", "session=c4nary"),
        ("https://a.b.shop.example/account", "deep=b%2F=x"),
        ("https://www.shop.example/", ""),
        ("https://myshop.example/account", ""),
        ("https://shop.example.evil.example/account", ""),
        ("https://example/", ""),
    ],
)
def test_a_cookie_goes_only_where_it_belongs(url, expected):
    """Host or subdomain, path by whole segments, https for the secure; one that has expired goes nowhere; the longest path first."""
    assert expected == sent(JAR, url)


@pytest.mark.parametrize(
    ("domain", "url"),
    [("com", "https://shop.com/"), ("co.uk", "https://shop.co.uk/"), ("github.io", "https://ann.github.io/")],
)
def test_a_cookie_for_a_whole_suffix_is_nobodys(domain, url):
    """H-037: `Domain=com` goes nowhere."""
    assert "" == sent(f".{domain}\tTRUE\t/\tFALSE\t0\ta\tb", url)


def test_addresses_have_no_subdomains():
    """A cookie of an IP address is for it alone."""
    jar = "127.0.0.1\tTRUE\t/\tFALSE\t0\ta\tb\n.0.0.1\tTRUE\t/\tFALSE\t0\tc\td"

    assert "a=b" == sent(jar, "http://127.0.0.1:8000/")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "there is no cookie"),
        ("# only\n", "there is no cookie"),
        ("a=c4nary; c=d", "line 1 of the cookies has 1 fields"),
        ("h\tFALSE\t/\tFALSE\t0\tn", "line 1 of the cookies has 6 fields"),
        ("\n\tFALSE\t/\tFALSE\t0\tn\tc4nary", "line 2 of the cookies: the domain"),
        ("h\tFALSE\tx\tFALSE\t0\tn\tc4nary", "the path"),
        ("h\tFALSE\t/\tFALSE\tsoon\tn\tc4nary", "the time it expires at"),
        ("h\tFALSE\t/\tFALSE\t0\t\tc4nary", "the name"),
        ("h\tFALSE\t/\tFALSE\t0\tn\tc4nary; d=e", "the value"),
        ("h\tFALSE\t/\tFALSE\t0\tn\tc4nary\x01", "the value"),
    ],
)
def test_what_is_no_jar_is_refused_without_a_word_of_it(text, words):
    """The line and the part at fault are named, no value is repeated."""
    with pytest.raises(UsageError, match=words) as caught:
        cookies.read(text)

    assert "c4nary" not in str(caught.value)

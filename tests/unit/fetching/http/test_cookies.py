from __future__ import annotations

import pytest

from tidings.clock import SECOND
from tidings.errors import UsageError
from tidings.fetching.http import cookies
from tidings.model.secret import Secret

JAR = """# Netscape HTTP Cookie File
# https://curl.se/docs/http-cookies.html

shop.example\tFALSE\t/\tFALSE\t0\tsession\tc4nary
.shop.example\tTRUE\t/account\tTRUE\t2000000000\tdeep\tb%2F=x
#HttpOnly_www.shop.example\tFALSE\t/\tFALSE\t1000\told\t1
"""


def list_sent(text: str, url: str, *, now: int = 1_500_000_000) -> str:
    return cookies.header(cookies.fitting(cookies.read(text), url, now=now * SECOND)).reveal()


def test_cookie_file_of_browsers_is_read():
    """The seven fields are separated by tabs; comments and blank lines are skipped, `#HttpOnly_` is
    no comment, and 0 means no expiry.
    """
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
def test_cookie_is_sent_only_where_it_applies(url, expected):
    """Host or subdomain, whole path segments and https are checked. An expired cookie is not sent,
    and the longest path is first.
    """
    assert expected == list_sent(JAR, url)


@pytest.mark.parametrize(
    ("domain", "url"),
    [("com", "https://shop.com/"), ("co.uk", "https://shop.co.uk/"), ("github.io", "https://ann.github.io/")],
)
def test_cookie_of_a_public_suffix_is_never_sent(domain, url):
    """H-037: for example `Domain=com`."""
    assert "" == list_sent(f".{domain}\tTRUE\t/\tFALSE\t0\ta\tb", url)


def test_cookie_of_an_ip_address_has_no_subdomains():
    """Only that address gets the cookie."""
    jar = "127.0.0.1\tTRUE\t/\tFALSE\t0\ta\tb\n.0.0.1\tTRUE\t/\tFALSE\t0\tc\td"

    assert "a=b" == list_sent(jar, "http://127.0.0.1:8000/")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "this file has no cookies"),
        ("# only\n", "this file has no cookies"),
        ("a=c4nary; c=d", "line 1: it has 1 fields, not 7"),
        ("\n\tFALSE\t/\tFALSE\t0\tn\tc4nary", "line 2, the cookie n of no domain: the domain"),
        ("h\tFALSE\tx\tFALSE\t0\tn\tc4nary", "the path"),
        ("h\tFALSE\t/\tFALSE\tsoon\tn\tc4nary", "its expiry time cannot be read"),
        ("h\tFALSE\t/\tFALSE\t0\t\t", "neither a name nor a value"),
        ("h\tFALSE\t/\tFALSE\t0\ta=b\tc4nary", "the name"),
        ("h\tFALSE\t/\tFALSE\t0\tn\tc4nary; d=e", "the value"),
        ("h\tFALSE\t/\tFALSE\t0\tn\tc4nary\x01", "the value"),
    ],
)
def test_invalid_cookie_file_is_refused_without_its_values(text, words):
    """The error names the line and the part."""
    with pytest.raises(UsageError, match=words) as caught:
        cookies.read(text)

    assert "c4nary" not in str(caught.value)


@pytest.mark.parametrize(
    "value",
    ['{"stamp":"c4nary","ok":true}', "a,b", "a b", "a\\b", '"a"b', "é", "", "a=b", "%7B%22", "☃", "a\u2028b", "<x>'"],
)
def test_unusual_cookie_values_are_sent_like_in_browsers(value):
    """JSON, commas, blanks, quotes and non-ASCII letters are allowed; only a semicolon or a control
    character is not.
    """
    jar = f"h\tFALSE\t/\tFALSE\t0\todd\t{value}\nh\tFALSE\t/\tFALSE\t0\tsid\tgood\n"

    assert f"odd={value}; sid=good" == list_sent(jar, "http://h/")
    assert () == cookies.list_unusable(jar)


def test_cookie_without_a_name_is_its_value():
    """Browsers send only the value."""
    assert "alone" == list_sent("h\tFALSE\t/\tFALSE\t0\t\talone", "http://h/")


def test_cookie_that_cannot_be_sent_is_left_out_and_reported():
    """The other cookies are used. The report names line, cookie and domain, but never the value."""
    jar = "h\tFALSE\t/\tFALSE\t0\tsid\tgood\r\nother.example\tFALSE\t/\tFALSE\t0\todd\tc4nary;\nhalf a line\n"

    assert "sid=good" == list_sent(jar, "http://h/")
    assert (
        "line 2, the cookie odd of other.example: the value cannot be sent: it has a semicolon or a control character",
        "line 3: it has 1 fields, not 7 separated by tabs",
    ) == cookies.list_unusable(jar)


NOW = 1_500_000_000 * SECOND


def list_carried(lines: list[str], url: str, to: str) -> str:
    """Return the cookies for `to` after an answer of `url` with these `Set-Cookie` lines."""
    return cookies.header(cookies.fitting(cookies.merge((), lines, url, now=NOW), to, now=NOW)).reveal()


@pytest.mark.parametrize(
    ("line", "url", "to", "expected"),
    [
        ("a=1", "http://h.example/x/y", "http://h.example/x/z", "a=1"),
        ("a=1", "http://h.example/x/y", "http://h.example/", ""),
        ("a=1; Path=/", "http://h.example/x/y", "http://h.example/", "a=1"),
        ("a=1; path=/; HttpOnly; SameSite=Strict", "http://h.example/", "http://h.example/", "a=1"),
        ("a=1; Path=/", "http://h.example/", "http://www.h.example/", ""),
        ("a=1; Path=/; Domain=.h.example", "http://h.example/", "http://www.h.example/", "a=1"),
        ("a=1; Path=/; Domain=h.example", "http://www.h.example/", "http://h.example/", "a=1"),
        ("a=1; Path=/; Domain=other.example", "http://h.example/", "http://other.example/", ""),
        ("a=1; Path=/; Domain=example.com", "http://h.example.com.evil.org/", "http://example.com/", ""),
        ("a=1; Path=/; Domain=com", "http://h.com/", "http://g.com/", ""),
        ("a=1; Path=/; Domain=github.io", "http://a.github.io/", "http://b.github.io/", ""),
        ("a=1; Path=/; Domain=0.0.1", "http://127.0.0.1/", "http://127.0.0.1/", ""),
        ("a=1; Path=/; Secure", "https://h.example/", "http://h.example/", ""),
        ("a=1; Path=/; Secure", "https://h.example/", "https://h.example/", "a=1"),
        ("a=1; Path=/; Max-Age=60", "http://h.example/", "http://h.example/", "a=1"),
        ("a=1; Path=/; Max-Age=0", "http://h.example/", "http://h.example/", ""),
        (
            "a=1; Path=/; Max-Age=-1; Expires=Fri, 31 Dec 9999 00:00:00 GMT",
            "http://h.example/",
            "http://h.example/",
            "",
        ),
        ("a=1; Path=/; Expires=Thu, 01-Jan-1970 00:00:00 GMT", "http://h.example/", "http://h.example/", ""),
        ("a=1; Path=/; Expires=soon", "http://h.example/", "http://h.example/", "a=1"),
        ("a", "http://h.example/", "http://h.example/", "a"),
        ("a=1\x01", "http://h.example/", "http://h.example/", ""),
        ("a=" + "1" * 5_000, "http://h.example/", "http://h.example/", ""),
        ("=", "http://h.example/", "http://h.example/", ""),
    ],
)
def test_cookie_of_a_server_is_sent_only_where_it_applies(line, url, to, expected):
    """Host, domain, path, https and expiry are checked by RFC 6265."""
    assert expected == list_carried([line], url, to)


def test_server_can_replace_and_delete_its_cookies():
    """The newest of a name counts, an expired one deletes it, and at most fifty are stored."""
    assert "a=2" == list_carried(["a=1", "a=2"], "http://h/", "http://h/")
    assert "" == list_carried(["a=1", "a=; Max-Age=0"], "http://h/", "http://h/")
    assert 50 == list_carried([f"a{n}=1" for n in range(1_000)], "http://h/", "http://h/").count("=")

from __future__ import annotations

import hashlib
import subprocess
import sys
import urllib.parse

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from tidings.errors import AddressError, UsageError
from tidings.fetching import address
from tidings.model.watch.asking import Asking, BrowserStep, Header, Value

REBUILT = [
    ("https://example.com", "https://example.com/"),
    ("HTTPS://EXAMPLE.com/Path?Q=A", "https://example.com/Path?Q=A"),
    ("http://example.com:80/", "http://example.com/"),
    ("https://example.com:443/a", "https://example.com/a"),
    ("http://example.com:443/a", "http://example.com:443/a"),
    ("http://example.com:08080/", "http://example.com:8080/"),
    ("http://example.com:/", "http://example.com/"),
    ("http://example.com./", "http://example.com/"),
    ("http://example.com/a#part", "http://example.com/a"),
    ("http://example.com?x#y", "http://example.com/?x"),
    ("http://example.com/a/../b/./c", "http://example.com/b/c"),
    ("http://example.com/../../a", "http://example.com/a"),
    ("http://example.com/a/%2E%2e/b/.", "http://example.com/b/"),
    ("http://example.com/a/..", "http://example.com/"),
    ("http://example.com//a//../b", "http://example.com//a/b"),
    ("http://example.com/?a=/../b&c=%zz", "http://example.com/?a=/../b&c=%zz"),
    ("http://example.com/?utm_source=x&b=1&a=2", "http://example.com/?utm_source=x&b=1&a=2"),
    ("http://example.com/?", "http://example.com/?"),
    ("http://example.com/ä?q=ü", "http://example.com/%C3%A4?q=%C3%BC"),
    ('http://example.com/<a>"{b}"?<c>"{d}"', "http://example.com/%3Ca%3E%22%7Bb%7D%22?%3Cc%3E%22{d}%22"),
    ("https://medium.com/@user", "https://medium.com/@user"),
    ("http://bücher.example/", "http://xn--bcher-kva.example/"),
    ("http://localhost:8001/", "http://localhost:8001/"),
    ("http://a_b.example.com/", "http://a_b.example.com/"),
    ("http://127.0.0.1:8001/", "http://127.0.0.1:8001/"),
    ("http://[2001:DB8:0::1]:8080/", "http://[2001:db8::1]:8080/"),
    ("http://[::ffff:7f00:1]/", "http://[::ffff:127.0.0.1]/"),
]

REFUSED = [
    ("example.com", "scheme", "https://"),
    ("ftp://example.com/", "scheme", "https://"),
    ("file:///etc/passwd", "scheme", "https://"),
    ("source:file:///etc/passwd", "scheme", "https://"),
    ("view-source:http://x/", "scheme", "https://"),
    ("javascript:alert(1)", "scheme", "https://"),
    ("data:text/html,<script>", "scheme", "https://"),
    ("http:example.com", "no //", "http://host/path"),
    ("http:/example.com", "no //", "http://host/path"),
    ("http:///example.com/", "no host", "https://host/path"),
    ("http://?x", "no host", "https://host/path"),
    ("http://:80/", "no host", "https://host/path"),
    ("http://user:pw@example.com/", "user name or password", "header"),
    ("http://@example.com/", "user name or password", "header"),
    ("http://example.com\\@127.0.0.1/", "backslash", "%5C"),
    ("http://example.com/a\\b", "backslash", "%5C"),
    ("http://exa\tmple.com/", "blank or control", "remove it"),
    (" http://example.com/", "character 1 is a blank", "remove it"),
    ("http://example.com/a b", "blank or control", "%20"),
    ("http://example.com/\u3000", "blank or control", "remove it"),
    ("http://example.com/\x85", "blank or control", "remove it"),
    ("http://2130706433/", "read in different ways", "four decimal numbers"),
    ("http://0x7f000001/", "read in different ways", "four decimal numbers"),
    ("http://0x7f.1/", "read in different ways", "four decimal numbers"),
    ("http://0177.0.0.1/", "read in different ways", "four decimal numbers"),
    ("http://127.1/", "read in different ways", "four decimal numbers"),
    ("http://0/", "read in different ways", "four decimal numbers"),
    ("http://127.0.0.256/", "read in different ways", "four decimal numbers"),
    ("http://1.2.3.4.5/", "read in different ways", "four decimal numbers"),
    ("http://example.0x1/", "read in different ways", "four decimal numbers"),
    ("http://１２７.1/", "read in different ways", "four decimal numbers"),
    ("http://127.0.0.%31/", "not a valid name", "letters"),
    ("http://exa$mple.com/", "not a valid name", "letters"),
    ("http://.example.com/", "not a valid name", "letters"),
    ("http://example..com/", "not a valid name", "letters"),
    ("http://" + "a" * 64 + ".com/", "not a valid name", "letters"),
    ("http://ex‥ample.com/", "not allowed in host names", "browser"),
    ("http://[::1/", "does not end with ]", "[2001:db8::1]"),
    ("http://[::1]x/", "does not end with ]", "[2001:db8::1]"),
    ("http://[::g]/", "not an IPv6 address", "[2001:db8::1]"),
    ("http://[127.0.0.1]/", "not an IPv6 address", "[2001:db8::1]"),
    ("http://[fe80::1%25eth0]/", "zone", "%"),
    ("http://example.com:22/", "port 22", "1024"),
    ("http://example.com:25/", "port 25", "1024"),
    ("http://example.com:0/", "port 0", "1024"),
    ("http://example.com:1023/", "port 1023", "1024"),
    ("http://example.com:65536/", "port 65536", "1024"),
    ("http://example.com:8o/", "port is not a number", ":8080"),
    ("http://example.com:８０/", "port is not a number", ":8080"),
    ("http://a:b:c/", "port is not a number", ":8080"),
    ("http://example.com/\ud800", "lone surrogate", "browser"),
    ("http://example.com/" + "a" * 9_000, "longer than", "shorter"),
]


@pytest.mark.parametrize(("given_url", "rebuilt"), REBUILT)
def test_rebuild_normalises_unambiguous_addresses(given_url, rebuilt):
    """The case of scheme and host, default ports, fragments and dots are normalised; everything
    else stays.
    """
    assert rebuilt == address.rebuild(given_url)
    assert rebuilt == address.rebuild(rebuilt)


@pytest.mark.parametrize(("url", "fault", "mend"), REFUSED)
def test_rebuild_refuses_ambiguous_addresses(url, fault, mend):
    """Parsers read them differently. The error names the part, and how to write it."""
    with pytest.raises(AddressError) as refusal:
        address.rebuild(url)

    assert fault in str(refusal.value)
    assert mend in str(refusal.value)


WORDS = r"http https :// : / // ? # @ [ ] .. . %2e % \ a ü & = example.com 127.0.0.1 127.1 ::1 0x7f 443 80 22 xn-- ☃ 。 - _ | '"
PIECES = st.sampled_from([*WORDS.split(), " ", "\t", "\u200b"])


def rebuilt_or_none(url: str) -> str | None:
    try:
        return address.rebuild(url)
    except AddressError:
        return None


@given(
    st.one_of(
        st.lists(PIECES, max_size=12).map("".join), st.lists(PIECES, max_size=9).map(lambda p: "http://" + "".join(p))
    )
)
def test_rebuild_is_idempotent_and_parsers_agree(url):
    """An accepted address is ASCII, is unchanged the second time, and has the same host for urllib
    and yarl.
    """
    rebuilt = rebuilt_or_none(url)
    if rebuilt is None:
        return

    parts = address.parse(rebuilt)
    assert rebuilt == address.rebuild(rebuilt)
    assert rebuilt.isascii()
    assert parts.host.strip("[]") == urllib.parse.urlsplit(rebuilt).hostname
    assert parts.host.strip("[]") == URL(rebuilt, encoded=True).raw_host
    assert parts.port == URL(rebuilt, encoded=True).port


@given(st.text(max_size=40))
def test_rebuild_raises_only_address_errors(text):
    """Any text is either rebuilt or refused."""
    rebuilt_or_none(text)
    rebuilt_or_none("http://" + text)
    rebuilt_or_none("http://example.com/" + text)


HOSTS = [
    ("http://www.example.co.uk/a", "example.co.uk"),
    ("http://a.b.example.com:8080/", "example.com"),
    ("http://user.github.io/", "github.io"),
    ("http://co.uk/", "co.uk"),
    ("http://localhost:8001/", "localhost"),
    ("http://intranet/", "intranet"),
    ("http://127.0.0.2:8001/", "127.0.0.2:8001"),
    ("http://93.184.216.34/", "93.184.216.34:80"),
    ("https://93.184.216.34/", "93.184.216.34:443"),
    ("http://[::1]:8001/", "[::1]:8001"),
]


@pytest.mark.parametrize(("url", "host"), HOSTS)
def test_host_is_the_registered_domain_or_the_address_with_its_port(url, host):
    """Limits are kept for each registered domain; for IP addresses, for each port."""
    assert host == address.host_of(address.rebuild(url))


def test_identify_keeps_the_given_address():
    """The identity has the rebuilt URL, the given address without its fragment, and the host."""
    page = address.identify("HTTP://WWW.Example.com:80/a?b#c")

    assert ("http://www.example.com/a?b", "HTTP://WWW.Example.com:80/a?b", "example.com") == (
        page.url,
        page.given,
        page.host,
    )


def test_pages_are_equal_if_their_requests_are():
    """Spelling of the URL and order of headers do not matter. Method, query, headers, body, render,
    frames and proxy do, and the owner if a cookie is sent.
    """
    url = "http://example.com/a?x=1"
    plain = address.identify(url).key
    same = [
        address.identify("HTTP://example.com:80/a?x=1#top").key,
        address.identify(url, Asking(timeout=1, robots_ignored="mine"), owner_id=2).key,
    ]
    others = [
        address.identify("http://example.com/a?x=2").key,
        address.identify(url, Asking(method="POST")).key,
        address.identify(url, Asking(body=Value("q"))).key,
        address.identify(url, Asking(body=Value("q", is_secret=True))).key,
        address.identify(url, Asking(render="browser")).key,
        address.identify(url, Asking(render="browser", steps=(BrowserStep("click", "css", "#more"),))).key,
        address.identify(url, Asking(render="browser", steps=(BrowserStep("click", "css", "#less"),))).key,
        address.identify(url, Asking(frames=1)).key,
        address.identify(url, Asking(headers=(Header("Accept-Language", Value("de")),))).key,
        address.identify(url, Asking(headers=(Header("Accept-Language", Value("en")),))).key,
        address.identify(url, Asking(headers=(Header("Accept-Language", Value("en", is_secret=True)),))).key,
        address.identify(url, Asking(headers=(Header("Cookie", Value("a=b")),)), owner_id=1).key,
        address.identify(url, Asking(headers=(Header("Cookie", Value("a=b")),)), owner_id=2).key,
        address.identify(url, Asking(trust="ca.pem")).key,
        address.identify(url, Asking(proxy=Value("http://proxy.example:3128"))).key,
    ]

    assert [plain, plain] == same
    assert len({plain, *others}) == 1 + len(others)
    assert (
        address.identify(url, Asking(headers=(Header("A", Value("1")), Header("b", Value("2"))))).key
        == address.identify(url, Asking(headers=(Header("B", Value("2")), Header("a", Value("1"))))).key
    )


def test_key_of_a_page_is_stable():
    """The key is stored: a new version of Tidings must compute the same."""
    key = address.identify("https://example.com/").key

    assert hashlib.sha256(b'["GET","https://example.com/","","",0,[],null]').hexdigest() == key


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X", "a\r\nX-Evil: y"),
        ("X", "a\nb"),
        ("X", "a\0b"),
        ("X", "ü"),
        ("Host", "evil.example"),
        ("content-length", "5"),
        ("Transfer-Encoding", "chunked"),
        ("Range", "bytes=0-1"),
        ("If-None-Match", '"x"'),
        ("Bad Name", "x"),
        ("", "x"),
        ("Näme", "x"),
    ],
)
def test_unsafe_headers_are_refused(name, value):
    """Line ends, non-ASCII and headers that Tidings itself sends cannot be set (H-031, H-032)."""
    with pytest.raises(UsageError, match="header"):
        address.identify("http://example.com/", Asking(headers=(Header(name, Value(value)),)))


def test_secrets_are_typed_only_on_https_pages():
    """Such a page belongs to the owner of the secret. This machine needs no https."""
    typing = Asking(render="browser", steps=(BrowserStep("fill", "css", "#pw", Value("pw", is_secret=True)),))

    assert [7, 7] == [
        address.identify(url, typing, owner_id=7).owner_id for url in ("https://example.com/", "http://127.0.0.1/")
    ]
    with pytest.raises(AddressError, match="a secret is typed only on https pages"):
        address.identify("http://example.com/", typing)


def test_error_never_shows_a_password_or_a_query():
    """Both may be secret (H-108)."""
    texts = []
    for url in (
        "http://me:hunter2@example.com/",
        "http://example.com:22/?token=hunter2",
        "http://me:hunter2@example.com/?hunter2",
    ):
        with pytest.raises(AddressError) as refusal:
            address.rebuild(url)
        texts.append(str(refusal.value))

    assert [] == [text for text in texts if "hunter2" in text]


def test_address_module_loads_no_http_library():
    """Commands verify addresses at their start: aiohttp, yarl and tldextract stay unloaded."""
    code = (
        "import sys, tidings.fetching.address as a; a.rebuild('http://example.com/');"
        "print([m for m in ('aiohttp', 'yarl', 'tldextract', 'idna') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]" == done.stdout.strip()

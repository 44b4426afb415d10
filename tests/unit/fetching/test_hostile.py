"""The hostile rows of trust.md that concern fetching, one table, against raw sockets. No row may dial a forbidden address."""

from __future__ import annotations

import gzip
import ssl
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import brotli
import pytest
import trustme

from tests.fakes import FreePermit, Page, Seen, SocketRecorder, WebServer, Wire
from tests.unit.fetching.asking import FixedNames, ask, settings
from tests.unit.fetching.test_decoders import brotli_bomb, gzip_bomb
from tidings.errors import UsageError
from tidings.fetching import address
from tidings.model.outcome import Failed, Fetched, FetchRequest, Outcome
from tidings.settings import FetchSettings

CLOSED = FetchSettings(robots=False, total_seconds=5)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

# H-id, URL as typed: text that is refused when it is saved, and again when it is fetched.
REFUSED = [
    ("H-003", "http://2130706433/"),
    ("H-004", "http://0x7f000001/"),
    ("H-004", "http://0x7f.1/"),
    ("H-005", "http://0177.0.0.1/"),
    ("H-006", "http://127.1/"),
    ("H-007", "http://0/"),
    ("H-018", "http://127.0.0.1:80\\@example.com/"),
    ("H-019", "http://example.com\\@127.0.0.1/"),
    ("H-020", "http://user:pw@127.0.0.1/"),
    ("H-021", "http:///127.0.0.1/"),
    ("H-021", "http:127.0.0.1/"),
    ("H-022", "http://loca\tlhost/"),
    ("H-023", "file:///etc/passwd"),
    ("H-023", "file:/etc/passwd"),
    ("H-023", "FILE:.."),
    ("H-024", "source:file:///etc/passwd"),
    ("H-024", "view-source:http://x/"),
    ("H-025", "javascript:alert(1)"),
    ("H-026", "gopher://127.0.0.1:6379/_FLUSHALL"),
    ("H-027", "ftp://example.com/"),
    ("H-027", "data:text/html,<script>"),
    ("H-028", "http://example.com:22/"),
    ("H-028", "http://example.com:25/"),
    ("H-028", "http://example.com:1023/"),
]

# H-id, URL: text that may be saved; no packet leaves.
BLOCKED = [
    ("H-001", "http://127.0.0.1:8080/"),
    ("H-002", "http://169.254.169.254/latest/meta-data/"),
    ("H-008", "http://[::1]/"),
    ("H-009", "http://[::ffff:127.0.0.1]/"),
    ("H-010", "http://[64:ff9b::7f00:1]/"),
    ("H-011", "http://100.64.0.1/"),
    ("H-012", "http://10.0.0.1/"),
    ("H-012", "http://172.16.0.1/"),
    ("H-012", "http://192.168.1.1/"),
    ("H-013", "http://224.0.0.1/"),
    ("H-013", "http://[ff02::1]/"),
    ("H-014", "http://mixed.example/"),
    ("H-014", "http://mixed6.example/"),
    ("H-015", "http://rebound.example/"),
]
NAMES = {
    "mixed.example": [["93.184.216.34", "10.0.0.1"]],
    "mixed6.example": [["2606:2800:220:1::1", "::1"]],
    "rebound.example": [["127.0.0.1"]],
}


@pytest.mark.parametrize(("row", "url"), REFUSED)
def test_refused_at_save_and_at_fetch(row, url):
    """REFUSE: the text is no address that Tidings watches, and asking for it all the same dials nothing."""
    with pytest.raises(UsageError):
        address.identify(url)
    permit = FreePermit()
    with SocketRecorder() as recorder:
        [outcome] = ask(url, using=CLOSED, permit=permit)

    assert ("address", [], []) == (kind_of(outcome), permit.hosts, recorder.dials)


@pytest.mark.parametrize(("row", "url"), BLOCKED)
def test_blocked_before_a_packet_leaves(row, url):
    """BLOCK: the address may be saved, the fetch fails as `address`, nothing is dialled."""
    rebuilt = address.identify(url).url
    with SocketRecorder() as recorder:
        [outcome] = ask(rebuilt, using=CLOSED, resolver=FixedNames(NAMES))

    assert ("address", []) == (kind_of(outcome), recorder.dials)


def test_rebinding_dials_only_checked_addresses():
    """H-015: a name that points to an allowed address first and to a forbidden one later is dialled only at the first."""
    names = FixedNames({"rebound.example": [["127.0.0.2"], ["127.0.0.1"]]})
    only = settings(allow_networks=("127.0.0.2/32",))
    with WebServer("127.0.0.2") as server, SocketRecorder() as recorder:
        server.pages["/"] = Page(b"x")
        url = f"http://rebound.example:{server.port}/"
        first = ask(url, using=only, resolver=names)
        second = ask(url, using=only, resolver=names)

    assert ["fetched", "address"] == [kind_of(first[0]), kind_of(second[0])]
    assert {"127.0.0.2"} == set(recorder.hosts())


def kind_of(outcome: Outcome) -> str:
    return outcome.kind if isinstance(outcome, Failed) else type(outcome).__name__.lower()


def raw(data: bytes) -> Callable[[Seen, Wire], None]:
    """Answer with exactly these bytes, then close."""

    def answer(seen: Seen, wire: Wire) -> None:
        wire.send(data)
        wire.close()

    return answer


def kept(data: bytes) -> Callable[[Seen, Wire], object]:
    """Answer with exactly these bytes and leave the connection open."""
    return lambda seen, wire: wire.send(data)


def whole(*headers: str, body: bytes = b"x", status: str = "200 OK") -> Callable[[Seen, Wire], None]:
    lines = "".join(f"{header}\r\n" for header in (*headers, f"Content-Length: {len(body)}"))
    return raw(f"HTTP/1.1 {status}\r\n{lines}\r\n".encode("latin-1") + body)


def drip(before: bytes, unit: bytes, seconds: float = 0.02) -> Callable[[Seen, Wire], None]:
    def answer(seen: Seen, wire: Wire) -> None:
        wire.send(before)
        while wire.send(unit) and wire.wait(seconds):
            pass

    return answer


def endless_headers(seen: Seen, wire: Wire) -> None:
    wire.send(b"HTTP/1.1 200 OK\r\n")
    for n in range(200_000):
        if not wire.send(b"X-%d: x\r\n" % n):
            return


def cut_gzip(framing: bytes) -> Callable[[Seen, Wire], None]:
    body = gzip.compress(b"<p>a page of some length</p>" * 50)
    return raw(HEAD + b"Content-Encoding: gzip\r\n" + framing + b"\r\n" + body[: len(body) // 2])


CHUNK = b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
SHORT = {"total_seconds": 0.3}


class Row(NamedTuple):
    id: str
    answer: object
    expected: str
    changes: Mapping[str, object] = MappingProxyType({})


ANSWERS = [
    Row("H-016", Page(status=302, headers={"Location": "http://169.254.169.254/"}), "address"),
    Row("H-016", Page(status=302, headers={"Location": "http://[::1]/"}), "address"),
    Row("H-017", Page(status=302, headers={"Location": "file:///etc/passwd"}), "redirect"),
    Row("H-028", Page(status=302, headers={"Location": "http://127.0.0.1:22/"}), "redirect"),
    Row("H-036", Page(status=302, headers={"Location": "/" + "a" * 65_536}), "size"),
    Row("H-036", Page(status=302, headers={"Location": "/" + "a" * 9_000}), "redirect"),
    Row("H-036", Page(status=302, headers={"Location": ""}), "redirect"),
    Row("H-036", Page(status=302, headers={"Location": "//"}), "redirect"),
    Row("H-036", Page(status=302, headers={"Location": "http://"}), "redirect"),
    Row("H-036", Page(status=302, headers={"Location": "/\\evil.example"}), "redirect"),
    Row("H-036", Page(status=302, headers={"Location": "http://[::1"}), "redirect"),
    Row("H-036", Page(status=302, headers=[("Location", "/a"), ("Location", "/b")]), "redirect"),
    Row("H-036", Page(status=302, headers={"Location": "../../../up"}), "fetched"),
    Row("H-036", Page(status=302, headers={"Location": "  /up  "}), "fetched"),
    Row("H-036", Page(status=302, headers={"Location": "?up"}), "redirect"),
    Row("H-039", raw(HEAD + b"Content-Length: 1000\r\n\r\nhello"), "framing"),
    Row("H-040", raw(HEAD + CHUNK), "framing"),
    Row("H-040", raw(HEAD + CHUNK + b"0\r\n"), "framing"),
    Row("H-040", raw(HEAD + CHUNK + b"zz\r\nhello\r\n0\r\n\r\n"), "framing"),
    Row("H-041", raw(HEAD + b"Content-Length: 5\r\nContent-Length: 4\r\n\r\nhello"), "framing"),
    Row("H-041", raw(HEAD + b"Content-Length: 5, 4\r\n\r\nhello"), "framing"),
    Row("H-041", raw(HEAD + b"Content-Length: -1\r\n\r\nhello"), "framing"),
    Row("H-041", raw(HEAD + b"Content-Length: 5\r\n" + CHUNK + b"0\r\n\r\n"), "framing"),
    Row("H-041", raw(HEAD + b"Transfer-Encoding: gzip\r\n\r\nhello"), "framing"),
    Row("H-042", raw(b"HTTP/1.0 200 OK\r\n\r\n<p>half a pa"), "fetched unframed"),
    Row("H-042", lambda seen, wire: (wire.send(HEAD + b"\r\nhalf"), wire.wait(0.05), wire.reset()), "framing"),
    Row("H-043", whole("Content-Encoding: gzip", body=b"<p>plain text</p>"), "encoding"),
    Row("H-044", whole("Content-Encoding: gzip", body=gzip_bomb(1_024)), "size"),
    Row("H-045", whole("Content-Encoding: br", body=brotli_bomb(64)), "size"),
    Row("H-046", whole("Content-Encoding: " + ", ".join(["gzip"] * 50)), "encoding"),
    Row("H-046", whole(*["Content-Encoding: gzip"] * 50), "encoding"),
    Row("H-047", whole("Content-Encoding: foo"), "encoding"),
    Row("H-048", drip(HEAD + b"\r\n", b"x"), "net", SHORT),
    Row("H-049", drip(b"HTTP/1.1 200 OK\r\n", b"X: x\r\n"), "net", SHORT),
    Row("H-049", drip(b"", b"H"), "framing"),
    Row("H-050", lambda seen, wire: wire.hang(), "net", SHORT),
    Row("H-051", raw(b"HTTP/1.1 100 Continue\r\n\r\n" * 2_000 + HEAD + b"Content-Length: 1\r\n\r\nx"), "size"),
    Row("H-051", raw(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 20 + HEAD + b"Content-Length: 1\r\n\r\nx"), "fetched"),
    Row("H-051", drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.002), "size"),
    Row("H-052", endless_headers, "size"),
    Row("H-052", raw(HEAD + b"X: " + b"x" * 2**20 + b"\r\n\r\n"), "size"),
    Row("H-052", raw(HEAD + b"".join(b"X-%d: %s\r\n" % (n, b"x" * 30_000) for n in range(3)) + b"\r\n"), "size"),
    Row("H-052", raw(b"HTTP/1.1 200 " + b"x" * 100_000 + b"\r\n\r\n"), "size"),
    Row("H-053", whole("Content-Type: text/html; charset=rot13"), "fetched"),
    Row("H-118", whole("Content-Range: bytes 0-0/5"), "request"),
    Row("H-118", whole("Content-Range: bytes 0-0/5", status="206 Partial Content"), "request"),
    Row("H-118", raw(b"HTTP/1.1 204 No Content\r\n\r\n"), "request"),
    Row("H-118", raw(b"HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n"), "request"),
    Row("H-143", cut_gzip(b""), "encoding"),
    Row("H-143", cut_gzip(b"Connection: close\r\n"), "encoding"),
    Row("size", whole(body=b"x" * 2_000), "size", {"max_body_bytes": 1_999}),
    Row("size", whole(body=b"x" * 2_000), "fetched", {"max_body_bytes": 2_000}),
    Row("odd", raw(b"SSH-2.0-OpenSSH_9.2\r\n"), "framing"),
    Row("odd", raw(b"\x16\x03\x01\x02\x00"), "framing"),
    Row("odd", raw(b""), "net"),
    Row("odd", lambda seen, wire: wire.reset(), "net"),
    Row("odd", raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), "request"),
    Row("odd", whole("X-Odd: \xff\xfe", "ETag: \xff"), "fetched"),
    Row("odd", raw(HEAD + b"\x00: x\r\nContent-Length: 1\r\n\r\nx"), "framing"),
]


@pytest.mark.parametrize("row", ANSWERS, ids=[f"{row.id}-{n}" for n, row in enumerate(ANSWERS)])
def test_hostile_answers_end_as_they_must(row):
    """FAIL and LIMIT rows: the outcome is a value of the right kind, in time, and only the server itself was dialled."""
    began = time.monotonic()
    with WebServer() as server, SocketRecorder() as recorder:
        server.pages["/"] = row.answer
        server.pages["/up"] = Page(b"up")
        [outcome] = ask(server.url(), using=settings(**row.changes))
        seconds = time.monotonic() - began

    framing = " unframed" if isinstance(outcome, Fetched) and outcome.framing == "unframed" else ""
    assert row.expected == kind_of(outcome) + framing
    assert {("127.0.0.1", server.port)} == set(recorder.dials)
    assert seconds < 4


def test_silence_after_accepting_ends_at_the_deadline():
    """H-050: a server that accepts and never reads or writes costs the deadline, no more, and the slot comes back."""
    with WebServer() as server:
        server.connect = lambda wire: wire.hang()
        began = time.monotonic()
        outcomes = ask(server.url(), server.url(), using=settings(total_seconds=0.2))
        seconds = time.monotonic() - began

    assert ["net", "net"] == [kind_of(outcome) for outcome in outcomes]
    assert seconds < 2


@pytest.mark.parametrize(("length", "expected"), [(1, "redirect"), (2, "redirect"), (10, "fetched"), (11, "redirect")])
def test_redirect_chains(length, expected):
    """H-035: loops of one and of two fail, ten redirects are followed, the eleventh is not."""
    with WebServer() as server:
        for n in range(11):
            server.pages[f"/{n}"] = Page(
                status=302, headers={"Location": f"/{(n + 1) % length if length < 3 else n + 1}"}
            )
        server.pages[f"/{length}"] = Page(b"end") if length >= 3 else server.pages["/0"]
        [outcome] = ask(server.url("/0"))

        assert expected == kind_of(outcome)
        assert len(server.seen) <= 11


SECRETS = (("X-Api-Key", "k"), ("Cookie", "a=b"), ("Authorization", "Bearer t"), ("Accept-Language", "de"))


@pytest.mark.parametrize("other", ["127.0.0.2", "same address, other port"])
def test_headers_stay_with_their_origin(other):
    """H-033: custom headers and cookies go to the first origin only, also when the journey comes back to it."""
    with WebServer() as server, WebServer("127.0.0.2" if "." in other else "127.0.0.1") as second:
        server.pages["/a"] = Page(status=302, headers={"Location": second.url("/b")})
        second.pages["/b"] = Page(status=302, headers={"Location": server.url("/c")})
        server.pages["/c"] = Page(b"end")
        [outcome] = ask(FetchRequest(url=server.url("/a"), headers=SECRETS))
        names = [{name.lower() for name, _ in SECRETS} & set(seen.headers) for seen in (*server.seen, *second.seen)]

    assert "fetched" == kind_of(outcome)
    assert [4, 4, 1] == [len(found) for found in names]
    assert {"accept-language"} == names[2]


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


def tls_pair(authority: trustme.CA, **changes: object) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", **changes).configure_cert(server)  # type: ignore[arg-type]
    client = ssl.create_default_context()
    authority.configure_trust(client)
    return server, client


@pytest.mark.parametrize(("headers", "expected"), [((("Cookie", "a=b"),), "redirect"), ((), "fetched")])
def test_credentials_never_leave_https_for_http(authority, headers, expected):
    """H-034: a redirect from https to http fails if the page has credentials, and is followed if it has none."""
    tls, trust = tls_pair(authority)
    with WebServer(tls=tls) as secure, WebServer() as plain:
        secure.pages["/"] = Page(status=302, headers={"Location": plain.url("/")})
        plain.pages["/"] = Page(b"in clear")
        [outcome] = ask(FetchRequest(url=secure.url(), headers=headers), tls=trust)

        assert (expected, 0 if headers else 1) == (kind_of(outcome), len(plain.seen))


def test_cookies_are_never_kept():
    """H-037, H-038: no Set-Cookie is sent back, and a page's own cookie is not sent for another page of the host."""
    with WebServer() as server:
        server.pages["/a"] = Page(b"x", [("Set-Cookie", "a=b; Domain=com"), ("Set-Cookie", "c=d; Path=/")])
        [first, *_] = ask(
            FetchRequest(url=server.url("/a"), headers=(("Cookie", "mine=1"),)), server.url("/a"), server.url("/a")
        )

        assert ["mine=1", None, None] == [seen.headers.get("cookie") for seen in server.seen]
        assert isinstance(first, Fetched)
        assert "set-cookie" not in first.headers


@pytest.mark.parametrize(
    "header", [("X", "a\r\nX-Evil: y"), ("Host", "evil.example"), ("Content-Length", "5"), ("Transfer-Encoding", "x")]
)
def test_headers_that_break_a_request_are_refused_at_fetch_too(header):
    """H-031, H-032: such a header makes the fetch fail as `request`; nothing leaves."""
    with WebServer() as server:
        [outcome] = ask(FetchRequest(url=server.url(), headers=(header,)))

        assert ("request", 0) == (kind_of(outcome), server.dials)


def test_proxies_of_the_environment_are_ignored(monkeypatch):
    """H-030: HTTP_PROXY and its like change nothing; the page is asked directly."""
    with WebServer() as proxy, WebServer("127.0.0.2") as server:
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url())
        server.pages["/"] = Page(b"x")
        [outcome] = ask(server.url())

        assert ("fetched", 0, 1) == (kind_of(outcome), proxy.dials, server.dials)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("-1", None),
        ("0", 60),
        ("30", 60),
        ("120", 120),
        ("1e10", None),
        ("99999999999999999999", 86_400),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400),
        ("Fri, 31 Dec 1999 23:59:59 GMT", 60),
        ("soon", None),
        ("٣", None),
        ("Fri, 99 Foo 2026", None),
    ],
)
def test_retry_after_is_clamped_and_nonsense_ignored(value, seconds):
    """H-116: [1 min, 24 h] from seconds or a date; anything else means nothing."""
    with WebServer() as server:
        server.pages["/"] = kept(f"HTTP/1.1 503 Busy\r\nRetry-After: {value}\r\nContent-Length: 0\r\n\r\n".encode())
        [outcome] = ask(server.url())

    assert isinstance(outcome, Failed)
    assert (None if seconds is None else seconds * 1_000_000) == outcome.retry_after


def test_brotli_of_the_study_is_as_hostile_as_it_says():
    """The bomb used above really is one: more than 10,000 to 1."""
    bomb = brotli_bomb(64)

    assert 64 * 2**20 > 10_000 * len(bomb)
    assert brotli.Decompressor is not None

"""The hostile inputs of `docs/design/hostile.md` about fetching (H-001 to H-052, H-113 to H-118,
H-143), for tests and benchmarks.
"""

from __future__ import annotations

import functools
import gzip
import random
import ssl
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import brotli
import trustme

from tests.fakes import Answer, Page, Seen, Wire
from tests.hostile import (
    Ask,
    Result,
    Row,
    Stage,
    Word,
    and_cookies,
    and_delays,
    and_headers,
    and_paths,
    and_pause,
    and_requests,
    outcomes,
)
from tests.unit.fetching.http.test_decoders import brotli_bomb, gzip_bomb
from tidings import zstd
from tidings.fetching import address
from tidings.model.observed.outcome import FetchRequest

NOTHING: Mapping[str, object] = MappingProxyType({})
CLOSED: Mapping[str, object] = MappingProxyType({"allow_networks": ()})
SHORT: Mapping[str, object] = MappingProxyType({"total_seconds": 0.3})
ROBOTS: Mapping[str, object] = MappingProxyType({"robots": True})
REFUSED = "refused at save, address"
NO_NAMES: Mapping[str, list[list[str]]] = MappingProxyType({})
NAMES = {
    "mixed.example": [["93.184.216.34", "10.0.0.1"]],
    "mixed6.example": [["2606:2800:220:1::1", "::1"]],
    "rebound.example": [["127.0.0.1"]],
}


def raw(data: bytes) -> Callable[[Seen, Wire], None]:
    """Answer with exactly these bytes, then close."""

    def answer(seen: Seen, wire: Wire) -> None:
        wire.send(data)
        wire.close()

    return answer


def whole(*headers: str, body: bytes = b"x", status: str = "200 OK") -> Callable[[Seen, Wire], None]:
    """Answer with these headers and a body under its length, then close."""
    lines = "".join(f"{header}\r\n" for header in (*headers, f"Content-Length: {len(body)}"))
    return raw(f"HTTP/1.1 {status}\r\n{lines}\r\n".encode("latin-1") + body)


def drip(before: bytes, unit: bytes, seconds: float = 0.02) -> Callable[[Seen, Wire], None]:
    """Answer with a beginning and then, for ever, a little more."""

    def answer(seen: Seen, wire: Wire) -> None:
        wire.send(before)
        while wire.send(unit) and wire.wait(seconds):
            pass

    return answer


def _half_then_reset(seen: Seen, wire: Wire) -> None:
    wire.send(HEAD + b"\r\nhalf")
    wire.wait(0.05)
    wire.reset()


def _endless_headers(seen: Seen, wire: Wire) -> None:
    wire.send(b"HTTP/1.1 200 OK\r\n")
    for n in range(200_000):
        if not wire.send(b"X-%d: x\r\n" % n):
            return


def _move(location: str, *more: str) -> Page:
    return Page(status=302, headers=[("Location", place) for place in (location, *more)])


def _refuse_typed(id_: str, url: str) -> Row:
    """Text that is refused when it is saved, and again when it is asked for all the same."""
    ask = Ask((FetchRequest(url=url),), is_saved=True, settings=dict(CLOSED))
    return Row(id_, url, "REFUSE", REFUSED, lambda stage: ask, outcomes)


def _forbid(id_: str, url: str, names: Mapping[str, list[list[str]]] = NO_NAMES, what: str = "") -> Row:
    """An address that may be saved and is never dialled."""
    ask = Ask((FetchRequest(url=address.identify(url).url),), settings=dict(CLOSED), names=dict(names))
    return Row(id_, what or url, "BLOCK", "address", lambda stage: ask, outcomes)


def _answer(
    id_: str, what: str, word: Word, expected: str, answer: Answer, changes: Mapping[str, object] = NOTHING
) -> Row:
    """A server that answers so; `/up` beside it is a page in order."""

    def scene(stage: Stage) -> Ask:
        server = stage.server(answer)
        server.pages["/up"] = Page(b"up")
        return Ask((FetchRequest(url=server.url()),), settings=dict(changes))

    return Row(id_, what, word, expected, scene, outcomes)


def _rebound(*, restarted: bool) -> Callable[[Stage], Ask]:
    """A name whose first answer is allowed and whose second is not, asked for twice."""

    def scene(stage: Stage) -> Ask:
        server = stage.server(Page(b"x"), "127.0.0.2")
        request = FetchRequest(url=f"http://rebound.example:{server.port}/")
        names = {"rebound.example": [["127.0.0.2"], ["127.0.0.1"]]}
        only = {"allow_networks": ("127.0.0.2/32",)}
        return Ask((request, request), settings=only, names=names, is_restarted=restarted)

    return scene


def _receiver(stage: Stage) -> Ask:
    return Ask((FetchRequest(url="http://127.0.0.1:9000/"),), settings=dict(CLOSED), posts=True)


def _proxies(stage: Stage) -> Ask:
    proxy, server = stage.server(Page(b"from the proxy")), stage.server(Page(b"x"), "127.0.0.2")
    names = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy")
    return Ask((FetchRequest(url=server.url()),), environment=dict.fromkeys(names, proxy.url()))


def _directly(stage: Stage, result: Result) -> str:
    return f"{outcomes(stage, result)}; {' and '.join(f'{server.dials}' for server in stage.servers)} dials"


def _bad_header(name: str, value: str) -> Row:
    def scene(stage: Stage) -> Ask:
        server = stage.server(Page(b"x"))
        return Ask((FetchRequest(url=server.url(), headers=((name, value),)),), is_saved=True)

    id_ = "H-031" if "\n" in value or "\0" in value else "H-032"
    return Row(id_, f"header {name}: {value!r}", "REFUSE", "refused at save, request; 0 arrived", scene, and_requests)


SECRETS = (("X-Api-Key", "k"), ("Cookie", "a=b"), ("Authorization", "Bearer t"), ("Accept-Language", "de"))


def _to_other_origin(other: str) -> Callable[[Stage], Ask]:
    def scene(stage: Stage) -> Ask:
        first, second = stage.server(), stage.server(None, other)
        first.pages["/a"] = _move(second.url("/b"))
        second.pages["/b"] = _move(first.url("/c"))
        first.pages["/c"] = Page(b"end")
        return Ask((FetchRequest(url=first.url("/a"), headers=SECRETS),))

    return scene


@functools.cache
def _authority() -> trustme.CA:
    return trustme.CA()


def _downgrade(headers: tuple[tuple[str, str], ...]) -> Callable[[Stage], Ask]:
    def scene(stage: Stage) -> Ask:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        _authority().issue_cert("127.0.0.1").configure_cert(tls)
        plain = stage.server(Page(b"in clear"))
        secure = stage.server(_move(plain.url()), tls=tls)
        trust = _authority().cert_pem.bytes().decode()
        return Ask((FetchRequest(url=secure.url(), headers=headers),), trust=trust)

    return scene


def _chain(length: int) -> Callable[[Stage], Ask]:
    """Redirects one after the other; one and two go round in a circle."""

    def scene(stage: Stage) -> Ask:
        server = stage.server()
        for n in range(max(length, 3)):
            server.pages[f"/{n}"] = _move(f"/{(n + 1) % length if length < 3 else n + 1}")
        if length >= 3:
            server.pages[f"/{length}"] = Page(b"end")
        return Ask((FetchRequest(url=server.url("/0")),))

    return scene


def _wide_cookie(stage: Stage) -> Ask:
    server = stage.server(Page(b"x", [("Set-Cookie", "a=b; Domain=com"), ("Set-Cookie", "c=d; Path=/")]))
    own = FetchRequest(url=server.url(), headers=(("X-Own", "a"),))  # sent by the library's session
    return Ask((*(FetchRequest(url=server.url()),) * 2, own, own))


def _two_owners(stage: Stage) -> Ask:
    server = stage.server(Page(b"x", [("Set-Cookie", "session=of-who-asked; Path=/")]))
    cookies = ((("Cookie", "who=a"),), (("Cookie", "who=b"),), ())
    return Ask(tuple(FetchRequest(url=server.url(), headers=headers) for headers in cookies))


def _bomb(encoding: str, make: Callable[[], bytes]) -> Callable[[Stage], Ask]:
    def scene(stage: Stage) -> Ask:
        answer = whole(f"Content-Encoding: {encoding}", body=make())

        def patiently(seen: Seen, wire: Wire) -> None:
            wire.peer.settimeout(5)
            answer(seen, wire)

        return Ask((FetchRequest(url=stage.server(patiently).url()),))

    return scene


def _cut(encoding: str, encode: Callable[[bytes], bytes], head: bytes = b"") -> Answer:
    body = encode(b"<p>a page of some length</p>" * 50)
    return raw(HEAD + b"Content-Encoding: %b\r\n%b\r\n" % (encoding.encode(), head) + body[: len(body) // 2])


def _silent(stage: Stage) -> Ask:
    server = stage.server(connect=lambda wire: wire.hang())
    return Ask((FetchRequest(url=server.url()),), settings=dict(SHORT))


def _rules(id_: str, what: str, word: Word, expected: str, body: bytes, *, delays: bool = False) -> Row:
    """A robots.txt; `/a/x` and then `/b` are asked for under it."""

    def scene(stage: Stage) -> Ask:
        server = stage.server()
        server.pages |= {"/robots.txt": Page(body), "/a/x": Page(b"x"), "/b": Page(b"x")}
        paths = ("/a/x", "/b")
        return Ask(tuple(FetchRequest(url=server.url(path)) for path in paths), settings=dict(ROBOTS))

    return Row(id_, what, word, expected, scene, and_delays if delays else and_paths)


def _pause(value: str, expected: str) -> Row:
    answer = raw(f"HTTP/1.1 503 Busy\r\nRetry-After: {value}\r\nContent-Length: 0\r\n\r\n".encode())

    def scene(stage: Stage) -> Ask:
        return Ask((FetchRequest(url=stage.server(answer).url()),))

    return Row("H-116", f"Retry-After: {value}", "LIMIT", f"busy; pause {expected}", scene, and_pause)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
FIFTY = "Content-Encoding: " + ", ".join(["gzip"] * 50)
LARGEST = 9_900_000
CHUNK = b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"


def _addresses() -> Iterator[Row]:
    yield _forbid("H-001", "http://127.0.0.1:8080/")
    yield _forbid("H-002", "http://169.254.169.254/latest/meta-data/")
    yield _refuse_typed("H-003", "http://2130706433/")
    yield _refuse_typed("H-004", "http://0x7f000001/")
    yield _refuse_typed("H-004", "http://0x7f.1/")
    yield _refuse_typed("H-005", "http://0177.0.0.1/")
    yield _refuse_typed("H-006", "http://127.1/")
    yield _refuse_typed("H-007", "http://0/")
    yield _forbid("H-008", "http://[::1]/")
    yield _forbid("H-009", "http://[::ffff:127.0.0.1]/")
    yield _forbid("H-010", "http://[64:ff9b::7f00:1]/")
    yield _forbid("H-011", "http://100.64.0.1/")
    for url in ("http://10.0.0.1/", "http://172.16.0.1/", "http://192.168.1.1/"):
        yield _forbid("H-012", url)
    for url in ("http://224.0.0.1/", "http://[ff02::1]/"):
        yield _forbid("H-013", url)
    yield _forbid("H-014", "http://mixed.example/", NAMES, "a name with a public address and 10.0.0.1")
    yield _forbid("H-014", "http://mixed6.example/", NAMES, "a name with a public address and ::1")
    yield _forbid("H-015", "http://rebound.example/", NAMES, "a name that now leads to 127.0.0.1")
    for restarted, expected in ((False, "fetched, fetched"), (True, "fetched, address")):
        what = f"a name that leads elsewhere at the second lookup{', after a restart' if restarted else ''}"
        yield Row("H-015", what, "BLOCK", expected, _rebound(restarted=restarted), outcomes)
    for place in ("http://169.254.169.254/", "http://[::1]/"):
        yield _answer("H-016", f"302 to {place}", "BLOCK", "address", _move(place))
    yield _answer("H-017", "302 to file:///etc/passwd", "FAIL", "redirect", _move("file:///etc/passwd"))
    yield _refuse_typed("H-018", "http://127.0.0.1:80\\@example.com/")
    yield _refuse_typed("H-019", "http://example.com\\@127.0.0.1/")
    yield _refuse_typed("H-020", "http://user:pw@127.0.0.1/")
    yield _refuse_typed("H-021", "http:///127.0.0.1/")
    yield _refuse_typed("H-021", "http:127.0.0.1/")
    yield _refuse_typed("H-022", "http://loca\tlhost/")
    yield replace(
        _forbid("H-023", "file:///etc/passwd"), word="REFUSE"
    )  # at save by the language (E22), as it knows the settings
    for url in ("file:/etc/passwd", "FILE:.."):
        yield _refuse_typed("H-023", url)
    for url in ("source:file:///etc/passwd", "view-source:http://x/"):
        yield _refuse_typed("H-024", url)
    yield _refuse_typed("H-025", "javascript:alert(1)")
    yield _refuse_typed("H-026", "gopher://127.0.0.1:6379/_FLUSHALL")
    for url in ("ftp://example.com/", "data:text/html,<script>"):
        yield _refuse_typed("H-027", url)
    for port in (22, 25, 1023):
        yield _refuse_typed("H-028", f"http://example.com:{port}/")
    yield _answer("H-028", "302 to port 22", "BLOCK", "redirect", _move("http://127.0.0.1:22/"))
    yield Row("H-029", "webhook to http://127.0.0.1:9000/", "BLOCK", "not sent", _receiver, outcomes)
    yield Row(
        "H-030", "proxies in the environment", "SAFE", "fetched; 0 and 1 dials", _proxies, _directly,
    )  # fmt: skip


def _headers_and_redirects() -> Iterator[Row]:
    for value in ("a\r\nX-Evil: y", "a\nb", "a\0b"):
        yield _bad_header("X", value)
    for name, value in (
        ("Host", "evil.example"), ("Content-Length", "5"), ("Transfer-Encoding", "chunked"), ("Connection", "close"),
    ):  # fmt: skip
        yield _bad_header(name, value)
    for other in ("127.0.0.2", "127.0.0.1"):
        what = "302 to another host and back" if other == "127.0.0.2" else "302 to another port and back"
        yield Row(
            "H-033", f"{what}, with X-Api-Key and cookie", "SAFE",
            "fetched; x-api-key cookie authorization accept-language, accept-language, "
            "x-api-key cookie authorization accept-language",
            _to_other_origin(other), and_headers(*(name.lower() for name, _ in SECRETS)),
        )  # fmt: skip
    for headers in ((("Cookie", "a=b"),), (("X-Api-Key", "k"),)):
        yield Row(
            "H-034", f"302 https to http with {headers[0][0]}", "FAIL", "redirect; 1 arrived",
            _downgrade(headers), and_requests,
        )  # fmt: skip
    yield Row(
        "H-034", "302 https to http without credentials", "SAFE", "fetched; 2 arrived", _downgrade(()), and_requests
    )
    for length, expected in ((1, "redirect; 1"), (2, "redirect; 2"), (10, "fetched; 11"), (11, "redirect; 11")):
        what = f"a circle of {length} redirects" if length < 3 else f"{length} redirects"
        word: Word = "SAFE" if length == 10 else "FAIL"
        yield Row("H-035", what, word, f"{expected} arrived", _chain(length), and_requests)
    for place, expected in (
        ("/" + "a" * 65_536, "size"), ("/" + "a" * 9_000, "redirect"), ("", "redirect"), ("//", "redirect"), ("http://", "redirect"),
        ("/\\evil.example", "redirect"), ("http://[::1", "redirect"), ("?up", "redirect"), ("../../../up", "fetched"), ("  /up  ", "fetched"),
    ):  # fmt: skip
        text = repr(place) if len(place) < 30 else f"{len(place):,} characters"
        yield _answer("H-036", f"302 to {text}", "FAIL" if expected != "fetched" else "SAFE", expected, _move(place))
    yield _answer("H-036", "302 with two places", "FAIL", "redirect", _move("/a", "/b"))
    cookies = "fetched, fetched, fetched, fetched; none, none, none, none"
    yield Row("H-037", "Set-Cookie: a=b; Domain=com", "SAFE", cookies, _wide_cookie, and_cookies)
    yield Row(
        "H-038", "pages of two owners at one address", "SAFE", "fetched, fetched, fetched; who=a, who=b, none",
        _two_owners, and_cookies,
    )  # fmt: skip


def _framing() -> Iterator[Row]:
    yield _answer("H-039", "5 of 1,000 bytes", "FAIL", "framing", raw(HEAD + b"Content-Length: 1000\r\n\r\nhello"))
    for what, data in (
        ("no last chunk", CHUNK), ("last chunk cut", CHUNK + b"0\r\n"), ("a chunk of zz bytes", CHUNK + b"zz\r\nhello\r\n0\r\n\r\n"),
    ):  # fmt: skip
        yield _answer("H-040", what, "FAIL", "framing", raw(HEAD + data))
    for what, data in (
        ("two lengths", b"Content-Length: 5\r\nContent-Length: 4\r\n\r\nhello"),
        ("two lengths in one", b"Content-Length: 5, 4\r\n\r\nhello"),
        ("Content-Length: -1", b"Content-Length: -1\r\n\r\nhello"),
        ("a length and chunks", b"Content-Length: 5\r\n" + CHUNK + b"0\r\n"),
        ("Transfer-Encoding: gzip", b"Transfer-Encoding: gzip\r\n\r\nhello"),
    ):
        yield _answer("H-041", what, "FAIL", "framing", raw(HEAD + data))
    yield _answer("H-042", "no length, closed", "SAFE", "fetched unframed", raw(b"HTTP/1.0 200 OK\r\n\r\n<p>half a pa"))
    yield _answer(
        "H-042", "no length, reset", "FAIL", "framing",
        _half_then_reset,
    )  # fmt: skip


def _encodings() -> Iterator[Row]:
    yield _answer(
        "H-043", "gzip that is plain text", "FAIL", "encoding",
        whole("Content-Encoding: gzip", body=b"<p>plain text</p>"),
    )  # fmt: skip
    yield Row(
        "H-044",
        "gzip, 1 MiB to 1 GiB",
        "LIMIT",
        "size",
        _bomb("gzip", _gzip_of_a_gibibyte),
        outcomes,
        most_mebibytes=32,
    )
    yield Row("H-045", "brotli, 1,617 bytes to 1 GiB", "LIMIT", "size", _bomb("br", _brotli_of_a_gibibyte), outcomes)
    for name, encode in (("gzip", _gzip), ("br", _brotli_in_a_wide_window), ("zstd", _zstd_in_a_wide_window)):
        yield Row(
            "H-045",
            f"{name}, 5 times over, of {LARGEST:,} bytes that do not shrink",
            "SAFE",
            "fetched",
            _bomb(", ".join([name] * 5), functools.partial(_five_times, encode)),
            outcomes,
        )
    fifty = functools.reduce(lambda body, _: gzip.compress(body), range(50), b"a page")
    yield _answer("H-046", "gzip 50 times", "FAIL", "encoding", whole(FIFTY, body=fifty))
    yield _answer("H-046", "gzip in 50 lines", "FAIL", "encoding", whole(*["Content-Encoding: gzip"] * 50, body=fifty))
    yield _answer("H-047", "an unknown encoding of plain text", "SAFE", "fetched", whole("Content-Encoding: foo"))
    yield _answer(
        "H-047",
        "an unknown encoding",
        "FAIL",
        "encoding",
        whole("Content-Encoding: foo", body=gzip.compress(b"a page")),
    )


def _slow() -> Iterator[Row]:
    yield _answer("H-048", "a body for ever", "LIMIT", "net", drip(HEAD + b"\r\n", b"x"), SHORT)
    yield _answer("H-049", "headers for ever", "LIMIT", "net", drip(b"HTTP/1.1 200 OK\r\n", b"X: x\r\n"), SHORT)
    yield _answer("H-049", "a first line for ever", "LIMIT", "framing", drip(b"", b"H"))
    yield _answer("H-050", "no answer", "LIMIT", "net", lambda seen, wire: wire.hang(), SHORT)
    yield Row("H-050", "accepts and reads nothing", "LIMIT", "net", _silent, outcomes)
    yield _answer(
        "H-051", "2,000 times 100 Continue", "FAIL", "size",
        raw(b"HTTP/1.1 100 Continue\r\n\r\n" * 2_000 + HEAD + b"Content-Length: 1\r\n\r\nx"),
    )  # fmt: skip
    yield _answer(
        "H-051", "20 times 103 Early Hints", "SAFE", "fetched",
        raw(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 20 + HEAD + b"Content-Length: 1\r\n\r\nx"),
    )  # fmt: skip
    yield _answer("H-051", "100 Continue for ever", "FAIL", "size", drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.002))
    yield _answer("H-052", "200,000 header lines", "FAIL", "size", _endless_headers)
    yield _answer("H-052", "a header of 1 MiB", "FAIL", "size", raw(HEAD + b"X: " + b"x" * 2**20 + b"\r\n\r\n"))
    yield _answer(
        "H-052", "three headers of 30 KB", "FAIL", "size",
        raw(HEAD + b"".join(b"X-%d: %s\r\n" % (n, b"x" * 30_000) for n in range(3)) + b"\r\n"),
    )  # fmt: skip
    yield _answer("H-052", "a reason of 100 KB", "FAIL", "size", raw(b"HTTP/1.1 200 " + b"x" * 100_000 + b"\r\n\r\n"))


def _robots() -> Iterator[Row]:
    free, first = "fetched, fetched; asked /robots.txt /a/x /b", "robots, fetched; asked /robots.txt /b"
    for what, expected, body in (
        ("an HTML page", free, b"<html><body>not found</body></html>"),
        ("a byte-order mark", first, "\ufeffUser-agent: *\nDisallow: /a".encode()),
        ("lines that end in CR", first, b"User-agent: *\rDisallow: /a\r"),
        ("NULs", first, b"\0User-agent: *\r\nDisallow: /a\0"),
    ):
        yield _rules("H-113", f"robots.txt: {what}", "SAFE", expected, body)
    filler = b"".join(b"Disallow: /path/%d\n" % n for n in range(500_000))[:10_000_000]
    yield _rules(
        "H-114", "robots.txt of 10 MB, a rule behind 500 KiB", "LIMIT", first,
        b"User-agent: *\nDisallow: /a\n" + filler + b"\nDisallow: /b\n",
    )  # fmt: skip
    for value, delay in (("1e9", "300 s"), ("-1", "none"), ("nan", "none"), ("0.5", "0.5 s")):
        body = f"User-agent: *\nCrawl-delay: {value}\nDisallow: /a".encode()
        yield _rules("H-115", f"Crawl-delay: {value}", "LIMIT", f"robots, fetched; delay {delay}", body, delays=True)


def _statuses() -> Iterator[Row]:
    for value, expected in (
        ("-1", "as usual"), ("0", "as usual"), ("1", "60 s"), ("1e10", "as usual"), ("99999999999999999999", "86400 s"),
        ("Fri, 31 Dec 9999 23:59:59 GMT", "86400 s"), ("Fri, 31 Dec 1999 23:59:59 GMT", "as usual"), ("soon", "as usual"),
        ("Fri, 99 Foo 2026", "as usual"), ("120", "120 s"),
    ):  # fmt: skip
        yield _pause(value, expected)
    yield _answer("H-117", "304 that nobody asked for", "FAIL", "request", Page(status=304))
    yield _answer("H-118", "200 with Content-Range", "FAIL", "request", whole("Content-Range: bytes 0-0/5"))
    yield _answer("H-118", "206", "FAIL", "request", whole("Content-Range: bytes 0-0/5", status="206 Partial Content"))
    yield _answer("H-118", "204", "FAIL", "request", raw(b"HTTP/1.1 204 No Content\r\n\r\n"))
    yield _answer("H-118", "205", "FAIL", "request", raw(b"HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n"))
    for name, encode in (
        ("gzip", gzip.compress), ("deflate", zlib.compress), ("br", brotli.compress), ("zstd", zstd.compress),
    ):  # fmt: skip
        yield _answer("H-143", f"{name} cut in half, no length", "FAIL", "encoding", _cut(name, encode))
    yield _answer(
        "H-143", "gzip cut in half, closed as said", "FAIL", "encoding",
        _cut("gzip", gzip.compress, b"Connection: close\r\n"),
    )  # fmt: skip


def rows() -> tuple[Row, ...]:
    """Return all rows in the order of their ids."""
    parts = (_addresses, _headers_and_redirects, _framing, _encodings, _slow, _robots, _statuses)
    return tuple(row for part in parts for row in part())


def list_required_ids() -> Sequence[str]:
    """Return the ids of `docs/design/hostile.md` that this table must hold."""
    return [f"H-{number:03d}" for number in (*range(1, 53), *range(113, 119), 143)]


@functools.cache
def _gzip_of_a_gibibyte() -> bytes:
    return gzip_bomb(1_024)


@functools.cache
def _brotli_of_a_gibibyte() -> bytes:
    return bytes(brotli_bomb(1_024))


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, 1)


def _brotli_in_a_wide_window(data: bytes) -> bytes:
    return bytes(brotli.compress(data, quality=1, lgwin=24))


def _zstd_in_a_wide_window(data: bytes) -> bytes:
    return zstd.compress(
        data, options={zstd.CompressionParameter.compression_level: 1, zstd.CompressionParameter.window_log: 23}
    )


@functools.cache
def _five_times(encode: Callable[[bytes], bytes]) -> bytes:
    return functools.reduce(lambda body, _: encode(body), range(5), random.Random(5).randbytes(LARGEST))

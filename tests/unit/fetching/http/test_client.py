from __future__ import annotations

import asyncio
import gzip
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta

import pytest
import trustme

import tidings
from tests.fakes import FreePermit, Page, Seen, SocketRecorder, WebServer, Wire, response
from tests.unit.fetching.asking import FixedNames, ask, settings, tls_pair
from tidings.fetching.fetcher import PostAnswer
from tidings.fetching.http.client import Client, product_token, user_agent
from tidings.model.observed.outcome import Failed, Fetched, FetchRequest, Unchanged, Validators
from tidings.settings import FetchSettings


def test_requests_have_only_honest_headers():
    """The headers name Tidings and the encodings that it can decode; there is no cookie, no
    referrer and no browser's name (P-8).
    """
    with WebServer() as server:
        ask(server.url("/?b=1&a=%zz"), using=settings(contact="https://example.com/bot"))
        [seen] = server.seen

    assert ("GET", "/?b=1&a=%zz") == (seen.method, seen.target)
    assert {"host", "user-agent", "accept", "accept-encoding"} == set(seen.headers)
    assert f"Tidings/{tidings.__version__} (+https://example.com/bot)" == seen.headers["user-agent"]
    assert "gzip, deflate, br, zstd" == seen.headers["accept-encoding"]


def test_user_agent_setting_replaces_the_whole_header():
    """Rules of robots.txt then apply to its first word."""
    own = FetchSettings(user_agent="MyBot/2.0 (+mailto:me@example.com)")

    assert f"Tidings/{tidings.__version__}" == user_agent(FetchSettings())
    assert ["MyBot", "Tidings", "Tidings"] == [
        product_token(text) for text in (user_agent(own), user_agent(FetchSettings()), "/")
    ]


@pytest.mark.parametrize(
    ("head", "body", "framing"),
    [
        (b"Content-Length: 5\r\n", b"hello", "length"),
        (b"Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\n0\r\n\r\n", "chunked"),
        (b"Content-Encoding: gzip\r\n", gzip.compress(b"hello", mtime=0), "encoded"),
        (b"", b"hello", "unframed"),
        (b"Content-Encoding: identity\r\n", b"hello", "unframed"),
    ],
)
def test_outcome_has_the_framing_of_its_body(head, body, framing):
    """The end is known by length, chunks or encoding, or only by the end of the connection
    (flagged: H-042).
    """

    def answer(seen: Seen, wire: Wire) -> None:
        wire.send(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n" + body)
        wire.close()

    with WebServer() as server:
        server.pages["/"] = answer
        [outcome] = ask(server.url())

    assert isinstance(outcome, Fetched)
    assert (b"hello", framing) == (outcome.body, outcome.framing)


def test_wire_and_decoded_bytes_are_both_counted():
    """`wire_bytes` is the size of the received body, `body` the decoded one."""
    body = b"a page of many words " * 1_000
    packed = gzip.compress(body)
    with WebServer() as server:
        server.pages["/"] = Page(packed, {"Content-Encoding": "gzip"})
        [outcome] = ask(server.url())

    assert isinstance(outcome, Fetched)
    assert (body, len(packed), "gzip") == (outcome.body, outcome.wire_bytes, outcome.encoding)


def test_connections_are_reused():
    """Polls of one host use one connection, for 304s and bodies."""
    with WebServer() as server:
        server.pages["/"] = Page(b"x" * 100_000, etag='"1"')
        urls = [FetchRequest(url=server.url(), validators=Validators(v)) for v in (None, '"1"', None, '"1"')]
        outcomes = ask(*urls)

        assert [Fetched, Unchanged, Fetched, Unchanged] == [type(outcome) for outcome in outcomes]
        assert 1 == server.dials


@pytest.mark.parametrize(("status", "requests"), [(400, 2), (406, 2), (500, 2), (501, 2), (404, 1), (503, 1)])
def test_refused_conditional_request_is_repeated_without_conditions(status: int, requests: int):
    """Some servers answer validators with these statuses. Other statuses are final."""

    def refuse(seen: Seen, wire: Wire) -> None:
        wire.send(response(Page(b"x", status=status if "if-none-match" in seen.headers else 200), seen))

    with WebServer() as server:
        server.pages["/"] = refuse
        [outcome] = ask(FetchRequest(url=server.url(), validators=Validators('"1"')))

    assert requests == len(server.seen)
    assert isinstance(outcome, Fetched if requests == 2 else Failed)


def close_on_second_request(seen: Seen, wire: Wire) -> None:
    """Answer the first request of a connection; close it without an answer when a second one comes."""
    if getattr(wire, "served", False):
        wire.close()
        return
    wire.served = True  # type: ignore[attr-defined]
    wire.send(response(Page(b"x"), seen))


def test_closed_idle_connection_is_retried_once_and_charged():
    """The retry uses the permit like any request; that of the library, which would not, is off."""
    permit = FreePermit()
    with WebServer() as server:
        server.pages["/"] = close_on_second_request
        outcomes = ask(server.url(), server.url(), permit=permit)

        assert [1, 2] == [outcome.requests for outcome in outcomes]
        assert len(server.seen) == len(permit.hosts) == 3
        assert [Fetched, Fetched] == [type(outcome) for outcome in outcomes]


def test_closed_new_connection_is_not_retried():
    """The server is asked only once."""
    with WebServer() as server:
        server.pages["/"] = lambda seen, wire: wire.close()
        [outcome] = ask(server.url())

        assert ("net", 1, 1) == (outcome.kind, outcome.requests, len(server.seen))


def test_deadline_excludes_waiting_for_the_permit():
    """Waiting for the gap of a host is not the server's fault."""

    class Slow(FreePermit):
        async def hop(self, host: str) -> None:
            await asyncio.sleep(0.6)
            await super().hop(host)

    with WebServer() as server:
        server.pages["/a"] = Page(status=302, headers={"Location": "/b"})
        server.pages["/b"] = Page(b"x")
        [outcome] = ask(server.url("/a"), using=settings(total_seconds=1), permit=Slow())

    assert isinstance(outcome, Fetched)


def test_one_deadline_covers_all_redirects():
    """Each redirect is in time, but not their sum."""

    def slow(seen: Seen, wire: Wire) -> None:
        wire.wait(0.12)
        wire.send(response(Page(status=302, headers={"Location": seen.path + "x"}), seen))

    with WebServer() as server:
        for n in range(10):
            server.pages["/" + "x" * n] = slow
        [outcome] = ask(server.url("/"), using=settings(total_seconds=0.3))

    assert "net" == outcome.kind
    assert len(server.seen) < 10


def test_post_becomes_get_after_301_302_and_303():
    """307 and 308 keep the method (RFC 9110 §15.4)."""
    methods = {}
    for status in (301, 302, 303, 307, 308):
        with WebServer() as server:
            server.pages["/a"] = Page(status=status, headers={"Location": "/b"})
            server.pages["/b"] = Page(b"x")
            ask(FetchRequest(url=server.url("/a"), method="POST"))
            methods[status] = server.seen[1].method

    assert {301: "GET", 302: "GET", 303: "GET", 307: "POST", 308: "POST"} == methods


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("b", "/dir/b"),
        ("/b", "/b"),
        ("./b/../c", "/dir/c"),
        ("../../../b", "/b"),
        ("?q=1", "/dir/a?q=1"),
        ("/b#part", "/b"),
        ("/b c", "/b%20c"),
        ("/ä", "/%C3%A4"),
        (b"/\xe4", "/%E4"),
        ("http:b", "/dir/b"),
    ],
)
def test_locations_are_read_like_in_browsers(location, target):
    """A location may be relative, have blanks or a fragment, or be in UTF-8 or Latin-1."""
    value = location if isinstance(location, bytes) else location.encode()
    with WebServer() as server:
        server.pages["/dir/a"] = lambda seen, wire: wire.send(
            b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + value + b"\r\n\r\n"
        )
        if location == "?q=1":
            server.pages["/dir/a"] = lambda seen, wire: wire.send(
                response(Page(b"x") if "?" in seen.target else Page(status=302, headers={"Location": "?q=1"}), seen)
            )
        ask(server.url("/dir/a"))

        assert target == server.seen[1].target


def test_header_bytes_outside_utf8_can_be_stored():
    """The bytes become text without incomplete characters. Such validators are not used."""
    with WebServer() as server:
        server.pages["/"] = lambda seen, wire: wire.send(
            b'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: \xe4\r\nY: \xc3\xa4\r\nETag: "\xe4"\r\n\r\n'
        )
        [outcome] = ask(server.url())

    assert isinstance(outcome, Fetched)
    assert ("ä", "ä") == (outcome.headers["x"], outcome.headers["y"])
    assert not outcome.validators
    for text in outcome.headers.values():
        text.encode("utf-8")


def test_invalid_certificate_is_refused_with_its_reason():
    """The certificate is from an unknown authority, for another name, or expired."""
    authority = trustme.CA()
    good, trust = tls_pair(authority)
    past = datetime(2020, 1, 1, tzinfo=UTC)
    late, _ = tls_pair(authority, not_before=past - timedelta(days=1), not_after=past)
    reasons = []
    for tls, client, name in ((good, None, ""), (late, trust, ""), (good, trust, "other.example"), (good, trust, "")):
        with WebServer(tls=tls) as server:
            server.pages["/"] = Page(b"x")
            url = f"https://{name}:{server.port}/" if name else server.url()
            [outcome] = ask(url, tls=client, resolver=FixedNames({"other.example": [["127.0.0.1"]]}))
            reasons.append((outcome.kind, outcome.reason) if isinstance(outcome, Failed) else ("ok", ""))

    assert ["net", "net", "net", "ok"] == [kind for kind, _ in reasons]
    assert ["unable to get local issuer", "expired", "Hostname mismatch"] == [
        word
        for word, (_, reason) in zip(
            ("unable to get local issuer", "expired", "Hostname mismatch"), reasons, strict=False
        )
        if word in reason
    ]


def test_reasons_never_show_path_or_query():
    """Reasons are shown and logged, and path and query may have secrets (H-108)."""
    with WebServer() as server:
        gone = server.url("/hunter2?token=hunter2")
    failures = ask(gone, "http://no.example/hunter2?hunter2", "http://10.0.0.1/hunter2", resolver=FixedNames({}))

    assert ["net", "net", "address"] == [outcome.kind for outcome in failures]
    assert [] == [outcome.reason for outcome in failures if "hunter2" in outcome.reason]


def post(url: str, *, using: FetchSettings | None = None, body: bytes = b"{}", timeout: float = 2.0) -> PostAnswer:
    async def run() -> PostAnswer:
        client = Client(using or settings())
        try:
            return await client.post(url, headers={"webhook-id": "1"}, body=body, timeout_seconds=timeout)
        finally:
            await client.close()

    return asyncio.run(run())


def test_post_sends_its_body_once():
    """Body and headers are sent as given. A 2xx is a success with an empty error."""
    with WebServer() as server:
        server.pages["/hook"] = Page(b"thanks", status=202)
        answer = post(server.url("/hook"), body=b'{"a": 1}')
        [seen] = server.seen

    assert PostAnswer(202) == answer
    assert ("POST", b'{"a": 1}', "1") == (seen.method, seen.body, seen.headers["webhook-id"])


@pytest.mark.parametrize(
    ("page", "status", "words"),
    [
        (Page(status=500), 500, "answered 500"),
        (Page(status=410), 410, "answered 410"),
        (Page(status=302, headers={"Location": "http://127.0.0.1:9/"}), 302, "redirects are not followed"),
        (Page(status=304), 304, "redirects are not followed"),
        (lambda seen, wire: wire.close(), None, "without an answer"),
        (lambda seen, wire: wire.hang(), None, "within 0.3 s"),
    ],
)
def test_failed_post_is_a_value(page, status, words):
    """Anything but 2xx is a failure with a sentence, redirects too; none is followed, and nothing
    is raised (H-121, H-122).
    """
    with WebServer() as server, SocketRecorder() as recorder:
        server.pages["/"] = page
        answer = post(server.url(), timeout=0.3)

    assert status == answer.status
    assert words in answer.error
    assert {("127.0.0.1", server.port)} == set(recorder.dials)


def test_post_reads_retry_after():
    """The value is in microseconds, within the limits."""
    with WebServer() as server:
        server.pages["/"] = Page(status=429, headers={"Retry-After": "120"})

        assert 120_000_000 == post(server.url()).retry_after


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/", "http://[::1]/", "http://10.0.0.1/", "http://127.1/", "ftp://x/", "http://a:b@c/"]
)
def test_post_uses_the_guard(url):
    """H-029: a webhook to a forbidden or ambiguous address is refused without a connection."""
    with SocketRecorder() as recorder:
        answer = post(url, using=FetchSettings())

    assert None is answer.status
    assert answer.error
    assert [] == recorder.dials


def test_post_with_an_invalid_header_is_an_error_value():
    """Nothing is raised."""

    async def run(url: str) -> PostAnswer:
        client = Client(settings())
        try:
            return await client.post(url, headers={"x": "a\r\nb: c"}, body=b"", timeout_seconds=1)
        finally:
            await client.close()

    with WebServer() as server:
        answer = asyncio.run(run(server.url()))

        assert "cannot be sent" in answer.error
        assert [] == server.seen


def test_cancelled_fetch_closes_its_connection():
    """When the service stops, no connection stays open and no task stays behind."""
    came, gone = threading.Event(), threading.Event()

    def hang(seen: Seen, wire: Wire) -> None:
        came.set()
        wire.hang()
        gone.set()

    async def run(url: str) -> int:
        client = Client(settings())
        task = asyncio.create_task(client.fetch(FetchRequest(url=url), FreePermit()))
        await asyncio.to_thread(came.wait, 2)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        left = len(asyncio.all_tasks()) - 1
        await client.close()
        return left

    with WebServer() as server:
        server.pages["/"] = hang
        left = asyncio.run(run(server.url()))

        assert gone.wait(2)
        assert 0 == left


def test_contract_imports_no_http_library():
    """The service plans and verifies with contract, politeness and guard, without loading aiohttp."""
    names = "address fetcher network_guard politeness".split()
    code = f"import sys; from tidings.fetching import {', '.join(names)}; print('aiohttp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "False" == done.stdout.strip()

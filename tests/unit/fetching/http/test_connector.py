from __future__ import annotations

import asyncio
import errno
import ssl
from typing import cast

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from tests.fakes import Page, SocketRecorder, WebServer
from tests.unit.fetching.asking import FixedNames, ask
from tidings.fetching.http.connector import (
    DIAL,
    Dial,
    GuardedConnector,
    GuardedResolver,
    Head,
    RefusedAddressError,
    fault_of,
)
from tidings.fetching.network_guard import Guard
from tidings.model.observed.outcome import Fetched, FetchRequest, Unchanged, Validators

NAMED = Validators(etag='"1"')
BODIES = {
    "a length": b"Content-Length: 5\r\n\r\nhello",
    "a length of nothing": b"Content-Length: 0\r\n\r\nhello",
    "no length": b"\r\nhello",
    "chunks": b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "another answer": b"\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong",
}


@pytest.mark.parametrize(
    ("body", "is_apart"),
    [*((body, False) for body in BODIES.values()), (BODIES["a length"], True), (BODIES["chunks"], True)],
)
def test_304_with_a_body_closes_its_connection(body, is_apart):
    """The bytes of the body are dropped, with the head or after it; the next page is complete."""

    def answer(seen, wire):
        head, data = b"HTTP/1.1 304 Not Modified\r\n", body
        if is_apart:
            end = body.index(b"\r\n\r\n") + 4
            head, data = head + body[:end], body[end:]
            wire.send(head)
            wire.wait(0.01)
            wire.send(data)
        else:
            wire.send(head + data)

    with WebServer() as server:
        server.pages |= {"/a": answer, "/b": Page(b"<p>the next page</p>")}
        first, second = ask(FetchRequest(url=server.url("/a"), validators=NAMED), server.url("/b"))

    assert isinstance(first, Unchanged)
    assert isinstance(second, Fetched)
    assert b"<p>the next page</p>" == second.body


def test_body_of_a_head_answer_is_ignored():
    """HEAD has no body, whatever the server sends."""
    with WebServer() as server:
        server.pages["/a"] = lambda seen, wire: wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        (answer,) = ask(FetchRequest(url=server.url("/a"), method="HEAD"))

    assert b"" == answer.body


@pytest.mark.parametrize(
    "lengths",
    [
        b"Content-Length: 5\r\nContent-Length: 5\r\n",
        b"Content-Length: 5\r\nX: y\r\ncontent-length:5 \r\nContent-Length: 5\r\n",
        b"Content-Length: 5, 5\r\n",
        b"Content-Length: 5,5\r\nContent-Length: 5\r\n",
        b"Content-Length: 5\nContent-Length: 5\n",
    ],
)
def test_equal_content_lengths_count_as_one(lengths):
    """RFC 9110 §8.6; different lengths are an error (H-041)."""
    with WebServer() as server:
        server.pages["/a"] = lambda seen, wire: wire.send(b"HTTP/1.1 200 OK\r\n" + lengths + b"\r\nhello")
        (answer,) = ask(server.url("/a"))

    assert isinstance(answer, Fetched)
    assert (b"hello", "length") == (answer.body, answer.framing)


def test_head_is_passed_on_as_a_whole():
    """The bytes arrive one by one; the parser gets nothing before the end of the head."""
    head = Head(is_bodiless=False)
    data = b"HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok"
    given = [head.take(data[n : n + 1]) for n in range(len(data))]

    assert 4 == len([piece for piece in given if piece])
    assert b"HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" == b"".join(given)


@pytest.mark.parametrize(
    "data", [b"SSH-2.0-OpenSSH\r\n", b"<p>no http</p>", b"H" * 9, b"HTTP/1.1 200 " + b"x" * 70_000]
)
def test_data_that_is_no_head_is_passed_on_at_once(data):
    """The data cannot be a head, or has no end: the parser refuses it."""
    assert data == Head(is_bodiless=False).take(data)


def get(url: str, dial: Dial, resolver: FixedNames | None = None, allow: tuple[str, ...] = ()) -> object:
    """Request through the connector alone, without the checks of the client; return the status or the error."""

    async def run() -> object:
        DIAL.set(dial)
        connector = GuardedConnector(Guard(allow), resolver=resolver)
        async with aiohttp.ClientSession(connector=connector) as session:
            try:
                async with session.get(url) as response:
                    return response.status
            except aiohttp.ClientError as error:
                return error

    return asyncio.run(run())


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "10.0.0.1", "[::ffff:127.0.0.1]", "169.254.169.254"])
def test_literal_address_is_checked_when_dialled(host):
    """The library uses no resolver for it; the connection is refused all the same, and the verdict
    is recorded.
    """
    dial = Dial()
    with SocketRecorder() as recorder:
        result = get(f"http://{host}:8080/", dial)

    assert isinstance(result, aiohttp.ClientError)
    assert dial.refused
    assert not dial.dialled
    assert [] == recorder.dials


def test_verdict_is_recorded_if_several_addresses_fail():
    """The error of aiohttp has no type then; `Dial` still says that the guard refused."""

    async def run(dial: Dial) -> object:
        DIAL.set(dial)
        names = FixedNames({"two.example": [["10.0.0.1", "10.0.0.2"]]})
        connector = GuardedConnector(Guard())
        await connector._resolver.close()
        connector._resolver = names
        async with aiohttp.ClientSession(connector=connector) as session:
            try:
                await session.get("http://two.example:8080/")
            except aiohttp.ClientError as error:
                return error
        return None

    dial = Dial()
    with SocketRecorder() as recorder:
        result = asyncio.run(run(dial))

    assert isinstance(result, aiohttp.ClientError)
    assert "10.0.0" in dial.refused
    assert [] == recorder.dials


def test_one_forbidden_address_refuses_the_name():
    """R-03: the name has public and private addresses."""
    resolver = GuardedResolver(Guard(), FixedNames({"mixed.example": [["93.184.216.34", "10.0.0.1"]]}))

    with pytest.raises(RefusedAddressError, match=r"10\.0\.0\.1 is private use"):
        asyncio.run(resolver.resolve("mixed.example", 80))


def test_allowed_addresses_are_dialled_and_recorded():
    """The addresses are given as literals and by name."""
    with WebServer() as server:
        server.pages["/"] = Page(b"x")
        names = FixedNames({"town.example": [["127.0.0.1"]]})
        dials = [Dial(), Dial()]
        statuses = [
            get(server.url(), dials[0], allow=("127.0.0.0/8",)),
            get(f"http://town.example:{server.port}/", dials[1], names, ("127.0.0.0/8",)),
        ]

    assert [200, 200] == statuses
    assert [Dial(dialled=True)] * 2 == dials


KEY = ConnectionKey("shop.example", 443, is_ssl=True, ssl=True, proxy=None, proxy_auth=None, proxy_headers_hash=None)


def _tls(reason: str) -> ssl.SSLError:
    error = ssl.SSLError(1, f"[SSL: {reason}] some words (_ssl.c:1006)")
    error.reason = reason
    return error


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            aiohttp.ClientConnectorSSLError(KEY, _tls("WRONG_VERSION_NUMBER")),
            "no connection to shop.example (wrong version number: does this server use https?)",
        ),
        (
            aiohttp.ClientConnectorSSLError(KEY, _tls("TLSV1_ALERT_PROTOCOL_VERSION")),
            "no connection to shop.example (tlsv1 alert protocol version)",
        ),
        (
            aiohttp.ClientConnectorError(KEY, OSError(111, "Connection refused")),
            "no connection to shop.example (Connection refused)",
        ),
        (
            aiohttp.ClientConnectorDNSError(KEY, OSError(None, "Domain name not found")),
            "the name shop.example was not found (Domain name not found)",
        ),
        (aiohttp.ClientOSError(104, "Connection reset by peer"), "the connection to shop.example was lost (Connection reset by peer)"),
    ],
    ids=["no-tls", "tls", "refused", "name", "reset"],
)  # fmt: skip
def test_connection_errors_are_plain_sentences(error, text):
    """A sentence has the host and the reason, but no errno and no `_ssl.c`."""
    fault = fault_of(cast("Exception", error), "shop.example", Dial())

    assert ("net", text) == (fault.kind, str(fault))


def test_lack_of_resources_is_no_failure_of_the_host():
    """Without file descriptors or memory no host was reached, so none counts as unreachable."""
    for code in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS):
        fault = fault_of(OSError(code, "refused"), "a.example", Dial())

        assert "disk" == fault.kind
        assert "this machine" in str(fault)

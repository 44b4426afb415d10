from __future__ import annotations

import pytest

from tests.fakes import Page, Seen, WebServer, Wire
from tests.unit.fetching.asking import ask, settings
from tidings.model.observed.outcome import Failed, FetchRequest, Validators

OWN = (("X-Own", "a"),)
"""With a header of its own a request is sent by the library's session."""
HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
@pytest.mark.parametrize("validators", [Validators(), Validators(etag='"ü1"', last_modified="Fri, 01 Jan 2027")])
def test_headers_are_those_of_any_request(address: str, validators: Validators) -> None:
    """A server cannot see which way a request was sent."""
    with WebServer(address=address) as server:
        url = server.url("/a%20b?c=%zz&d")
        requests = (FetchRequest(url=url, validators=validators, headers=headers) for headers in ((), OWN))
        ask(*requests, using=settings(allow_networks=("127.0.0.0/8", "::1/128")))
        plain, other = server.seen

    assert "a" == other.headers.pop("x-own")
    assert (plain.method, plain.target, plain.headers) == (other.method, other.target, other.headers)


def test_both_ways_share_connections() -> None:
    """A connection that one request leaves open serves the next, whichever way it is sent."""
    with WebServer() as server:
        server.pages["/"] = Page(b"hello")
        ask(*(FetchRequest(url=server.url(), headers=headers) for headers in ((), OWN, (), OWN, ())))

    assert 1 == server.dials


@pytest.mark.parametrize(
    "answer",
    [
        HELLO,
        b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + HELLO,
        b"HTTP/1.1 100 Continue\r\n\r\n" * 30 + HELLO,
        b"HTTP/1.1 200 OK\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 4\r\n\r\nhello",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 304 Not Modified\r\n\r\n",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 40_000 + b"\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 200 + b"Content-Length: 0\r\n\r\n",
        b"HTTP/1.1 2x0 OK\r\n\r\n",
        b"hello\r\n\r\n",
        b"",
    ],
)
def test_outcome_is_that_of_any_request(answer: bytes) -> None:
    """Whatever a server answers."""

    def send(seen: Seen, wire: Wire) -> None:
        wire.send(answer)
        wire.close()

    with WebServer() as server:
        server.pages["/"] = send
        [plain], [other] = (ask(FetchRequest(url=server.url(), headers=headers)) for headers in ((), OWN))

    assert other == plain


def test_validator_with_a_line_end_is_not_sent() -> None:
    """It would begin a header, or another request."""
    with WebServer() as server:
        [outcome] = ask(FetchRequest(url=server.url(), validators=Validators(etag='"a"\r\nX-Other: b')))

    assert isinstance(outcome, Failed)
    assert ("request", []) == (outcome.kind, server.seen)

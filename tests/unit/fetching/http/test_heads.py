from __future__ import annotations

import pytest

from tests.fakes import Page, WebServer
from tests.unit.fetching.asking import ask
from tidings.fetching.http.heads import Head
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
def test_a_304_with_a_body_is_a_304_and_its_connection_is_not_used_again(body, is_apart):
    """Bytes behind a 304 are thrown away, whether they come with it or after it; the next page comes whole."""

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


def test_an_answer_to_head_that_has_a_body_is_read_without_it():
    """HEAD has no body whatever the server sends."""
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
def test_a_length_that_is_given_twice_alike_is_one_length(lengths):
    """Equal lengths are read as one (RFC 9110 §8.6); lengths that differ stay an error (H-041)."""
    with WebServer() as server:
        server.pages["/a"] = lambda seen, wire: wire.send(b"HTTP/1.1 200 OK\r\n" + lengths + b"\r\nhello")
        (answer,) = ask(server.url("/a"))

    assert isinstance(answer, Fetched)
    assert (b"hello", "length") == (answer.body, answer.framing)


def test_a_head_that_comes_byte_by_byte_is_whole_before_anybody_sees_it():
    """The parser gets nothing of a head before its end, then all of it."""
    head = Head(is_bodiless=False)
    data = b"HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok"
    given = [head.take(data[n : n + 1]) for n in range(len(data))]

    assert 4 == len([piece for piece in given if piece])
    assert b"HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" == b"".join(given)


@pytest.mark.parametrize(
    "data", [b"SSH-2.0-OpenSSH\r\n", b"<p>no http</p>", b"H" * 9, b"HTTP/1.1 200 " + b"x" * 70_000]
)
def test_what_is_no_head_is_not_waited_for(data):
    """What cannot be a head, or never ends, goes to the parser as it is."""
    assert data == Head(is_bodiless=False).take(data)

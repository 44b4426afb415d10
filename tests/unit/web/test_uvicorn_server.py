import asyncio
import contextlib
import resource
import signal

import pytest
from starlette.responses import PlainTextResponse, Response

from tests.asgi import PATIENCE_SECONDS
from tidings.settings import ServeSettings
from tidings.web import uvicorn_server
from tidings.web.server import listen
from tidings.web.uvicorn_server import MOST_HEAD_BYTES, ClientConnection, Server

WHOLE = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


class Endless(Response):
    """An answer without end; `is_over` is set once the client has disconnected."""

    def __init__(self):
        super().__init__()
        self.is_over = asyncio.Event()

    async def __call__(self, scope, receive, send):
        leaving = asyncio.create_task(self._hear(receive))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while not self.is_over.is_set():
            await send({"type": "http.response.body", "body": b"x" * 65_536, "more_body": True})
            await asyncio.sleep(0)
        leaving.cancel()

    async def _hear(self, receive):
        while (await receive())["type"] != "http.disconnect":
            pass
        self.is_over.set()


@contextlib.asynccontextmanager
async def serving(application):
    """Serve an application on loopback; yield the address."""
    server, bound = Server(application), listen(ServeSettings(port=0))
    task = asyncio.create_task(server.serve(sockets=[bound]))
    try:
        await asyncio.wait_for(server.listens.wait(), PATIENCE_SECONDS)
        yield bound.getsockname()[:2]
    finally:
        server.end()
        await asyncio.wait_for(task, PATIENCE_SECONDS)


def talk(sent, application=None):
    """Send these bytes; return the answer until the server closes."""

    async def act():
        async with serving(application or PlainTextResponse("well")) as address:
            reader, writer = await asyncio.open_connection(*address)
            writer.write(sent)
            try:
                return await asyncio.wait_for(reader.read(), PATIENCE_SECONDS)
            except ConnectionError:
                return b""
            finally:
                writer.close()

    return asyncio.run(act())


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        (b"", False),
        (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Drip: a", False),
        (WHOLE + WHOLE[:-2], True),
        (b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\na", True),
    ],
    ids=["nothing", "half a head", "half a head after a request", "half an unread body"],
)
def test_stalled_request_is_closed(monkeypatch, sent, answered):
    """H-049, H-050, for the server: a connection has a limited time, whatever it sends or omits."""
    monkeypatch.setattr(uvicorn_server, "HEAD_SECONDS", 0.1)
    monkeypatch.setattr(uvicorn_server, "IDLE_SECONDS", 0.1)

    came = talk(sent)

    assert answered == came.startswith(b"HTTP/1.1 200")


def test_stalled_reader_is_closed(monkeypatch):
    """The client does not read the answer; the application is notified and ends."""
    monkeypatch.setattr(uvicorn_server, "STALL_SECONDS", 0.1)

    async def act():
        endless = Endless()
        async with serving(endless) as address:
            _, writer = await asyncio.open_connection(*address, limit=1)
            writer.write(WHOLE)
            await asyncio.wait_for(endless.is_over.wait(), PATIENCE_SECONDS)
            writer.close()
        return endless.is_over.is_set()

    assert asyncio.run(act())


class AcceptingTransport(asyncio.Transport):
    """A transport that accepts all data."""

    def is_closing(self):
        return False

    def write(self, data):
        pass

    def close(self):
        pass


def test_deadlines_end_with_the_request_and_with_reading():
    """A stream may stay open for days."""

    async def act():
        waits = asyncio.Event()

        async def app(scope, receive, send):
            await waits.wait()

        server = Server(app)
        server.config.load()
        made = ClientConnection(server.config, server.server_state, {})
        made.connection_made(AcceptingTransport())
        before = made._deadline
        made.data_received(WHOLE)
        made.pause_writing()
        stalled = made._stalled
        assert before is not None
        assert stalled is not None
        made.resume_writing()
        ended = (before.cancelled(), made._deadline, stalled.cancelled(), made._stalled)
        made.connection_lost(None)
        waits.set()
        await asyncio.gather(*server.server_state.tasks)
        return ended

    assert (True, None, True, None) == asyncio.run(act())


@pytest.mark.parametrize(
    "sent",
    [b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 2 * MOST_HEAD_BYTES, b"\x16\x03\x01 not HTTP at all\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"],
    ids=["an endless head", "another protocol", "no host"],
)  # fmt: skip
def test_invalid_request_is_400(sent):
    """The connection is closed, and the application is not called."""
    assert talk(sent).startswith(b"HTTP/1.1 400")


def test_connections_are_limited(monkeypatch):
    """One connection too many gets 503 at once."""
    monkeypatch.setattr(uvicorn_server, "MOST_CONNECTIONS", 1)

    assert talk(WHOLE[:-2] + b"Connection: close\r\n\r\n").startswith(b"HTTP/1.1 503")


async def _ask(address):
    """Return the answer to a complete request."""
    reader, writer = await asyncio.open_connection(*address)
    writer.write(WHOLE[:-2] + b"Connection: close\r\n\r\n")
    try:
        return await asyncio.wait_for(reader.read(), PATIENCE_SECONDS)
    finally:
        writer.close()


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Drip: a", b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\na", WHOLE],
    ids=["nothing", "half a head", "half a body", "idle after an answer"],
)  # fmt: skip
@pytest.mark.parametrize("most", ["MOST_WAITING", "MOST_CONNECTIONS"])
def test_idle_connections_do_not_block_complete_requests(monkeypatch, sent, most):
    """However many connections send nothing or a part of a request, a complete request is answered
    at once. The oldest idle ones are closed.
    """
    monkeypatch.setattr(uvicorn_server, most, 6)

    async def well(scope, receive, send):
        while (await receive()).get("more_body"):
            pass
        await PlainTextResponse("well")(scope, receive, send)

    async def act():
        async with serving(well) as address:
            idle = [await asyncio.open_connection(*address) for _ in range(12)]
            for _, writer in idle:
                writer.write(sent)
            await asyncio.sleep(0)
            answer = await _ask(address)
            gone = await asyncio.wait_for(_end_of(idle[0][0]), PATIENCE_SECONDS)
            for _, writer in idle:
                writer.close()
            return answer, gone

    answer, gone = asyncio.run(act())

    assert answer.startswith(b"HTTP/1.1 200")
    assert gone


async def _end_of(reader):
    """Return True once the other end has closed."""
    with contextlib.suppress(ConnectionError):
        await reader.read()
    return True


def test_open_stream_is_not_closed_for_others(monkeypatch):
    """The request of the stream is complete, so it stays however many idle connections there are."""
    monkeypatch.setattr(uvicorn_server, "MOST_WAITING", 3)

    async def stream(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass

    async def act():
        async with serving(stream) as address:
            reader, writer = await asyncio.open_connection(*address)
            writer.write(WHOLE)
            await asyncio.wait_for(reader.readuntil(b"x\r\n"), PATIENCE_SECONDS)
            idle = [await asyncio.open_connection(*address) for _ in range(9)]
            await asyncio.wait_for(_end_of(idle[0][0]), PATIENCE_SECONDS)
            is_open = not reader.at_eof()
            for _, each in [(reader, writer), *idle]:
                each.close()
            return is_open

    assert asyncio.run(act())


def test_body_without_end_is_closed(monkeypatch):
    """The application waits for the body."""
    monkeypatch.setattr(uvicorn_server, "BODY_SECONDS", 0.1)

    async def reads(scope, receive, send):
        while (await receive()).get("more_body"):
            pass

    assert b"" == talk(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\na", reads)


def test_server_installs_no_signal_handlers():
    """Ctrl-C and SIGTERM end the service, which ends the server."""

    async def act():
        before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
        async with serving(PlainTextResponse("well")):
            return before, (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT))

    before, during = asyncio.run(act())

    assert before == during


def test_connections_use_at_most_half_of_the_open_files(monkeypatch):
    """The limit of open files is raised where that is allowed."""
    asked = []
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: asked.append(limits))
    found = []
    for limits in ((1_024, 1_024), (256, 65_536), (65_536, 65_536), (2, 2)):
        monkeypatch.setattr(resource, "getrlimit", lambda kind, limits=limits: limits)
        found.append(uvicorn_server.places())

    assert [512, 1_200, 1_200, 1] == found
    assert [(4_096, 65_536)] == asked

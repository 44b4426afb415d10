import asyncio
import contextlib
import resource
import signal

import pytest
from starlette.responses import PlainTextResponse, Response

from tests.asgi import PATIENCE_SECONDS
from tidings.settings import ServeSettings
from tidings.web import connection
from tidings.web.connection import MOST_HEAD_BYTES, ClientConnection, Server
from tidings.web.listening import listen

WHOLE = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


class Endless(Response):
    """An answer of more than any buffer holds; `is_over` once nobody takes it any more."""

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
    """Serve an application on loopback; give the address."""
    server, bound = Server(application), listen(ServeSettings(port=0))
    task = asyncio.create_task(server.serve(sockets=[bound]))
    try:
        await asyncio.wait_for(server.listens.wait(), PATIENCE_SECONDS)
        yield bound.getsockname()[:2]
    finally:
        server.end()
        await asyncio.wait_for(task, PATIENCE_SECONDS)


def talk(sent, application=None):
    """Return what comes back for these bytes until the server hangs up."""

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
    ids=["nothing at all", "half a head", "half a head after a whole one", "half a body that nobody reads"],
)
def test_who_does_not_get_on_is_dropped(monkeypatch, sent, answered):
    """H-049, H-050, turned round: a connection holds its place for a bounded time, whatever it sends or leaves out."""
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.1)
    monkeypatch.setattr(connection, "IDLE_SECONDS", 0.1)

    came = talk(sent)

    assert answered == came.startswith(b"HTTP/1.1 200")


def test_who_reads_nothing_is_dropped(monkeypatch):
    """A reader that leaves what is sent to it untouched is cut; the application hears of it and ends."""
    monkeypatch.setattr(connection, "STALL_SECONDS", 0.1)

    async def act():
        endless = Endless()
        async with serving(endless) as address:
            _, writer = await asyncio.open_connection(*address, limit=1)
            writer.write(WHOLE)
            await asyncio.wait_for(endless.is_over.wait(), PATIENCE_SECONDS)
            writer.close()
        return endless.is_over.is_set()

    assert asyncio.run(act())


class Line(asyncio.Transport):
    """The other end of a connection, which takes everything."""

    def is_closing(self):
        return False

    def write(self, data):
        pass

    def close(self):
        pass


def test_who_waits_for_an_answer_or_reads_on_has_all_the_time_he_needs():
    """The deadline of a head ends with it, that of a reader with his next reading: a stream is open for days."""

    async def act():
        waits = asyncio.Event()

        async def app(scope, receive, send):
            await waits.wait()

        server = Server(app)
        server.config.load()
        made = ClientConnection(server.config, server.server_state, {})
        made.connection_made(Line())
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
    ids=["a head without end", "another protocol", "no host"],
)  # fmt: skip
def test_what_is_no_request_is_refused(sent):
    """400 and the end of the connection; nothing of it reaches the application."""
    assert talk(sent).startswith(b"HTTP/1.1 400")


def test_places_are_bounded(monkeypatch):
    """Whoever comes when all are taken is told so instead of waiting."""
    monkeypatch.setattr(connection, "MOST_CONNECTIONS", 1)

    assert talk(WHOLE[:-2] + b"Connection: close\r\n\r\n").startswith(b"HTTP/1.1 503")


async def _ask(address):
    """Return what is answered to a whole request."""
    reader, writer = await asyncio.open_connection(*address)
    writer.write(WHOLE[:-2] + b"Connection: close\r\n\r\n")
    try:
        return await asyncio.wait_for(reader.read(), PATIENCE_SECONDS)
    finally:
        writer.close()


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Drip: a", b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\na", WHOLE],
    ids=["nothing at all", "half a head", "half a body", "idle after an answer"],
)  # fmt: skip
@pytest.mark.parametrize("most", ["MOST_WAITING", "MOST_CONNECTIONS"])
def test_who_only_waits_shuts_nobody_out(monkeypatch, sent, most):
    """However many connections send nothing, or a part of a request: whoever sends a whole one is answered at once, and the oldest go."""
    monkeypatch.setattr(connection, most, 6)

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
    """Return True once the other end has gone."""
    with contextlib.suppress(ConnectionError):
        await reader.read()
    return True


def test_an_open_stream_is_never_dropped_for_others(monkeypatch):
    """Who follows the stream has sent a whole request: however many wait beside it, it stays."""
    monkeypatch.setattr(connection, "MOST_WAITING", 3)

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


def test_a_body_that_never_ends_is_dropped(monkeypatch):
    """Also one that an application waits for."""
    monkeypatch.setattr(connection, "BODY_SECONDS", 0.1)

    async def reads(scope, receive, send):
        while (await receive()).get("more_body"):
            pass

    assert b"" == talk(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\na", reads)


def test_signals_stay_those_of_the_service():
    """The server takes no handler over: Ctrl-C and SIGTERM end the service, which ends the server."""

    async def act():
        before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
        async with serving(PlainTextResponse("well")):
            return before, (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT))

    before, during = asyncio.run(act())

    assert before == during


def test_places_leave_files_to_all_else(monkeypatch):
    """Half of the files that may be open at most; more are asked for where that is allowed."""
    asked = []
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: asked.append(limits))
    found = []
    for limits in ((1_024, 1_024), (256, 65_536), (65_536, 65_536), (2, 2)):
        monkeypatch.setattr(resource, "getrlimit", lambda kind, limits=limits: limits)
        found.append(connection.places())

    assert [512, 1_200, 1_200, 1] == found
    assert [(4_096, 65_536)] == asked

"""The suite that every bus passes (`bus.bus`)."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Awaitable, Callable, Iterator
from typing import ParamSpec, TypeVar
from urllib.parse import urlsplit

import pytest

from tests.buses import KINDS, open_bus, own_bus, own_server, remove_stream
from tests.nats_server import NatsServer
from tests.stores import end_connections, own_postgres
from tests.tcp_proxy import TcpProxy
from tidings.bus.bus import LARGEST_MESSAGE_BYTES, Bus
from tidings.bus.nats import NatsBus
from tidings.bus.postgres import PostgresBus
from tidings.errors import BusError

P = ParamSpec("P")
T = TypeVar("T")
Play = Callable[[Callable[[Bus], Awaitable[None]]], None]


@pytest.fixture(params=KINDS)
def play(request) -> Iterator[Play]:
    """Return a function that plays a story on a bus of its own."""
    with own_server(request.param) as url:

        def run(story: Callable[[Bus], Awaitable[None]]) -> None:
            async def act() -> None:
                async with asyncio.timeout(30), own_bus(request.param, url) as bus:
                    await story(bus)

            asyncio.run(act())

        yield run


def test_work_is_taken_in_fifo_order(play):
    """Each lane is a queue of its own."""

    async def story(bus):
        for number in range(5):
            await bus.offer("pages", b"%d" % number)
        await bus.offer("browser", b"other")

        assert [b"0", b"1", b"2", b"3", b"4"] == [await bus.take("pages") for _ in range(5)]
        assert b"other" == await bus.take("browser")

    play(story)


def test_each_work_item_has_one_taker(play):
    """Concurrent takers never get the same item."""

    async def story(bus):
        async def take(got):
            while True:
                got.append(await bus.take("pages"))

        taken: list[list[bytes]] = [[], [], []]
        takers = [asyncio.create_task(take(got)) for got in taken]
        for number in range(60):
            await bus.offer("pages", b"%d" % number)
        while sum(map(len, taken)) < 60:  # noqa: ASYNC110 - the timeout of the story ends it
            await asyncio.sleep(0.01)
        for taker in takers:
            taker.cancel()

        assert sorted(b"%d" % number for number in range(60)) == sorted(work for got in taken for work in got)

    play(story)


def test_take_waits_for_work(play):
    """A taker that waits gets work that is offered later."""

    async def story(bus):
        taking = asyncio.create_task(bus.take("pages"))
        await asyncio.sleep(0)
        await bus.offer("pages", b"late")

        assert b"late" == await taking

    play(story)


def test_messages_keep_their_sender_s_order(play):
    """An empty message and one of all byte values arrive unchanged."""
    messages = [b"", bytes(range(256)), *(b"%d" % number for number in range(50))]

    async def story(bus):
        async with bus.mailbox("mine") as mail:
            for message in messages:
                await bus.send("mine", message)

            assert messages == [await anext(mail) for _ in messages]

    play(story)


def test_large_message_arrives_whole(play):
    """It also arrives whole between small ones, and together with another large one."""
    first, second = b"a" * 3_000_001, b"b" * 2_000_000

    async def story(bus):
        async with bus.mailbox("mine") as mail:
            await asyncio.gather(*(bus.send("mine", each) for each in (first, b"small", second)))

            assert sorted([first, b"small", second]) == sorted([await anext(mail) for _ in range(3)])

    play(story)


def test_message_without_a_subscriber_is_lost(play):
    """The sender gets no error, and a later subscriber does not receive it."""

    async def story(bus):
        await bus.send("mine", b"early")
        async with bus.mailbox("mine") as mail:
            await bus.send("mine", b"now")

            assert b"now" == await anext(mail)

    play(story)


def test_too_large_message_is_refused(play):
    """The sender gets an error, and the connection stays open."""

    async def story(bus):
        with pytest.raises(ValueError, match="too large"):
            await bus.send("mine", bytes(LARGEST_MESSAGE_BYTES + 1))
        await bus.offer("pages", b"next")

        assert b"next" == await bus.take("pages")

    play(story)


@pytest.mark.parametrize("way", ["stream deleted", "server killed"])
def test_bus_that_was_emptied_takes_and_gives_work_again(tmp_path, monkeypatch, way):
    """F-41: a taker that waits meanwhile gets what is offered later, once."""
    monkeypatch.setattr("tidings.bus.nats.PULL_SECONDS", 0.5)

    async def story(server: NatsServer) -> None:
        service, poller, other = (NatsBus(server.url, name="t_emptied") for _ in range(3))
        await service.offer("pages", b"before")
        assert b"before" == await poller.take("pages")
        taking = [asyncio.create_task(_insist(bus.take, "pages")) for bus in (poller, other)]
        await asyncio.sleep(0)
        if way == "server killed":
            server.kill()
            server.start()
        else:
            await remove_stream("nats", server.url, "t_emptied")

        for work in (b"one", b"two"):
            await _insist(service.offer, "pages", work)
        assert [b"one", b"two"] == sorted([await task for task in taking])
        for bus in (service, poller, other):
            await bus.close()

    with NatsServer(tmp_path) as server:
        asyncio.run(asyncio.wait_for(story(server), 60))


@pytest.mark.parametrize("kind", ["nats", "postgres"])
def test_mailbox_loses_nothing_unless_it_ends(tmp_path, kind):
    """Whoever waits for an answer is to know if it may be lost with the connection."""

    async def story(bus: Bus, other: Bus, lose: Callable[[], None]) -> None:
        seen = []
        async with bus.mailbox("box") as messages:
            await bus.send("box", b"before")
            assert b"before" == await anext(messages)
            lose()
            await _insist(other.send, "box", b"meanwhile")
            with contextlib.suppress(BusError):
                async for message in messages:
                    seen.append(message)
                    break
        async with contextlib.AsyncExitStack() as stack:
            again = await _insist(lambda: stack.enter_async_context(bus.mailbox("box")))
            await _insist(bus.send, "box", b"after")
            assert b"after" == await anext(again)
        await bus.close()
        await other.close()

        assert ([] if kind == "nats" else [b"meanwhile"]) == seen

    def restart(server: NatsServer) -> None:
        server.kill()
        server.start()

    with contextlib.ExitStack() as stack:
        if kind == "nats":
            server = stack.enter_context(NatsServer(tmp_path))
            url, lose = server.url, functools.partial(restart, server)
        else:
            url = stack.enter_context(own_postgres())
            lose = functools.partial(end_connections, url)
        playing = story(open_bus(kind, url, "t_ended"), open_bus(kind, url, "t_ended"), lose)
        asyncio.run(asyncio.wait_for(playing, 30))


def test_silent_postgresql_server_is_given_up(monkeypatch):
    """A machine that is gone answers nothing and refuses nothing; nobody may wait for it for
    the quarter of an hour that the system would.
    """
    monkeypatch.setattr("tidings.bus.postgres.ANSWER_SECONDS", 0.5)
    monkeypatch.setattr("psycopg.AsyncConnection._try_cancel", _cancel_nothing)  # takes 5 s of its own

    async def story(url: str, proxy: TcpProxy) -> None:
        bus = PostgresBus(url, name="t_silent")
        await bus.offer("pages", b"before")
        proxy.block()
        with pytest.raises(BusError, match="does not answer"):
            await bus.offer("pages", b"lost")
        proxy.mend()
        assert b"before" == await bus.take("pages")
        await bus.close()

    with own_postgres() as url:
        parts = urlsplit(url)
        with TcpProxy((parts.hostname or "", parts.port or 5432)) as proxy:
            behind = url.replace(f"{parts.hostname}:{parts.port}", f"127.0.0.1:{proxy.port}")
            asyncio.run(asyncio.wait_for(story(behind, proxy), 60))


async def _cancel_nothing(connection: object, **more: object) -> None:
    pass


async def _insist(call: Callable[P, Awaitable[T]], *given: P.args, **more: P.kwargs) -> T:
    """Return what a call returns once the bus can be reached."""
    while True:
        try:
            return await call(*given, **more)
        except BusError:
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("make", [NatsBus, PostgresBus])
def test_error_names_the_unreachable_server(make):
    """Each call raises `BusError` with the address, without user and password."""
    scheme = "nats" if make is NatsBus else "postgresql"

    async def act():
        bus = make(f"{scheme}://me:hidden@127.0.0.1:9/x", name="t_none")
        box = bus.mailbox("box")
        for call in (bus.offer("pages", b""), bus.take("pages"), bus.send("box", b""), box.__aenter__()):
            with pytest.raises(BusError, match=f"{scheme}://127.0.0.1:9") as raised:
                await call
            assert "hidden" not in str(raised.value)
        await bus.close()

    asyncio.run(act())

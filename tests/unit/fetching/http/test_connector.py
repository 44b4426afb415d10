from __future__ import annotations

import asyncio

import aiohttp
import pytest

from tests.fakes import Page, SocketRecorder, WebServer
from tests.unit.fetching.asking import FixedNames
from tidings.fetching.guard import Guard
from tidings.fetching.http.connector import DIAL, Dial, GuardedConnector, GuardedResolver, RefusedAddressError


def get(url: str, dial: Dial, resolver: FixedNames | None = None, allow: tuple[str, ...] = ()) -> object:
    """Ask through the connector alone: without the client's own checks before it. Returns the status or the error."""

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
def test_a_literal_is_judged_where_it_is_dialled(host):
    """The library asks no resolver for a literal; the socket is refused all the same, and the verdict is noted."""
    dial = Dial()
    with SocketRecorder() as recorder:
        result = get(f"http://{host}:8080/", dial)

    assert isinstance(result, aiohttp.ClientError)
    assert dial.refused
    assert not dial.dialled
    assert [] == recorder.dials


def test_the_verdict_is_noted_although_several_addresses_hide_the_error():
    """Of two addresses that fail aiohttp shows no type; the note in `Dial` still says that the guard refused."""

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


def test_one_forbidden_answer_refuses_the_name():
    """R-03: with answers public and private the name is refused altogether."""
    resolver = GuardedResolver(Guard(), FixedNames({"mixed.example": [["93.184.216.34", "10.0.0.1"]]}))

    with pytest.raises(RefusedAddressError, match=r"10\.0\.0\.1 is private use"):
        asyncio.run(resolver.resolve("mixed.example", 80))


def test_allowed_addresses_are_dialled_and_noted():
    """What the guard allows is dialled, by literal and by name."""
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

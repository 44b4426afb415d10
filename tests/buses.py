"""Buses for tests, each with its own name, removed afterwards.

Tests that need a server are skipped with a message without it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from typing import Final

import pytest

from tests.stores import own_postgres
from tidings.bus.bus import LARGEST_MESSAGE_BYTES, OFFER_SECONDS, Bus
from tidings.bus.nats import NatsBus
from tidings.bus.postgres import PostgresBus

NATS: Final = os.environ.get("TESTS_NATS_URL", "nats://127.0.0.1:4222")
KINDS: Final = ("in_process", "nats", "postgres")


class InProcessBus:
    """The simplest bus: queues of one event loop."""

    def __init__(self) -> None:
        self._lanes: dict[str, asyncio.Queue[tuple[float, bytes]]] = defaultdict(asyncio.Queue)
        self._boxes: dict[str, asyncio.Queue[bytes]] = {}

    async def offer(self, lane: str, work: bytes) -> None:
        """Queue work in a lane."""
        self._lanes[lane].put_nowait((asyncio.get_running_loop().time() + OFFER_SECONDS, work))

    async def take(self, lane: str) -> bytes:
        """Wait for work and return it."""
        while True:
            ends_at, work = await self._lanes[lane].get()
            if asyncio.get_running_loop().time() < ends_at:
                return work

    async def send(self, box: str, message: bytes) -> None:
        """Send a message to a mailbox."""
        if len(message) > LARGEST_MESSAGE_BYTES:
            raise ValueError(f"a message of {len(message):,} bytes is too large")
        if box in self._boxes:
            self._boxes[box].put_nowait(message)

    @contextlib.asynccontextmanager
    async def mailbox(self, box: str) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open a mailbox."""
        queue = self._boxes[box] = asyncio.Queue()
        try:
            yield _drain(queue)
        finally:
            del self._boxes[box]

    async def close(self) -> None:
        """Do nothing: there is no connection."""


async def _drain(queue: asyncio.Queue[bytes]) -> AsyncIterator[bytes]:
    while True:
        yield await queue.get()


@contextlib.contextmanager
def own_server(kind: str) -> Iterator[str]:
    """Yield the address of a bus of this kind; skip the test if no server answers, or fail it if
    `TESTS_REQUIRE` asks for it.
    """
    if kind == "postgres":
        with own_postgres() as url:
            yield url
        return
    if kind == "nats" and (missing := _find_missing()):
        if "nats" in os.environ.get("TESTS_REQUIRE", ""):
            pytest.fail(f"TESTS_REQUIRE asks for NATS, but {missing}")
        pytest.skip(missing)
    yield NATS if kind == "nats" else ""


def _find_missing() -> str:
    async def connect() -> str:
        bus = NatsBus(NATS, name="t_probe")
        try:
            await asyncio.wait_for(bus.send("box", b""), 3)
        except Exception as error:  # noqa: BLE001 - whatever it is, there is no server
            return f"{NATS} does not answer: {str(error) or type(error).__name__}"
        finally:
            await bus.close()
        return ""

    return asyncio.run(connect())


def open_bus(kind: str, url: str, name: str) -> Bus:
    """Return a bus of this kind."""
    return (
        NatsBus(url, name=name)
        if kind == "nats"
        else PostgresBus(url, name=name)
        if kind == "postgres"
        else InProcessBus()
    )


@contextlib.asynccontextmanager
async def own_bus(kind: str, url: str) -> AsyncIterator[Bus]:
    """Open a bus that nobody else uses, and remove what it leaves on its server."""
    name = make_name()
    bus = open_bus(kind, url, name)
    try:
        yield bus
    finally:
        await bus.close()
        await remove_stream(kind, url, name)


def make_name() -> str:
    """Return a name that no other installation has."""
    return f"t_{secrets.token_hex(6)}"


async def remove_stream(kind: str, url: str, name: str) -> None:
    """Remove what a bus of this name has left on a NATS server; a database goes with all it
    holds.
    """
    if kind != "nats":
        return
    import nats
    from nats.js.errors import NotFoundError

    client = await nats.connect(url)
    with contextlib.suppress(NotFoundError):
        await client.jetstream().delete_stream(f"{name}-work")
    await client.close()

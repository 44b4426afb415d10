"""The mailbox of a process on the bus, which routes each message to its visit."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from typing import TYPE_CHECKING, Any, Final

from tidings.errors import BusError
from tidings.model.observed.page import HostState
from tidings.service.machines.wire import WireError, pack, unpack

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tidings.bus.bus import Bus
    from tidings.fetching.robots import Robots

log = logging.getLogger("tidings.bus")

LOST: Final = None
"""what a visit reads once the bus is lost"""


class Mailbox:
    """Sends messages of visits, and routes incoming ones to their visit."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self.box = secrets.token_hex(12)
        self._visits: dict[str, asyncio.Queue[Any]] = {}
        self._reading: asyncio.Task[None] | None = None
        self._is_open = asyncio.Event()

    async def open(self, visit: str) -> asyncio.Queue[Any]:
        """Return the queue of a visit's incoming messages, from now on. Raises `BusError` if the
        bus cannot be reached.
        """
        if self._reading is None or self._reading.done():
            self._is_open.clear()
            self._reading = asyncio.create_task(self._read())
        opening = asyncio.create_task(self._is_open.wait())
        await asyncio.wait({opening, self._reading}, return_when=asyncio.FIRST_COMPLETED)
        opening.cancel()
        if not self._is_open.is_set():
            self._reading.result()
        queue = self._visits[visit] = asyncio.Queue()
        return queue

    def end(self, visit: str) -> None:
        """Drop later messages for a visit."""
        self._visits.pop(visit, None)

    async def send(self, box: str, visit: str, message: object) -> None:
        """Send a message. Raises `BusError`."""
        await self.bus.send(box, pack([visit, message]))

    async def close(self) -> None:
        """Close the mailbox and the bus."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})
            if not self._reading.cancelled():
                self._reading.exception()
        await self.bus.close()

    async def _read(self) -> None:
        try:
            async with self.bus.mailbox(self.box) as messages:
                self._is_open.set()
                async for data in messages:
                    with contextlib.suppress(WireError, ValueError, TypeError):
                        visit, message = unpack(data)
                        if visit in self._visits:
                            self._visits[visit].put_nowait(message)
            raise BusError("the mailbox on the bus was closed")
        finally:
            for queue in self._visits.values():
                queue.put_nowait(LOST)


class SharedRobots:
    """What is known of robots.txt files, and which of it each mailbox on the bus has already."""

    def __init__(self, robots: Robots) -> None:
        self._robots = robots
        self._given: dict[str, dict[str, int | None]] = {}

    def give(self, box: str, hosts: Iterable[str]) -> list[HostState]:
        """Return what `box` does not have yet of these hosts; it counts as given from now on."""
        given = self._given.setdefault(box, {})
        states = [self._robots.export(HostState(name=host)) for host in hosts]
        new = [state for state in states if state.robots and given.get(state.name) != state.robots_at]
        given.update((state.name, state.robots_at) for state in new)
        return new

    async def take(self, box: str, states: Sequence[HostState]) -> None:
        """Take over what `box` has read; a Crawl-delay in it applies from then on."""
        self._given.setdefault(box, {}).update((state.name, state.robots_at) for state in states)
        await self._robots.learn(states)

    def forget(self, box: str) -> None:
        """Give `box` everything again: what was sent last may be lost."""
        self._given.pop(box, None)

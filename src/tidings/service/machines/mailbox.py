"""The mailbox of a process on the bus, which routes each message to its visit."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from typing import TYPE_CHECKING, Any, Final

from tidings.errors import BusError
from tidings.service.machines.wire import WireError, pack, unpack

if TYPE_CHECKING:
    from tidings.bus.bus import Bus

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

"""A bus within one event loop, for tests and as the simplest form of the contract."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator

from tidings.bus.bus import LARGEST_MESSAGE_BYTES, OFFER_SECONDS


class InProcessBus:
    """Queues of one event loop (`bus.Bus`)."""

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

"""Who may plan with which blobs: a name is held by one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Holds:
    """Names that are held; belongs to one event loop."""

    def __init__(self) -> None:
        self._held: set[str] = set()
        self._waiting: list[asyncio.Future[None]] = []

    @asynccontextmanager
    async def hold(self, *names: str) -> AsyncIterator[None]:
        """Wait until none of `names` is held, then hold all of them at once, so that nobody waits in a circle."""
        wanted = set(names)
        while wanted & self._held:
            freed = asyncio.get_running_loop().create_future()
            self._waiting.append(freed)
            await freed
        self._held |= wanted
        try:
            yield
        finally:
            self._held -= wanted
            self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for freed in waiting:
            if not freed.done():
                freed.set_result(None)

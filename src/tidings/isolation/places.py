"""Places of jobs: how many run at a time, and that short ones do not wait for long ones."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator


class Places:
    """So many `common` places for all jobs and `spare` ones for light jobs alone. Whoever waits gets a place in the order of asking."""

    def __init__(self, common: int, spare: int = 0) -> None:
        self._free = {False: common, True: spare}  # by whether they are for light jobs alone
        self._waiting: deque[tuple[bool, asyncio.Future[bool]]] = deque()
        self._jobs = 0
        self._drained = asyncio.Event()

    @contextlib.asynccontextmanager
    async def place(self, *, is_light: bool) -> AsyncIterator[None]:
        """Hold a place; a light job takes a common one if there is one."""
        self._jobs += 1
        self._drained.clear()
        try:
            is_spare = await self._take(is_light=is_light)
            try:
                yield
            finally:
                self._give_back(is_spare=is_spare)
        finally:
            self._jobs -= 1
            if not self._jobs:
                self._drained.set()

    async def drain(self) -> None:
        """Return when nobody holds a place or waits for one."""
        if self._jobs:
            await self._drained.wait()

    async def _take(self, *, is_light: bool) -> bool:
        for is_spare in (False, True) if is_light else (False,):
            if self._free[is_spare]:
                self._free[is_spare] -= 1
                return is_spare
        waiter: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((is_light, waiter))
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._give_back(is_spare=waiter.result())  # the place came together with the cancellation
            raise

    def _give_back(self, *, is_spare: bool) -> None:
        """Hand a place to the first who may have it."""
        for waiting in self._waiting:
            is_light, waiter = waiting
            if (is_light or not is_spare) and not waiter.done():
                self._waiting.remove(waiting)
                waiter.set_result(is_spare)
                return
        self._waiting = deque(waiting for waiting in self._waiting if not waiting[1].done())
        self._free[is_spare] += 1

"""Lanes of jobs: which worker a job waits for; short jobs do not wait for long ones."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import math
from collections import deque
from collections.abc import AsyncIterator
from typing import Final, Generic, TypeVar

W = TypeVar("W")

SLOW_SECONDS: Final = 0.1
"""A lane whose job has run for longer than this accepts no further one."""


class Lane(Generic[W]):
    """The jobs of one worker: the first runs, the others are sent ahead so that the worker does not
    wait for them.

    `worker` serves the lane; it is None before the first job and after a death. `lock` is held
    while it is replaced.
    """

    def __init__(self, *, is_spare: bool) -> None:
        self.worker: W | None = None
        self.lock = asyncio.Lock()
        self.is_spare = is_spare
        self.jobs = 0
        self.is_heavy = False
        self.begun = 0.0  # when its first job began to run, by the event loop's clock


_Waiting = tuple[int, asyncio.Future[Lane[W]]]


class Lanes(Generic[W]):
    """`common` lanes for all jobs and `spare` ones for light jobs only. Waiting callers are served
    in order.

    A heavy job has a lane for itself. Up to `depth` light jobs share one as long as none of them is
    slow.
    """

    def __init__(self, common: int, spare: int = 0, *, depth: int = 1) -> None:
        self.lanes = tuple(Lane[W](is_spare=number >= common) for number in range(common + spare))
        self._depth = depth
        self._light: deque[_Waiting[W]] = deque()
        self._heavy: deque[_Waiting[W]] = deque()
        self._order = itertools.count()
        self._jobs = 0
        self._drained = asyncio.Event()

    @contextlib.asynccontextmanager
    async def place(self, *, is_light: bool) -> AsyncIterator[Lane[W]]:
        """Hold a place in a lane; a light job prefers a common lane."""
        self._jobs += 1
        self._drained.clear()
        try:
            lane = await self._take(is_light=is_light)
            try:
                yield lane
            finally:
                self._give_back(lane)
        finally:
            self._jobs -= 1
            if not self._jobs:
                self._drained.set()

    async def drain(self) -> None:
        """Wait until no place is held or waited for."""
        if self._jobs:
            await self._drained.wait()

    async def _take(self, *, is_light: bool) -> Lane[W]:
        given: asyncio.Future[Lane[W]] = asyncio.get_running_loop().create_future()
        (self._light if is_light else self._heavy).append((next(self._order), given))
        self._give()
        try:
            return given.result() if given.done() else await given
        except asyncio.CancelledError:
            if given.done() and not given.cancelled():
                self._give_back(given.result())  # the place came together with the cancellation
            raise

    def _give_back(self, lane: Lane[W]) -> None:
        lane.jobs -= 1
        lane.is_heavy = False
        lane.begun = asyncio.get_running_loop().time()
        self._give()

    def _give(self) -> None:
        """Assign places in order; a light job overtakes a waiting heavy one only in a spare
        lane.
        """
        now = asyncio.get_running_loop().time()
        while True:
            light, heavy = _first(self._light), _first(self._heavy)
            heavy_is_first = heavy < light
            lane = self._idle() if heavy_is_first else None
            if lane is not None:
                self._enter(lane, self._heavy, now=now, is_light=False)
                continue
            lane = self._open(now, only_spare=heavy_is_first) if self._light else None
            if lane is None:
                return
            self._enter(lane, self._light, now=now, is_light=True)

    def _enter(self, lane: Lane[W], waiting: deque[_Waiting[W]], *, now: float, is_light: bool) -> None:
        if not lane.jobs:
            lane.begun = now
        lane.jobs += 1
        lane.is_heavy = not is_light
        waiting.popleft()[1].set_result(lane)

    def _idle(self) -> Lane[W] | None:
        return next((lane for lane in self.lanes if not lane.is_spare and not lane.jobs), None)

    def _open(self, now: float, *, only_spare: bool) -> Lane[W] | None:
        """Return the first lane that a light job may enter now."""
        for lane in self.lanes:
            is_joined = not lane.is_heavy and lane.jobs < self._depth and now - lane.begun <= SLOW_SECONDS
            if (lane.is_spare or not only_spare) and (not lane.jobs or is_joined):
                return lane
        return None


def _first(waiting: deque[_Waiting[W]]) -> float:
    """Return the queue position of the first waiting caller, infinity if there is none."""
    while waiting and waiting[0][1].done():
        waiting.popleft()
    return waiting[0][0] if waiting else math.inf

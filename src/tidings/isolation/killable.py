"""Jobs in worker processes that are killed when they exceed their time or memory.

Process and Pipe over a fork server with the jobs' modules preloaded: chosen over pebble, which
killed a worker stuck in a parser after 3 s with a limit of 1 s (contracts §7). One worker runs one
job at a time. Short jobs are sent ahead to a busy worker, so that it does not wait between two of
them. A dead worker is replaced at the next job; jobs that it had not begun go to another.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import math
import multiprocessing
import pickle
from collections import deque
from collections.abc import AsyncIterator, Callable
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Any, Final, Generic, TypeVar

from tidings.isolation import child
from tidings.isolation.runner import CLOSED, A, Died, Done, JobLimits, R
from tidings.isolation.worker import Worker, WorkerAnswer, kill_fork_server, start_bare

START_SECONDS: Final = 60.0
SPAWN_SECONDS: Final = 20.0  # of which a fork server that starts spends one or two on its modules
AGAIN_SECONDS: Final = 0.1  # by when the system knows that it has ended
DEPTH: Final = 4  # light jobs that one worker holds: the one it runs and those sent ahead

# One fork server serves the whole process, so its modules are all runners' together.
_preload: set[str] = {child.__name__, "tidings.isolation.forked"}


class Killable:
    """At most `workers` processes, started on first use; one more for jobs of at most
    `light_bytes`, so that none waits for a heavy one.

    All killable runners of a process share one fork server; it loads what any of them named as
    `preload` before its first worker, later ones load in each worker. A runner belongs to the event
    loop of its first job.
    """

    def __init__(
        self, limits: JobLimits, *, workers: int = 1, preload: tuple[str, ...] = (), light_bytes: int = 0
    ) -> None:
        self._limits = limits
        self._light_bytes = light_bytes
        start_bare()
        self._context = multiprocessing.get_context("forkserver")
        _preload.update(preload)
        self._context.set_forkserver_preload(sorted(_preload))
        self._lanes = Lanes[Worker](workers, 1 if light_bytes else 0, depth=DEPTH)
        self._workers: set[Worker] = set()
        self._leaving: set[asyncio.Task[None]] = set()
        self._closed = False

    async def run(self, function: Callable[[A], R], argument: A, *, seconds: float | None = None) -> Done[R] | Died:
        """Return the function's result, or how the job died; wait for a free worker first."""
        payload = _pack(function, argument)
        if isinstance(payload, Died):
            return payload
        async with self._lanes.place(is_light=len(payload) <= self._light_bytes) as lane:
            answer = None
            while answer is None:
                answer = await self._run_in(lane, payload, self._limits.seconds if seconds is None else seconds)
        if isinstance(answer, Died):
            return CLOSED if self._closed else answer
        return _unpack(answer)

    async def close(self) -> None:
        """Kill what still runs; return when every process is gone."""
        self._closed = True
        for worker in tuple(self._workers):
            worker.kill()
        await self._lanes.drain()  # running and waiting jobs finish first
        for worker in tuple(self._workers):
            self._leave(worker)
        await asyncio.gather(*self._leaving)

    async def _run_in(self, lane: Lane[Worker], payload: bytes, seconds: float) -> WorkerAnswer | Died | None:
        worker = await self._worker_of(lane)
        if isinstance(worker, Died):
            return worker
        try:
            return await worker.run(payload, seconds)
        finally:
            if not worker.fit or (worker.jobs >= self._limits.tasks and not worker.busy):
                self._leave(worker)

    async def _worker_of(self, lane: Lane[Worker]) -> Worker | Died:
        """Return the worker of a lane; a dead or used-up one is replaced."""
        ready = lane.worker
        if ready is not None and ready.fit and ready.jobs < self._limits.tasks and not self._closed:
            return ready
        async with lane.lock:
            worker = lane.worker
            if self._closed:
                return CLOSED
            if worker is None or not worker.fit or worker.jobs >= self._limits.tasks:
                started = await self._start()
                if isinstance(started, Died):
                    return started
                lane.worker = worker = started
            return worker

    async def _start(self) -> Worker | Died:
        try:
            try:
                worker = await self._spawn()
            except (OSError, EOFError):  # the fork server has ended: the next worker starts another
                await asyncio.sleep(AGAIN_SECONDS)
                worker = await self._spawn()
        except (OSError, EOFError) as error:
            return Died("crash", f"a worker process could not be started: {error}")
        self._workers.add(worker)
        died: Died | None = CLOSED
        try:
            died = CLOSED if self._closed else await worker.ready(START_SECONDS)
        finally:
            if died is not None:
                self._leave(worker)
        return died or worker

    async def _spawn(self) -> Worker:
        timer = asyncio.get_running_loop().call_later(SPAWN_SECONDS, kill_fork_server)
        try:
            return Worker(*await asyncio.to_thread(self._fork))
        finally:
            timer.cancel()

    def _fork(self) -> tuple[ForkServerProcess, Connection]:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=child.serve, args=(theirs, self._limits), name="tidings job", daemon=True
        )
        process.start()
        theirs.close()
        return process, ours

    def _leave(self, worker: Worker) -> None:
        if worker not in self._workers:
            return
        self._workers.discard(worker)
        task = asyncio.create_task(worker.end())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)


def _pack(function: Callable[[A], R], argument: A) -> bytes | Died:
    try:
        return pickle.dumps((function, argument), protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001 - pickling calls the argument's own code
        return Died("error", f"the job cannot be sent to a worker: {error}")


def _unpack(answer: WorkerAnswer) -> Done[Any] | Died:
    match answer.status:
        case child.DONE:
            return Done(pickle.loads(answer.body))  # noqa: S301 - our own worker wrote it
        case child.MEMORY:
            return Died("memory", answer.body.decode())
        case _:
            return Died("error", answer.body.decode())


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

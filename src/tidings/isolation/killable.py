"""Jobs in worker processes that are killed when they exceed their time or memory.

Process and Pipe over a fork server with the jobs' modules preloaded: chosen over pebble, which
killed a worker stuck in a parser after 3 s with a limit of 1 s (contracts §7). One worker runs one
job at a time. Short jobs are sent ahead to a busy worker, so that it does not wait between two of
them. A dead worker is replaced at the next job; jobs that it had not begun go to another.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Any, Final

from tidings.isolation import child
from tidings.isolation.lanes import Lane, Lanes
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

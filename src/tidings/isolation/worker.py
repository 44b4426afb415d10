"""The parent's side of one worker process: its pipe and its death, for the event loop.

All workers are forked from one process, the fork server. It starts with a bare environment: our own
variables hold tokens and passwords, and those of the operator's shell may; the initial environment
of a process stays readable in its memory. Only the fork server starts workers and reports their
end. A stopped one (SIGSTOP, a frozen control group) would block every job for ever, so it is killed
when it does not answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing.forkserver
import multiprocessing.popen_forkserver
import multiprocessing.spawn
import multiprocessing.util
import os
import signal
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Any, Final

from tidings.isolation import child
from tidings.isolation.runner import Died
from tidings.record import dataclass

NAMES: Final = frozenset(
    "PATH LANG LANGUAGE TZ TMPDIR VIRTUAL_ENV SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE SYSTEMROOT".split()
)
BEGINNINGS: Final = ("PYTHON", "LC_", "LD_", "DYLD_")


def bare(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the part of an environment that a worker gets."""
    return {name: value for name, value in environment.items() if name in NAMES or name.startswith(BEGINNINGS)}


class _Starter:
    """`multiprocessing.util` for the parent's side of the fork server: its processes start with a
    bare environment.
    """

    pid: int | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(multiprocessing.util, name)

    def spawnv_passfds(self, path: str | bytes, args: Sequence[str | bytes], passfds: Sequence[int]) -> int:
        """Start a process and return its number; multiprocessing waits for it."""
        process = subprocess.Popen(
            list(args), executable=path, pass_fds=passfds, env=bare(os.environ), restore_signals=False
        )
        process.returncode = 0  # multiprocessing waits for it
        self.pid = process.pid
        return process.pid


_starter: Final = _Starter()


class _Orders:
    """`multiprocessing.spawn` for the orders of a new worker: without the main module.

    A job is a function that is imported by its name. To import the command line takes 20 ms and
    6 MB.
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(multiprocessing.spawn, name)

    def get_preparation_data(self, name: str) -> dict[str, Any]:
        """Return the orders of a worker of this name."""
        orders = multiprocessing.spawn.get_preparation_data(name)
        return {key: value for key, value in orders.items() if not key.startswith("init_main")}


_orders: Final = _Orders()


class _NoTracker:
    """`multiprocessing.resource_tracker` for the parent's side of the fork server: none is started.

    It would be a process that removes the shared memory and semaphores of those that died. Workers
    share nothing but a pipe.
    """

    _descriptor = -1

    def ensure_running(self) -> None:
        """Start nothing."""

    def getfd(self) -> int:
        """Return a descriptor that takes what a process reports to the tracker."""
        if self._descriptor < 0:
            self._descriptor = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        return self._descriptor


_no_tracker: Final = _NoTracker()


def start_bare() -> None:
    """Start the fork server of this process with a bare environment and without a tracker of
    resources, and workers without the main module; a running one stays as it is.
    """
    multiprocessing.forkserver.util = _starter  # type: ignore[attr-defined]
    multiprocessing.forkserver.resource_tracker = _no_tracker  # type: ignore[attr-defined]
    multiprocessing.popen_forkserver.spawn = _orders  # type: ignore[attr-defined]


def kill_fork_server() -> None:
    """Kill the fork server, if one was started; the next worker starts another. Callers waiting for
    it get an end of file.
    """
    if _starter.pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(_starter.pid, signal.SIGKILL)
        _starter.pid = None


FIRST_READ: Final = 16 * 1024  # a larger buffer would cost more than it reads: most answers are small
READ: Final = 1024 * 1024
END_SECONDS: Final = 5.0  # the time for the fork server to report the end of a killed worker
TIMED: Final = frozenset({-signal.SIGALRM, -signal.SIGXCPU})


@dataclass(frozen=True, slots=True)
class WorkerAnswer:
    """An answer from the pipe: a status of `child` and its bytes."""

    status: int
    body: bytes


class _Job:
    """A job that was sent and not yet answered."""

    __slots__ = ("outcome", "seconds")

    def __init__(self, outcome: asyncio.Future[WorkerAnswer | Died | None], seconds: float) -> None:
        self.outcome = outcome
        self.seconds = seconds


class Worker:
    """One worker process. It runs its jobs in order, and is discarded after its death.

    `jobs` counts its jobs, `alive` is true until its death was detected, `fit` until it may get no
    further job.
    """

    def __init__(self, process: ForkServerProcess, pipe: Connection) -> None:
        self.jobs = 0
        self.alive = True
        self.fit = True
        self._is_blameless = False  # we killed the process, or it ends itself
        self._process = process
        self._pipe = pipe
        self._descriptor = pipe.fileno()
        self._loop = asyncio.get_running_loop()
        self._exit_code: asyncio.Future[int] = self._loop.create_future()
        self._ready: asyncio.Future[bool] = self._loop.create_future()
        self._sent: deque[_Job] = deque()
        self._late: _Job | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._unanswered: asyncio.TimerHandle | None = None
        self._incoming = bytearray()
        self._outgoing: deque[memoryview] = deque()
        os.set_blocking(self._descriptor, False)
        self._loop.add_reader(self._descriptor, self._read)

    @property
    def busy(self) -> bool:
        """Return whether a sent job is still unanswered."""
        return any(not job.outcome.done() for job in self._sent)

    async def ready(self, seconds: float) -> Died | None:
        """Wait until the worker can take a job; return how it died if it never could."""
        timer = self._loop.call_later(seconds, self.kill)
        try:
            if await self._ready:
                return None
        except asyncio.CancelledError:
            self.kill()
            raise
        finally:
            timer.cancel()
        code = await self._exit_code
        return Died("crash", f"a worker process did not start: {_spell(code)}")

    async def run(self, payload: bytes, seconds: float) -> WorkerAnswer | Died | None:
        """Send a job (a pickle of function and argument) and return its result; None: the worker
        never began it.

        A job may be sent while others run. It has `seconds` from the answer of the one before it,
        then the worker is killed; so it is if the call is cancelled while the job runs. When a
        worker dies, only the job that ran is to blame.
        """
        self.jobs += 1
        if not (self.alive and self.fit) or not self._send(child.JOB.pack(len(payload), seconds), payload):
            return None
        job = _Job(self._loop.create_future(), seconds)
        self._sent.append(job)
        if self._sent[0] is job:
            self._clock()
        try:
            return await job.outcome
        except asyncio.CancelledError:
            if self._sent and self._sent[0] is job:
                self.kill()
            raise

    def kill(self) -> None:
        """Kill the process now; no job is to blame."""
        self.fit = False
        self._is_blameless = True
        if self.alive and self._process.is_alive():
            self._process.kill()

    async def end(self) -> None:
        """Kill the process and return when it is gone."""
        if self.alive:
            self.kill()
        self._end_lost()
        await asyncio.shield(self._exit_code)

    def _clock(self) -> None:
        """Start the time of the first job."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(self._sent[0].seconds, self._deadline) if self._sent else None

    def _deadline(self) -> None:
        self._late = self._sent[0] if self._sent else None
        self.kill()

    def _send(self, header: bytes, payload: bytes) -> bool:
        if self._outgoing:
            self._outgoing += (memoryview(header), memoryview(payload))
            return True
        try:
            written = os.writev(self._descriptor, (header, payload))
        except BlockingIOError:
            written = 0
        except ConnectionError:  # it died while idle, which the loop has not noticed yet
            return False
        if written < len(header) + len(payload):
            self._outgoing += (memoryview(header)[written:], memoryview(payload)[max(written - len(header), 0) :])
            self._loop.add_writer(self._descriptor, self._write)
        return True

    def _write(self) -> None:
        try:
            written = os.writev(self._descriptor, tuple(self._outgoing))
        except BlockingIOError:
            return
        except ConnectionError:
            self._outgoing.clear()
            written = 0
        while self._outgoing and written >= len(self._outgoing[0]):
            written -= len(self._outgoing.popleft())
        if self._outgoing:
            self._outgoing[0] = self._outgoing[0][written:]
        else:
            self._loop.remove_writer(self._descriptor)

    def _read(self) -> None:
        try:
            chunk = os.read(self._descriptor, READ if self._incoming else FIRST_READ)
        except BlockingIOError:
            return
        except ConnectionError:
            chunk = b""
        if not chunk:
            self._end_lost()
            return
        self._incoming += chunk
        while len(self._incoming) >= child.ANSWER.size:
            length, status = child.ANSWER.unpack_from(self._incoming)
            whole = child.ANSWER.size + length
            if len(self._incoming) < whole:
                break
            self._take(WorkerAnswer(status, bytes(memoryview(self._incoming)[child.ANSWER.size : whole])))
            del self._incoming[:whole]

    def _take(self, answer: WorkerAnswer) -> None:
        """Process an answer: that of the first job."""
        if answer.status == child.READY:
            if not self._ready.done():
                self._ready.set_result(True)
            return
        if answer.status == child.MEMORY:
            self.fit = False
            self._is_blameless = True  # it ends itself
        job = self._sent.popleft()
        if not job.outcome.done():
            job.outcome.set_result(answer)
        self._clock()

    def _end_lost(self) -> None:
        if not self.alive:
            return
        self._loop.remove_reader(self._descriptor)
        self._loop.remove_writer(self._descriptor)
        self.fit = False
        if self._process.is_alive():
            self._process.kill()
        self.alive = False
        self._pipe.close()
        self._loop.add_reader(self._process.sentinel, self._reap)
        self._unanswered = self._loop.call_later(END_SECONDS, kill_fork_server)
        if self._timer is not None:
            self._timer.cancel()

    def _reap(self) -> None:
        self._loop.remove_reader(self._process.sentinel)
        if self._unanswered is not None:
            self._unanswered.cancel()
        self._process.join()
        code = 255 if self._process.exitcode is None else self._process.exitcode
        self._process.close()
        self._exit_code.set_result(code)
        if not self._ready.done():
            self._ready.set_result(False)
        for job in self._sent:
            if not job.outcome.done():
                job.outcome.set_result(self._death_of(job, code))
        self._sent.clear()

    def _death_of(self, job: _Job, code: int) -> Died | None:
        """Return how a job died with its process; None for one that did not run, or did not cause
        the death.
        """
        if job is not self._sent[0]:
            return None
        if self._late is job or code in TIMED:
            return Died("deadline", f"the job took longer than {job.seconds:g} s and was stopped")
        return None if self._is_blameless else Died("crash", f"the job's process died: {_spell(code)}")


def _spell(code: int) -> str:
    if code >= 0:
        return f"it exited with status {code}"
    name = signal.Signals(-code).name
    hint = "; the system may have run out of memory" if name == "SIGKILL" else ""
    return f"killed by signal {-code} ({name}){hint}"

"""The parent's side of one worker process: its pipe and its death, as the event loop sees them."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Final

from tidings.isolation import child, fork_server
from tidings.isolation.runner import Died

FIRST_READ: Final = 16 * 1024  # a larger buffer would cost more than it reads: most answers are small
READ: Final = 1024 * 1024
END_SECONDS: Final = 5.0  # within which the fork server says that a killed worker has ended
TIMED: Final = frozenset({-signal.SIGALRM, -signal.SIGXCPU})


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back over the pipe: a status of `child` and its bytes."""

    status: int
    body: bytes


class Worker:
    """One worker process; it runs one job at a time and is thrown away after its death.

    `jobs` counts the jobs it was given, `alive` is true until its death was seen.
    """

    def __init__(self, process: ForkServerProcess, pipe: Connection) -> None:
        self.jobs = 0
        self.alive = True
        self._process = process
        self._pipe = pipe
        self._descriptor = pipe.fileno()
        self._loop = asyncio.get_running_loop()
        self._exit_code: asyncio.Future[int] = self._loop.create_future()
        self._answer: asyncio.Future[Answer | None] | None = None
        self._late = False
        self._unheard: asyncio.TimerHandle | None = None
        self._incoming = bytearray()
        self._outgoing = memoryview(b"")
        os.set_blocking(self._descriptor, False)
        self._loop.add_reader(self._descriptor, self._read)

    async def ready(self, seconds: float) -> Died | None:
        """Wait until the worker can take a job; return how it died if it never could."""
        answer = await self._wait(seconds)
        if answer is not None:
            return None
        code = await self._exit_code
        return Died("crash", f"a worker process did not start: {_spell(code)}")

    async def run(self, payload: bytes, seconds: float) -> Answer | Died | None:
        """Send a job (a pickle of function and argument) and return what comes of it; None: the worker was dead already.

        The worker is killed when the deadline passes or the call is cancelled.
        """
        self.jobs += 1
        if not self._send(child.JOB.pack(len(payload), seconds), payload):
            return None
        answer = await self._wait(seconds)
        if answer is not None:
            return answer
        code = await self._exit_code
        if self._late or code in TIMED:
            return Died("deadline", f"the job took longer than {seconds:g} s and was stopped")
        return Died("crash", f"the job's process died: {_spell(code)}")

    def kill(self) -> None:
        """Kill the process now; a job that it runs dies."""
        if self.alive and self._process.is_alive():
            self._process.kill()

    async def end(self) -> None:
        """Kill the process and return when it is gone."""
        self._lost()
        await asyncio.shield(self._exit_code)

    async def _wait(self, seconds: float) -> Answer | None:
        self._answer = self._loop.create_future()
        if not self.alive:
            return None
        timer = self._loop.call_later(seconds, self._deadline)
        try:
            return await self._answer
        except asyncio.CancelledError:
            self.kill()
            raise
        finally:
            timer.cancel()
            self._answer = None

    def _deadline(self) -> None:
        self._late = True
        self.kill()

    def _send(self, header: bytes, payload: bytes) -> bool:
        try:
            written = os.writev(self._descriptor, (header, payload))
        except ConnectionError:  # it died while it was idle, and the loop has not seen that yet
            return False
        if written < len(header) + len(payload):
            self._outgoing = memoryview(payload)[written - len(header) :]
            self._loop.add_writer(self._descriptor, self._write)
        return True

    def _write(self) -> None:
        try:
            self._outgoing = self._outgoing[os.write(self._descriptor, self._outgoing) :]
        except BlockingIOError:
            return
        except ConnectionError:
            self._outgoing = memoryview(b"")
        if not self._outgoing:
            self._loop.remove_writer(self._descriptor)

    def _read(self) -> None:
        try:
            chunk = os.read(self._descriptor, READ if self._incoming else FIRST_READ)
        except BlockingIOError:
            return
        except ConnectionError:
            chunk = b""
        if not chunk:
            self._lost()
            return
        self._incoming += chunk
        if len(self._incoming) < child.ANSWER.size:
            return
        length, status = child.ANSWER.unpack_from(self._incoming)
        if len(self._incoming) < child.ANSWER.size + length:
            return
        body = bytes(memoryview(self._incoming)[child.ANSWER.size :])
        self._incoming = bytearray()
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(Answer(status, body))

    def _lost(self) -> None:
        if not self.alive:
            return
        self._loop.remove_reader(self._descriptor)
        self._loop.remove_writer(self._descriptor)
        self.kill()
        self.alive = False
        self._pipe.close()
        self._loop.add_reader(self._process.sentinel, self._reap)
        self._unheard = self._loop.call_later(END_SECONDS, fork_server.kill)

    def _reap(self) -> None:
        self._loop.remove_reader(self._process.sentinel)
        if self._unheard is not None:
            self._unheard.cancel()
        self._process.join()
        code = self._process.exitcode
        self._process.close()
        self._exit_code.set_result(255 if code is None else code)
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(None)


def _spell(code: int) -> str:
    if code >= 0:
        return f"it exited with status {code}"
    name = signal.Signals(-code).name
    hint = "; the system may have run out of memory" if name == "SIGKILL" else ""
    return f"killed by signal {-code} ({name}){hint}"

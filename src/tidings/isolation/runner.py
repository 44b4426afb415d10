"""The contract of isolation: run a function on an argument; any outcome is a value.

A runner never raises because of the job: a job that loops, exhausts memory, crashes its process or
raises ends as `Died`.

The limits of a job are enforced by a worker process on itself (contracts §7, detection §2.1, §2.4,
F-26, F-33).
"""

from __future__ import annotations

import contextlib
import ctypes
import resource
import signal
import time
from collections.abc import Callable
from typing import Generic, Literal, Protocol, TypeVar

from tidings.record import dataclass

M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3
KEEP_BYTES = 32 * 1024 * 1024  # glibc's largest mmap threshold: half a heap


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLimits:
    """The limits of one job. `seconds` is real time from the moment a worker has the job.

    `memory_bytes` is the address space of a worker, `tasks` the jobs after which it is replaced,
    `result_bytes` the largest answer, pickled.
    """

    seconds: float = 10.0
    memory_bytes: int = 1024 * 1024 * 1024
    tasks: int = 500
    result_bytes: int = 64 * 1024 * 1024


def confine(limits: JobLimits) -> None:
    """Limit this process permanently: no more address space than `limits`, no core dumps, Ctrl-C
    ignored.

    A system without one of these limits (macOS has no RLIMIT_AS) goes without it; deadlines hold
    everywhere.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for kind, wanted in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, limits.memory_bytes)):
        with contextlib.suppress(OSError, ValueError):
            _, hard = resource.getrlimit(kind)
            value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(kind, (value, value))
    keep_memory()


def arm(seconds: float) -> None:
    """Have the kernel kill this process once the job's time is over, even if the parent is gone.

    SIGALRM after so many seconds, SIGXCPU after so many seconds of processor time, rounded up.
    """
    signal.setitimer(signal.ITIMER_REAL, seconds)
    with contextlib.suppress(OSError, ValueError):
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        allowed = int(time.process_time() + seconds) + 1
        resource.setrlimit(
            resource.RLIMIT_CPU, (allowed if hard == resource.RLIM_INFINITY else min(allowed, hard), hard)
        )


def disarm() -> None:
    """Cancel the timers of `arm`: the job is done."""
    signal.setitimer(signal.ITIMER_REAL, 0.0)


def keep_memory() -> None:
    """Keep memory freed by a parser in the C library, for the next page."""
    # By default glibc returns a parser's memory after each page and requests it again for the next:
    # 290 instead of 415 MB of HTML a second (detection §2.1). Other C libraries have no mallopt.
    if (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        mallopt(M_MMAP_THRESHOLD, KEEP_BYTES)
        mallopt(M_TRIM_THRESHOLD, 4 * KEEP_BYTES)


A = TypeVar("A")
R = TypeVar("R")

Cause = Literal["deadline", "memory", "crash", "error"]


@dataclass(frozen=True, slots=True)
class Done(Generic[R]):
    """The job returned a value."""

    value: R


@dataclass(frozen=True, slots=True)
class Died:
    """The job failed; `reason` is a sentence for people.

    deadline: it exceeded its time; memory: it exceeded its memory; crash: its process died; error:
    it raised, or it or its answer could not be transferred.
    """

    cause: Cause
    reason: str


class Runner(Protocol):
    """Runs jobs on untrusted content."""

    async def run(self, function: Callable[[A], R], argument: A, *, seconds: float | None = None) -> Done[R] | Died:
        """Return the result of `function(argument)`, or how it died.

        `seconds` replaces the deadline of the runner's limits. The function is importable by name
        and the argument can be pickled, since the job may run in another process. Cancelling the
        call kills the job.
        """
        ...

    async def close(self) -> None:
        """Kill what still runs and return when every process is gone; later jobs die at once."""
        ...


class RunnerRow(Protocol):
    """The constructor of each row of `RUNNERS`."""

    def __call__(
        self, limits: JobLimits, *, workers: int = 1, preload: tuple[str, ...] = (), light_bytes: int = 0
    ) -> Runner:
        """Return a runner of at most `workers` concurrent jobs, and one more of at most
        `light_bytes` (0: none is light).

        `preload` names the modules that the jobs need.
        """
        ...


def explain_death(error: BaseException) -> Died:
    """Return how a job died that raised `error`."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, MemoryError):
        return Died("memory", "the job wanted more memory than it may have")
    return Died("error", f"the job raised {text}")


CLOSED = Died("crash", "the runner was closed")

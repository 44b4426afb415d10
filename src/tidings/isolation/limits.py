"""The limits of a job, and how a worker process enforces them on itself.

Sources: contracts §7, detection §2.1, §2.4, F-26, F-33.
"""

from __future__ import annotations

import contextlib
import ctypes
import resource
import signal
import time

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

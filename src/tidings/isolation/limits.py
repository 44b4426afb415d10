"""What a job may use, and how a worker process binds itself to it.

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
    """What one job may use. `seconds` is real time from the moment a worker has the job, waiting for a worker not counted.

    `memory_bytes` is the address space of a worker, `tasks` the jobs after which it is replaced by a fresh one,
    `result_bytes` the largest answer, pickled.
    """

    seconds: float = 10.0
    memory_bytes: int = 1024 * 1024 * 1024
    tasks: int = 500
    result_bytes: int = 64 * 1024 * 1024


def confine(limits: JobLimits) -> None:
    """Bind this process for good: no more address space than `limits` say, no core dumps, deaf to Ctrl-C.

    A system without one of these limits (macOS has no RLIMIT_AS) goes without it; deadlines hold everywhere.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for kind, wanted in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, limits.memory_bytes)):
        with contextlib.suppress(OSError, ValueError):
            _, hard = resource.getrlimit(kind)
            value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(kind, (value, value))
    keep_memory()


def arm(seconds: float) -> None:
    """Let the kernel end this process once the job has had its time, even if nobody is left to kill it.

    SIGALRM after so many seconds, SIGXCPU after so many seconds of processor time, to the next whole second.
    """
    signal.setitimer(signal.ITIMER_REAL, seconds)
    with contextlib.suppress(OSError, ValueError):
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        allowed = int(time.process_time() + seconds) + 1
        resource.setrlimit(
            resource.RLIMIT_CPU, (allowed if hard == resource.RLIM_INFINITY else min(allowed, hard), hard)
        )


def disarm() -> None:
    """Stop the clock that `arm` set: the job is done."""
    signal.setitimer(signal.ITIMER_REAL, 0.0)


def keep_memory() -> None:
    """Let the C library keep what a parser gives back, for the next page."""
    # By default glibc gives a parser's memory back after each page and asks for it again for the next: 290 instead of 415 MB
    # of HTML a second (detection §2.1). Other C libraries have no mallopt.
    if (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        mallopt(M_MMAP_THRESHOLD, KEEP_BYTES)
        mallopt(M_TRIM_THRESHOLD, 4 * KEEP_BYTES)

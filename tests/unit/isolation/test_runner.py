"""The limits as a worker finds them."""

import asyncio
import ctypes
import resource
import sys

import pytest

from tidings.isolation.killable import Killable
from tidings.isolation.runner import Done, JobLimits


def ask(expression, *, seconds=7.0, **limits):
    """Return what a Python expression is in a worker."""

    async def body():
        runner = Killable(JobLimits(**limits))
        try:
            return await runner.run(eval, expression, seconds=seconds)
        finally:
            await runner.close()

    return asyncio.run(body())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="address space is bounded on Linux only")
def test_address_space_and_core():
    """A worker has the address space it was given and writes no core, which would hold page content."""
    outcome = ask(
        "(r := __import__('resource')) and [r.getrlimit(r.RLIMIT_AS), r.getrlimit(r.RLIMIT_CORE)]",
        memory_bytes=777 << 20,
    )

    assert Done([(777 << 20, 777 << 20), (0, 0)]) == outcome


def test_processor_time():
    """The kernel allows a job its seconds of processor time and at most two more, also when they are its own."""
    outcome = ask("(r := __import__('resource')) and r.getrlimit(r.RLIMIT_CPU)[0]", seconds=7.5)

    assert isinstance(outcome, Done)
    assert 8 <= outcome.value <= 9


def test_alarm():
    """The kernel's own alarm stands at the deadline while a job runs."""
    outcome = ask("(s := __import__('signal')) and s.getitimer(s.ITIMER_REAL)[0]", seconds=7.5)

    assert isinstance(outcome, Done)
    assert 7.0 < outcome.value <= 7.5


def test_parent_is_not_confined():
    """Limits bind workers, never the process that asks."""
    before = resource.getrlimit(resource.RLIMIT_AS), resource.getrlimit(resource.RLIMIT_CPU)
    ask("1", memory_bytes=512 << 20)

    assert before == (resource.getrlimit(resource.RLIMIT_AS), resource.getrlimit(resource.RLIMIT_CPU))


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="only glibc has these thresholds")
def test_memory_is_kept_between_jobs():
    """Memory that a page needed is still there for the next page: the kernel hands out no new pages for it."""
    faults = "(r := __import__('resource')).getrusage(r.RUSAGE_SELF).ru_minflt"
    again = f"[{', '.join([f'len(bytes(8 << 20)) and {faults}'] * 9)}]"
    outcome = ask(again)

    assert isinstance(outcome, Done)
    assert outcome.value[-1] - outcome.value[1] < 1_000  # 8 MB given back and asked for again are 2,048

"""The limits within a worker."""

import asyncio
import ctypes
import resource
import sys

import pytest

from tidings.isolation.killable import Killable
from tidings.isolation.runner import Done, JobLimits


def ask(expression, *, seconds=7.0, **limits):
    """Return the value of a Python expression in a worker."""

    async def body():
        runner = Killable(JobLimits(**limits))
        try:
            return await runner.run(eval, expression, seconds=seconds)
        finally:
            await runner.close()

    return asyncio.run(body())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="address space is bounded on Linux only")
def test_worker_has_limited_address_space_and_no_core_dump():
    """A core dump would have the content of pages."""
    outcome = ask(
        "(r := __import__('resource')) and [r.getrlimit(r.RLIMIT_AS), r.getrlimit(r.RLIMIT_CORE)]",
        memory_bytes=777 << 20,
    )

    assert Done([(777 << 20, 777 << 20), (0, 0)]) == outcome


def test_processor_time_of_a_job_is_limited():
    """The kernel allows at most two seconds more than the deadline of the job."""
    outcome = ask("(r := __import__('resource')) and r.getrlimit(r.RLIMIT_CPU)[0]", seconds=7.5)

    assert isinstance(outcome, Done)
    assert 8 <= outcome.value <= 9


def test_alarm_is_set_to_the_deadline_of_a_job():
    """The kernel ends a job that the runner cannot end."""
    outcome = ask("(s := __import__('signal')) and s.getitimer(s.ITIMER_REAL)[0]", seconds=7.5)

    assert isinstance(outcome, Done)
    assert 7.0 < outcome.value <= 7.5


def test_parent_process_has_no_limits():
    """Limits are set in workers only."""
    before = resource.getrlimit(resource.RLIMIT_AS), resource.getrlimit(resource.RLIMIT_CPU)
    ask("1", memory_bytes=512 << 20)

    assert before == (resource.getrlimit(resource.RLIMIT_AS), resource.getrlimit(resource.RLIMIT_CPU))


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="only glibc has these thresholds")
def test_memory_is_kept_between_jobs():
    """The next page uses the same memory, so that the kernel need not provide new pages."""
    faults = "(r := __import__('resource')).getrusage(r.RUSAGE_SELF).ru_minflt"
    again = f"[{', '.join([f'len(bytes(8 << 20)) and {faults}'] * 9)}]"
    outcome = ask(again)

    assert isinstance(outcome, Done)
    assert outcome.value[-1] - outcome.value[1] < 1_000  # 8 MB freed and allocated again are 2,048

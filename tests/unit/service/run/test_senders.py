import asyncio
import operator
import time

from tidings.fetching.network_guard import OutboundDoor
from tidings.isolation.runner import JobLimits
from tidings.isolation.runners import RUNNERS
from tidings.notification.channel import Refused, Sent
from tidings.service.run.senders import GuardedJobs


def run(job, argument, *, seconds=20.0, close_first=False):
    """Run one job in its own process."""

    async def body():
        runner = RUNNERS["killable"](JobLimits())
        if close_first:
            await runner.close()
        try:
            return await GuardedJobs(runner, OutboundDoor().fault).run(job, argument, seconds=seconds)
        finally:
            await runner.close()

    return asyncio.run(body())


def test_answer_of_the_job_is_returned():
    """The sender uses it unchanged."""
    assert Sent(250) == run(Sent, 250)


def test_slow_job_is_killed_and_retried():
    """H-122: the deadline holds for any library."""
    begun = time.monotonic()
    answer = run(time.sleep, 60, seconds=0.3)

    assert isinstance(answer, Refused)
    assert answer.retry
    assert "took longer than 0.3 s" in answer.reason
    assert time.monotonic() - begun < 30


def test_crashed_job_is_retried():
    """The crash of a library is a failed attempt."""
    answer = run(operator.neg, "x")

    assert isinstance(answer, Refused)
    assert answer.retry
    assert answer.reason.startswith("the attempt was given up: the job raised TypeError")


def test_job_of_a_stopping_service_is_retried():
    """The job starts again after the next start of the service."""
    answer = run(Sent, 250, close_first=True)

    assert isinstance(answer, Refused)
    assert answer.retry

import asyncio
import operator
import time

from tidings.fetching.guard import OutboundDoor
from tidings.isolation.runner import JobLimits
from tidings.isolation.runners import RUNNERS
from tidings.notification.channel import Refused, Sent
from tidings.service.run.senders import GuardedJobs


def run(job, argument, *, seconds=20.0, close_first=False):
    """Run one job in a process of its own."""

    async def body():
        runner = RUNNERS["killable"](JobLimits())
        if close_first:
            await runner.close()
        try:
            return await GuardedJobs(runner, OutboundDoor().fault).run(job, argument, seconds=seconds)
        finally:
            await runner.close()

    return asyncio.run(body())


def test_what_the_job_says_comes_back():
    """Its answer is the sender's."""
    assert Sent(250) == run(Sent, 250)


def test_a_job_that_takes_too_long_is_killed_and_tried_again():
    """H-122: whatever library hangs, the deadline holds."""
    begun = time.monotonic()
    answer = run(time.sleep, 60, seconds=0.3)

    assert isinstance(answer, Refused)
    assert answer.retry
    assert "took longer than 0.3 s" in answer.reason
    assert time.monotonic() - begun < 30


def test_a_job_that_dies_is_tried_again():
    """A crash of a library is a failed attempt, nothing more."""
    answer = run(operator.neg, "x")

    assert isinstance(answer, Refused)
    assert answer.retry
    assert answer.reason.startswith("the attempt was given up: the job raised TypeError")


def test_a_service_that_stops_keeps_what_it_could_not_send():
    """What is not begun is tried again after the next start."""
    answer = run(Sent, 250, close_first=True)

    assert isinstance(answer, Refused)
    assert answer.retry

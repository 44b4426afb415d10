"""The contract of isolation, for every row of RUNNERS."""

import asyncio
import operator

import pytest

from tidings.isolation.runner import Died, Done, JobLimits
from tidings.isolation.runners import RUNNERS

ROWS = tuple(RUNNERS)


def run_all(row, jobs, *, workers=1, seconds=30.0):
    """Run (function, argument) pairs one after the other on a fresh runner and return the outcomes."""

    async def body():
        runner = RUNNERS[row](JobLimits(seconds=seconds), workers=workers)
        try:
            return [await runner.run(function, argument) for function, argument in jobs]
        finally:
            await runner.close()

    return asyncio.run(body())


@pytest.mark.parametrize("row", ROWS)
def test_value_is_returned(row):
    """None and large values are returned too."""
    outcomes = run_all(row, [(operator.neg, 3), (dict.fromkeys, ()), (bytes, 3_000_000), (print, "")])

    assert [Done(-3), Done({}), Done(bytes(3_000_000)), Done(None)] == outcomes


@pytest.mark.parametrize("row", ROWS)
def test_argument_arrives_whole(row):
    """An argument larger than many pipe buffers arrives unchanged."""
    body = bytes(range(256)) * 40_000

    assert [Done(body)] == run_all(row, [(bytes, body)])


@pytest.mark.parametrize("row", ROWS)
def test_exception_is_an_error(row):
    """The error names the exception; the next job runs."""
    outcomes = run_all(row, [(int, "x"), (operator.neg, 3)])

    assert [
        Died("error", "the job raised ValueError: invalid literal for int() with base 10: 'x'"),
        Done(-3),
    ] == outcomes


@pytest.mark.parametrize("row", ROWS)
def test_memory_error_is_a_memory_failure(row):
    """A job that allocates more than the limit fails; the next one runs."""
    outcomes = run_all(row, [(bytearray, 1 << 60), (operator.neg, 3)])

    assert [Died("memory", "the job wanted more memory than it may have"), Done(-3)] == outcomes


@pytest.mark.parametrize("row", ROWS)
def test_concurrent_jobs_get_their_own_values(row):
    """Many jobs run at once."""

    async def body():
        runner = RUNNERS[row](JobLimits(), workers=2)
        outcomes = await asyncio.gather(*(runner.run(operator.neg, number) for number in range(100)))
        await runner.close()
        return outcomes

    assert [Done(-number) for number in range(100)] == asyncio.run(body())


@pytest.mark.parametrize("row", ROWS)
def test_closed_runner_refuses(row):
    """A job after `close` fails at once; `close` can be called twice."""

    async def body():
        runner = RUNNERS[row](JobLimits())
        await runner.run(operator.neg, 3)
        await runner.close()
        await runner.close()
        return await runner.run(operator.neg, 3)

    assert Died("crash", "the runner was closed") == asyncio.run(body())

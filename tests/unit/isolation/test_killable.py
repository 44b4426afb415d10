"""Jobs that must be killed, without effect on other jobs."""

from __future__ import annotations

import asyncio
import ctypes
import itertools
import operator
import os
import re
import select
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

from tidings.isolation import killable, worker
from tidings.isolation.killable import Killable, Lanes
from tidings.isolation.runner import CLOSED, Died, Done, JobLimits

needs_pidfd = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for processes of others by pidfd_open")

PID = "__import__('os').getpid()"
PIDS = "[__import__('os').getpid(), __import__('os').getppid()]"


def with_runner(body, *, workers=1, **limits):
    """Run `body(runner)` on a fresh runner that is closed afterwards."""

    async def count_open():
        runner = Killable(JobLimits(**limits), workers=workers)
        try:
            return await body(runner)
        finally:
            await runner.close()

    return asyncio.run(count_open())


def exists(pid):
    """Return whether a process exists; a zombie does."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        pytest.param(time.sleep, 60, id="sleeping in C"),
        pytest.param(sum, itertools.repeat(1), id="busy in C with the GIL"),
        pytest.param(partial(re.match, r"(a+)+$"), "a" * 60 + "b", id="stuck in a regular expression"),
        pytest.param(exec, "while True: pass", id="busy in Python"),
    ],
)
def test_job_is_killed_at_its_deadline(function, argument):
    """No job is killed earlier, wherever it hangs, and the next job runs."""

    async def body(runner):
        await runner.run(operator.neg, 1)
        started = time.monotonic()
        outcome = await runner.run(function, argument, seconds=0.1)
        return time.monotonic() - started, outcome, await runner.run(operator.neg, 3)

    took, outcome, after = with_runner(body)

    assert Died("deadline", "the job took longer than 0.1 s and was stopped") == outcome
    assert 0.1 <= took < 30
    assert Done(-3) == after


def test_start_of_a_worker_does_not_count_towards_the_deadline():
    """The time of the job begins after it."""

    async def body(runner):
        return await runner.run(operator.neg, 3)

    assert any(Done(-3) == with_runner(body, seconds=0.03) for _ in range(5))  # others may keep the machine busy once


def test_waiting_does_not_count_towards_the_deadline():
    """A job that waits for another one has its whole time afterwards."""

    async def body(runner):
        return await asyncio.gather(*(runner.run(time.sleep, 0.1, seconds=0.2) for _ in range(4)))

    assert any([Done(None)] * 4 == with_runner(body) for _ in range(5))  # others may keep the machine busy once


@pytest.mark.parametrize(
    ("function", "argument", "reason"),
    [
        (ctypes.string_at, 0, "killed by signal 11 (SIGSEGV)"),
        (exec, "import os; os.abort()", "killed by signal 6 (SIGABRT)"),
        (os._exit, 3, "it exited with status 3"),
        (sys.exit, 0, "it exited with status 0"),
        (signal.raise_signal, 9, "killed by signal 9 (SIGKILL); the system may have run out of memory"),
    ],
)
def test_crash_has_its_reason(function, argument, reason):
    """The next job runs."""

    async def body(runner):
        return await runner.run(function, argument), await runner.run(operator.neg, 3)

    assert (Died("crash", f"the job's process died: {reason}"), Done(-3)) == with_runner(body)


def test_closed_pipe_is_a_crash():
    """The next job runs."""

    async def body(runner):
        outcome = await runner.run(exec, "import os; os.closerange(3, 100); os.kill(os.getpid(), 9)")
        return outcome.cause, await runner.run(operator.neg, 3)

    assert ("crash", Done(-3)) == with_runner(body)


def test_memory_of_a_job_is_limited():
    """The limit is the worker's address space, even if the machine has more memory."""

    async def body(runner):
        return [await runner.run(len, b""), await runner.run(bytearray, 600 << 20), await runner.run(bytearray, 1)]

    outcomes = with_runner(body, memory_bytes=512 << 20)

    assert [Done(0), Died("memory", "the job wanted more memory than it may have"), Done(bytearray(1))] == outcomes


def test_result_of_a_job_is_limited():
    """A larger one is not returned."""

    async def body(runner):
        return await runner.run(bytes, 2_000)

    outcome = with_runner(body, result_bytes=1_000)

    assert isinstance(outcome, Died)
    assert "memory" == outcome.cause
    assert outcome.reason.endswith("more than 1000")


def test_value_that_cannot_be_pickled_is_an_error():
    """The value is a function, an argument or a result; the next job runs."""

    async def body(runner):
        return [
            await runner.run(lambda number: number, 1),
            await runner.run(len, (_ for _ in ())),
            await runner.run(memoryview, b"x"),
            await runner.run(operator.neg, 3),
        ]

    *failed, after = with_runner(body)

    assert ["error", "error", "error"] == [outcome.cause for outcome in failed]
    assert "the job's answer cannot be brought back: cannot pickle memoryview objects" == failed[2].reason
    assert Done(-3) == after


def test_light_job_does_not_wait_for_heavy_jobs():
    """With one worker, heavy jobs wait for each other, and light ones have their own process."""

    async def story():
        runner = Killable(JobLimits(), light_bytes=1_000)
        heavy = [asyncio.create_task(runner.run(exec, "import time; time.sleep(60)" + " " * 2_000)) for _ in range(3)]
        try:
            return await runner.run(operator.neg, 3), [task.done() for task in heavy]
        finally:
            await runner.close()
            await asyncio.gather(*heavy)

    assert (Done(-3), [False] * 3) == asyncio.run(story())


def test_dying_job_does_not_affect_others():
    """The jobs of one worker die in every way; those of the other and waiting ones are returned."""

    async def body(runner):
        deaths = [(ctypes.string_at, 0), (os._exit, 1), (bytearray, 1 << 60), (int, "x"), (time.sleep, 60)]
        jobs = [job for death in deaths for job in (death, (operator.neg, 3), (operator.neg, 4))]
        return await asyncio.gather(*(runner.run(*job, seconds=1) for job in jobs))

    outcomes = with_runner(body, workers=2)

    assert [Done(-3), Done(-4)] * 5 == [outcome for place, outcome in enumerate(outcomes) if place % 3]
    assert ["crash", "crash", "memory", "error", "deadline"] == [outcome.cause for outcome in outcomes[::3]]


def test_worker_is_reused_and_replaced_after_its_tasks():
    """An error does not end it."""

    async def body(runner):
        pids = []
        for _ in range(3):
            pids += [
                (await runner.run(eval, PID)).value,
                await runner.run(int, "x"),
                (await runner.run(eval, PID)).value,
            ]
        return pids

    first, _, same, second, _, also, third, *_ = with_runner(body, tasks=3)

    assert (first, second) == (same, also)
    assert 3 == len({first, second, third})


@needs_pidfd
def test_worker_that_died_idle_is_replaced():
    """No job is lost."""

    async def body(runner):
        pid = (await runner.run(eval, PID)).value
        os.kill(pid, signal.SIGKILL)
        gone = os.pidfd_open(pid)
        select.select([gone], [], [], 5)
        os.close(gone)
        await asyncio.sleep(0)
        return pid != (await runner.run(eval, PID)).value

    assert with_runner(body)


def test_stopped_fork_server_does_not_outlast_the_deadline(monkeypatch):
    """If all processes but the service are stopped (SIGSTOP), only the running job is lost: the
    fork server, which reports deaths, is replaced.
    """
    monkeypatch.setattr(worker, "END_SECONDS", 0.2)

    async def body(runner):
        for pid in (await runner.run(eval, PIDS)).value:
            os.kill(pid, signal.SIGSTOP)
        return await runner.run(operator.neg, 1), await runner.run(operator.neg, 2)

    died, after = with_runner(body, seconds=0.5)

    assert ("deadline", Done(-2)) == (died.cause, after)


def test_worker_starts_despite_a_stopped_fork_server(monkeypatch):
    """A start that takes too long is tried again with another fork server, and no job is lost."""

    async def body(runner):
        _, parent = (await runner.run(eval, PIDS)).value
        os.kill(parent, signal.SIGSTOP)
        monkeypatch.setattr(killable, "SPAWN_SECONDS", 3.0)
        return await runner.run(operator.neg, 2)

    assert Done(-2) == with_runner(body, tasks=1)


def test_worker_ignores_sigint():
    """Ctrl-C reaches the whole process group; a worker finishes its job."""

    async def body(runner):
        return await runner.run(signal.raise_signal, signal.SIGINT), await runner.run(operator.neg, 3)

    assert (Done(None), Done(-3)) == with_runner(body)


def test_cancelled_job_is_killed():
    """The place of the worker is free."""

    async def body(runner):
        pid = (await runner.run(eval, PID)).value
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(runner.run(time.sleep, 60), 0.05)
        return pid, await runner.run(operator.neg, 3)

    pid, after = with_runner(body)

    assert Done(-3) == after
    assert not exists(pid)


def test_close_kills_running_and_waiting_jobs():
    """No process is left, not even a zombie."""

    async def body():
        runner = Killable(JobLimits(), workers=2)
        outcomes = await asyncio.gather(*(runner.run(eval, PID) for _ in range(2)))
        pids = [outcome.value for outcome in outcomes if isinstance(outcome, Done)]
        jobs = [asyncio.create_task(runner.run(time.sleep, 60)) for _ in range(5)]
        await asyncio.sleep(0)
        await runner.close()
        return pids, await asyncio.gather(*jobs)

    pids, outcomes = asyncio.run(body())

    assert [CLOSED] * 5 == outcomes
    assert [False, False] == [exists(pid) for pid in pids]


ORPHANS = """
import asyncio, os, signal, sys, time
from tidings.isolation import killable, worker
from tidings.isolation.killable import Killable
from tidings.isolation.runner import JobLimits

async def main():
    runner = Killable(JobLimits(seconds=0.5), workers=3, preload=("mailbox",))
    loaded = await runner.run(eval, "'mailbox' in __import__('sys').modules")
    pids = await asyncio.gather(*(runner.run(eval, "__import__('time').sleep(0.1), __import__('os').getpid()") for _ in range(3)))
    print(loaded.value, *(pid.value[1] for pid in pids), flush=True)
    stuck = asyncio.create_task(runner.run(time.sleep, 60))
    await asyncio.sleep(0.05)
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


@needs_pidfd
def test_workers_end_with_their_parent():
    """After the parent was killed, idle workers end at once, and a hanging one at its deadline.
    Preloaded modules are loaded.
    """
    parent = subprocess.Popen([sys.executable, "-c", ORPHANS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdin is not None
    assert parent.stdout is not None
    loaded, *pids = parent.stdout.readline().split()
    watched = [os.pidfd_open(int(pid)) for pid in pids]
    with parent:
        parent.stdin.close()
        parent.wait(5)
    gone = [select.select([process], [], [], 5)[0] == [process] for process in watched]
    for process in watched:
        os.close(process)

    assert "True" == loaded
    assert [True, True, True] == gone


def test_start_of_a_worker_does_not_block_the_event_loop():
    """Other tasks run meanwhile."""

    async def body(runner):
        job = asyncio.create_task(runner.run(operator.neg, 3))
        turns = 0
        while not job.done():
            await asyncio.sleep(0.001)
            turns += 1
        return turns

    assert with_runner(body) > 1


def test_close_during_the_start_of_a_worker_leaves_no_process():
    """The job gets the answer that the runner was closed."""

    async def body():
        runner = Killable(JobLimits())
        job = asyncio.create_task(runner.run(operator.neg, 3))
        await asyncio.sleep(0)
        await runner.close()
        return await job

    assert CLOSED == asyncio.run(body())


def with_light(body, **limits):
    """Run `body(runner)` on a runner of one worker that gets light jobs in advance."""

    async def count_open():
        runner = Killable(JobLimits(**limits), workers=0, light_bytes=100_000)
        try:
            return await body(runner)
        finally:
            await runner.close()

    return asyncio.run(count_open())


@pytest.mark.parametrize(
    ("killer", "cause"),
    [
        pytest.param((ctypes.string_at, 0), "crash", id="crash"),
        pytest.param((os._exit, 0), "crash", id="exit"),
        pytest.param((bytearray, 1 << 60), "memory", id="memory"),
        pytest.param((int, "x"), "error", id="error"),
        pytest.param((time.sleep, 60), "deadline", id="deadline"),
    ],
)
@pytest.mark.parametrize("place", range(4))
def test_only_the_failing_job_fails(killer, cause, place):
    """Jobs that were sent before or after it return their own values, whatever its position."""

    async def body(runner):
        await runner.run(operator.neg, 0)
        jobs = [(operator.neg, number) for number in range(6)]
        jobs[place] = killer
        return await asyncio.gather(*(runner.run(*job, seconds=0.5) for job in jobs))

    outcomes = with_light(body)

    assert cause == outcomes.pop(place).cause
    assert [Done(-number) for number in range(6) if number != place] == outcomes


def test_jobs_sent_in_advance_have_their_own_deadline():
    """Four jobs share a worker; the time of each begins when the one before has ended."""

    async def body(runner):
        await runner.run(operator.neg, 0)
        return await asyncio.gather(*(runner.run(time.sleep, 0.3, seconds=0.5) for _ in range(4)))

    assert any([Done(None)] * 4 == with_light(body) for _ in range(3))  # others may keep the machine busy once


@pytest.mark.parametrize("place", range(3))
def test_cancelled_job_does_not_affect_jobs_sent_in_advance(place):
    """The running job is killed; for a later one only the result is dropped."""

    async def body(runner):
        await runner.run(operator.neg, 0)
        jobs = [(time.sleep, 0.2 if place else 60), (operator.neg, 1), (operator.neg, 2)]
        tasks = [asyncio.create_task(runner.run(*job)) for job in jobs]
        await asyncio.sleep(0.05)
        tasks[place].cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        return outcomes, await runner.run(operator.neg, 3)

    outcomes, after = with_light(body)

    assert isinstance(outcomes.pop(place), asyncio.CancelledError)
    wanted = [Done(None), Done(-1), Done(-2)]
    wanted.pop(place)
    assert (wanted, Done(-3)) == (outcomes, after)


def test_large_jobs_sent_in_advance_arrive_whole():
    """Many jobs, each larger than a pipe buffer, keep their content and order."""

    async def body(runner):
        return await asyncio.gather(*(runner.run(bytes, bytes([n]) * 90_000) for n in range(40)))

    assert [Done(bytes([n]) * 90_000) for n in range(40)] == with_light(body)


def test_worker_with_jobs_in_advance_is_replaced_after_its_tasks():
    """No worker gets more jobs than the limit, and each job returns."""

    async def body(runner):
        return [outcome.value for outcome in await asyncio.gather(*(runner.run(eval, PID) for _ in range(20)))]

    pids = with_light(body, tasks=3)

    assert 20 == len(pids)
    assert 3 >= max(pids.count(pid) for pid in pids)


def test_worker_collects_no_garbage_within_a_job():
    """The worker does so between two jobs."""

    async def ask(runner):
        return await runner.run(eval, "__import__('gc').isenabled()")

    assert with_runner(ask) == Done(False)


async def order(lanes: Lanes[None], jobs: list[tuple[str, bool]], ends: list[str]) -> list[str]:
    """Return the order in which jobs begin that arrive together, if those of `ends` end in that order."""
    begun: list[str] = []
    done = {name: asyncio.Event() for name, _ in jobs}

    async def job(name: str, *, is_light: bool) -> None:
        async with lanes.place(is_light=is_light):
            begun.append(name)
            await done[name].wait()

    tasks = [asyncio.create_task(job(name, is_light=is_light)) for name, is_light in jobs]
    for name in ends:
        await asyncio.sleep(0)
        done[name].set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    for event in done.values():
        event.set()
    await asyncio.gather(*tasks)
    await lanes.drain()
    return begun


async def list_begun(lanes: Lanes[None], jobs: list[tuple[str, bool]]) -> list[str]:
    """Return the jobs that begin before one has ended, if all arrive together."""
    names: list[str] = []

    async def job(name: str, *, is_light: bool) -> None:
        async with lanes.place(is_light=is_light):
            names.append(name)
            await asyncio.Event().wait()

    tasks = [asyncio.create_task(job(name, is_light=is_light)) for name, is_light in jobs]
    for _ in range(5):
        await asyncio.sleep(0)
    found = list(names)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return found


def test_light_job_does_not_wait_for_heavy_ones():
    """With four heavy jobs and one place, the last, light job begins at once; the heavy ones keep
    their order.
    """
    jobs = [("a", False), ("b", False), ("c", False), ("d", False), ("light", True)]

    assert ["a", "light", "b", "c", "d"] == asyncio.run(order(Lanes(1, 1), jobs, ["a", "b", "c", "d"]))


def test_light_jobs_use_common_places_without_delaying_heavy_ones():
    """Two light jobs run at once without a heavy one. A heavy job before the third has its turn
    first.
    """
    jobs = [("l1", True), ("l2", True), ("heavy", False), ("l3", True)]

    assert ["l1", "l2", "heavy", "l3"] == asyncio.run(order(Lanes(1, 1), jobs, ["l1", "heavy"]))


def test_spare_place_is_never_used_by_heavy_jobs():
    """Heavy jobs wait for the common place even while the spare one is free."""
    jobs = [("a", False), ("light", True), ("b", False), ("c", False)]

    assert ["a", "light", "b", "c"] == asyncio.run(order(Lanes(1, 1), jobs, ["light", "a", "b"]))


def test_without_a_spare_place_jobs_run_in_order():
    """Light and heavy jobs are equal."""
    jobs = [("a", False), ("light", True), ("b", False)]

    assert ["a", "light", "b"] == asyncio.run(order(Lanes(1), jobs, ["a", "light"]))


def test_cancelled_waiting_job_takes_no_place():
    """The job after it has its turn."""

    async def story() -> list[str]:
        lanes: Lanes[None] = Lanes(1)
        begun, end = [], asyncio.Event()

        async def job(name: str) -> None:
            async with lanes.place(is_light=False):
                begun.append(name)
                await end.wait()

        first, second, third = (asyncio.create_task(job(name)) for name in "abc")
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        end.set()
        await asyncio.gather(first, third)
        await lanes.drain()
        return begun

    assert ["a", "c"] == asyncio.run(story())


def test_light_jobs_share_a_lane_up_to_its_depth():
    """Of four light jobs, three share the lane of one worker; the fourth begins when one has ended."""
    jobs = [("l1", True), ("l2", True), ("l3", True), ("l4", True)]

    assert ["l1", "l2", "l3"] == asyncio.run(list_begun(Lanes(1, depth=3), jobs))
    assert ["l1", "l2", "l3", "l4"] == asyncio.run(order(Lanes(1, depth=3), jobs, ["l1"]))


def test_heavy_job_shares_its_lane_with_no_other():
    """No job waits behind it, and it waits behind none. Light ones use the spare lane meanwhile."""
    assert ["heavy", "l1", "l2"] == asyncio.run(
        list_begun(Lanes(1, 1, depth=2), [("heavy", False), ("l1", True), ("l2", True), ("l3", True)])
    )
    assert ["l1", "l2"] == asyncio.run(list_begun(Lanes(1, 1, depth=3), [("l1", True), ("heavy", False), ("l2", True)]))


def test_job_does_not_wait_behind_a_slow_one(monkeypatch):
    """A light job that has run for long gets no other behind it: that one uses the spare lane."""

    async def story() -> list[bool]:
        lanes = Lanes[None](1, 1, depth=4)
        async with lanes.place(is_light=True) as first, lanes.place(is_light=True) as second:
            monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: first.begun + 1)
            async with lanes.place(is_light=True) as third:
                return [first is second, first is third]

    assert [True, False] == asyncio.run(story())

from __future__ import annotations

import asyncio

from tidings.isolation.lanes import Lanes


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

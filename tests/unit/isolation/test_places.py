from __future__ import annotations

import asyncio

from tidings.isolation.places import Places


async def order(places: Places, jobs: list[tuple[str, bool]], ends: list[str]) -> list[str]:
    """Return in which order jobs begin that arrive together, where those of `ends` end in that order."""
    begun: list[str] = []
    done = {name: asyncio.Event() for name, _ in jobs}

    async def job(name: str, *, is_light: bool) -> None:
        async with places.place(is_light=is_light):
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
    await places.drain()
    return begun


def test_a_light_job_waits_for_no_heavy_one():
    """Four heavy jobs and one place: a light job that comes last begins at once; the heavy ones follow in their order."""
    jobs = [("a", False), ("b", False), ("c", False), ("d", False), ("light", True)]

    assert ["a", "light", "b", "c", "d"] == asyncio.run(order(Places(1, 1), jobs, ["a", "b", "c", "d"]))


def test_light_jobs_use_the_common_places_too_and_hold_no_heavy_one_up():
    """Two light jobs run at once where nothing heavy does; a heavy one that came before the third has its turn first."""
    jobs = [("l1", True), ("l2", True), ("heavy", False), ("l3", True)]

    assert ["l1", "l2", "heavy", "l3"] == asyncio.run(order(Places(1, 1), jobs, ["l1", "heavy"]))


def test_a_spare_place_is_never_a_heavy_ones():
    """Where it is free and only heavy jobs wait, they go on waiting for the common one."""
    jobs = [("a", False), ("light", True), ("b", False), ("c", False)]

    assert ["a", "light", "b", "c"] == asyncio.run(order(Places(1, 1), jobs, ["light", "a", "b"]))


def test_without_a_spare_place_all_wait_in_the_order_of_asking():
    """As where nothing is light."""
    jobs = [("a", False), ("light", True), ("b", False)]

    assert ["a", "light", "b"] == asyncio.run(order(Places(1), jobs, ["a", "light"]))


def test_a_job_that_is_cancelled_while_it_waits_takes_no_place():
    """Who waits behind it has its turn."""

    async def story() -> list[str]:
        places, begun, end = Places(1), [], asyncio.Event()

        async def job(name: str) -> None:
            async with places.place(is_light=False):
                begun.append(name)
                await end.wait()

        first, second, third = (asyncio.create_task(job(name)) for name in "abc")
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        end.set()
        await asyncio.gather(first, third)
        await places.drain()
        return begun

    assert ["a", "c"] == asyncio.run(story())

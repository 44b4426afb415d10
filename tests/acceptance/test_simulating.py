"""Promise: a simulation of other settings uses the service's own planner."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import Any

import pytest

from tests.acceptance.test_screens import face, see, words_of
from tests.world import World, play
from tidings.clock import DAY
from tidings.isolation.runner import Died, JobLimits
from tidings.isolation.runners import InProcess
from tidings.model.interval import Instant
from tidings.service.on_demand.simulation import read_history, simulate
from tidings.service.run.monitor import Monitor
from tidings.web.screens import desk

EVERY = {"hour": 0.8, "week": 4.0}
"""Pages, and how many days lie between two changes of each, on average."""


async def month(world: World, monitor: Monitor) -> None:
    """Let thirty days pass with random changes."""
    chance, begin = random.Random(1), world.clock.now()
    coming: list[tuple[Instant, str]] = []
    for name, days in EVERY.items():
        at = begin
        while (at := at + round(chance.expovariate(1 / days) * DAY)) < begin + 30 * DAY:
            coming.append((at, name))
    for number, (at, name) in enumerate(sorted(coming)):
        await world.pass_time(monitor, at - world.clock.now())
        world.page(f"/{name}", f"<p>news number {number}</p>")
    await world.pass_time(monitor, begin + 30 * DAY - world.clock.now())


def test_simulation_reproduces_a_recorded_month(make_world) -> None:
    """Checks and changes agree within 2 %; a faster pace finds changes sooner."""
    world = make_world(schedule__pace_seconds="86400", schedule__sitemap_pages="0")
    for name in EVERY:
        world.page(f"/{name}", "<p>nothing yet</p>")
        world.add(f"Create Sentinel {name} Using {{/{name}}} Monitor all words Fetch on change")
    world.page("/fixed", "<p>nothing yet</p>")
    world.add("Create Sentinel fixed Using {/fixed} Monitor all words Fetch every 1 day")
    begin = world.clock.now()

    async def story(monitor: Monitor) -> None:
        await month(world, monitor)
        async with face(world, monitor) as app:
            page = words_of(await see(app, "/sentinels/hour"))
            assert "sure to 95" in page
            assert "half of the changes seen within" in page
            assert "seen within an hour" in words_of(await draw(app, "/plan?budget=40"))

    play(world, story, spreads=True)

    history = world.read(read_history, world.settings, begin=begin, end=world.clock.now())
    real, again = history.as_it_was(), simulate(history, world.settings)
    more = simulate(history, replace(world.settings, schedule=replace(world.settings.schedule, pace_seconds=28_800)))
    assert len(real.ledger.polls.at) > 60
    assert real.captured > 15
    assert abs(again.checks_a_day / real.checks_a_day - 1) <= 0.02
    assert abs(again.captured / real.captured - 1) <= 0.02
    assert more.checks_a_day > 1.5 * real.checks_a_day
    assert more.ledger.delay_quantile(0.5) < real.ledger.delay_quantile(0.5)


async def draw(app: Any, path: str) -> str:
    """Ask for a curve and return the screen once it is done."""
    page = await see(app, path)
    while "data-soon" in page:
        await asyncio.sleep(0)
        page = await see(app, "/plan")
    return page


async def watch_three_days(world: World, monitor: Monitor) -> None:
    """Let a page change twice."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel a Using {/a} Monitor all words Fetch every 1 hour")
    for text in ("two", "three"):
        await world.pass_time(monitor, DAY)
        world.page("/a", f"<p>{text}</p>")
    await world.pass_time(monitor, DAY)


def test_curve_is_computed_beside_the_requests(world: World) -> None:
    """The first answer says what is still to come; table and curves have the same budgets, and
    another one joins them.
    """

    async def story(monitor: Monitor) -> None:
        await watch_three_days(world, monitor)
        async with face(world, monitor) as app:
            assert "Draw the curve" in words_of(await see(app, "/plan"))
            first = words_of(await draw(app, "/plan?curve=1"))
            assert "3 3 2 of 2 8 h" in first
            assert "12 12 2 of 2" in first
            assert "50,000, now 24 2 of 2 30 min" in first
            assert "Changes found 0 % 25 %" in first
            more = await draw(app, "/plan?budget=40")
            assert "40 24 2 of 2" in words_of(more)
            assert 10 == more.count("<circle class")
            assert "data-soon" not in await see(app, "/plan?budget=40")
            assert "Write a whole number" in words_of(await see(app, "/plan?budget=many"))

    play(world, story)


def test_plan_of_an_empty_record_says_when_to_come_back(world: World) -> None:
    """Nothing can be simulated yet."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel a Using {/a} Monitor all words Fetch every 1 hour")

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            assert "Nothing was recorded yet" in words_of(await draw(app, "/plan?curve=1"))

    play(world, story)


def test_killed_simulation_is_reported_and_the_next_one_runs(world: World) -> None:
    """The service need not be restarted."""

    class Dying(InProcess):
        async def run(self, *_: Any, **__: Any) -> Any:
            return Died("memory", "the job wanted more memory than it may have")

    async def story(monitor: Monitor) -> None:
        await watch_three_days(world, monitor)
        async with face(world, monitor) as app:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(desk, "open_long_runner", lambda _: Dying(JobLimits()))
                assert "too much time or memory" in words_of(await draw(app, "/plan?budget=40"))
        async with face(world, monitor) as app:
            assert "seen within an hour" in words_of(await draw(app, "/plan?budget=40"))

    play(world, story)

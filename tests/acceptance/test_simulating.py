"""Promise: a simulation of other settings uses the service's own planner."""

from __future__ import annotations

import os
import random
from dataclasses import replace

import pytest

from tests.acceptance.test_screens import face, see, words_of
from tests.asgi import ask
from tests.world import World, play
from tidings.clock import DAY
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
            assert "half seen within" in page
            assert "seen within an hour" in words_of(await see(app, "/plan?budget=40"))

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


def kill(*_: object) -> None:
    """Kill the simulating process, as a system without memory does."""
    os._exit(1)


def test_killed_simulation_is_reported_and_the_next_one_runs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service need not be restarted."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel a Using {/a} Monitor all words Fetch every 1 hour")

    async def story(monitor: Monitor) -> None:
        for text in ("two", "three"):
            await world.pass_time(monitor, DAY)
            world.page("/a", f"<p>{text}</p>")
        await world.pass_time(monitor, DAY)
        async with face(world, monitor) as app:
            with monkeypatch.context() as patch:
                patch.setattr(desk, "simulate", kill)
                killed = await ask(app, "/plan?budget=40")
            assert (503, True) == (killed.status, b"the simulation was killed" in killed.body)
            assert "seen within an hour" in words_of(await see(app, "/plan?budget=40"))

    play(world, story)

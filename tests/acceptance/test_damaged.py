"""Promise: two hundred damaged responses are no change of the page, and none of them is kept as a version (trust.md G-23)."""

from __future__ import annotations

from tests.damaged import damaged
from tests.world import World, play
from tidings.clock import MINUTE
from tidings.service.monitor import Monitor

PAGE = (
    "<!doctype html><html><head><title>Timetable</title></head><body><h1>Timetable of the valley line</h1>"
    + "".join(
        f'<p class="r">Train {n} leaves the lower station at {n % 24}:{n * 7 % 60:02d} and calls at every village, été comme hiver.</p>'
        for n in range(150)
    )
    + '<a href="/prices">prices</a><img src="/map.png"></body></html>'
)


async def _look(world: World, monitor: Monitor) -> None:
    """Let the next look at the page happen, whenever it is due."""
    due = monitor.parts.planner.due_at(1)
    assert due is not None
    world.clock.move_to(max(due, world.clock.now() + MINUTE))
    await world.settle(monitor)


def test_no_damaged_response_is_a_change(make_world):
    """Good, damaged at one look, good again, two hundred times: one version, no news."""
    world: World = make_world(fetch__total_seconds="2")
    world.page("/a", PAGE)
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")
    wrong: list[str] = []

    async def story(monitor: Monitor) -> None:
        await world.settle(monitor)
        for name, answer in damaged(PAGE.encode(), seed=7, count=200):
            world.server.pages["/a"] = answer
            await _look(world, monitor)
            world.page("/a", PAGE)
            await _look(world, monitor)
            if monitor.parts.watchlist.pages[1].state.last_seq != 1:
                wrong.append(name)
                return

    play(world, story)

    assert [] == wrong
    assert [] == world.changes()
    assert 1 == len(world.versions())
    assert [] == world.violations()

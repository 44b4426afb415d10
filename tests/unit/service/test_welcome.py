"""What `add --url` answers."""

from __future__ import annotations

from pathlib import Path

from tests.fakes import WebServer
from tests.world import World, play
from tidings.clock import HOUR
from tidings.service.monitor import Monitor
from tidings.service.records import rfc3339
from tidings.service.welcome import answer


def test_the_next_look_is_the_one_that_is_planned(tmp_path: Path):
    """A page that has not answered yet is looked at next at once, not an interval later; then in its hours, as `plan` says too."""
    with WebServer() as server:
        world = World(tmp_path / "data", server)
        world.page("/a", "<p>one</p>")
        world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")
        before = world.read(answer, 1, settings=world.settings, now=world.clock.now())

        async def story(monitor: Monitor) -> None:
            await world.settle(monitor)

        play(world, story)
        after = world.read(answer, 1, settings=world.settings, now=world.clock.now())

        assert rfc3339(world.clock.now()) == before["next_look"]
        assert rfc3339(world.clock.now() + HOUR) == after["next_look"]

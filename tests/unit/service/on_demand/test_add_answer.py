"""What `add --url` answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import WebServer
from tests.world import World, play
from tidings.clock import HOUR, MINUTE, SECOND
from tidings.model.interval import spell_duration
from tidings.service.on_demand.add_answer import answer
from tidings.service.show.records import rfc3339


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A page that is still."""
    with WebServer() as server:
        world = World(tmp_path / "data", server)
        world.page("/a", "<p>one</p>")
        yield world


def write_answer(world: World) -> dict[str, Any]:
    """Return the answer of now."""
    answered: dict[str, Any] = world.read(answer, 1, settings=world.settings, now=world.clock.now())
    return answered


def test_the_next_look_is_the_one_that_is_planned(world):
    """A page that has not answered yet is looked at next at once, not an interval later; then in its hours, as `plan` says too."""
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")
    before = write_answer(world)
    play(world, world.settle)
    after = write_answer(world)

    assert rfc3339(world.clock.now()) == before["next_look"]
    assert rfc3339(world.clock.now() + HOUR) == after["next_look"]
    assert "every 1 hour" == after["pace"]


def test_the_pace_is_that_of_the_page(world):
    """Of a page that is left to the policy it is how long the policy waits, not what the settings call the pace."""
    world.add("Create Sentinel s Using {/a} Monitor all words")
    play(world, lambda monitor: world.pass_time(monitor, MINUTE))
    answered = write_answer(world)
    (first,) = world.polls()
    waits = next(
        m for m in range(1, 60) if answered["next_look"] <= rfc3339(first.charged_at + m * MINUTE + 30 * SECOND)
    )

    assert f"about every {spell_duration(waits * MINUTE)}" == answered["pace"]


def test_a_page_that_is_looked_at_when_asked_for_says_so(world):
    """There is no next check."""
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch on demand")
    play(world, world.settle)

    assert (None, "on request") == (write_answer(world)["next_look"], write_answer(world)["pace"])

"""The answer of `add --url`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import WebServer
from tests.world import World, play
from tidings.clock import HOUR, MINUTE, SECOND
from tidings.model.interval import spell_duration
from tidings.service.on_demand.seen_now import answer
from tidings.service.show.records import rfc3339


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Serve a page that does not change."""
    with WebServer() as server:
        world = World(tmp_path / "data", server)
        world.page("/a", "<p>one</p>")
        yield world


def write_answer(world: World) -> dict[str, Any]:
    """Return the present answer."""
    answered: dict[str, Any] = world.read(answer, 1, settings=world.settings, now=world.clock.now())
    return answered


def test_next_check_is_the_planned_one(world):
    """The next check is now for a page without an answer, and then at its interval, as in `plan`."""
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")
    before = write_answer(world)
    play(world, world.settle)
    after = write_answer(world)

    assert rfc3339(world.clock.now()) == before["next_look"]
    assert rfc3339(world.clock.now() + HOUR) == after["next_look"]
    assert "every 1 hour" == after["pace"]


def test_pace_is_that_of_the_page(world):
    """If the policy decides, it is the wait of the policy, not the pace of the settings."""
    world.add("Create Sentinel s Using {/a} Monitor all words")
    play(world, lambda monitor: world.pass_time(monitor, MINUTE))
    answered = write_answer(world)
    (first,) = world.polls()
    waits = next(
        m for m in range(1, 60) if answered["next_look"] <= rfc3339(first.charged_at + m * MINUTE + 30 * SECOND)
    )

    assert f"about every {spell_duration(waits * MINUTE)}" == answered["pace"]


def test_page_on_demand_has_no_next_check(world):
    """The pace is "on request"."""
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch on demand")
    play(world, world.settle)

    assert (None, "on request") == (write_answer(world)["next_look"], write_answer(world)["pace"])

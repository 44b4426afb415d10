"""Promise: a sentinel is not notified of what happened before its start, even if others watch its
page.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.world import World, serve
from tidings.clock import HOUR, SECOND
from tidings.service.show.records import Record

STARTS = {
    "at the end of another": "From end(old)",
    "some time after the start of another": "From start(old) + 3640 s",
    "on a date": "From now + 3640 s",
    "as soon as it is written": "",
}
RATES = {
    "every two hours": "Fetch every 2 hour slack 1 hour",
    "daily": "Fetch every 1 day",
    "on change": "Fetch on change",
}


def _write(world: World, text: str) -> None:
    world.page("/a", f"<p>the page says {text}</p>")


def _old(world: World, life: str = "For 3640 s") -> None:
    """A sentinel that polls the page at 0:00 and at 1:00 and ends 40 seconds later."""
    _write(world, "one")
    world.add(f"Create Sentinel old Using {{/a}} Monitor any change Fetch every 1 hour slack 0 s {life}")


@pytest.mark.parametrize(
    ("start", "rate"),
    [*((start, "daily") for start in STARTS), ("on a date", "every two hours"), ("on a date", "on change")],
)
def test_change_before_the_start_is_not_notified(make_world: Callable[..., World], start: str, rate: str):
    """The newest version is from an earlier poll, so the page is polled at the start."""
    world = make_world()
    _old(world)
    if STARTS[start]:
        world.add(f"Create Sentinel new Using {{/a}} Monitor any change {RATES[rate]} {STARTS[start]}")

    with serve(world) as service:
        service.pass_time(HOUR + 20 * SECOND)
        _write(world, "two")  # nobody has seen it when the other starts
        service.pass_time(20 * SECOND)
        if not STARTS[start]:
            world.add(f"Create Sentinel new Using {{/a}} Monitor any change {RATES[rate]}")
        service.pass_time(25 * HOUR)
        _write(world, "three")
        service.pass_time(25 * HOUR)

    assert [("two", "three")] == [_words(change) for change in world.changes("new")]


@pytest.mark.parametrize("how", ["restart", "enabled afresh"])
def test_change_before_a_fresh_start_is_not_notified(world: World, how: str):
    """Also if the service stopped between start and first poll, and after Enable … fresh."""
    _old(world, life="For 9 hour")
    start = "From now + 3640 s" if how == "restart" else ""
    world.add(f"Create Sentinel new Using {{/a}} Monitor any change Fetch every 2 hour slack 1 hour {start}")

    with serve(world) as service:
        service.pass_time(HOUR + 20 * SECOND)
        if how == "enabled afresh":
            world.add("Disable new")
        _write(world, "two")
    world.clock.advance(20 * SECOND)
    if how == "enabled afresh":
        world.add("Enable new fresh")
    with serve(world) as service:
        service.pass_time(5 * HOUR)
        _write(world, "three")
        service.pass_time(5 * HOUR)

    assert [("two", "three")] == [_words(change) for change in world.changes("new")]


def _words(change: Record) -> tuple[str, ...]:
    """Return the words before and after a change."""
    return tuple(text.split()[-1] for update in change["updated"] for text in (update["old"], update["new"]))

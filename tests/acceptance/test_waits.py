"""Promise: a check that waits says for what, and does not wait for a host that asked for a pause
without an option.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.world import World, play, serve
from tidings.clock import HOUR, MINUTE, SECOND
from tidings.service.run import check as checking
from tidings.service.run.check import Checked
from tidings.service.run.monitor import Monitor
from tidings.storage.db.database import open_database

BUSY = {"status": 429, "headers": {"Retry-After": "7200"}}


def watch(world: World, *paths: str) -> None:
    """Watch pages hourly, with a sentinel each."""
    for path in paths:
        world.add(f"Create Sentinel {path[1:]} Using {{{path}}} Monitor all words Fetch every 1 hour")


async def check_all(world: World, monitor: Monitor, named: bool = True, **more: Any) -> Checked:
    """Check all pages, named or due; time passes while nothing but the clock is waited for."""
    await monitor.live()
    pages: dict[int, set[int]] | None = {page_id: set() for page_id in monitor.watchlist.pages} if named else None
    task = asyncio.create_task(checking.check(monitor, pages, **more))
    idle, was_busy = 0, False
    while not task.done():
        is_busy = bool(monitor._tasks or world._asked)
        await asyncio.sleep(0.001 if is_busy else 0)
        wake = world.clock.next_wake()
        idle = idle + 1 if wake is not None and is_busy == was_busy else 0  # what has just ended may wake the check
        was_busy = is_busy
        if wake is not None and idle > (20 if is_busy else 3):
            world.clock.move_to(wake)
            idle = 0
    return task.result()


@pytest.mark.parametrize("named", [True, False])
def test_paused_host_is_not_waited_for(world: World, named: bool) -> None:
    """S-7: the check ends at once with the reason and the end of the pause, for named and due
    pages, without a request.
    """
    world.page("/a", "", **BUSY)
    watch(world, "/a", "/b")
    play(world, world.settle)
    asked = len(world.server.seen)
    world.clock.advance(HOUR)
    before = world.clock.now()
    found: list[Checked] = []

    with serve(world) as service:
        found.append(service.run(check_all(world, service.monitor, named)))

    assert {"paused until 00:14 UTC: the host requested it (429)"} == {
        text.replace("2023-11-15 ", "") for text in found[0].paused.values()
    }
    assert [] == found[0].polls
    assert before == world.clock.now()
    assert asked == len(world.server.seen)


def test_wait_option_waits_for_a_paused_host_and_says_so(world: World) -> None:
    """With --wait the hold is sat out, and said."""
    world.page("/a", "", status=429, headers={"Retry-After": "20"})
    watch(world, "/a")
    play(world, world.settle)
    world.page("/a", "<p>one")
    output: list[str] = []

    with serve(world) as service:
        found = service.run(check_all(world, service.monitor, waits=True, show=output.append))
        assert ["new"] == [poll.outcome for poll in found.polls]

    assert any("which is paused until 22:1" in text for text in output)


def test_failing_host_is_reported_as_failing(world: World) -> None:
    """Our own circuit breaker is no wish of the host."""
    for number in range(6):
        world.page(f"/p{number}", "", status=500)
    watch(world, *(f"/p{number}" for number in range(6)))
    found: list[Checked] = []

    with serve(world) as service:
        service.settle()
        found.append(service.run(check_all(world, service.monitor)))

    assert {True} == {"the host fails (" in text for text in found[0].paused.values()}


def test_pause_that_begins_during_a_check_ends_it(make_world: Callable[..., World]) -> None:
    """The first of three pages gets 429: the other two are not waited for."""
    world = make_world(fetch__host_connections="1")
    for path in ("/a", "/b", "/c"):
        world.page(path, "", **BUSY)
    watch(world, "/a", "/b", "/c")
    found: list[Checked] = []

    with serve(world) as service:
        found.append(service.run(check_all(world, service.monitor)))

    assert (1, 2) == (len(found[0].polls), len(found[0].paused))


def test_wait_for_the_host_gap_is_shown(make_world: Callable[..., World]) -> None:
    """With the number of pages done, and what the next one waits for."""
    world = make_world(fetch__host_gap_seconds="10")
    for path in ("/a", "/b", "/c"):
        world.page(path, "<p>one")
    watch(world, "/a", "/b", "/c")
    output: list[str] = []

    with serve(world) as service:
        service.run(check_all(world, service.monitor, show=output.append))

    assert any(text.startswith("1 of 3 checked; waiting for ") for text in output)
    assert any("which allows one request in 10 s" in text for text in output)


def test_wait_for_the_budget_is_shown(make_world: Callable[..., World]) -> None:
    """With the time at which it pays again."""
    world = make_world(budget__polls_per_day="2880", budget__burst="1")
    for path in ("/a", "/b", "/c"):
        world.page(path, "<p>one")
    watch(world, "/a", "/b", "/c")
    output: list[str] = []

    with serve(world) as service:
        service.run(check_all(world, service.monitor, named=False, show=output.append))

    assert any("waiting for the budget, which allows a check in" in text for text in output)


def test_slow_answer_is_shown(world: World) -> None:
    """The page is named, whatever is slow: robots.txt, the server, a large body."""
    goes = threading.Event()

    def slow(_: Any, wire: Any) -> None:
        goes.wait(20)
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<p>one")

    world.server.pages["/a"] = slow
    watch(world, "/a")
    output: list[str] = []

    def say(text: str) -> None:
        output.append(text)
        goes.set()

    async def story(monitor: Monitor) -> None:
        task = asyncio.create_task(checking.check(monitor, {1: set()}, show=say))
        while not task.done():
            await asyncio.sleep(0.002)
            if not goes.is_set():
                world.clock.advance(SECOND // 10)

    play(world, story)

    assert f"0 of 1 checked; waiting for the answer of {world.server.url('/a')}" == output[0]


def test_check_by_another_process_ends_as_soon(world: World) -> None:
    """The pause is read from the database; with --wait the polling process is named."""
    world.page("/a", "", **BUSY)
    watch(world, "/a")
    play(world, world.settle)
    text: list[str] = []

    async def act() -> Checked:
        database = open_database(world.settings)
        try:
            found = await checking.ask(database, {1: set()}, clock=world.clock, patience=MINUTE)
            waiting = asyncio.create_task(
                checking.ask(database, {1: set()}, clock=world.clock, patience=MINUTE, waits=True, show=text.append)
            )
            while not text:
                await asyncio.sleep(0.002)
                world.clock.advance(SECOND)
            waiting.cancel()
            return found
        finally:
            database.close()

    found = asyncio.run(act())

    assert ["paused until 2023-11-15 00:14 UTC: the host requested it (429)"] == [*found.paused.values()]
    assert text[0].startswith("waiting for the process that checks pages (")

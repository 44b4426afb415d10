"""Promise: what other processes write during a poll is kept and breaks nothing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.fakes import Page, Seen, Wire, response
from tests.world import World, play, serve
from tidings.clock import HOUR, MINUTE, SECOND, SystemClock
from tidings.errors import ServiceError
from tidings.model.watch.sentinel import Command
from tidings.service.notify import life_steps
from tidings.service.run import check as checking
from tidings.service.run.monitor import Monitor
from tidings.service.sentinels import register
from tidings.service.watch import by_name
from tidings.service.watch.watchlist import meaning
from tidings.storage.db.connection import Connection
from tidings.storage.db.database import open_database
from tidings.storage.observed import polls
from tidings.storage.watches import deliveries, subscriptions

STATEMENT = "Create Sentinel s Using {/a} Monitor all words Fetch every "


def elsewhere(world: World, act: Callable[[Connection], object]) -> None:
    """Write as another process would, over a connection of its own."""
    database = open_database(world.settings)
    try:
        database.write(act)
    finally:
        database.close()


def during_the_look(world: World, act: Callable[[], object], *, at: int) -> None:
    """Call `act` between the `at`-th request for /a and its answer; every answer differs."""
    count = 0

    def answer(seen: Seen, wire: Wire) -> None:
        nonlocal count
        count += 1
        if count == at:
            act()
        wire.send(response(Page(b"<p>edition %d</p>" % count, {"Content-Type": "text/html"})))

    world.server.pages["/a"] = answer


def command(world: World, verb: str) -> None:
    elsewhere(world, lambda c: register.command(c, Command(verb, "s"), now=world.clock.now()))  # type: ignore[arg-type]


async def second_poll(world: World, monitor: Monitor, *acts: Callable[[], object]) -> int:
    """Write during the second poll of the page, and let the service notice each time.

    Return how many polls were under way after each.
    """
    answered = threading.Event()
    during_the_look(world, lambda: answered.wait(10), at=2)
    await world.pass_time(monitor, MINUTE)
    monitor.polling.requests.ask(1, sentinels={1})
    while len(world.server.seen) < 2:
        await monitor.step()
    for act in acts:
        act()
        await monitor.step()
    under_way = len(world.read(polls.open_polls))
    answered.set()
    await world.settle(monitor)
    return under_way


def alter(world: World, every: str) -> None:
    sentinel = meaning(world.text(STATEMENT + every))
    elsewhere(world, lambda c: register.alter(c, by_name.find(c, "s"), sentinel, now=world.clock.now()))


def minutely(world: World) -> list[int]:
    """Return how often the page is polled in five minutes of one run, and in five minutes after a
    restart.
    """
    counts = []
    for _ in range(2):
        before = len(world.polls())
        play(world, lambda monitor: world.pass_time(monitor, 5 * MINUTE))
        counts.append(len(world.polls()) - before)
    return counts


def test_interval_altered_during_a_poll_applies(world: World):
    """It is altered from an hour to a minute; the page is polled each minute from then on."""
    during_the_look(world, lambda: alter(world, "1 min"), at=2)
    world.add(STATEMENT + "1 hour")
    play(world, lambda monitor: world.pass_time(monitor, HOUR))

    assert all(5 <= count <= 6 for count in minutely(world))
    assert [2] == [row.revision for row in world.read(subscriptions.listing)]
    assert [] == world.violations()


def test_interval_altered_and_noticed_during_a_poll_applies(world: World):
    """The service notices the alteration before the answer arrives."""
    world.add(STATEMENT + "1 hour")
    with serve(world) as service:
        service.run(second_poll(world, service.monitor, lambda: alter(world, "1 min")))
        before = len(world.polls())
        service.pass_time(5 * MINUTE)

        assert 5 <= len(world.polls()) - before <= 6

    assert all(5 <= count <= 6 for count in minutely(world))


def test_page_enabled_again_during_its_poll_is_not_polled_twice(make_world):
    """It was disabled during the same poll; no unit is refused."""
    world: World = make_world(fetch__host_connections="4")

    world.add(STATEMENT + "1 hour")
    with serve(world) as service:
        under_way = service.run(
            second_poll(
                world,
                service.monitor,
                lambda: command(world, "disable"),
                lambda: command(world, "enable"),
                lambda: service.monitor.polling.requests.ask(1),
                lambda: None,
            )
        )
        service.pass_time(MINUTE)

        assert 1 == under_way

    assert 3 == len(world.polls())
    assert [] == world.events("problem.unit")
    assert [] == world.violations()


def test_user_decision_wins_over_a_concurrent_start(world: World):
    """A sentinel that is disabled or dropped just before its start stays so, and the service
    continues.
    """
    world.page("/a", "<p>one</p>")

    with serve(world) as service:
        for verb, state in (("disable", "disabled"), ("drop", "ended")):
            world.add(STATEMENT.replace("Sentinel s", f"Sentinel {verb}s") + "1 hour")
            service.monitor.planner.touch(service.run(service.monitor.watchlist.follow()))
            (move,) = life_steps.play_lives(service.monitor.watchlist.lives(), now=world.clock.now()).moves
            name = f"{verb}s"
            elsewhere(world, lambda c: register.command(c, Command(verb, name), now=world.clock.now()))  # type: ignore[arg-type] # noqa: B023 - called in this turn
            service.run(service.monitor.lives._write([move], world.clock.now()))
            service.pass_time(10 * SECOND)
            row = world.read(lambda c: c.one("SELECT state FROM sentinel WHERE id = :id", id=move.sentinel_id))  # noqa: B023 - called in this turn

            assert (state,) == row

    assert [] == world.server.seen
    assert [] == world.events("problem.unit", "sentinel.enabled")


def test_sentinel_dropped_during_a_comparison_affects_no_other(world: World):
    """The version is stored, and the other sentinel of the page is notified."""

    async def story(monitor: Monitor) -> None:
        await world.pass_time(monitor, MINUTE)
        detector = monitor.polling.poller._detector
        examine = detector.examine

        async def slow(*poll: Any, **more: Any) -> Any:
            detector.examine = examine  # type: ignore[method-assign]
            command(world, "drop")
            await monitor.step()
            return await examine(*poll, **more)

        detector.examine = slow  # type: ignore[method-assign]
        world.page("/a", "<p>two</p>")
        await world.pass_time(monitor, HOUR)

    world.page("/a", "<p>one</p>")
    world.add(STATEMENT + "1 hour")
    world.add(STATEMENT.replace("Sentinel s", "Sentinel other") + "1 hour")
    play(world, story)

    assert ["other"] == [change["sentinel"] for change in world.changes() if change["sentinel"] != "s"]
    assert 2 == len(world.versions())
    assert [] == world.events("problem.unit")
    assert [] == world.violations()


def test_requested_check_reports_an_internal_fault(world: World):
    """The answer comes at once, and the service continues with the other pages."""

    async def story(monitor: Monitor) -> None:
        await world.pass_time(monitor, MINUTE)
        poller = monitor.polling.poller
        settle = poller.settle

        async def fail(*poll: Any, **more: Any) -> Any:
            poller.settle = settle  # type: ignore[method-assign]
            message = "planted"
            raise RuntimeError(message)

        poller.settle = fail  # type: ignore[method-assign]
        database = open_database(world.settings)
        try:
            asking = asyncio.create_task(checking.ask(database, {1: {1}}, clock=SystemClock(), patience=20 * SECOND))
            while not asking.done():
                await monitor.step()
                await asyncio.sleep(0.01)
            with pytest.raises(ServiceError, match="a fault of the service, described in its log: planted"):
                await asking
        finally:
            database.close()
        await world.pass_time(monitor, HOUR)

    for name in ("/a", "/b"):
        world.page(name, "<p>one</p>")
    world.add(STATEMENT + "1 hour")
    world.add("Create Sentinel other Using {/b} Monitor all words Fetch every 10 min")
    play(world, story)

    assert 6 <= len(world.polls(2)) <= 7
    assert [] == world.violations()


def test_receiver_freed_during_a_queue_read_is_served_at_once(world: World):
    """An attempt ends while the monitor reads the next due delivery: it reads again at once."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words")

    async def story(monitor: Monitor) -> None:
        await world.settle(monitor)
        read = monitor.store.read

        async def meanwhile(work: Any, *given: Any, **named: Any) -> Any:
            found = await read(work, *given, **named)
            if work is deliveries.next_due:
                monitor.sending.next_due = 0
            return found

        monitor.store.read = meanwhile  # type: ignore[assignment,method-assign]
        monitor.sending.next_due = 0
        await monitor._send(world.clock.now())
        assert 0 == monitor.sending.next_due

    play(world, story)

"""Promise: an outage of the database only costs time, and the owner of a missed check is notified
once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import WebServer
from tests.stores import Products
from tests.world import World, serve
from tidings.clock import HOUR, MINUTE, SECOND
from tidings.errors import PollerBusyError
from tidings.service.run.assembly import poller
from tidings.service.run.monitor import Monitor
from tidings.storage.db.database import Outage
from tidings.storage.db.lock import POLLER, current_lease


@pytest.fixture
def elsewhere(products: Products, tmp_path: Path, server: WebServer) -> Iterator[World]:
    """Return a world on PostgreSQL whose lease another machine holds for a minute."""
    with products.fresh("postgresql", tmp_path / "unused") as settings:
        world = World(tmp_path / "data", server, settings.store.url, serve__lease_seconds="60")
        with_lease(world, world.clock.now() + MINUTE)
        yield world
        world.close()


def with_lease(world: World, until: int) -> None:
    def take(c: Any) -> None:
        text = (
            "INSERT INTO lease (name, holder, epoch, until) VALUES ('poller', 'elsewhere:1:x', 7, :until)"
            " ON CONFLICT (name) DO UPDATE SET until = excluded.until"
        )
        c.execute(text, until=until)

    world.write(take)


def away(monitor: Monitor, seconds: float) -> None:
    """Let the database be unavailable for this long until now."""
    monitor.store._database.patience._ended.append(Outage(seconds, "no route to host"))


def test_outage_that_missed_a_check_is_notified_once(world: World):
    """Three hours matter to an hourly sentinel, but not to a daily one."""
    world.page("/a", "<p>one</p>")
    hook = world.receiver()
    world.add(
        f"Create Sentinel often Using {{/a}} Monitor all words Fetch every 1 hour Notify By webhook {hook} immediate"
    )
    world.add("Create Sentinel seldom Using {/a} Monitor all words Fetch every 1 day")

    with serve(world) as service:
        service.pass_time(HOUR // 2)
        world.clock.advance(3 * HOUR)
        away(service.monitor, 3 * 3600)
        service.pass_time(2 * HOUR)
    (event,) = world.events("store.outage")

    assert 3 * HOUR == event.at - event.data["since"]
    assert ["store.outage"] == [body["data"]["event"] for _, body in world.received]
    assert "no page was checked for 3 h" in world.received[0][1]["data"]["message"]
    assert [] == world.violations()


def test_outage_that_missed_no_check_is_only_logged(world: World):
    """It is an event; below a minute it is not even that."""
    world.page("/a", "<p>one</p>")
    hook = world.receiver()
    world.add(f"Create Sentinel s Using {{/a}} Monitor all words Fetch every 1 hour Notify By webhook {hook} immediate")

    with serve(world) as service:
        service.pass_time(HOUR // 2)
        away(service.monitor, 120)
        away(service.monitor, 30)
        service.pass_time(HOUR)

    assert 1 == len(world.events("store.outage"))
    assert [] == world.received


def test_service_waits_for_the_lease_of_a_dead_machine(elsewhere: World, caplog: pytest.LogCaptureFixture):
    """It says for whom and how long, and polls after the lease has ended."""
    world = elsewhere

    async def start() -> int:
        async def pass_minute() -> None:
            while "waiting for the lease" not in caplog.text:  # noqa: ASYNC110 - the log wakes nobody
                await asyncio.sleep(0.001)
            world.clock.advance(MINUTE + SECOND)

        passing = asyncio.create_task(pass_minute())
        async with poller(world.settings, clock=world.clock, patience_seconds=1.0) as monitor:
            await passing
            return monitor.upkeep.epoch

    assert 8 == asyncio.run(start())
    assert "waiting for the lease of elsewhere:1:x, which ends in 60 s" in caplog.text


def test_service_ends_when_another_machine_renews_its_lease(elsewhere: World, caplog: pytest.LogCaptureFixture):
    """It waits for its patience and ends with that reason."""
    world = elsewhere

    async def start() -> None:
        async def renew() -> None:
            while "waiting for the lease" not in caplog.text:  # noqa: ASYNC110 - the log wakes nobody
                await asyncio.sleep(0.001)
            with_lease(world, world.clock.now() + 2 * MINUTE)
            world.clock.advance(90 * SECOND)

        renewing = asyncio.create_task(renew())
        with pytest.raises(PollerBusyError, match="elsewhere:1:x checks pages and sends messages here"):
            async with poller(world.settings, clock=world.clock, patience_seconds=1.0):
                pass
        await renewing

    asyncio.run(start())


def test_lease_of_a_dead_local_process_is_taken_at_once(make_world: Callable[..., World]):
    """The lock file proves that it died; no other lease is taken so."""
    world = make_world(serve__lease_seconds="60")

    async def die() -> int:
        manager = poller(world.settings, clock=world.clock)
        monitor = await manager.__aenter__()
        lock = world.directory / "lock"
        left = lock.read_bytes()
        await manager.__aexit__(None, None, None)
        held = world.read(current_lease, POLLER)
        world.write(lambda c: c.execute("UPDATE lease SET holder = :h, until = :u", h=monitor.upkeep.holder, u=2**60))
        assert "" == held.holder
        lock.write_bytes(left)
        return monitor.upkeep.epoch

    epoch = asyncio.run(die())

    async def again() -> int:
        async with poller(world.settings, clock=world.clock) as monitor:
            return monitor.upkeep.epoch

    assert epoch + 1 == asyncio.run(again())

"""Promise: notifications by feed and stream keep the rate of their clause, complete and once for
each reader.
"""

from __future__ import annotations

import contextlib
from typing import Any
from xml.etree import ElementTree as ET

from tests.asgi import ask, following
from tests.world import World, play
from tidings.clock import DAY, HOUR
from tidings.service.run.monitor import Monitor
from tidings.storage.db.database import open_database
from tidings.storage.watches import deliveries
from tidings.web.routes import application
from tidings.web.server import HttpServer


def _open(world: World, monitor: Monitor) -> Any:
    """Return the server of a running service."""
    door = HttpServer(world.settings)
    monitor.committer.listen(door.note)
    return application(door.inside(monitor))


async def _open_door(world: World, monitor: Monitor) -> Any:
    """Return the server after the first check."""
    app = _open(world, monitor)
    await world.settle(monitor)
    return app


def _watch(world: World, by: str) -> None:
    """Watch a page and notify by these channels."""
    world.page("/a", "<p>now one</p>")
    world.add(f"Create Sentinel shop Using {{/a}} Monitor all words Fetch every 1 hour Notify by {by}")


async def _entries(app: Any, name: str = "shop") -> list[str]:
    answer = await ask(app, f"/feeds/{name}.atom")
    return [one.text or "" for one in ET.fromstring(answer.body).iter("{http://www.w3.org/2005/Atom}title")][1:]


async def _news(world: World, monitor: Monitor, *words: str) -> None:
    for word in words:
        world.page("/a", f"<p>now {word}</p>")
        await world.pass_time(monitor, HOUR)


def test_change_is_in_the_feed_and_the_stream_at_once(world: World) -> None:
    """The stream has the record of `tidings changes --json`."""
    _watch(world, "feed, stream")

    async def story(monitor: Monitor) -> None:
        app = await _open_door(world, monitor)
        async with following(app, "/api/v1/stream") as reader:
            await _news(world, monitor, "two", "three")
            await reader.until(2)
        assert world.changes() == [record for _, record in reader.records]
        assert ['shop: now "three" (was "two")', 'shop: now "two" (was "one")'] == await _entries(app)

    play(world, story)
    assert {"delivered"} == {row.status for row in world.deliveries()}


def test_rates_apply_to_feed_and_stream(world: World) -> None:
    """With a daily clause nothing can be read before, then each change."""
    _watch(world, "feed, stream every 1 day")

    async def story(monitor: Monitor) -> None:
        app = await _open_door(world, monitor)
        async with following(app, "/api/v1/stream") as reader:
            await _news(world, monitor, "two", "three", "four")
            assert ([], []) == (reader.records, await _entries(app))
            await world.pass_time(monitor, DAY)
            await reader.until(3)
        assert world.changes() == [record for _, record in reader.records]
        assert 3 == len(await _entries(app))

    play(world, story)
    assert {3} == {row.changes for row in world.deliveries()}


def test_reader_continues_after_a_restart(world: World) -> None:
    """Nothing is lost while the reader or the service is away."""
    _watch(world, "stream")
    had: list[Any] = []

    async def before(monitor: Monitor) -> None:
        app = await _open_door(world, monitor)
        async with following(app, "/api/v1/stream") as reader:
            await _news(world, monitor, "two")
            await reader.until(1)
        had.extend(reader.records)
        await _news(world, monitor, "three")

    async def after(monitor: Monitor) -> None:
        app = _open(world, monitor)
        async with following(app, "/api/v1/stream", headers={"last-event-id": had[-1][0]}) as reader:
            await _news(world, monitor, "four")
            await reader.until(2)
        had.extend(reader.records)

    play(world, before)
    play(world, after)

    assert world.changes() == [record for _, record in had]
    assert sorted({int(number) for number, _ in had}) == [int(number) for number, _ in had]


def test_page_error_is_in_the_feed_and_the_stream(world: World) -> None:
    """What keeps the sentinel from seeing changes stands in the feed and on the stream like any news."""
    _watch(world, "feed, stream")

    async def story(monitor: Monitor) -> None:
        app = await _open_door(world, monitor)
        world.page("/a", "<p>gone</p>", status=404)
        async with following(app, "/api/v1/stream") as reader:
            await world.pass_time(monitor, 12 * HOUR)
            await reader.until(1)
        assert "page.error" == reader.records[0][1]["event"]
        assert "cannot be watched" in (await _entries(app))[0]

    play(world, story)


def test_replayed_delivery_is_streamed_again_and_the_feed_is_unchanged(world: World) -> None:
    """`tidings deliveries replay` gives it a new number; the entry of the feed is the same."""
    _watch(world, "feed, stream")

    async def story(monitor: Monitor) -> None:
        app = await _open_door(world, monitor)
        await _news(world, monitor, "two")
        entries = await _entries(app)
        async with following(app, "/api/v1/stream", headers={"last-event-id": "0"}) as reader:
            await reader.until(1)
            with contextlib.closing(open_database(world.settings)) as database:
                for row in world.deliveries():
                    database.write(deliveries.replay, row.id, world.clock.now())
            await world.settle(monitor)
            await reader.until(2)
        first, second = reader.records
        assert first[1] == second[1]
        assert int(first[0]) < int(second[0])
        assert entries == await _entries(app)

    play(world, story)

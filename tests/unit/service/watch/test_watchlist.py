"""The memory of a poller equals the database (sentinels §4.6; W-41, W-60, W-66)."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from tests.stores import World
from tidings.clock import SECOND
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event, SentinelMove
from tidings.service.sentinels import register
from tidings.service.watch.watchlist import Watchlist
from tidings.settings import Settings, load
from tidings.storage.db.connection import Connection
from tidings.storage.db.database import open_database
from tidings.storage.watches import events, sentinels
from tidings.storage.write.store import Store

STEPS = 500
STEPS_A_TEXT = 100
START = 1_700_000_000 * SECOND
MONITORS = ("all words", "links", "any change", "keywords <oil, gas>")
FETCHES = ("", "Fetch every 1 hour", "Fetch every 3 hour", "Fetch on demand")
COMPARES = ("", "Compare first", "Compare moving 3", "Compare every 2")


def list_held(watchlist: Watchlist) -> dict[str, Any]:
    """Return the whole content of a watchlist."""
    return {
        "pages": {
            id_: (p.identity, p.state, p.is_framed, {key: sub.row for key, sub in p.subscriptions.items()})
            for id_, p in watchlist.pages.items()
        },
        "sentinels": {id_: (h.row, h.sentinel, h.endpoints, h.zone) for id_, h in watchlist.sentinels.items()},
        "lives": watchlist.lives(),
    }


def write_statements(rng: random.Random, alive: list[str], number: int) -> str:
    """Return a text of many statements, each of another sentinel; `alive` follows it."""
    lines = []
    for name in rng.sample(alive, min(len(alive), STEPS_A_TEXT // 2)):
        verb = rng.choice(("Drop", "Drop", "Disable", "Enable", "Alter"))
        more = f" Monitor {rng.choice(MONITORS)} {rng.choice(COMPARES)}" if verb == "Alter" else ""
        lines.append(f"{verb} {name}{more}")
        if verb == "Drop":
            alive.remove(name)
    for place in range(STEPS_A_TEXT - len(lines)):
        name = f"s{number}_{place}"
        alive.append(name)
        pages = ", ".join(f"http://h{n % 7}.example/{n}" for n in rng.sample(range(40), rng.choice((1, 1, 2))))
        clauses = f"Monitor {rng.choice(MONITORS)} {rng.choice(FETCHES)} {rng.choice(COMPARES)}"
        lines.append(
            f"Create Sentinel {name} Using {pages} {clauses} Notify by webhook http://h.example/{place % 3} immediate"
        )
    return ";\n".join(lines)


def test_watchlist_equals_the_database_after_hundreds_of_steps(tmp_path: Path):
    """Sentinels are created, altered, paused and dropped: the memory is what a new process would
    read, with one row for each watched page, and empty when all are dropped.
    """
    settings = load(tmp_path, environment={}, flags={})
    asyncio.run(_live(settings, random.Random(66)))


async def _live(settings: Settings, rng: random.Random) -> None:
    database, store = open_database(settings), Store(open_database(settings))
    live, now = Watchlist(store), START
    alive: list[str] = []
    await live.load()
    for number in range(STEPS // STEPS_A_TEXT):
        now += SECOND
        made = register.register(database, write_statements(rng, alive, number), settings=settings, now=now).made
        database.write(_start, [row.id for row in made if rng.random() < 0.8], now)
        await live.follow()
        if number % 2 == 1:
            anew = Watchlist(store)
            await anew.load()
            watched = {page_id for page_id, page in live.pages.items() if page.subscriptions}

            assert list_held(anew) == list_held(live)
            assert watched == set(live.pages)
    database.write(_drop_all, now)
    await live.follow()

    assert ({}, {}) == (live.pages, live.sentinels)
    database.close()
    await store.close()


def _start(connection: Connection, ids: list[int], at: int) -> None:
    for id_ in ids:
        sentinels.move(connection, SentinelMove(sentinel_id=id_, state="enabled", at=at))


def _drop_all(connection: Connection, at: int) -> None:
    for row in sentinels.listing(connection):
        sentinels.drop(connection, row.id, at)


def test_news_of_pages_is_read_once(tmp_path: Path):
    """The next reading of the log begins after its last event, of whatever type."""
    settings = load(tmp_path, environment={}, flags={})

    async def follow() -> None:
        store = Store(open_database(settings))
        live = Watchlist(store)
        await live.load()
        await store.write(events.append, [Event(type=EventType.PAGE_FIRST, at=START)])
        await live.follow()

        assert await store.read(events.last_seq) == live._seen
        await store.close()

    asyncio.run(follow())


@pytest.mark.parametrize("way", ["reload", "reload_pages"])
@pytest.mark.parametrize("is_watched", [True, False])
def test_unit_that_settles_while_rows_are_read_is_not_written_over(
    tmp_path: Path, way: str, *, is_watched: bool
) -> None:
    """The rows are older, and are read again: cursor and state are those of the unit, also where
    the page was not watched before.
    """
    world = World(Settings(data=tmp_path / "data"))
    world.watch()
    world.write(sentinels.rewrite, 1, 1, "Create Sentinel news Using http://a.example/ Monitor any change")

    async def follow() -> None:
        store = Store(world.reopen())
        live = Watchlist(store)
        await live.load()
        if not is_watched:
            live.pages.clear()
        read, left = store.read, [1]

        async def read_late(fn: Any, *arguments: Any, **more: Any) -> Any:
            found = await read(fn, *arguments, **more)
            if left and fn.__name__ in {"_some", "_list_on_pages"}:
                left.pop()
                unit = world.make_stored(b"one", cursors=(world.cursor(taken=(1,), base=1, seen=1),))
                await store.commit([unit])
                live.settle(unit)
            return found

        store.read = read_late  # type: ignore[method-assign]
        await (live.reload([1]) if way == "reload" else live.reload_pages(1, [1]))
        (sub,) = live.pages[1].subscriptions.values()

        assert (1, (1,)) == (live.pages[1].state.last_seq, sub.row.taken)
        await store.close()

    asyncio.run(follow())
    world.database.close()

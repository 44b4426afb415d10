"""Files and commands are checked, and changed content is an event."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stores import Products, World
from tidings.clock import SECOND, ManualClock
from tidings.language.write.printer import to_text
from tidings.model.event_type import CreateEvent, EventSource
from tidings.service.sources.outside_events import (
    OutsideEvents,
    give_token,
)
from tidings.service.sources.outside_sources import AT_ONCE, Sources
from tidings.settings import EventSettings
from tidings.storage.secrets import Vault
from tidings.storage.watches import events, outside
from tidings.storage.write.store import Store


@pytest.fixture
def world(products: Products, tmp_path: Path) -> Iterator[World]:
    """Yield a database with the event `deploy` of a webhook."""
    with products.fresh("sqlite", tmp_path / "data") as settings:
        world = World(settings)
        vault = Vault(settings.data)
        world.write(outside.create, "deploy", "webhook", text="", at=world.at, due_at=None)
        world.write(give_token, vault, "deploy", at=world.at)
        yield world
        world.database.close()


def happen_once(world: World) -> list[Any]:
    return [row.data for row in world.read(events.listing, types=[outside.HAPPENED])]


def source(world: World, **wanted: Any) -> Sources:
    """Return the files and commands of a poller with a manual clock."""
    store = Store(world.reopen(), gather_seconds=0)
    clock = ManualClock(world.at)
    return Sources(
        store,
        EventSettings(**wanted),
        OutsideEvents(store, Vault(world.settings.data), clock, on_event=lambda _: None),
        epoch=world.epoch,
        clock=clock,
    )


def test_due_check_of_a_source_is_recorded_before_it_runs(world: World, disk: Path):
    """A service that is killed during it does not repeat it for the same instant, and a late one
    keeps the phase.
    """
    file = disk / "f"
    text = to_text(CreateEvent("f", EventSource("file", path=str(file), every=10 * SECOND)))
    world.write(outside.create, "f", "file", text=text, at=world.at, due_at=world.at)

    async def story() -> list[int]:
        dues = []
        for late in (0, 0, 25 * SECOND):
            sources = source(world, allow_files=(str(disk),))
            for due_poll in await sources.due(world.at + late):
                due_poll.close()  # killed before the check
            dues.append(sources.next_due)
            await sources._store.close()
        return [due - world.at for due in dues if due is not None]

    assert [10 * SECOND, 10 * SECOND, 30 * SECOND] == asyncio.run(story())


def test_concurrent_checks_of_sources_are_limited(world: World, disk: Path):
    """The others wait until one has ended."""
    for number in range(3 * AT_ONCE):
        text = to_text(CreateEvent(f"f{number}", EventSource("file", path=str(disk / "f"))))
        world.write(outside.create, f"f{number}", "file", text=text, at=world.at, due_at=world.at)

    async def story() -> list[int]:
        sources = source(world, allow_files=(str(disk),))
        due_polls = await sources.due(world.at)
        counts = [len(due_polls), len(await sources.due(world.at))]
        await due_polls.pop()
        more = await sources.due(world.at + SECOND)
        for due_poll in (*due_polls, *more):
            due_poll.close()
        await sources._store.close()
        return [*counts, len(more)]

    assert [AT_ONCE, 0, 1] == asyncio.run(story())


@pytest.mark.parametrize(("age", "is_seen"), [(0, True), (60, False)])
def test_recently_written_file_is_read_again(world: World, disk: Path, age: int, is_seen: bool):
    """The file may get another content with the same size and time. A file with an old stamp is not
    read.
    """
    file = disk / "f"
    written = (world.at - age * SECOND) * 1_000
    text = to_text(CreateEvent("f", EventSource("file", path=str(file), every=SECOND)))
    world.write(outside.create, "f", "file", text=text, at=world.at, due_at=world.at)

    async def story() -> None:
        sources = source(world, allow_files=(str(disk),))
        for number, content in enumerate(("one", "two")):
            file.write_text(content, encoding="utf-8")
            os.utime(file, ns=(written, written))
            for due_poll in await sources.due(world.at + number * SECOND):
                await due_poll
        await sources._store.close()

    asyncio.run(story())

    assert is_seen == bool(happen_once(world))


@pytest.mark.parametrize("is_made_anew", [True, False])
def test_result_for_a_replaced_source_is_dropped(world: World, disk: Path, is_made_anew: bool):
    """The event was dropped and created again, or altered, during the check."""
    file = disk / "f"
    file.write_text("one", encoding="utf-8")
    text = to_text(CreateEvent("f", EventSource("file", path=str(file))))
    world.write(outside.create, "f", "file", text=text, at=world.at, due_at=world.at)

    async def story() -> None:
        sources = source(world, allow_files=(str(disk),))
        (due_poll,) = await sources.due(world.at)
        row = world.read(outside.find, "f")
        other = text.replace("/f", "/g")
        if is_made_anew:
            world.write(outside.drop, row.id)
            world.write(outside.create, "f", "file", text=other, at=world.at, due_at=world.at)
        else:
            world.write(outside.rewrite, row.id, "file", text=other, due_at=world.at)
        await due_poll
        await sources._store.close()

    asyncio.run(story())

    assert {} == world.read(outside.find, "f").state
    assert [] == happen_once(world)

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stores import Products, World
from tidings.clock import SECOND, ManualClock
from tidings.errors import UnknownNameError, UsageError
from tidings.language.write.printer import to_text
from tidings.model.event_type import CreateEvent, EventSource
from tidings.service.health.sources import findings
from tidings.service.sources.outside_events import (
    DEEPEST_PARAMS,
    KEYS_FOR,
    MOST_PARAMS,
    OutsideEvents,
    give_token,
    take,
    token_of,
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


def test_repeated_key_is_one_event(world: World):
    """The second call gets the number of the first one."""
    first = world.write(take, "deploy", {"version": "1"}, at=world.at, key="k1")
    again = world.write(take, "deploy", {"version": "1"}, at=world.at + 5, key="k1")
    other = world.write(take, "deploy", {"version": "2"}, at=world.at + 9, key="k2")

    assert (True, False, True) == (first.is_new, again.is_new, other.is_new)
    assert first.seq == again.seq < other.seq
    assert [{"event": "deploy", "params": {"version": n}} for n in "12"] == happen_once(world)
    assert (2, world.at + 9) == (
        (row := world.read(outside.find, "deploy")).happened,
        row.happened_at,
    )


def test_call_without_a_key_is_always_an_event(world: World):
    """Two calls without keys cannot be recognized as equal."""
    for _ in range(2):
        world.write(take, "deploy", {}, at=world.at)

    assert 2 == len(happen_once(world))


def test_keys_expire(world: World):
    """A key is stored for a limited time."""
    world.write(take, "deploy", {}, at=world.at, key="old")
    world.write(take, "deploy", {}, at=world.at + KEYS_FOR, key="young")
    assert not world.write(take, "deploy", {}, at=world.at + KEYS_FOR, key="old").is_new
    world.write(take, "deploy", {}, at=world.at + KEYS_FOR + 1, key="other")

    assert world.write(take, "deploy", {}, at=world.at + KEYS_FOR + 2, key="old").is_new


@pytest.mark.parametrize(
    ("params", "key"),
    [
        ([1], ""),
        ({"n": float("nan")}, ""),
        ({"n": object()}, ""),
        ({"text": "x" * MOST_PARAMS}, ""),
        ({}, "k" * 201),
    ],
    ids=["no object", "no number", "no JSON", "too large", "long key"],
)
def test_invalid_event_is_refused_completely(world: World, params: Any, key: str):
    """Nothing is stored."""
    with pytest.raises(UsageError):
        world.write(take, "deploy", params, at=world.at, key=key)

    assert [] == happen_once(world)


def test_deeply_nested_parameters_are_refused(world: World):
    """No reader could parse them."""
    deep: Any = {}
    for _ in range(DEEPEST_PARAMS - 1):
        deep = {"a": deep}
    world.write(take, "deploy", deep, at=world.at)
    for _ in range(100_000):
        deep = {"a": deep}

    with pytest.raises(UsageError, match="nested at most 32 deep"):
        world.write(take, "deploy", deep, at=world.at)
    assert 1 == len(happen_once(world))


def test_webhook_needs_its_token(world: World):
    """A wrong or empty token and an unknown name get the same answer. The event is announced at
    once.
    """
    vault = Vault(world.settings.data)
    token = world.read(token_of, vault, "deploy")
    assert token is not None
    heard: list[str] = []

    async def story() -> list[str]:
        store = Store(world.reopen(), gather_seconds=0)
        way = OutsideEvents(store, vault, ManualClock(world.at), on_event=heard.append)
        refused = []
        for name, word in (("deploy", "x"), ("deploy", ""), ("other", token.reveal()), ("deploy", "\ud800")):
            with pytest.raises(UnknownNameError) as error:
                await way.admit(name, lambda held: held.reveal() == word)  # noqa: B023 - awaited in this turn
            refused.append(str(error.value).replace(name, "NAME"))
        await way.admit("deploy", lambda held: held == token)
        await way.take("deploy", {"n": 1})
        await store.close()
        return refused

    assert 1 == len(set(asyncio.run(story())))
    assert ["deploy"] == heard
    assert [{"event": "deploy", "params": {"n": 1}}] == happen_once(world)


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
            for look in await sources.due(world.at + late):
                look.close()  # killed before the check
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
        looks = await sources.due(world.at)
        counts = [len(looks), len(await sources.due(world.at))]
        await looks.pop()
        more = await sources.due(world.at + SECOND)
        for look in (*looks, *more):
            look.close()
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
            for look in await sources.due(world.at + number * SECOND):
                await look
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
        (look,) = await sources.due(world.at)
        row = world.read(outside.find, "f")
        other = text.replace("/f", "/g")
        if is_made_anew:
            world.write(outside.drop, row.id)
            world.write(outside.create, "f", "file", text=other, at=world.at, due_at=world.at)
        else:
            world.write(outside.rewrite, row.id, "file", text=other, due_at=world.at)
        await look
        await sources._store.close()

    asyncio.run(story())

    assert {} == world.read(outside.find, "f").state
    assert [] == happen_once(world)


def test_doctor_names_sources_in_trouble(world: World):
    """The finding is a warning with the reason."""

    def say(c):
        return [(f.status, f.detail) for f in findings(c, "events", world.settings, now=world.at, is_polled=True)]

    assert [("ok", "1 known, each can happen")] == world.read(say)
    row = world.read(outside.find, "deploy")
    world.write(outside.settle, row.id, state={}, problem="it is gone")

    assert [("warn", "deploy cannot happen: it is gone")] == world.read(say)

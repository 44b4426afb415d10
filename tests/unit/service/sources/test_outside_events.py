from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stores import Products, World
from tidings.clock import ManualClock
from tidings.errors import UnknownNameError, UsageError
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
    received: list[str] = []

    async def story() -> list[str]:
        store = Store(world.reopen(), gather_seconds=0)
        way = OutsideEvents(store, vault, ManualClock(world.at), on_event=received.append)
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
    assert ["deploy"] == received
    assert [{"event": "deploy", "params": {"n": 1}}] == happen_once(world)


def test_doctor_names_sources_in_trouble(world: World):
    """The finding is a warning with the reason."""

    def say(c):
        return [(f.status, f.detail) for f in findings(c, "events", world.settings, now=world.at, is_polled=True)]

    assert [("ok", "1 known, each can happen")] == world.read(say)
    row = world.read(outside.find, "deploy")
    world.write(outside.settle, row.id, state={}, problem="it is gone")

    assert [("warn", "deploy cannot happen: it is gone")] == world.read(say)

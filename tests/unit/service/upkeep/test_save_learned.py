"""Learned rates are stored every few seconds, and read again at the start."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.planner import make_watched
from tests.stores import World
from tidings.clock import HOUR, MINUTE, SECOND
from tidings.errors import StoreError
from tidings.model.observed.unit import Estimate, Event, Unit
from tidings.service.explain.plan_summary import PRICED
from tidings.service.upkeep.save_learned import MEMORIES_A_UNIT, PRICED_EVERY, REMEMBER_EVERY, LearnedStateWriter
from tidings.storage.observed.estimates import LEARNED
from tidings.storage.watches import events


class Planner:
    """A fake planner with learned rates."""

    def __init__(self) -> None:
        self.learned: dict[int, dict[str, Any]] = {}
        self.prices: dict[str, Any] | None = None
        self.recalled: list[Mapping[int, Mapping[str, Any]]] = []
        self.priced: list[tuple[Mapping[str, Any], int]] = []
        self.again: list[tuple[int, int]] = []
        self.owed: list[int] = []
        self.new: set[int] = set()
        self.proposals = self

    def owe(self, page_ids: Iterable[int]) -> None:
        self.owed += page_ids

    def memories(self) -> dict[int, dict[str, Any]]:
        return self.learned

    def dump_prices(self) -> dict[str, Any] | None:
        return self.prices

    def take_new(self) -> set[int]:
        return self.new

    def recall(self, memories: Mapping[int, Mapping[str, Any]]) -> None:
        self.recalled.append(memories)

    def recall_price(self, memory: Mapping[str, Any], age: int) -> None:
        self.priced.append((memory, age))

    def poll_again(self, page_id: int, at: int) -> None:
        self.again.append((page_id, at))


class Case:
    """Watched pages, and a database that fails after `refuses_after` units."""

    def __init__(self, world: World, pages: int = 1) -> None:
        self.world = world
        self.planner = Planner()
        self.page = make_watched(1)
        self.sizes: list[int] = []
        self.refuses_after = 99
        self.hints = 0
        world.watch("news", *(f"p{number}" for number in range(pages)))
        self.memories = LearnedStateWriter(
            self,  # type: ignore[arg-type]
            self,  # type: ignore[arg-type]
            self.planner,  # type: ignore[arg-type]
            self,  # type: ignore[arg-type]
            {1: self.page},
            policy="price",
            epoch=world.epoch,
        )

    async def read(self, fn: Callable[..., Any], *args: Any) -> Any:
        return self.world.read(fn, *args)

    async def write(self, unit: Unit) -> None:
        if len(self.sizes) == self.refuses_after:
            raise StoreError("full")
        self.sizes.append(len(unit.estimates))
        self.world.commit(unit)

    async def remember(self) -> None:
        """Count a call to store the trust in hints."""
        self.hints += 1

    def store(self, now: int) -> None:
        """Store the learned rates."""
        asyncio.run(self.memories.remember(now))

    def recall(self, now: int) -> None:
        """Read them again."""
        asyncio.run(self.memories.recall(now))


def test_learned_rates_of_the_policy_are_read_again(world: World):
    """Rates of another policy are not."""
    case = Case(world, 2)
    case.planner.learned = {1: {"rate": 1}, 2: {"rate": 2}}
    case.store(world.at)
    world.commit(world.unit(estimates=(Estimate(page_id=1, name="other", state={"rate": 9}, at=1),)))
    case.recall(world.at)

    assert [{1: {"rate": 1}, 2: {"rate": 2}}] == case.planner.recalled
    assert 1 == case.hints


def test_learned_rates_are_stored_every_few_seconds(world: World):
    """A crash loses no more."""
    case = Case(world)

    assert case.memories.is_due(world.at)

    case.store(world.at)

    assert [False, True] == [case.memories.is_due(world.at + REMEMBER_EVERY + late) for late in (-1, 0)]


def test_many_rates_are_stored_in_parts_and_refused_ones_again(world: World):
    """The parts before the error stay."""
    case = Case(world, 2 * MEMORIES_A_UNIT + 1)
    case.planner.learned = {page: {"rate": page} for page in range(1, 2 * MEMORIES_A_UNIT + 2)}
    case.store(world.at)

    assert [MEMORIES_A_UNIT, MEMORIES_A_UNIT, 1] == case.sizes

    case.sizes, case.refuses_after = [], 1
    with pytest.raises(StoreError):
        case.store(world.at + 1)

    assert [*range(MEMORIES_A_UNIT + 1, 2 * MEMORIES_A_UNIT + 2)] == case.planner.owed


def test_price_is_stored_once_an_hour(world: World):
    """The price is an event that users can read. There is none while the budget is ample."""
    case = Case(world)
    case.store(world.at)
    case.planner.prices = {"trim": 1.5}
    for late in (0, PRICED_EVERY - 1, PRICED_EVERY):
        case.store(world.at + late)

    assert [world.at, world.at + PRICED_EVERY] == [event.at for event in world.read(events.listing, types=(PRICED,))]


def test_price_is_read_again_with_its_age(world: World):
    """The hour continues from when it was stored. One from the future is new."""
    case = Case(world)
    world.commit(world.unit(events=(Event(type=PRICED, at=world.at - MINUTE, data={"trim": 1.5}),)))
    case.recall(world.at)
    case.planner.prices = {"trim": 2.0}
    for late in (HOUR - MINUTE - 1, HOUR - MINUTE):
        case.store(world.at + late)

    assert [({"trim": 1.5}, MINUTE)] == case.planner.priced

    case.recall(world.at)

    assert [({"trim": 2.0}, 0)] == case.planner.priced[1:]


def test_pending_second_poll_is_made_after_a_restart(world: World):
    """The second poll separates noise from a change just before the service stopped."""
    case = Case(world)
    polled = world.at
    case.page.state = replace(case.page.state, polled_at=polled, changed_at=polled)
    state = {"second_at": polled + MINUTE}
    world.commit(world.unit(estimates=(Estimate(page_id=1, name=LEARNED, state=state, at=polled),)))
    case.recall(polled + 10 * SECOND)
    case.recall(polled + HOUR)

    assert [(1, polled + MINUTE)] == case.planner.again

"""A planner that does not lead reads the needs of rules from their stored states."""

import asyncio
from typing import Any

import pytest

from tidings.errors import StoreBusyError
from tidings.service.rules.follow import NAME
from tidings.service.rules.read_needs import NeedsReader

PAUSED = {"pause": [1], "memory": {"needs": {"open": 1}}}


class Behaviour:
    """Remembers the memories that it was given."""

    def __init__(self, name):
        self.name = name
        self.given = []

    def note_memory(self, sentinel_id, memory):
        self.given.append((sentinel_id, memory))


class Store:
    """Gives prepared answers, and records what was asked for."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    async def read(self, fn, name, *, after, known):
        self.asked.append((name, after, set(known)))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def read_with(store: Any, *behaviours: Any) -> NeedsReader:
    """Return a reader for these behaviours."""
    return NeedsReader(store, behaviours)


def state(**memory):
    return {"memory": memory}


def test_new_states_are_read_once_and_passed_on():
    """From the last one on; a sentinel without needs is forgotten."""
    store = Store([(1, state(needs={"open": 1}), 7), (2, state(other={}), 5)], [(1, None, 7)], [])
    needs, other = Behaviour("needs"), Behaviour("composites")
    reader = read_with(store, needs, other)

    async def follow():
        assert 9 == reader.next_due(9)
        await reader.start(9, owed=[1])
        assert reader.next_due(9) is None
        await reader.follow(9)
        for _ in range(2):
            reader.wake()
            assert 9 == reader.next_due(9)
            await reader.follow(9)

    asyncio.run(follow())
    assert [(NAME, 0, set()), (NAME, 7, {1}), (NAME, 7, set())] == store.asked
    assert [(1, {"open": 1}), (2, None), (1, None)] == needs.given
    assert [(1, None), (2, None), (1, None)] == other.given


def test_failed_reading_is_repeated():
    """As soon as it is due."""
    store = Store(StoreBusyError("busy"), [])
    reader = read_with(store)

    async def follow():
        with pytest.raises(StoreBusyError):
            await reader.follow(1)
        assert 1 == reader.next_due(1)
        await reader.follow(1)
        assert reader.next_due(1) is None

    asyncio.run(follow())


def test_paused_sentinel_needs_no_polls():
    """Its memory is not passed on."""
    needs = Behaviour("needs")
    reader = read_with(Store([(1, PAUSED, 1)]), needs)
    asyncio.run(reader.follow(1))

    assert [(1, None)] == needs.given

"""Requests for polls: read, begun, answered and refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.stores import World
from tidings.service.poll.poll_now import PageRequest, Requests
from tidings.storage.observed import polls


class Case:
    """A watched page 1, an unwatched page 2, and a fake planner."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.forced: list[int] = []
        self.unforced: list[int] = []
        world.watch("news", "a", "b")
        self.requests = Requests(self, {1: object()}, self)  # type: ignore[arg-type, dict-item]

    def force(self, page_id: int) -> None:
        self.forced.append(page_id)

    def unforce(self, page_id: int) -> None:
        self.unforced.append(page_id)

    async def read(self, fn: Callable[..., Any], *args: Any) -> Any:
        return self.world.read(fn, *args)

    async def write(self, fn: Callable[..., Any], *args: Any) -> Any:
        return self.world.write(fn, *args)

    def write_request(self, *page_ids: int) -> list[int]:
        """Request pages as another process does."""
        return list(self.world.write(polls.request_polls, list(page_ids), self.world.at))

    def read_new(self) -> None:
        """Read what other processes have written."""
        asyncio.run(self.requests.read_new())

    def refusal(self, request_id: int) -> str:
        """Return why a request was refused."""
        (row,) = self.world.read(polls.get_requests, [request_id])
        return str(row.refused)


def test_request_of_another_process_is_read_once(world: World):
    """Several requests of a page are answered by one poll."""
    case = Case(world)
    first = case.write_request(1)
    case.read_new()
    second = case.write_request(1)
    case.read_new()

    assert [1, 1] == case.forced
    assert [*first, *second] == case.requests.begin(1).requests
    assert not case.requests


@pytest.mark.parametrize("when", ["running", "ends"])
def test_request_that_a_running_poll_answers_is_not_read_again(world: World, when: str) -> None:
    """Nor one whose poll ends while the rows are read: the page is polled once."""
    case = Case(world)
    first = case.write_request(1)
    case.read_new()
    read = case.read

    async def read_late(fn: Callable[..., Any], *args: Any) -> Any:
        found = await read(fn, *args)
        if when == "ends":
            case.requests.end(1)
        return found

    case.read = read_late  # type: ignore[method-assign]
    case.requests.begin(1)
    case.read_new()

    assert [1] == case.forced
    assert not case.requests

    case.requests.end(1)
    second = case.write_request(1)
    world.write(polls.answer_requests, first, poll_id=1)
    case.read_new()

    assert second == case.requests.begin(1).requests


def test_request_for_an_unwatched_page_is_refused(world: World):
    """The row has the reason."""
    case = Case(world)
    (asked,) = case.write_request(2)
    case.read_new()

    assert "no enabled sentinel watches this page" == case.refusal(asked)
    assert [] == case.forced
    assert not case.requests


def test_requests_of_this_process_are_joined(world: World):
    """Sentinels and options of the requests are joined, and one poll answers all."""
    case = Case(world)
    case.requests.ask(1, sentinels=[3])
    case.requests.ask(1, sentinels=[4])
    case.requests.ask(1, alone=True)

    assert PageRequest([], {3, 4}, alone=True) == case.requests.begin(1)
    assert PageRequest() == case.requests.begin(1)


def test_withdrawn_request_is_not_served(world: World):
    """The page follows its schedule again."""
    case = Case(world)
    case.requests.ask(1)
    case.requests.withdraw(1)

    assert [1] == case.unforced
    assert not case.requests


def test_requests_of_a_poll_are_returned_once_at_its_end(world: World):
    """A poll that ended without an answer leaves them open."""
    case = Case(world)
    asked = case.write_request(1)
    case.read_new()
    case.requests.begin(1)

    assert [asked, []] == [case.requests.end(1), case.requests.end(1)]


def test_request_that_the_budget_cannot_pay_is_refused(world: World):
    """The row has the reason. A page without a request is not affected."""
    case = Case(world)
    (asked,) = case.write_request(1)
    case.read_new()
    asyncio.run(case.requests.refuse_unpaid(2))
    asyncio.run(case.requests.refuse_unpaid(1))

    assert ({1}, [1], "budget") == (case.requests.refused_by_budget, case.unforced, case.refusal(asked))
    assert not case.requests

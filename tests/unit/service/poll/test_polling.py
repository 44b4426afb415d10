"""The polls of a step: paid pages are polled, and pending comparisons are made without a poll."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from tests.planned import make_watched
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Charged, ComparisonRow, Grant, Unit
from tidings.service.poll.polling import GRANTS_A_TICK, Polling
from tidings.service.poll.requests import PageRequest

NOW = 1_700_000_000_000_000


def grant(page_id: int) -> Grant:
    """Return the grant of a page."""
    return Grant(page_id=page_id, host="a", cost=1.0, reason=PollReason(Why.CHANGE))


def owed(subscription_id: int, page_id: int, attempt: int, *, is_settled: bool = False) -> Unit:
    """Return a unit with a comparison that is pending or settled."""
    row = ComparisonRow(
        subscription_id=subscription_id,
        page_id=page_id,
        from_seq=1,
        to_seq=2,
        revision=1,
        status="done" if is_settled else "pending",
        attempt=attempt,
    )
    return Unit(at=NOW, epoch=1, comparisons=(row,))


class Case:
    """Pages 1 and 2, and fakes of all that a step uses."""

    def __init__(self, *paid: int, unpaid: tuple[int, ...] = ()) -> None:
        self.pages = {1: make_watched(1), 2: make_watched(2)}
        self.paid = [Charged(poll_id=p, grant=grant(p), at=NOW, epoch=1) for p in paid]
        self.unpaid = [grant(page) for page in unpaid]
        self.asked: list[int] = []
        self.busy: set[int] = set()
        self.released: list[int] = []
        self.served: list[tuple[int, dict[int, int]]] = []
        self.polled: list[tuple[int, dict[int, int]]] = []
        self.refused: list[int] = []
        self.waited: list[int] = []
        self.stored: list[int] = []
        self.ended: list[int] = []
        self.tasks: list[Coroutine[Any, Any, None]] = []
        self.is_spent = self.has_requests = False
        self.polling = Polling(
            self,  # type: ignore[arg-type]
            self.pages,
            self,  # type: ignore[arg-type]
            self,  # type: ignore[arg-type]
            self,  # type: ignore[arg-type]
            Poll(self),  # type: ignore[arg-type]
            self,  # type: ignore[arg-type]
            self,  # type: ignore[arg-type]
            most=100,
            epoch=1,
        )

    def __bool__(self) -> bool:
        return self.has_requests

    def is_empty(self, now: int) -> bool:
        return self.is_spent

    async def pay(self, now: int, *, most: int, only: Any) -> tuple[list[Charged], list[Grant]]:
        self.asked.append(most)
        return self.paid, self.unpaid

    async def wait_for(self, unpaid: Grant, now: int) -> None:
        self.waited.append(unpaid.page_id)

    async def refuse_unpaid(self, page_id: int) -> None:
        self.refused.append(page_id)

    def begin(self, page_id: int) -> PageRequest:
        return PageRequest()

    def note_end(self, page_id: int) -> None:
        self.ended.append(page_id)

    def end(self, page_id: int) -> list[int]:
        return [page_id * 10]

    def servable(self) -> list[int]:
        return self.stored

    def reserve(self, page_id: int) -> bool:
        return page_id not in self.busy

    def release(self, page_id: int) -> None:
        self.released.append(page_id)

    async def serve(self, page: Any, *, at: int, epoch: int, owed: dict[int, int]) -> None:
        self.served.append((page.state.page_id, owed))

    def spawn(self, task: Coroutine[Any, Any, None], page_id: int) -> None:
        self.tasks.append(task)

    def poll(self, under_way: int = 0) -> None:
        """Make a step and run all its tasks."""
        asyncio.run(self.polling.poll(NOW, self.spawn, under_way=under_way, only=None))
        self._run()

    def serve_owed(self) -> list[tuple[int, dict[int, int]]]:
        """Return the pages that are compared without a poll, with their pending comparisons."""
        self.served = []
        self.polling.serve(NOW, self.spawn)
        self._run()
        return self.served

    def _run(self) -> None:
        while self.tasks:
            asyncio.run(self.tasks.pop(0))


class Poll:
    """Records polls and their pending comparisons."""

    def __init__(self, case: Case) -> None:
        self._case = case

    async def poll(self, charged: Charged, page: Any, asked: PageRequest, owed: dict[int, int]) -> None:
        self._case.polled.append((page.state.page_id, owed))


def test_paid_page_is_polled_with_its_pending_comparisons():
    """Comparisons of other pages are not included."""
    case = Case(1)
    case.polling.note(owed(5, 1, 2))
    case.polling.note(owed(6, 2, 1))
    case.poll()

    assert [(1, {5: 2})] == case.polled


def test_unwatched_page_is_released():
    """The charge stays, since a request may have been sent."""
    case = Case(1)
    del case.pages[1]
    case.poll()

    assert ([], [1]) == (case.polled, case.released)


def test_unpaid_pages_are_refused_and_waited_for():
    """The first one decides how long."""
    case = Case(1, unpaid=(2, 3))
    case.poll()

    assert ([2, 3], [2]) == (case.refused, case.waited)


def test_polls_in_flight_are_limited():
    """A charge is limited too, since a crash loses it."""
    case = Case()
    for under_way in (0, 60, 99, 100, 200):
        case.poll(under_way)

    assert [GRANTS_A_TICK, 40, 1] == case.asked


def test_used_up_budget_is_checked_only_for_requests():
    """A request gets its answer at once."""
    case = Case()
    case.is_spent = True
    case.poll()

    assert [] == case.asked

    case.has_requests = True
    case.poll()

    assert [GRANTS_A_TICK] == case.asked


def test_pending_comparisons_are_made_without_a_poll():
    """Comparisons of a page are made together. Ticks that the stored version serves are included,
    and a page in flight waits.
    """
    case = Case()
    case.polling.note(owed(5, 1, 2))
    case.polling.note(owed(6, 1, 1))
    case.stored = [1, 2]

    assert [(1, {5: 2, 6: 1}), (2, {})] == case.serve_owed()

    case.busy = {1}

    assert [(2, {})] == case.serve_owed()


def test_settled_comparison_is_no_longer_pending():
    """Nor is one of an unwatched page."""
    case = Case()
    case.polling.note(owed(5, 1, 2))
    case.polling.note(owed(6, 3, 1))
    case.polling.note(owed(5, 1, 3, is_settled=True))

    assert [] == case.serve_owed()

    case.pages[3] = make_watched(3)

    assert [] == case.serve_owed()


def test_end_of_a_poll_wakes_waiting_tasks():
    """The requests that the poll had to answer are returned."""
    case = Case()

    assert ([10], [1]) == (case.polling.end(1), case.ended)

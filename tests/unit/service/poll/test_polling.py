"""The polls of a step: paid pages are polled, and pending comparisons are made without a poll."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.planner import make_watched
from tests.stores import World
from tidings.clock import HOUR, MINUTE, SECOND, ManualClock
from tidings.errors import StoreError
from tidings.fetching.politeness import HostGate
from tidings.lab import simulator
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Charged, ComparisonRow, Grant, Unit
from tidings.scheduling.budget import TokenBucket
from tidings.scheduling.ledger import make_trace
from tidings.scheduling.paced.turns import RoundRobin
from tidings.scheduling.policy import Population
from tidings.service.plan.planner import Planner
from tidings.service.poll.poll_now import PageRequest
from tidings.service.poll.polling import GRANTS_A_TICK, BudgetSpender, PollStarter
from tidings.service.watch.watchlist import WatchedPage
from tidings.settings import Settings
from tidings.storage.observed.hosts import Refusals
from tidings.storage.write import charge
from tidings.storage.write.store import Store

NOW = 1_700_000_000_000_000


def grant(page_id: int) -> Grant:
    """Return the grant of a page."""
    return Grant(page_id=page_id, host="a", cost=1.0, reason=PollReason(Why.CHANGE))


def make_owed(subscription_id: int, page_id: int, attempt: int, *, is_settled: bool = False) -> Unit:
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
        self.pages[1].subscriptions |= dict.fromkeys((5, 6, 7), self.pages[1].subscriptions[1])
        self.paid = [Charged(poll_id=p, grant=grant(p), at=NOW, epoch=1) for p in paid]
        self.unpaid = [grant(page) for page in unpaid]
        self.asked: list[int] = []
        self.busy: set[int] = set()
        self.held: dict[int, int] = {}
        self.released: list[int] = []
        self.served: list[tuple[int, dict[int, int]]] = []
        self.polled: list[tuple[int, dict[int, int]]] = []
        self.given_up: list[int] = []
        self.refused: list[int] = []
        self.waited: list[int] = []
        self.stored: list[int] = []
        self.ended: list[int] = []
        self.tasks: list[Coroutine[Any, Any, None]] = []
        self.is_spent = self.has_requests = False
        self.polling = PollStarter(
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

    def get_hold_end(self, page_id: int) -> int:
        return self.held.get(page_id, 0)

    def next_due(self, now: int) -> int | None:
        return None

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

    def give_up(self, charged: Charged, error: Exception) -> None:
        self._case.given_up.append(charged.poll_id)


def test_paid_page_is_polled_with_its_pending_comparisons():
    """Comparisons of other pages are not included."""
    case = Case(1)
    case.polling.note(make_owed(5, 1, 2))
    case.polling.note(make_owed(6, 2, 1))
    case.poll()

    assert [(1, {5: 2})] == case.polled


def test_unwatched_page_is_released():
    """The charge stays, and the poll ends."""
    case = Case(1)
    del case.pages[1]
    case.poll()

    assert ([], [1], [1]) == (case.polled, case.released, case.given_up)


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
    a page in flight waits, and one that nobody watches any more is left out.
    """
    case = Case()
    case.polling.note(make_owed(5, 1, 2))
    case.polling.note(make_owed(6, 1, 1))
    case.stored = [1, 2]

    assert [(1, {5: 2, 6: 1}), (2, {})] == case.serve_owed()

    case.busy, case.stored = {1}, [1, 2, 3]

    assert [(2, {})] == case.serve_owed()


def test_settled_comparison_is_no_longer_pending():
    """It is not made again."""
    case = Case()
    case.polling.note(make_owed(5, 1, 2))
    case.polling.note(make_owed(5, 1, 3, is_settled=True))

    assert [] == case.serve_owed()


def test_comparison_waits_for_its_sentinel():
    """One of an unwatched page, or of a sentinel that does not watch its page now, is made when it
    does again.
    """
    case = Case()
    case.polling.note(make_owed(3, 3, 1))
    case.polling.note(make_owed(8, 1, 1))

    assert [] == case.serve_owed()

    case.pages[3] = make_watched(3)
    case.pages[1].subscriptions[8] = case.pages[1].subscriptions[1]

    assert [(3, {3: 1}), (1, {8: 1})] == case.serve_owed()


def test_comparison_waits_for_the_end_of_a_hold():
    """A page whose comparison failed by a fault is not served at each step, and the service wakes
    at the end of its hold.
    """
    case = Case()
    case.polling.note(make_owed(5, 1, 1))
    case.held = {1: NOW + MINUTE}

    assert [] == case.serve_owed()
    assert NOW + MINUTE == case.polling.next_due(NOW)

    case.held = {1: NOW}

    assert [(1, {5: 1})] == case.serve_owed()
    assert None is case.polling.next_due(NOW)


def test_end_of_a_poll_wakes_waiting_tasks():
    """The requests that the poll had to answer are returned."""
    case = Case()

    assert ([10], [1]) == (case.polling.end(1), case.ended)


PAGES, DEAR = "abcdefgh", 3.0
PAID_AT = ManualClock().now()


class PayCase:
    """Pages that are overdue by different times, some of them expensive, and a bucket that pays
    for a part of them.
    """

    def __init__(self, seed: int, now: int) -> None:
        rng = np.random.default_rng(seed)
        self.now = now
        self.ids = [*range(1, len(PAGES) + 1)]
        self.polled_at = [now - HOUR - int(age) * SECOND for age in rng.permutation(np.arange(1, 1_000))[: len(PAGES)]]
        self.is_dear = (rng.random(len(PAGES)) < 0.4).tolist()
        burst = float(rng.integers(4, 12))
        level = float(rng.choice([0.0, 0.5, 1.0, 2.0, 3.5, 5.0, burst]))
        self.bucket = TokenBucket(rate=0.01, burst=burst, level=min(level, burst), at=now)

    def simulate(self) -> list[int]:
        """Return the pages that the simulator polls at once, best first."""
        world = simulator.World(
            population=Population(
                {
                    "id": self.ids,
                    "host": self.ids,
                    "last_polled": self.polled_at,
                    "cost": [DEAR if dear else 1.0 for dear in self.is_dear],
                }
            ),
            trace=make_trace({}, start=self.now, end=self.now + SECOND),
            bucket=self.bucket,
            tick=SECOND,
        )
        ledger = simulator.simulate(RoundRobin(HOUR), world, rng=np.random.default_rng(0))
        return [int(page) for page in ledger.polls.page]

    def run_live(self, world: World) -> list[int]:
        """Return the pages that the live loop pays for at once, best first."""
        world.watch("news", *PAGES)
        world.write(charge.set_budgets, {"default": (self.bucket.rate, self.bucket.burst)}, at=self.now)
        world.write(lambda c: c.execute("UPDATE budget SET level = :l, at = :at", l=self.bucket.level, at=self.now))
        pages = {page_id: self._page(page_id) for page_id in self.ids}
        clock = ManualClock(self.now)
        planner = Planner(
            RoundRobin(HOUR),
            pages,
            floor=MINUTE,
            host_connections=1,
            rng=np.random.default_rng(0),
            render_cost=DEAR,
            render_places=len(PAGES),
            budget=self.bucket.rate,
        )
        planner.touch(pages)

        async def pay() -> list[int]:
            store = Store(world.reopen())
            gate = HostGate(gap_seconds=0, connections=1, clock=clock)
            payer = BudgetSpender(store, planner, gate, epoch=world.epoch)
            charged, unpaid = await payer.pay(self.now, most=64, only=None)
            assert {*self.ids} == {each.grant.page_id for each in charged} | {grant.page_id for grant in unpaid}
            await store.close()
            return [each.grant.page_id for each in charged]

        return asyncio.run(pay())

    def _page(self, page_id: int) -> WatchedPage:
        page, polled = make_watched(page_id, "Fetch on change"), self.polled_at[page_id - 1]
        page.identity = replace(page.identity, render="browser" if self.is_dear[page_id - 1] else "")
        page.state = replace(page.state, last_seq=1, polled_at=polled, checked_at=polled, polls=1)
        (sub,) = page.subscriptions.values()
        sub.row = replace(sub.row, taken=(1,))
        return page


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Yield a database with the lease of a poller."""
    world = World(Settings(data=tmp_path / "data"))
    yield world
    world.database.close()


@pytest.mark.parametrize("seed", range(12))
def test_live_loop_and_simulator_pay_for_the_same_polls(world: World, seed: int):
    """With the same pages and budget, the most overdue page is first, and an expensive one is saved
    for.
    """
    case = PayCase(seed, world.at)

    assert case.simulate() == case.run_live(world)


class Asked:
    """A fake planner with these grants, and a fake store with these budgets."""

    def __init__(self, *grants: Grant, **budgets: TokenBucket) -> None:
        self.grants = list(grants)
        self.budgets = budgets
        self.refuses: set[int] = set()
        self.error: Exception | None = None
        self.due: int | None = None
        self.has_classes = False
        self.planners = 1
        self.is_to_fill = False
        self.waits: dict[str, float] = {}
        self.released: list[int] = []
        self.chosen: dict[str, Any] = {}
        self.charges: list[dict[str, Any]] = []
        self.refused = Refusals({}, {})
        self.interrupted: list[str] = []
        self.gate = HostGate(gap_seconds=0, connections=1, clock=ManualClock())
        self.payer = BudgetSpender(self, self, self.gate, epoch=4)  # type: ignore[arg-type]

    def fills(self, now: int) -> bool:
        return self.is_to_fill

    def choose(self, now: int, gate: Any, **more: Any) -> list[Grant]:
        self.chosen = more
        return self.grants

    def next_due(self, now: int, gate: Any) -> int | None:
        return self.due

    def wanting(self, now: int) -> dict[str, float]:
        return self.waits

    def release(self, page_id: int) -> None:
        self.released.append(page_id)

    def interrupt(self, host: str) -> None:
        self.interrupted.append(host)

    async def read(self, fn: Any, *, at: int) -> dict[str, TokenBucket]:
        return {name: bucket.refill(at) for name, bucket in self.budgets.items()}

    async def write(
        self, fn: Any, grants: list[Grant], gaps: dict[str, int], **more: Any
    ) -> tuple[list[Charged | None], Refusals]:
        assert charge.charge_in_turns == fn
        self.charges.append(more | {"gaps": gaps})
        if self.error is not None:
            raise self.error
        return [
            None if g.page_id in self.refuses else Charged(poll_id=g.page_id, grant=g, at=more["at"], epoch=4)
            for g in grants
        ], self.refused

    def pay(self, now: int = PAID_AT, **more: Any) -> tuple[list[int], list[int]]:
        """Return the pages that are paid for and those that are not."""
        charged, unpaid = asyncio.run(self.payer.pay(now, **{"most": 64, "only": None, **more}))
        return [each.grant.page_id for each in charged], [grant.page_id for grant in unpaid]


def make_grant(page_id: int, cost: float = 1.0) -> Grant:
    """Return the grant of a page."""
    return Grant(page_id=page_id, host="a", cost=cost, reason=PollReason(Why.CHANGE))


def bucket(level: float, *, rate: float = 0.5, burst: float = 10.0) -> TokenBucket:
    """Return a budget with this level now."""
    return TokenBucket(rate=rate, burst=burst, level=level, at=PAID_AT)


def test_unpaid_page_is_released_and_returned():
    """The sender of its request gets an answer."""
    asked = Asked(make_grant(1), make_grant(2), make_grant(3))
    asked.refuses = {2}

    assert ([1, 3], [2]) == asked.pay(most=7, only=[1, 2, 3])
    assert [2] == asked.released
    assert [{"at": PAID_AT, "epoch": 4, "gaps": {"a": 0}}] == asked.charges
    assert (7, [1, 2, 3], math.inf) == tuple(asked.chosen[name] for name in ("limit", "only", "tokens"))


def test_page_whose_host_another_process_asked_waits_for_the_gap():
    """A trial or another planner asked it. The budget is not the reason, so nobody is refused."""
    asked = Asked(make_grant(1))
    asked.refuses, asked.refused = {1}, Refusals({"a": PAID_AT - 1}, {})

    assert ([], []) == asked.pay()
    assert [1] == asked.released
    assert PAID_AT - 1 == asked.gate.state("a").started_at


def test_page_whose_host_asked_another_process_for_a_pause_waits_for_its_end():
    """That time is no interval of its pages. The budget is not the reason, so nobody is refused."""
    asked = Asked(make_grant(1))
    asked.refuses, asked.refused = {1}, Refusals({}, {"a": PAID_AT + HOUR})

    assert ([], []) == asked.pay()
    assert ([1], ["a"]) == (asked.released, asked.interrupted)
    assert PAID_AT + HOUR == asked.gate.ready_at("a")


def test_nothing_is_written_without_grants():
    """Most steps have no grants."""
    asked = Asked()

    assert ([], []) == asked.pay()
    assert [] == asked.charges


def test_failed_charge_releases_all_pages():
    """The error is raised."""
    asked = Asked(make_grant(1), make_grant(2))
    asked.error = StoreError("full")
    with pytest.raises(StoreError, match="full"):
        asked.pay()

    assert [1, 2] == asked.released


def test_budget_is_read_only_if_needed():
    """Classes and spare polls need the tokens; otherwise the charge decides."""
    asked = Asked(default=bucket(8.0), shop=bucket(2.0))
    asked.pay()

    assert ({}, 0.0) == (asked.chosen["class_tokens"], asked.chosen["spare"])

    asked.has_classes = True
    asked.pay()

    assert ({"shop": 2.0}, 0.0) == (asked.chosen["class_tokens"], asked.chosen["spare"])

    asked.has_classes, asked.is_to_fill = False, True
    asked.pay()

    assert ({"shop": 2.0}, 3.0) == (asked.chosen["class_tokens"], asked.chosen["spare"])


def test_nothing_is_chosen_before_the_budget_can_pay():
    """Two missing tokens at half a token a second take four seconds."""
    asked = Asked(default=bucket(0.5))
    asked.due = PAID_AT + SECOND

    assert not asked.payer.is_empty(PAID_AT)
    assert PAID_AT + SECOND == asked.payer.next_due(PAID_AT)

    asyncio.run(asked.payer.wait_for(make_grant(1, 2.5), PAID_AT))

    assert asked.payer.is_empty(PAID_AT + 4 * SECOND - 1)
    assert not asked.payer.is_empty(PAID_AT + 4 * SECOND)
    assert PAID_AT + 4 * SECOND == asked.payer.pays_at == asked.payer.next_due(PAID_AT + SECOND)
    assert PAID_AT + SECOND == asked.payer.next_due(PAID_AT + 4 * SECOND)

    asked.pay(PAID_AT + 4 * SECOND)

    assert PAID_AT + 4 * SECOND == asked.chosen["empty_at"]


@pytest.mark.parametrize(("rate", "wait"), [(0.0, 60.0), (0.001, 60.0), (1e9, 0.01)])
def test_budget_is_checked_again_after_at_most_a_minute(rate: float, wait: float):
    """Within a hundredth of a second, a check would be in vain."""
    asked = Asked(default=bucket(0.0, rate=rate))
    asyncio.run(asked.payer.wait_for(make_grant(1), PAID_AT))

    assert PAID_AT + round(wait * SECOND) == asked.payer.pays_at


def test_class_that_cannot_pay_blocks_no_other_page():
    """The budget of all polls has enough, so its wait ends."""
    asked = Asked(default=bucket(0.0))
    asyncio.run(asked.payer.wait_for(make_grant(1), PAID_AT))
    asked.budgets = {"default": bucket(9.0)}
    asyncio.run(asked.payer.wait_for(make_grant(1), PAID_AT))

    assert (PAID_AT, False) == (asked.payer.pays_at, asked.payer.is_empty(PAID_AT))


def test_service_wakes_when_a_class_can_pay():
    """The most expensive waiting page and the first of several classes count. A class that can pay
    now needs no wake-up.
    """
    asked = Asked(default=bucket(9.0), shop=bucket(0.0), news=bucket(1.0), rich=bucket(5.0), poor=bucket(0.0, rate=0.0))
    asked.has_classes = True
    asked.waits = {"shop": 1.0, "news": 1.5, "rich": 1.0, "poor": 1.0}
    asked.pay()

    assert PAID_AT + SECOND == asked.payer.pays_at == asked.payer.next_due(PAID_AT)

    asked.due = PAID_AT + SECOND // 2

    assert PAID_AT + SECOND // 2 == asked.payer.next_due(PAID_AT)

    asked.waits = {}
    asked.pay()

    assert (0, PAID_AT + SECOND // 2) == (asked.payer.pays_at, asked.payer.next_due(PAID_AT))


def test_nothing_is_due_without_waiting_pages():
    """The service sleeps until something happens."""
    assert Asked().payer.next_due(PAID_AT) is None


def test_pending_comparisons_and_open_requests_are_loaded_at_the_start():
    """An earlier process left both behind."""
    case = Case()
    loaded = []

    async def read(_: Any) -> list[ComparisonRow]:
        return list(make_owed(7, 1, 2).comparisons)

    async def read_new() -> None:
        loaded.append("requests")

    case.read, case.read_new = read, read_new  # type: ignore[attr-defined]
    asyncio.run(case.polling.load())

    assert [(1, {7: 2})] == case.serve_owed()
    assert ["requests"] == loaded

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tidings.clock import SECOND, ManualClock
from tidings.errors import BudgetError
from tidings.fetching import address
from tidings.fetching.politeness import LATE, NEVER, HostGate, HostPermit
from tidings.model.observed.page import HostState

GAP = 5
HOST = "example.com"


class Town:
    """A gate on a manual clock, with a log of requests (in seconds since the beginning)."""

    def __init__(self, connections: int = 1, gap: float = GAP, beside: Town | None = None) -> None:
        self.clock: ManualClock = ManualClock(0) if beside is None else beside.clock
        self.turns: dict[str, int] = {} if beside is None else beside.turns
        self.paused_until = 0
        self.claims: list[float] = []
        """how long the store takes for each claim of a turn; 0 for all others"""
        claim = None if beside is None else self.claim
        self.gate = HostGate(gap_seconds=gap, connections=connections, clock=self.clock, claim=claim)
        self.starts: list[tuple[float, str]] = []
        self.running: dict[str, int] = {}
        self.most: dict[str, int] = {}
        self.charges: list[str] = []

    def seconds(self) -> float:
        return self.clock.now() / SECOND

    async def charge(self, host: str) -> None:
        self.charges.append(host)

    async def claim(self, host: str, gap: int, at: int) -> tuple[int, int]:
        """Claim a turn as the database does, which takes a while."""
        turn = self.turns[host] = max(at, self.turns.get(host, -gap) + gap)
        if self.claims:
            await self.clock.sleep_until(self.clock.now() + round(self.claims.pop(0) * SECOND))
        return turn, self.paused_until

    async def poll(self, *hosts: str, takes: float = 0.0) -> None:
        """Request hosts one after the other with one permit; each request takes `takes` seconds."""
        async with self.gate.permit(hosts[0], self.charge) as permit:
            for host in hosts:
                await permit.hop(host)
                self.starts.append((self.seconds(), host))
                self.running[host] = self.running.get(host, 0) + 1
                self.most[host] = max(self.most.get(host, 0), self.running[host])
                try:
                    await self.clock.sleep_until(self.clock.now() + round(takes * SECOND))
                finally:
                    self.running[host] -= 1

    async def drive(self, *tasks: Awaitable[object]) -> list[object]:
        """Run tasks; move the clock to the next wake-up whenever all tasks wait."""
        gathered = asyncio.gather(*tasks, return_exceptions=True)
        while not gathered.done():
            for _ in range(20):
                await asyncio.sleep(0)
            wake = self.clock.next_wake()
            if gathered.done() or wake is None:
                break
            self.clock.move_to(wake)
        return await asyncio.wait_for(gathered, 30)


def run(work: Callable[[], Awaitable[object]]) -> None:
    async def inside() -> None:
        await work()

    asyncio.run(inside())


def test_requests_to_a_host_start_a_gap_apart():
    """The gap is from start to start, however long a shorter request takes."""
    town = Town()
    run(lambda: town.drive(*[town.poll(HOST, takes=2) for _ in range(4)]))

    assert [0, 5, 10, 15] == [at for at, _ in town.starts]


@pytest.mark.parametrize(
    ("crawl_delay", "expected"),
    [(None, [0, 0, 0]), (0, [0, 0, 0]), (1, [0, 5, 10]), (20, [0, 20, 40])],
    ids=["none", "zero", "short", "long"],
)
def test_visit_waits_for_the_gap_once(crawl_delay: float | None, expected: list[float]):
    """A Crawl-delay that robots.txt asks for is waited for, and at least the gap then."""
    town = Town()

    async def visit() -> None:
        async with town.gate.permit(HOST, town.charge, is_visit=True) as permit:
            await permit.hop(HOST)
            town.starts.append((town.seconds(), HOST))
            if crawl_delay is not None:
                town.gate.widen(HOST, crawl_delay)
            for _ in range(2):
                await permit.hop(HOST)
                town.starts.append((town.seconds(), HOST))

    run(lambda: town.drive(visit()))

    assert expected == [at for at, _ in town.starts]
    assert [HOST, HOST] == town.charges


def test_visit_waits_for_the_gap_after_another():
    """Two visits of a host are a gap apart."""
    town = Town()

    async def visit() -> None:
        async with town.gate.permit(HOST, is_visit=True) as permit:
            for _ in range(2):
                await permit.hop(HOST)
                town.starts.append((town.seconds(), HOST))

    run(lambda: town.drive(visit(), visit()))

    assert [0, 0, 5, 5] == [at for at, _ in town.starts]


def test_next_request_waits_for_a_slow_one():
    """The host allows one connection."""
    town = Town()
    run(lambda: town.drive(*[town.poll(HOST, takes=12) for _ in range(3)]))

    assert [0, 12, 24] == [at for at, _ in town.starts]
    assert {HOST: 1} == town.most


def test_connections_overlap_with_starts_a_gap_apart():
    """Two connections are allowed, never three at once."""
    town = Town(connections=2)
    run(lambda: town.drive(*[town.poll(HOST, takes=12) for _ in range(5)]))

    assert [0, 5, 12, 17, 24] == [at for at, _ in town.starts]
    assert {HOST: 2} == town.most


def test_hosts_do_not_wait_for_each_other():
    """Each host has its own gap and connections."""
    town = Town()
    run(lambda: town.drive(*[town.poll(f"{n}.example", takes=1) for n in range(10)]))

    assert [0] * 10 == [at for at, _ in town.starts]


def test_places_are_given_in_order():
    """The first request in the queue is the first to run."""
    town = Town(gap=0)
    order: list[int] = []

    async def ask(number: int) -> None:
        async with town.gate.permit(HOST) as permit:
            await permit.hop(HOST)
            order.append(number)
            await asyncio.sleep(0)

    run(lambda: town.drive(*[ask(n) for n in range(20)]))

    assert list(range(20)) == order


def test_further_requests_of_a_permit_are_charged_and_keep_the_gap():
    """The first request is paid already; redirects are charged to their target host."""
    town = Town()
    run(lambda: town.drive(town.poll(HOST, HOST, "other.example", HOST)))

    assert [(0, HOST), (5, HOST), (5, "other.example"), (10, HOST)] == town.starts
    assert [HOST, "other.example", HOST] == town.charges


def test_unpaid_permit_is_charged_when_its_first_request_leaves():
    """Nothing is charged while the permit waits for the host."""
    town = Town()
    at: list[float] = []

    async def pay(host: str) -> None:
        at.append(town.seconds())
        town.charges.append(host)

    async def ask() -> None:
        async with town.gate.permit(HOST, pay, is_paid=False) as permit:
            await permit.hop(HOST)
            await permit.hop(HOST)

    run(lambda: town.drive(town.poll(HOST), ask()))

    assert [HOST, HOST] == town.charges
    assert [5, 10] == at


def test_crossing_redirects_do_not_deadlock():
    """Two fetches between two hosts in opposite directions both end."""
    town = Town()
    run(lambda: town.drive(town.poll("a.example", "b.example", takes=1), town.poll("b.example", "a.example", takes=1)))

    assert 4 == len(town.starts)
    assert {"a.example": 1, "b.example": 1} == town.most


def test_failed_charge_ends_the_fetch_and_frees_the_host():
    """`hop` raises the `BudgetError` of the charge."""
    town = Town()

    async def refuse(host: str) -> None:
        raise BudgetError("no more today")

    async def journey() -> None:
        async with town.gate.permit(HOST, refuse) as permit:
            await permit.hop("other.example")
            await permit.hop(HOST)

    async def work() -> None:
        with pytest.raises(BudgetError, match="no more today"):
            await journey()
        await town.drive(town.poll(HOST))

    run(work)

    assert [(GAP, HOST)] == town.starts


def test_paused_host_refuses_requests():
    """Retry-After pauses the whole host. A request is refused with the end of the pause instead of
    waiting for hours; other hosts are not affected.
    """
    town = Town()
    town.gate.pause(HOST, 3_600 * SECOND)
    town.gate.pause(HOST, 60 * SECOND)  # never shortens

    async def journey() -> None:
        async with town.gate.permit("other.example") as permit:
            await permit.hop("other.example")
            await permit.hop(HOST)

    async def work() -> None:
        with pytest.raises(BudgetError, match=r"example\.com asked for no requests until 1970-01-01T01:00:00"):
            await journey()
        town.clock.move_to(3_600 * SECOND)
        await town.drive(town.poll(HOST))

    run(work)

    assert [(3_600, HOST)] == town.starts


def test_pause_refuses_waiting_requests():
    """The requests wait for a place or for the gap."""
    town = Town()

    async def first() -> None:
        async with town.gate.permit(HOST) as permit:
            await permit.hop(HOST)
            await town.clock.sleep_until(2 * SECOND)
            town.gate.pause(HOST, 100 * SECOND)

    results: list[object] = []

    async def work() -> None:
        results.extend(await town.drive(first(), town.poll(HOST), town.poll(HOST)))

    run(work)

    assert [None, BudgetError, BudgetError] == [r and type(r) for r in results]
    assert [] == town.starts


def test_ready_at_is_the_time_when_a_host_is_free():
    """The time is now for an unknown host, never while a request runs, and afterwards the end of
    gap and pause.
    """
    town = Town()
    seen: list[list[int]] = []

    async def work() -> None:
        seen.append(town.gate.ready([HOST, "other.example"]))
        async with town.gate.permit(HOST) as permit:
            seen.append(town.gate.ready([HOST, "other.example"]))
            await permit.hop(HOST)
            seen.append(town.gate.ready([HOST]))
        seen.append(town.gate.ready([HOST]))
        town.gate.pause(HOST, 60 * SECOND)
        seen.append(town.gate.ready([HOST]))

    run(work)

    assert [[0, 0], [NEVER, 0], [NEVER], [GAP * SECOND], [60 * SECOND]] == seen


def test_limits_survive_a_restart():
    """A new gate gets the states of the old one, with gap and pause."""
    town = Town()

    async def before() -> None:
        await town.drive(town.poll(HOST))
        town.gate.pause("paused.example", 60 * SECOND)

    run(before)
    states = [town.gate.state(host) for host in (HOST, "paused.example", "unknown.example")]
    after = HostGate(gap_seconds=GAP, connections=1, clock=town.clock)
    after.restore(states)

    assert [
        HostState(name=HOST, started_at=0),
        HostState(name="paused.example", paused_until=60 * SECOND),
        HostState(name="unknown.example"),
    ] == states
    assert [GAP * SECOND, 60 * SECOND, 0] == after.ready([HOST, "paused.example", "unknown.example"])


def test_widen_never_shortens_the_gap():
    """Crawl-delay makes the gap longer than the setting, not shorter."""
    town = Town()
    town.gate.widen(HOST, 20)
    town.gate.widen("other.example", 1)
    run(lambda: town.drive(town.poll(HOST), town.poll(HOST), town.poll("other.example"), town.poll("other.example")))

    assert [(0, HOST), (0, "other.example"), (5, "other.example"), (20, HOST)] == town.starts


@pytest.mark.parametrize("waiting_for", ["place", "gap"])
def test_cancelled_wait_leaves_no_trace(waiting_for):
    """The place in the queue is free, and no later request waits for it."""
    town = Town()

    async def work() -> None:
        first = asyncio.create_task(town.poll(HOST, takes=12 if waiting_for == "place" else 0))
        second = asyncio.create_task(town.poll(HOST))
        third = asyncio.create_task(town.poll(HOST))
        for _ in range(10):
            await asyncio.sleep(0)
        second.cancel()
        for _ in range(10):
            await asyncio.sleep(0)
        await town.drive(first, third)

    run(work)

    assert [0, 12 if waiting_for == "place" else 5] == [at for at, _ in town.starts]
    assert 0 == town.gate._lanes[HOST].running + town.gate._lanes[HOST].expected


def test_place_given_to_a_cancelled_request_passes_to_the_next():
    """Both happen at the same moment."""
    town = Town(gap=0)

    async def work() -> None:
        holder = town.gate.permit(HOST)
        async with holder:
            await holder.hop(HOST)
            second = asyncio.create_task(town.poll(HOST))
            third = asyncio.create_task(town.poll(HOST))
            for _ in range(5):
                await asyncio.sleep(0)
        second.cancel()  # after the place was given, before it ran
        await town.drive(second, third)

    run(work)

    assert 1 == len(town.starts)
    assert 0 == town.gate._lanes[HOST].running


def test_gap_of_0_needs_no_waiting():
    """The demo has this gap: requests follow at once, still one at a time."""
    town = Town(gap=0)
    run(lambda: town.drive(*[town.poll(HOST) for _ in range(10)]))

    assert [0] * 10 == [at for at, _ in town.starts]
    assert {HOST: 1} == town.most


def test_page_load_waits_for_the_gap_of_a_host_once():
    """The parts have no gaps between them. The gap of another host is waited for once, however many
    parts there are.
    """
    town = Town(connections=2)

    async def story() -> None:
        await town.poll("cdn.example")

        async def part(permit: HostPermit, host: str) -> None:
            async with permit.beside(host):
                town.starts.append((town.seconds(), host))

        async with town.gate.permit(HOST, town.charge) as permit:
            await permit.hop(HOST)
            await asyncio.gather(*(part(permit, host) for host in (HOST, "cdn.example", HOST, "cdn.example")))
        await town.poll("cdn.example")

    run(lambda: town.drive(story()))

    assert [
        (0, "cdn.example"),
        (0, HOST),
        (0, HOST),
        (5, "cdn.example"),
        (5, "cdn.example"),
        (10, "cdn.example"),
    ] == town.starts
    assert sorted([HOST, HOST, "cdn.example", "cdn.example"]) == sorted(town.charges)


def test_processes_that_ask_the_same_host_take_turns():
    """Each request is a gap after all others, and none is passed over. A turn that was claimed with
    the payment is used while it is fresh.
    """
    shared = Town()
    ours, theirs = Town(beside=shared), Town(beside=shared)

    async def poll_often(town: Town, turn: int | None) -> None:
        if turn is not None:
            shared.turns[HOST] = turn
            town.gate.note_turn(HOST, turn)
        for _ in range(3):
            await town.poll(HOST)

    run(lambda: shared.drive(poll_often(ours, 0), poll_often(theirs, None)))

    gap = GAP + LATE / SECOND
    assert [0, 2 * gap, 4 * gap] == pytest.approx([at for at, _ in ours.starts])
    assert [gap, 3 * gap, 5 * gap] == pytest.approx([at for at, _ in theirs.starts])


def test_turn_that_was_claimed_too_slowly_is_claimed_again():
    """The next one is claimed for when it will be known: a store that always takes so long holds
    nobody up for ever.
    """
    shared = Town()
    town = Town(beside=shared)
    town.claims = [1.0, 1.0]
    town.gate.note_turn(HOST, -SECOND)

    run(lambda: shared.drive(town.poll(HOST)))

    gap = GAP + LATE / SECOND
    assert [pytest.approx(gap)] == [at for at, _ in town.starts]
    assert shared.turns[HOST] == town.gate.state(HOST).started_at


@pytest.mark.parametrize("beside", [False, True])
def test_request_is_refused_in_a_pause_that_another_process_knows(beside):
    """Its place is free again."""
    shared = Town()
    town = Town(beside=shared)
    town.paused_until = 60 * SECOND

    async def load() -> None:
        async with town.gate.permit(HOST, is_paid=False) as permit:
            if beside:
                async with permit.beside(HOST):
                    town.starts.append((town.seconds(), HOST))
            else:
                await permit.hop(HOST)
                town.starts.append((town.seconds(), HOST))

    async def story() -> None:
        (refused,) = await asyncio.gather(load(), return_exceptions=True)
        assert isinstance(refused, BudgetError)

    run(lambda: shared.drive(story()))

    assert [] == town.starts
    assert 60 * SECOND == town.gate.ready_at(HOST)


def test_parts_of_page_loads_keep_the_limit_of_connections():
    """Two loads with the same two hosts do not deadlock."""
    town = Town(connections=1, gap=0)

    async def part(permit: HostPermit, host: str) -> None:
        async with permit.beside(host):
            town.running[host] = town.running.get(host, 0) + 1
            town.most[host] = max(town.most.get(host, 0), town.running[host])
            await town.clock.sleep_until(town.clock.now() + SECOND)
            town.running[host] -= 1

    async def load(first: str, second: str) -> None:
        async with town.gate.permit(first) as permit:
            await permit.hop(first)
            await asyncio.gather(*(part(permit, host) for host in (first, second) * 3))

    run(lambda: town.drive(load("a.example", "b.example"), load("b.example", "a.example")))

    assert {"a.example": 1, "b.example": 1} == town.most
    assert NEVER not in map(town.gate.ready_at, town.most)


@pytest.mark.parametrize(
    ("asked", "other"),
    [
        ("https://a.example.com/", "https://b.example.com/"),
        ("https://ann.github.io/", "https://bob.github.io/"),
        ("https://x.example.co.uk/", "https://example.co.uk:8443/"),
    ],
)
def test_subdomains_share_their_limits(asked, other):
    """A pause of one subdomain applies to the whole registered domain."""
    clock = ManualClock()
    gate = HostGate(gap_seconds=1.0, connections=1, clock=clock)
    gate.pause(address.host_of(asked), clock.now() + 60 * SECOND)

    assert clock.now() + 60 * SECOND == gate.ready_at(address.host_of(other))


def test_distrusted_host_is_tried_again_after_a_month():
    """The host cannot handle conditional requests. The distrust survives a restart, but the server
    may be repaired some day.
    """
    clock = ManualClock()
    gate = HostGate(gap_seconds=1.0, connections=1, clock=clock)
    gate.distrust("h.example")
    later = HostGate(gap_seconds=1.0, connections=1, clock=clock)
    later.restore([gate.state("h.example")])
    known = later.is_distrusted("h.example")
    clock.move_to(clock.now() + 30 * 86_400 * SECOND)

    assert (True, False, False) == (known, later.is_distrusted("h.example"), later.is_distrusted("other.example"))

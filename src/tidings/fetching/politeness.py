"""Politeness toward hosts: a gap from start to start, few concurrent requests, requested pauses.

The gate has a lane for each host (contracts §3). A permit holds at most one slot, in the lane of
the host it asked last; it leaves that lane before it waits in another, so that two permits cannot
deadlock.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from tidings.clock import DAY, SECOND, Clock, Instant
from tidings.errors import BudgetError
from tidings.model.interval import Duration
from tidings.model.observed.page import HostState
from tidings.record import dataclass

NEVER: Instant = 2**62
"""The value of `ready_at` while all slots of a host are taken: ready when one is released."""

DISTRUSTED: Duration = 30 * DAY
"""How long a host is asked without validators before they are tried again: its server may have been
fixed.
"""

LATE: Duration = SECOND // 10
"""How long after its turn a request may leave, if other processes ask the same hosts."""

Charge = Callable[[str], Awaitable[None]]
ClaimTurn = Callable[[str, Duration, Instant], Awaitable[tuple[Instant, Instant]]]
"""Claims the next turn to ask a host, a gap after all others' and no earlier than an instant;
returns it, and until when the host is paused.
"""


@dataclass(slots=True)
class _Lane:
    """The state of one host; `expected` are granted permits that have not asked yet."""

    host: str
    gap: Duration
    crawl_delay: Duration = 0
    """the gap that robots.txt asks for; 0 if it asks for none"""
    started_at: Instant | None = None
    paused_until: Instant = 0
    failures: int = 0
    unconditional_at: Instant | None = None
    running: int = 0
    expected: int = 0
    queue: deque[asyncio.Future[None]] | None = None
    turn: Instant | None = None


class HostGate:
    """Enforces the limits of all hosts. `gap_seconds` from start to start, `connections` concurrent
    requests of a host.

    With `claim`, other processes may ask the same hosts: each request has a turn among all of them
    and leaves within `LATE`, by which gaps are longer.
    """

    def __init__(self, *, gap_seconds: float, connections: int, clock: Clock, claim: ClaimTurn | None = None) -> None:
        self._claim = claim
        self._gap: Duration = self._lengthen(gap_seconds)
        self._connections = connections
        self._clock = clock
        self._lanes: dict[str, _Lane] = {}
        self._paused: set[str] = set()
        """hosts that have been paused"""

    def restore(self, states: Iterable[HostState]) -> None:
        """Restore the state before a restart: last starts and pauses; `Robots` restores
        robots.txt.
        """
        for state in states:
            lane = self._lane(state.name)
            lane.started_at = state.started_at
            if state.paused_until:
                self.pause(state.name, state.paused_until)
            lane.failures = state.failures
            lane.unconditional_at = state.unconditional_at

    def permit(
        self, host: str, charge: Charge | None = None, *, is_paid: bool = True, is_visit: bool = False
    ) -> HostPermit:
        """Return the permit of one grant, to be entered: `async with gate.permit(host, charge) as
        permit`.

        Leaving releases the slot. A *visit* waits for a host's gap once: robots.txt, page and
        redirects follow each other, unless the host asks for a Crawl-delay.

        Args:
            host: The host of the first request.
            charge: Awaited with its host before each request after the first. May raise
                `BudgetError`.
            is_paid: Whether the first request is paid for, so that it is not charged.
            is_visit: Whether the grant is a visit.
        """
        return HostPermit(self, host, charge, is_paid=is_paid, is_visit=is_visit)

    def ready_at(self, host: str) -> Instant:
        """Return the earliest instant at which a request to the host may start, `NEVER` while its
        slots are taken.
        """
        lane = self._lanes.get(host)
        if lane is None:
            return 0
        if lane.running + lane.expected >= self._connections:
            return NEVER
        waiting = lane.expected * lane.gap
        return max(_after_gap(lane) + waiting, lane.paused_until)

    def ready(self, hosts: Sequence[str]) -> list[Instant]:
        """Return `ready_at` of each host, in the same order, for the allocator's tick."""
        return [self.ready_at(host) for host in hosts]

    def gap(self, host: str) -> Duration:
        """Return the time from the start of a request to the host to that of the next (µs)."""
        lane = self._lanes.get(host)
        return self._gap if lane is None else lane.gap

    def pause(self, host: str, until: Instant) -> None:
        """Start no request to the host before `until` (Retry-After, whole host: contracts §11).
        Never shortens a pause.
        """
        lane = self._lane(host)
        lane.paused_until = max(lane.paused_until, until)
        self._paused.add(host)

    def put_forward(self, by: Duration) -> None:
        """Shift gaps after the clock was put forward by `by`. Pauses end when they were said to."""
        for lane in self._lanes.values():
            if lane.started_at is not None:
                lane.started_at += by

    def note_turn(self, host: str, at: Instant) -> None:
        """Record the turn that was claimed for the next request to a host."""
        self._lane(host).turn = at

    def note_start(self, host: str, at: Instant) -> None:
        """Record that another process has asked a host."""
        lane = self._lane(host)
        lane.started_at = max(lane.started_at or 0, at)

    def widen(self, host: str, gap_seconds: float) -> None:
        """Limit requests to a host to one per `gap_seconds` (Crawl-delay), never more often than
        the gate's own gap.
        """
        lane = self._lane(host)
        lane.crawl_delay = round(gap_seconds * SECOND)
        lane.gap = max(self._gap, self._lengthen(gap_seconds))

    def distrust(self, host: str) -> None:
        """Record that a host cannot be asked conditionally: it refuses that, or answers
        nonsense.
        """
        self._lane(host).unconditional_at = self._clock.now()

    def is_distrusted(self, host: str) -> bool:
        """Return whether a host is asked without validators."""
        lane = self._lanes.get(host)
        at = None if lane is None else lane.unconditional_at
        return at is not None and self._clock.now() - at < DISTRUSTED

    def list_pauses(self) -> dict[str, Instant]:
        """Return until when each host is paused that ever was."""
        return {host: self._lanes[host].paused_until for host in self._paused}

    def state(self, host: str) -> HostState:
        """Return the state of a host to be stored, so that its limits hold across restarts."""
        lane = self._lanes.get(host)
        if lane is None:
            return HostState(name=host)
        return HostState(
            name=host,
            started_at=lane.started_at,
            paused_until=lane.paused_until or None,
            failures=lane.failures,
            unconditional_at=lane.unconditional_at,
        )

    def _lane(self, host: str) -> _Lane:
        lane = self._lanes.get(host)
        if lane is None:
            lane = self._lanes[host] = _Lane(host, self._gap)
        return lane

    def expect(self, host: str) -> None:
        """Reserve a slot for a permit that will ask this host soon."""
        self._lane(host).expected += 1

    def forget(self, host: str) -> None:
        """Undo `expect`."""
        self._lane(host).expected -= 1

    async def enter(self, host: str, *, gap: bool = True, within: bool = False) -> None:
        """Wait until a request to the host may start and take its slot. Raise `BudgetError` in a
        pause.

        Without `gap` it is a part of a page that loads, and waits for a slot only. `within` a visit
        it waits for a Crawl-delay too.
        """
        lane = self._lane(host)
        now = self._clock.now()
        _refuse_pause(lane, now)
        if lane.running < self._connections:
            lane.running += 1
        else:
            await self._wait_for_place(lane)
            now = self._clock.now()
        try:
            _refuse_pause(lane, now)
            while gap and (at := _after_gap(lane, within=within)) > now:
                await self._clock.sleep_until(at)
                now = self._clock.now()
                _refuse_pause(lane, now)
        except BaseException:
            self.leave(host)
            raise
        lane.started_at = now

    def start(self, host: str) -> None:
        """Record that a request to the host starts now."""
        self._lanes[host].started_at = self._clock.now()

    async def take_turn(self, host: str, *, within: bool = False) -> None:
        """Wait for the turn of a request that is about to leave, if other processes ask the host
        too. Raise `BudgetError` in a pause. `within` a visit it waits for a Crawl-delay only.
        """
        lane = self._lanes[host]
        if self._claim is None or not lane.gap:
            return
        turn, lane.turn, took = lane.turn, None, 0
        gap = 0 if within and not lane.crawl_delay else lane.gap
        while turn is None or self._clock.now() - turn > LATE:
            begun = self._clock.now()
            turn, paused_until = await self._claim(host, gap, begun + took)
            took = self._clock.now() - begun  # a store that is always slow must not make each turn late
            lane.paused_until = max(lane.paused_until, paused_until)
            _refuse_pause(lane, self._clock.now())
            await self._clock.sleep_until(turn)
        self.start(host)

    def leave(self, host: str) -> None:
        """Release a slot; the first in the queue gets it."""
        lane = self._lanes[host]
        while lane.queue:
            waiter = lane.queue.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return
        lane.running -= 1

    def _lengthen(self, gap_seconds: float) -> Duration:
        gap: Duration = round(gap_seconds * SECOND)
        return gap + LATE if gap and self._claim is not None else gap

    async def _wait_for_place(self, lane: _Lane) -> None:
        """Wait, in the order of requests, for a released slot, which is handed over directly."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if lane.queue is None:
            lane.queue = deque()
        lane.queue.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self.leave(lane.host)  # the slot came together with the cancellation
            raise


class HostPermit:
    """The right of one grant to ask hosts, one at a time (`fetcher.Permit`). `requests` counts the
    allowed requests.

    The requests of a page load hold a slot each and only while they last, so that two loads cannot
    deadlock.
    """

    __slots__ = (
        "_arrivals",
        "_charge",
        "_expecting",
        "_gate",
        "_host",
        "_inside",
        "_is_paid",
        "_is_visit",
        "_visited",
        "requests",
    )

    def __init__(self, gate: HostGate, host: str, charge: Charge | None, *, is_paid: bool, is_visit: bool) -> None:
        self._gate = gate
        self._host = host
        self._charge = charge
        self._is_paid = is_paid
        self._is_visit = is_visit
        self._expecting = False
        self._inside: str | None = None
        self._visited: set[str] = set()
        self._arrivals: dict[str, asyncio.Lock] = {}
        self.requests = 0

    async def __aenter__(self) -> Self:
        self._gate.expect(self._host)
        self._expecting = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._step_back()

    async def hop(self, host: str) -> None:
        """Wait for the host's gap and for a slot; charge each request after the first; see
        `fetcher.Permit.hop`.
        """
        self._step_back()
        is_next = self._is_visit and host in self._visited
        await self._gate.enter(host, within=is_next)
        self._inside = host
        self._visited.add(host)
        await self._begin(host, within=is_next)

    @contextlib.asynccontextmanager
    async def beside(self, host: str) -> AsyncIterator[None]:
        """Hold a slot for one request of a page load; see `fetcher.Permit.beside`."""
        self._step_back()
        async with contextlib.AsyncExitStack() as stack:
            await self._arrive(host, stack)
            yield

    async def _arrive(self, host: str, stack: contextlib.AsyncExitStack) -> None:
        """Take a slot until `stack` ends: with the host's gap once per visit, however many ask
        concurrently.
        """
        async with self._arrivals.setdefault(host, asyncio.Lock()):
            if host not in self._visited:
                await self._gate.enter(host)
                stack.callback(self._gate.leave, host)
                self._visited.add(host)
                await self._begin(host)
                return
        await self._gate.enter(host, gap=False)
        stack.callback(self._gate.leave, host)
        await self._count(host)

    async def _begin(self, host: str, *, within: bool = False) -> None:
        await self._count(host)
        await self._gate.take_turn(host, within=within)

    async def _count(self, host: str) -> None:
        if (self.requests or not self._is_paid) and self._charge is not None:
            await self._charge(host)
            self._gate.start(host)
        self.requests += 1

    def _step_back(self) -> None:
        if self._expecting:
            self._expecting = False
            self._gate.forget(self._host)
        if self._inside is not None:
            host, self._inside = self._inside, None
            self._gate.leave(host)


def _after_gap(lane: _Lane, *, within: bool = False) -> Instant:
    if lane.started_at is None or (within and not lane.crawl_delay):
        return 0
    return lane.started_at + lane.gap


def _refuse_pause(lane: _Lane, now: Instant) -> None:
    if lane.paused_until <= now:
        return
    shown = datetime.fromtimestamp(lane.paused_until / SECOND, UTC).isoformat(timespec="seconds")
    raise BudgetError(f"{lane.host} asked for no requests until {shown}; Tidings tries again after that")

"""Run a policy over a trace: what would have been polled, found and spent.

Time moves in ticks. At each, updates are applied, pages are asked for bids, the allocator chooses,
and the policy observes the polls. A poll takes no time here. The policy, the allocator and the
payment (`budget.pay`) are those of the live service. The driver decides which pages are asked:
every page at every instant, or only due ones; both lead to the same polls, and the queue costs
nothing for pages that wait (scheduling §1.6).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from tidings.model.interval import Duration, Instant
from tidings.model.watch.sentinel import WHOLE
from tidings.record import dataclass
from tidings.scheduling.allocator import choose
from tidings.scheduling.budget import TokenBucket, pay
from tidings.scheduling.learned import has_compared
from tidings.scheduling.ledger import Ledger, Polls, Trace, account
from tidings.scheduling.policy import (
    NEVER,
    UNPOLLED,
    Columns,
    Floats,
    HeedsHosts,
    Observation,
    Policy,
    Population,
    Rows,
    State,
)


class Driver(Protocol):
    """Decides which pages are asked for a bid, and when the next page may bid."""

    def ask(self, state: State, now: Instant) -> tuple[Rows, Floats]:
        """Return the places of the pages that may bid now, ascending, and their bids."""
        ...

    def touch(self, state: State, ids: Sequence[int], now: Instant) -> None:
        """Update the driver after pages were polled, updated, added or removed; `state` is the one
        after it.
        """
        ...

    def next_instant(self, now: Instant) -> Instant:
        """Return an instant before which no further page bids; `now` if one bids already, `NEVER`
        if none will.
        """
        ...


class DenseScan:
    """Every page at every instant."""

    def __init__(self, policy: Policy[Any], price: float) -> None:
        self._policy = policy
        self._price = price

    def ask(self, state: State, now: Instant) -> tuple[Rows, Floats]:
        """Return all places and all bids."""
        return np.arange(state.population.size), self._policy.bid(state, now, self._price)

    def touch(self, state: State, ids: Sequence[int], now: Instant) -> None:
        """Do nothing: all pages are asked anyway."""

    def next_instant(self, now: Instant) -> Instant:
        """Return `now`: any page might bid."""
        return now


class DueQueue:
    """A queue of due instants; a due page is asked until it is polled or stops bidding."""

    def __init__(self, policy: Policy[Any], price: float) -> None:
        self._policy = policy
        self._price = price
        self._heap: list[tuple[Instant, int]] = []
        self._parked: dict[int, Instant] = {}
        self._ripe: set[int] = set()

    def ask(self, state: State, now: Instant) -> tuple[Rows, Floats]:
        """Return the due pages and their bids; pages that do not bid are queued again."""
        while self._heap and self._heap[0][0] <= now:
            due, page = heapq.heappop(self._heap)
            if self._parked.get(page) == due:
                del self._parked[page]
                self._ripe.add(page)
        rows = np.sort(state.population.rows(np.fromiter(self._ripe, dtype=np.int64, count=len(self._ripe))))
        bids = self._policy.bid(state, now, self._price, rows=rows)
        if (idle := bids <= 0).any():
            self.touch(state, state.population.ids[rows[idle]].tolist(), now)
        return rows, bids

    def touch(self, state: State, ids: Sequence[int], now: Instant) -> None:
        """Ask the policy again when these pages are due."""
        here = state.population.has(ids)
        left = [page for page, is_here in zip(ids, here.tolist(), strict=True) if is_here]
        self._ripe.difference_update(ids)
        for page in ids:
            self._parked.pop(page, None)
        for page, due in zip(left, self._policy.next_due(state, left, now, self._price).tolist(), strict=True):
            if due < NEVER:
                self._parked[page] = due
                heapq.heappush(self._heap, (due, page))

    def next_instant(self, now: Instant) -> Instant:
        """Return `now` while a page is due, else the first due instant."""
        if self._ripe:
            return now
        while self._heap and self._parked.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return max(now, self._heap[0][0]) if self._heap else NEVER


MakeDriver = Callable[[Policy[Any], float], Driver]


@dataclass(frozen=True, slots=True)
class Update:
    """The arguments of `on_update` at the first tick at or after `at`."""

    at: Instant
    ids: Sequence[int]
    columns: Columns


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The environment of a policy: pages, their changes, budget and limits (durations in µs)."""

    population: Population
    trace: Trace
    bucket: TokenBucket
    tick: Duration
    price: float = 0.0
    host_connections: int = 1
    host_gap: Duration = 0
    limit: int | None = None
    updates: tuple[Update, ...] = ()


def simulate(
    policy: Policy[Any], world: World, *, rng: np.random.Generator, make_driver: MakeDriver = DueQueue
) -> Ledger:
    """Return the account of a policy over the whole trace.

    Args:
        policy: The policy.
        world: Pages, changes, budget and limits of hosts.
        rng: The policy's randomness.
        make_driver: Makes the driver.
    """
    run = _Run(policy, world, rng, make_driver)
    now = world.trace.start
    while now < world.trace.end:
        now = run.step(now)
    return run.ledger()


class _Run:
    """The mutable state of one simulation."""

    def __init__(self, policy: Policy[Any], world: World, rng: np.random.Generator, make_driver: MakeDriver) -> None:
        self._policy = policy
        self._world = world
        self._state: State = policy.begin(world.population, rng)
        if isinstance(policy, HeedsHosts):
            hosts = np.unique(world.population["host"]).tolist()
            self._state = policy.on_hosts(self._state, dict.fromkeys(hosts, world.host_gap))
        self._driver = make_driver(policy, world.price)
        self._bucket = world.bucket
        self._updates = sorted(world.updates, key=lambda update: update.at, reverse=True)
        self._host_ready_at: dict[int, Instant] = {}
        self._last = world.trace.start
        self._at: list[Instant] = []
        self._page: list[int] = []
        self._cost: list[float] = []
        self._known: dict[int, Instant] = {}
        self._gone: dict[int, Instant] = {}
        self._driver.touch(self._state, self._enter(world.population.ids.tolist()), world.trace.start)

    def step(self, now: Instant) -> Instant:
        """Process instant `now`; return the next instant at which something may happen."""
        self._state = self._policy.advance(self._state, now - self._last)
        self._last = now
        while self._updates and self._updates[-1].at <= now:
            self._apply(self._updates.pop(), now)
        self._poll(now)
        return self._next(now)

    def ledger(self) -> Ledger:
        """Return the account so far."""
        polls = Polls(
            np.array(self._at, dtype=np.int64),
            np.array(self._page, dtype=np.int64),
            np.array(self._cost, dtype=np.float64),
        )
        return account(self._world.trace, polls, known_since=self._known, gone_at=self._gone)

    def _enter(self, ids: list[int]) -> list[int]:
        last = self._state.population["last_polled"][self._state.population.rows(ids)].tolist()
        for page, seen in zip(ids, last, strict=True):
            self._gone.pop(page, None)
            if seen != UNPOLLED:
                self._known.setdefault(page, seen)
        return ids

    def _apply(self, update: Update, now: Instant) -> None:
        ids = np.asarray(update.ids, dtype=np.int64)
        before = self._state.population.has(ids)
        self._state = self._policy.on_update(self._state, ids, update.columns)
        after = self._state.population.has(ids)
        self._enter(ids[after & ~before].tolist())
        self._gone.update(dict.fromkeys(ids[before & ~after].tolist(), now))
        self._driver.touch(self._state, ids.tolist(), now)

    def _poll(self, now: Instant) -> None:
        world, population = self._world, self._state.population
        self._host_ready_at = {host: at for host, at in self._host_ready_at.items() if at > now}
        rows, bids = self._driver.ask(self._state, now)
        chosen = choose(
            bids,
            population["cost"][rows],
            population["host"][rows],
            math.inf,
            host_ready=dict.fromkeys(self._host_ready_at, False),
            host_connections=world.host_connections,
            limit=world.limit,
            burst=world.bucket.burst,
        )
        asked = [((WHOLE,), cost) for cost in population["cost"][rows[chosen]].tolist()]
        paid, left = pay({WHOLE: self._bucket}, asked, now=now)
        rows = rows[chosen[paid]]
        if not len(rows):
            return
        ids, cost = population.ids[rows], population["cost"][rows]
        self._bucket = left[WHOLE]  # refilled only when drawn from, so that both drivers round alike
        if world.host_gap:
            self._host_ready_at.update(dict.fromkeys(population["host"][rows].tolist(), now + world.host_gap))
        self._at += [now] * len(ids)
        self._page += ids.tolist()
        self._cost += cost.tolist()
        seen = population["last_polled"][rows].tolist()
        changed = [
            before != UNPOLLED and world.trace.changes(page, after=before, until=now) > 0
            for page, before in zip(ids.tolist(), seen, strict=True)
        ]
        before, self._state = (
            self._state,
            self._policy.on_poll(self._state, ids, Observation.of(np.full(len(ids), now), changed)),
        )
        touched = self._state.population.ids if has_compared(before, self._state) else ids
        self._driver.touch(self._state, touched.tolist(), now)

    def _next(self, now: Instant) -> Instant:
        """Return the first tick at or after the next instant of driver or updates, at least one
        tick from now.
        """
        coming = self._driver.next_instant(now)
        if self._updates:
            coming = min(coming, self._updates[-1].at)
        if coming == NEVER:
            return self._world.trace.end
        ticks = max(1, -((now - coming) // self._world.tick))
        return now + ticks * self._world.tick

"""Two ways to run the same policy: ask every page at every instant, or only those whose time has come.

Both lead to the same polls; the queue costs nothing for pages that wait (scheduling §1.6).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from tidings.model.interval import Instant
from tidings.scheduling.policy import NEVER, Floats, Policy, Rows, State


class Driver(Protocol):
    """Who must be asked for a bid, and when the next time is that somebody may have one."""

    def ask(self, state: State, now: Instant) -> tuple[Rows, Floats]:
        """Return the places of the pages that may bid now, ascending, and their bids."""
        ...

    def touch(self, state: State, ids: Sequence[int], now: Instant) -> None:
        """Hear that pages were polled or updated, came or went; `state` is the one after it."""
        ...

    def next_instant(self, now: Instant) -> Instant:
        """Return an instant before which nobody new bids; `now` if somebody bids already, `NEVER` if nobody will."""
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
        """Do nothing: all are asked anyway."""

    def next_instant(self, now: Instant) -> Instant:
        """Return `now`: somebody might bid."""
        return now


class DueQueue:
    """A queue of due instants; a page is asked from then on until it is polled or bids no longer."""

    def __init__(self, policy: Policy[Any], price: float) -> None:
        self._policy = policy
        self._price = price
        self._heap: list[tuple[Instant, int]] = []
        self._parked: dict[int, Instant] = {}
        self._ripe: set[int] = set()

    def ask(self, state: State, now: Instant) -> tuple[Rows, Floats]:
        """Return the pages whose time has come and their bids; those that bid nothing after all are parked again."""
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
        """Ask the policy anew when these pages are due."""
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
        """Return `now` while somebody is ripe, else the first due instant."""
        if self._ripe:
            return now
        while self._heap and self._parked.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return max(now, self._heap[0][0]) if self._heap else NEVER


MakeDriver = Callable[[Policy[Any], float], Driver]

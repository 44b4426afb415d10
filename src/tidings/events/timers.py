"""Timers of a graph: a heap, ordered by due instant and then by the order in which they were
started.

A copy of a timer has a new number and the original's place in that order, so that it behaves the
same.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import NamedTuple

from tidings.model.interval import Instant

BEGINNING: Instant = -(2**63)


class NodeTimer(NamedTuple):
    """A timer, by its number, of a node, by its number, and its due instant; `depth` is that of the
    resulting occurrence.

    `place` is its order among the timers of its instant.
    """

    due: Instant
    place: int
    clock: int
    node: int
    depth: int


class Timers:
    """All timers of a graph, and its current time.

    `now` is the latest instant received; `depth` is the length of the chain of raised events that
    led to the current occurrence (a timer that fires at once is part of that chain).
    """

    __slots__ = ("_armed", "_heap", "_last", "depth", "now")

    def __init__(self) -> None:
        self.now = BEGINNING
        self.depth = 0
        self._heap: list[NodeTimer] = []
        self._armed: dict[int, Instant] = {}
        self._last = 0

    def __len__(self) -> int:
        return len(self._heap)

    def __contains__(self, clock: int) -> bool:
        return clock in self._armed

    def number(self) -> int:
        """Return a number for a new timer, larger than all before."""
        self._last += 1
        return self._last

    def set(self, clock: int, node: int, due: Instant, depth: int, place: int | None = None) -> None:
        """Set a timer to `due`, replacing an earlier setting.

        Args:
            clock: The timer's number.
            node: Its node.
            due: When it fires (µs).
            depth: The depth of the resulting occurrence.
            place: Its order among timers of one instant; None for its number.
        """
        place = clock if place is None else place
        self._last = max(self._last, clock, place)
        self._armed[clock] = due
        heappush(self._heap, NodeTimer(due, place, clock, node, depth))
        self._shrink()

    def cancel(self, clock: int) -> None:
        """Cancel a timer."""
        self._armed.pop(clock, None)
        self._shrink()

    def first(self) -> NodeTimer | None:
        """Return the next timer, None if there is none."""
        heap, armed = self._heap, self._armed
        while heap:
            if armed.get(heap[0].clock) == heap[0].due:
                return heap[0]
            heappop(heap)
        return None

    def _shrink(self) -> None:
        """Drop stale entries once they are the majority: amortised by the calls that made them
        stale.
        """
        if len(self._heap) > 2 * len(self._armed) + 8 or not self._armed:
            self._heap = [timer for timer in self._heap if self._armed.get(timer.clock) == timer.due]
            heapify(self._heap)

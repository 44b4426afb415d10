"""Clocks that are to go off: a heap, ordered by due instant and then by the order in which the clocks were set going.

A copy of a clock has a number of its own and the place of the original in that order: whoever has it goes on alike.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import NamedTuple

from tidings.model.interval import Instant

BEGINNING: Instant = -(2**63)


class NodeTimer(NamedTuple):
    """A clock, by its number, of a node, by its number, and when it goes off; `depth` is that of what it then makes.

    `place` is where it stands among the clocks of its instant.
    """

    due: Instant
    place: int
    clock: int
    node: int
    depth: int


class Timers:
    """All clocks of a graph, and what time it is there.

    `now` is the latest instant that was heard of; `depth` is how many events have raised one another on the way to the
    occurrence that is being dealt with (a clock that goes off at once is part of that chain).
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
        """Return a number for a new clock, larger than all before."""
        self._last += 1
        return self._last

    def set(self, clock: int, node: int, due: Instant, depth: int, place: int | None = None) -> None:
        """Let a clock go off at `due`; what it was set to before no longer counts. Its place is its number unless told.

        Args:
            clock: The clock's number.
            node: The node that it belongs to.
            due: When it goes off (µs).
            depth: The depth of what it then makes.
            place: Its turn among clocks of one instant; None for its number.
        """
        place = clock if place is None else place
        self._last = max(self._last, clock, place)
        self._armed[clock] = due
        heappush(self._heap, NodeTimer(due, place, clock, node, depth))
        self._shrink()

    def cancel(self, clock: int) -> None:
        """Let a clock not go off."""
        self._armed.pop(clock, None)
        self._shrink()

    def first(self) -> NodeTimer | None:
        """Return the clock that goes off next, None if none will."""
        heap, armed = self._heap, self._armed
        while heap:
            if armed.get(heap[0].clock) == heap[0].due:
                return heap[0]
            heappop(heap)
        return None

    def _shrink(self) -> None:
        """Forget entries that no longer count once they are the most: each is paid for by the call that made it one."""
        if len(self._heap) > 2 * len(self._armed) + 8 or not self._armed:
            self._heap = [timer for timer in self._heap if self._armed.get(timer.clock) == timer.due]
            heapify(self._heap)

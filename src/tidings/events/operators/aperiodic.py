"""A and A*: what occurs in a window that one event opens and another closes (sentinels §3.2).

A window is open from the end of its initiator, that instant included, for whatever arrives after
it: a change at the very instant at which a digest's window reopens belongs to that window and is
not lost between two.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from tidings.events.expression import INITIATOR, MIDDLE, Expression
from tidings.events.occurrence import Occurrence
from tidings.events.operators.node import NONE, Bounds, Context, Node, WaitingNode, join
from tidings.events.timers import Timers
from tidings.model.interval import Instant


class AperiodicNode(WaitingNode):
    """A: each occurrence in an open window is a detection; in the chronicle context a terminator
    closes only the oldest.
    """

    __slots__ = ()

    def receive(self, role: int, occurrence: Occurrence) -> Sequence[Occurrence]:
        """Return the detections of an occurrence in open windows."""
        windows = self._open
        while self.lifetime is not None and windows and windows[0].end < occurrence.end - self.lifetime:
            windows.popleft()
        if role == INITIATOR:
            self._let_wait(occurrence)
            return NONE
        if role == MIDDLE:
            around = [first for first in windows if first.end <= occurrence.start]
            if self.context is Context.CUMULATIVE:
                return (join(self, around, occurrence),) if around else NONE
            return [join(self, (first,), occurrence) for first in around]
        while windows and windows[0].end <= occurrence.start:
            windows.popleft()
            if self.context is Context.CHRONICLE:
                break
        return NONE


class AperiodicStarNode(Node):
    """A*: what occurs in a window is collected and reported when it closes.

    Collected occurrences are stored once, numbered, for all open windows; a window is its initiator
    and the next number when it opened.
    """

    __slots__ = ("_first", "_gathered", "_open")

    def __init__(self, number: int, expression: Expression, context: Context, bounds: Bounds, timers: Timers) -> None:
        super().__init__(number, expression, context, bounds, timers)
        self._open: deque[tuple[Occurrence, int]] = deque()
        self._gathered: deque[Occurrence] = deque()
        self._first = 0
        """the number of the first collected occurrence"""

    @property
    def is_idle(self) -> bool:
        """Return whether no window is open."""
        return not self._open

    def receive(self, role: int, occurrence: Occurrence) -> Sequence[Occurrence]:
        """Return what was collected in the windows that a terminator closes."""
        if self.lifetime is not None:
            self._expire(occurrence.end - self.lifetime)
        if role == INITIATOR:
            if self.context is Context.RECENT:
                self.clear()
            elif len(self._open) >= self.bounds.max_waiting:
                self._open.popleft()
                self.dropped += 1
                self._tidy()
            self._open.append((occurrence, self._first + len(self._gathered)))
            return NONE
        if role == MIDDLE:
            if self._open:
                self._gather(occurrence)
            return NONE
        return self._close(occurrence)

    def save(self) -> Any:
        """Return a copy of the windows and of the collected occurrences."""
        return self._open.copy(), self._gathered.copy(), self._first

    def restore(self, saved: Any) -> None:
        """Restore a saved copy."""
        self._open, self._gathered, self._first = saved

    def clear(self) -> None:
        """Close all windows without a detection."""
        self._open.clear()
        self._tidy()

    def dump(self) -> Any:
        """Return the windows, each with the count collected before it, and the collected
        occurrences.
        """
        if not self._open:
            return None
        windows = [[initiator.to_json(), since - self._first] for initiator, since in self._open]
        return [windows, [occurrence.to_json() for occurrence in self._gathered]]

    def load(self, data: Any) -> None:
        """Restore dumped windows."""
        windows, gathered = data or ((), ())
        self._open = deque((Occurrence.from_json(initiator), since) for initiator, since in windows)
        self._gathered = deque(map(Occurrence.from_json, gathered))
        self._first = 0

    def _gather(self, occurrence: Occurrence) -> None:
        if len(self._gathered) >= self.bounds.max_waiting:
            self._gathered.popleft()
            self._first += 1
            self.dropped += 1
        self._gathered.append(occurrence)

    def _close(self, last: Occurrence) -> Sequence[Occurrence]:
        closed = []
        while self._open and self._open[0][0].end <= last.start:
            closed.append(self._open.popleft())
            if self.context is Context.CHRONICLE:
                break
        found = []
        if closed and self.context is Context.CUMULATIVE:
            if gathered := self._since(closed[0], last):
                found = [join(self, [*(initiator for initiator, _ in closed), *gathered], last)]
        else:
            for window in closed:
                if gathered := self._since(window, last):
                    found.append(join(self, [window[0], *gathered], last))
        self._tidy()
        return found

    def _since(self, window: tuple[Occurrence, int], last: Occurrence) -> list[Occurrence]:
        initiator, since = window
        numbered = enumerate(self._gathered, self._first)
        return [
            part
            for number, part in numbered
            if number >= since and initiator.end <= part.start and part.end <= last.start
        ]

    def _expire(self, before: Instant) -> None:
        if self._open and self._open[0][0].end < before:
            while self._open and self._open[0][0].end < before:
                self._open.popleft()
            self._tidy()

    def _tidy(self) -> None:
        """Drop what no open window needs; the oldest window was opened first and needs the most."""
        if not self._open:
            self._gathered.clear()
            self._first = 0
            return
        while self._gathered and self._first < self._open[0][1]:
            self._gathered.popleft()
            self._first += 1

"""SEQ and NOT: an initiator that ended before the terminator started (sentinels §3.2).

Initiators arrive, and wait, in the order of their ends: those before a terminator are the first
ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from tidings.events.expression import INITIATOR, MIDDLE, TERMINATOR, Expression
from tidings.events.occurrence import NO_PARAMS, Occurrence
from tidings.events.operators.node import NONE, Bounds, Context, WaitingNode, join
from tidings.events.timers import Timers
from tidings.model.interval import Instant


class SequenceNode(WaitingNode):
    """SEQ. In the recent context at most one initiator waits, the latest; a terminator never
    waits.
    """

    __slots__ = ()

    def receive(self, role: int, occurrence: Occurrence) -> Sequence[Occurrence]:
        """Return the sequences that a terminator completes."""
        waiting = self._open
        if self.lifetime is not None:
            self._expire(occurrence.end - self.lifetime)
        if role == INITIATOR:
            self._let_wait(occurrence)
            return NONE
        if not waiting or waiting[0].end >= occurrence.start:
            return NONE
        if self.context is Context.RECENT:
            first = waiting[0]
            if not self._fits(first, occurrence):
                return NONE
            if self.consume:
                waiting.clear()
            return (Occurrence(self.type, first.start, occurrence.end, NO_PARAMS, (first, occurrence)),)
        return self._complete(occurrence)

    def _complete(self, last: Occurrence) -> Sequence[Occurrence]:
        waiting, start = self._open, last.start
        if self.context is Context.UNRESTRICTED:
            return [join(self, (first,), last) for first in waiting if first.end < start and self._fits(first, last)]
        taken = []
        while waiting and waiting[0].end < start:
            first = waiting.popleft()
            if self._fits(first, last):
                taken.append(first)
                if self.context is Context.CHRONICLE:
                    break
        if self.context is Context.CUMULATIVE:
            return (join(self, taken, last),) if taken else NONE
        return [join(self, (first,), last) for first in taken]

    def _fits(self, first: Occurrence, last: Occurrence) -> bool:
        return self.within is None or last.end - first.start <= self.within

    def _expire(self, before: Instant) -> None:
        while self._open and self._open[0].end < before:
            self._open.popleft()


class NegationNode(SequenceNode):
    """NOT(unless)[first, last]: SEQ, but an `unless` blocks the initiators that had ended when it
    started.

    A terminator that started before the `unless` ended is not blocked by it, though it arrives
    later. If terminators can last, blocked initiators are therefore stored beside the open ones,
    each with the end of its first blocker; they are the older ones, and those that may still be
    taken are the youngest of them.
    """

    __slots__ = ("_blocked", "_keeps_blocked")

    def __init__(self, number: int, expression: Expression, context: Context, bounds: Bounds, timers: Timers) -> None:
        super().__init__(number, expression, context, bounds, timers)
        self._blocked: deque[tuple[Occurrence, Instant]] = deque(maxlen=bounds.max_waiting)
        self._keeps_blocked = not getattr(expression, "ends_at_points", False)

    @property
    def is_idle(self) -> bool:
        """Return whether no initiator waits, blocked ones included."""
        return not self._open and not self._blocked

    def receive(self, role: int, occurrence: Occurrence) -> Sequence[Occurrence]:
        """Return the sequences that a terminator completes."""
        if role == MIDDLE:
            self._block(occurrence)
            return NONE
        if role == INITIATOR and self.context is Context.RECENT:
            self._blocked.clear()
        if role == TERMINATOR and self._blocked and self._blocked[-1][1] > occurrence.start:
            return self._receive_early(occurrence)
        return super().receive(role, occurrence)

    def save(self) -> Any:
        """Return a copy of the waiting occurrences."""
        return self._open.copy(), self._blocked.copy()

    def restore(self, saved: Any) -> None:
        """Restore a saved copy."""
        self._open, self._blocked = saved

    def clear(self) -> None:
        """Drop all initiators."""
        self._open.clear()
        self._blocked.clear()

    def dump(self) -> Any:
        """Return the waiting initiators, open and blocked."""
        if self.is_idle:
            return None
        return [super().dump(), [[initiator.to_json(), end] for initiator, end in self._blocked]]

    def load(self, data: Any) -> None:
        """Restore dumped initiators."""
        waiting, blocked = data or (None, ())
        super().load(waiting)
        self._blocked.clear()
        self._blocked.extend((Occurrence.from_json(initiator), end) for initiator, end in blocked)

    def _block(self, unless: Occurrence) -> None:
        waiting = self._open
        while waiting and waiting[0].end <= unless.start:
            initiator = waiting.popleft()
            if self._keeps_blocked:
                self._blocked.append((initiator, unless.end))

    def _receive_early(self, last: Occurrence) -> Sequence[Occurrence]:
        """Return the detections of a terminator that started before the waiting initiators were
        blocked.
        """
        free: list[tuple[Occurrence, Instant]] = []
        while self._blocked and self._blocked[-1][1] > last.start:
            free.append(self._blocked.pop())
        self._open.extendleft(initiator for initiator, _ in free)
        before = len(self._open)
        found = super().receive(TERMINATOR, last)
        for initiator, end in free[: max(0, len(free) - before + len(self._open))][::-1]:
            self._open.popleft()
            self._blocked.append((initiator, end))
        return found

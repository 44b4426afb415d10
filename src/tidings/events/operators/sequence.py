"""SEQ: an initiator that ended before the terminator started (sentinels §3.2).

Initiators arrive, and wait, in the order of their ends: those before a terminator are the first
ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidings.events.expression import INITIATOR
from tidings.events.occurrence import NO_PARAMS, Occurrence
from tidings.events.operators.node import NONE, Context, WaitingNode, join
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

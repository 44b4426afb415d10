"""The operators of Snoop but for its clocks, and the table of all (sentinels §3.2).

AND and ANY: so many different parts have occurred, in any order; AND is both of two.

SEQ and NOT: an initiator that ended before the terminator started. Initiators arrive, and wait, in
the order of their ends: those before a terminator are the first ones.

A and A*: what occurs in a window that one event opens and another closes. A window is open from the
end of its initiator, that instant included, for whatever arrives after it: a change at the very
instant at which a digest's window reopens belongs to that window and is not lost between two.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from operator import attrgetter
from typing import Any, Final

from tidings.events.expression import INITIATOR, MIDDLE, TERMINATOR, AnyOfEvents, Expression
from tidings.events.occurrence import NO_PARAMS, Occurrence
from tidings.events.operators.clocks import PeriodicNode, PeriodicStarNode, PlusNode
from tidings.events.operators.node import NONE, Bounds, Context, DisjunctionNode, Node, PrimitiveNode, WaitingNode, join
from tidings.events.timers import Timers
from tidings.model.interval import Instant
from tidings.registry import Registry

_END = attrgetter("end")


class ConjunctionNode(Node):
    """`count` of the sides. An arrival joins `count - 1` others, or waits for them."""

    __slots__ = ("_others", "_sides")

    def __init__(self, number: int, expression: Expression, context: Context, bounds: Bounds, timers: Timers) -> None:
        super().__init__(number, expression, context, bounds, timers)
        self._others = (expression.count if isinstance(expression, AnyOfEvents) else 2) - 1
        self._sides: tuple[deque[Occurrence], ...] = tuple(deque() for _ in expression.roles)

    @property
    def is_idle(self) -> bool:
        """Return whether no side has a waiting occurrence."""
        return not any(self._sides)

    def receive(self, role: int, occurrence: Occurrence) -> Sequence[Occurrence]:
        """Return the detections that an occurrence of the side `role` completes."""
        if self.lifetime is not None:
            self._expire(occurrence.end)
            if self.within is not None and occurrence.end - occurrence.start > self.within:
                return NONE  # it fits into no whole
        others = [side for number, side in enumerate(self._sides) if side and number != role]
        mine = self._sides[role]
        if self.context is Context.RECENT:
            return self._recent(mine, others, occurrence)
        if len(others) < self._others:
            self._wait(mine, occurrence)
            return NONE
        if self.context is Context.CHRONICLE:
            oldest = sorted(others, key=lambda side: side[0].end)[: self._others]
            return (join(self, [side.popleft() for side in oldest], occurrence),)
        if self.context is Context.UNRESTRICTED:
            found = [
                join(self, sorted(parts, key=_END), occurrence)
                for sides in combinations(others, self._others)
                for parts in product(*sides)
            ]
            self._wait(mine, occurrence)
            return found
        if self.context is Context.CUMULATIVE:
            found = [join(self, sorted((part for side in self._sides for part in side), key=_END), occurrence)]
        else:
            found = [join(self, parts, occurrence) for parts in self._windows(role)]
        self.clear()
        return found

    def save(self) -> Any:
        """Return a copy of the waiting occurrences."""
        return tuple(side.copy() for side in self._sides)

    def restore(self, saved: Any) -> None:
        """Restore a saved copy."""
        self._sides = saved

    def clear(self) -> None:
        """Drop all waiting occurrences."""
        for side in self._sides:
            side.clear()

    def dump(self) -> Any:
        """Return the waiting occurrences, by side."""
        return None if self.is_idle else [[part.to_json() for part in side] for side in self._sides]

    def load(self, data: Any) -> None:
        """Restore dumped occurrences."""
        self._sides = tuple(deque(map(Occurrence.from_json, side)) for side in data or ((),) * len(self._sides))

    def _recent(
        self, mine: deque[Occurrence], others: list[deque[Occurrence]], occurrence: Occurrence
    ) -> Sequence[Occurrence]:
        mine.clear()
        mine.append(occurrence)
        if len(others) < self._others:
            return NONE
        latest = sorted(others, key=lambda side: side[0].end)[-self._others :]
        found = join(self, [side[0] for side in latest], occurrence)
        if self.consume:
            for side in (mine, *latest):
                side.clear()
        return (found,)

    def _windows(self, role: int) -> Iterator[list[Occurrence]]:
        """Yield, for each waiting occurrence, its combination with the first later ones of other
        sides, if they are enough.

        The arrival, of the side `role`, comes last in each.
        """
        waiting = [(part, number) for number, side in enumerate(self._sides) if number != role for part in side]
        waiting.sort(key=lambda item: item[0].end)
        for place, (opening, number) in enumerate(waiting):
            window = {number: opening}
            later = place + 1
            while len(window) < self._others and later < len(waiting):
                part, other = waiting[later]
                window.setdefault(other, part)
                later += 1
            if len(window) == self._others:
                yield list(window.values())

    def _wait(self, mine: deque[Occurrence], occurrence: Occurrence) -> None:
        if len(mine) >= self.bounds.max_waiting:
            mine.popleft()
            self.dropped += 1
        mine.append(occurrence)

    def _expire(self, now: Instant) -> None:
        """Drop what is too old, and what began too early to fit into a whole that ends now or
        later.
        """
        oldest = now - self.lifetime if self.lifetime is not None else now
        for side in self._sides:
            while side and side[0].end < oldest:
                side.popleft()
            if self.within is not None and any(now - part.start > self.within for part in side):
                recent = [part for part in side if now - part.start <= self.within]
                side.clear()
                side.extend(recent)


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


OPERATORS: Final[Registry[type[Node]]] = Registry(
    "event operator",
    {
        "event": PrimitiveNode,
        "OR": DisjunctionNode,
        "AND": ConjunctionNode,
        "ANY": ConjunctionNode,
        "SEQ": SequenceNode,
        "NOT": NegationNode,
        "A": AperiodicNode,
        "A*": AperiodicStarNode,
        "P": PeriodicNode,
        "P*": PeriodicStarNode,
        "PLUS": PlusNode,
    },
)

"""AND and ANY: so many different parts have occurred, in any order (sentinels §3.2). AND is both of
two.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from operator import attrgetter
from typing import Any

from tidings.events.expression import AnyOfEvents, Expression
from tidings.events.occurrence import Occurrence
from tidings.events.operators.node import NONE, Bounds, Context, Node, join
from tidings.events.timers import Timers
from tidings.model.interval import Instant

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
                kept = [part for part in side if now - part.start <= self.within]
                side.clear()
                side.extend(kept)

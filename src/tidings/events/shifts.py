"""Shift a dump of rules to another time.

`postpone`: what was paused continues where it was; windows and timers that had two hours left have
two hours left again. Instants in params belong to the host and stay.

`take_back`: the clock was ahead and has been corrected; what occurred after `now` occurred at
`now`. Earlier occurrences stay. A timer or a window that began after `now` keeps its remaining
time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tidings.events.expression import Expression, NotBetween, Periodic, PeriodicStar, Plus, Primitive, from_json
from tidings.model.interval import DAY, Duration, Instant

LONGEST: Final[Duration] = 400 * 365 * DAY
"""A number further from `now` than this is not an instant."""

_CLOCKS: Final = frozenset({Periodic.operator, PeriodicStar.operator, Plus.operator})


def postpone(dump: Mapping[str, Any], by: Duration) -> dict[str, Any]:
    """Return a dump (of `Engine.dump`) with all waiting state later by `by` (µs); `now` and the
    rules stay.
    """
    return {**dump, "states": _Later(by).shift(dump)}


def take_back(dump: Mapping[str, Any], now: Instant) -> dict[str, Any]:
    """Return a dump (of `Engine.dump`) in which nothing has occurred after `now` (µs); the rules
    stay.
    """
    return {**dump, "states": _Back(now).shift(dump), "now": min(dump["now"], now)}


def earlier(value: Any, by: Duration, *, after: Instant) -> Any:
    """Return plain JSON with each instant after `after` earlier by a duration, but not before
    `after`.
    """
    match value:
        case bool():
            return value
        case int() if after < value < after + LONGEST:
            return max(after, value - by)
        case list():
            return [earlier(each, by, after=after) for each in value]
        case dict():
            return {name: earlier(each, by, after=after) for name, each in value.items()}
    return value


class _Shift(ABC):
    """How the instants in the states of operators are shifted."""

    def shift(self, dump: Mapping[str, Any]) -> dict[str, Any]:
        """Return the states of a dump with shifted instants."""
        operators: dict[str, str] = {}
        for rule in dump["rules"]:
            below = _operators_below(from_json(rule["event"]))
            operators |= {str(number): operator for number, operator in zip(rule["nodes"], below, strict=True)}
        return {
            number: [dropped, state if state is None else self._state(operators[number], state)]
            for number, (dropped, state) in dump["states"].items()
        }

    def _state(self, operator: str, state: Any) -> Any:
        if operator in _CLOCKS:
            period, clocks = state
            return [period, [self.clock(clock) for clock in clocks]]
        if operator == NotBetween.operator:
            waiting, blocked = state
            return [
                self._waiting(waiting),
                [[self.occurrence(initiator), self.end(end, initiator)] for initiator, end in blocked],
            ]
        return self._waiting(state)

    def _waiting(self, state: Any) -> Any:
        """Shift occurrences, nested in lists at any depth; other numbers are counts."""
        if not isinstance(state, list):
            return state
        if len(state) > 2 and isinstance(state[0], str):
            return self.occurrence(state)
        return [self._waiting(each) for each in state]

    @abstractmethod
    def occurrence(self, data: Any) -> list[Any]:
        """Return an occurrence with shifted instants."""

    @abstractmethod
    def clock(self, clock: Any) -> list[Any]:
        """Return a timer with shifted instants."""

    @abstractmethod
    def end(self, end: Instant, initiator: Any) -> Instant:
        """Return the shifted end of a window with this initiator."""


class _Later(_Shift):
    def __init__(self, by: Duration) -> None:
        self._by = by

    def occurrence(self, data: Any) -> list[Any]:
        kind, start, end, *rest = data
        if len(rest) > 1:
            rest[1] = [self.occurrence(part) for part in rest[1]]
        return [kind, start + self._by, end + self._by, *rest]

    def clock(self, clock: Any) -> list[Any]:
        place, last, due, depth, initiators, ticks = clock
        parts = [self.occurrence(part) for part in initiators]
        return [place, last + self._by, due + self._by, depth, parts, [tick + self._by for tick in ticks]]

    def end(self, end: Instant, initiator: Any) -> Instant:  # noqa: ARG002 - all windows move alike
        return end + self._by


class _Back(_Shift):
    def __init__(self, now: Instant) -> None:
        self._now = now

    def occurrence(self, data: Any) -> list[Any]:
        kind, start, end, *rest = data
        if end <= self._now:
            return list(data)
        if rest:
            rest[0] = earlier(rest[0], end - self._now, after=self._now)
        if len(rest) > 1:
            rest[1] = [self.occurrence(part) for part in rest[1]]
        return [kind, min(start, self._now), self._now, *rest]

    def clock(self, clock: Any) -> list[Any]:
        place, last, due, depth, initiators, ticks = clock
        by = max(0, max([last, *(part[2] for part in initiators)]) - self._now)
        parts = [self.occurrence(part) for part in initiators]
        return [place, min(last, self._now), due - by, depth, parts, [min(tick, self._now) for tick in ticks]]

    def end(self, end: Instant, initiator: Any) -> Instant:
        began: Instant = initiator[2]
        return end - max(0, began - self._now)


def _operators_below(expression: Expression) -> Iterator[str]:
    """Yield the operators of an expression whose nodes have waiting state, in the order of a rule's
    `nodes`.
    """
    if not isinstance(expression, Primitive):
        for _, part in expression.roles:
            yield from _operators_below(part)
        yield expression.operator

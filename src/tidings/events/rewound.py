"""Clamp a dump of rules to `now`: the clock was ahead, and has been corrected.

What occurred before `now` stays. A timer or a window that began after `now` keeps its remaining
time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tidings.events.expression import NotBetween, Periodic, PeriodicStar, Plus, from_json
from tidings.events.postponed import operators_below
from tidings.model.interval import DAY, Duration, Instant

LONGEST: Final[Duration] = 400 * 365 * DAY
"""A number further from `now` than this is not an instant."""


def rewound(dump: Mapping[str, Any], now: Instant) -> dict[str, Any]:
    """Return a dump (of `Engine.dump`) in which nothing has occurred after `now` (µs); the rules
    stay.
    """
    operators: dict[str, str] = {}
    for rule in dump["rules"]:
        below = operators_below(from_json(rule["event"]))
        operators |= {str(number): operator for number, operator in zip(rule["nodes"], below, strict=True)}
    states = {
        number: [dropped, state if state is None else _BACK.get(operators[number], _waiting)(state, now)]
        for number, (dropped, state) in dump["states"].items()
    }
    return {**dump, "states": states, "now": min(dump["now"], now)}


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


def _occurrence(data: Any, now: Instant) -> list[Any]:
    kind, start, end, *rest = data
    if end <= now:
        return list(data)
    if rest:
        rest[0] = earlier(rest[0], end - now, after=now)
    if len(rest) > 1:
        rest[1] = [_occurrence(part, now) for part in rest[1]]
    return [kind, min(start, now), now, *rest]


def _waiting(state: Any, now: Instant) -> Any:
    """Clamp occurrences, nested in lists at any depth; other numbers are counts, not instants."""
    if not isinstance(state, list):
        return state
    if len(state) > 2 and isinstance(state[0], str):
        return _occurrence(state, now)
    return [_waiting(each, now) for each in state]


def _clocks(state: Any, now: Instant) -> Any:
    period, clocks = state
    return [period, [_clock(clock, now) for clock in clocks]]


def _clock(clock: Any, now: Instant) -> list[Any]:
    place, last, due, depth, initiators, ticks = clock
    began = max([last, *(part[2] for part in initiators)])
    by = max(0, began - now)
    parts = [_occurrence(part, now) for part in initiators]
    return [place, min(last, now), due - by, depth, parts, [min(tick, now) for tick in ticks]]


def _block(state: Any, now: Instant) -> Any:
    waiting, blocked = state
    return [
        _waiting(waiting, now),
        [[_occurrence(initiator, now), end - max(0, initiator[2] - now)] for initiator, end in blocked],
    ]


_BACK: Final[Mapping[str, Callable[[Any, Instant], Any]]] = {
    Periodic.operator: _clocks,
    PeriodicStar.operator: _clocks,
    Plus.operator: _clocks,
    NotBetween.operator: _block,
}
"""By operator: how to clamp state with instants beside those of occurrences."""

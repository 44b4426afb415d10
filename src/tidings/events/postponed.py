"""Shift a dump of rules to a later time: what was paused continues where it was.

Windows and timers that had two hours left when they were dumped have two hours left again. Instants
in params belong to the host and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tidings.events.expression import Expression, NotBetween, Periodic, PeriodicStar, Plus, Primitive, from_json
from tidings.model.interval import Duration


def postpone(dump: Mapping[str, Any], by: Duration) -> dict[str, Any]:
    """Return a dump (of `Engine.dump`) with all waiting state later by `by` (µs); `now` and the
    rules stay.
    """
    operators: dict[str, str] = {}
    for rule in dump["rules"]:
        below = operators_below(from_json(rule["event"]))
        operators |= {str(number): operator for number, operator in zip(rule["nodes"], below, strict=True)}
    states = {
        number: [dropped, state if state is None else _SHIFTS.get(operators[number], _waiting)(state, by)]
        for number, (dropped, state) in dump["states"].items()
    }
    return {**dump, "states": states}


def operators_below(expression: Expression) -> Iterator[str]:
    """Yield the operators of an expression whose nodes have waiting state, in the order of a rule's
    `nodes`.
    """
    return (node.operator for node in _below(expression))


def _below(expression: Expression) -> Iterator[Expression]:
    """Yield the parts of an expression whose nodes have waiting state, in the order of a rule's
    `nodes`.
    """
    if not isinstance(expression, Primitive):
        for _, part in expression.roles:
            yield from _below(part)
        yield expression


def _occurrence(data: Any, by: Duration) -> list[Any]:
    kind, start, end, *rest = data
    if len(rest) > 1:
        rest[1] = [_occurrence(part, by) for part in rest[1]]
    return [kind, start + by, end + by, *rest]


def _waiting(state: Any, by: Duration) -> Any:
    """Shift occurrences, nested in lists at any depth; other numbers are counts, not instants."""
    if not isinstance(state, list):
        return state
    if len(state) > 2 and isinstance(state[0], str):
        return _occurrence(state, by)
    return [_waiting(each, by) for each in state]


def _clocks(state: Any, by: Duration) -> Any:
    period, clocks = state
    return [
        period,
        [
            [place, last + by, due + by, depth, [_occurrence(part, by) for part in initiators], [t + by for t in ticks]]
            for place, last, due, depth, initiators, ticks in clocks
        ],
    ]


def _block(state: Any, by: Duration) -> Any:
    waiting, blocked = state
    return [_waiting(waiting, by), [[_occurrence(initiator, by), end + by] for initiator, end in blocked]]


_SHIFTS: Final[Mapping[str, Callable[[Any, Duration], Any]]] = {
    Periodic.operator: _clocks,
    PeriodicStar.operator: _clocks,
    Plus.operator: _clocks,
    NotBetween.operator: _block,
}
"""By operator: how to shift state with instants beside those of occurrences."""

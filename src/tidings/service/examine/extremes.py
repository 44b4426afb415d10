"""Extremes: `lowest so far` and `highest of 30 days` over the values a sentinel saw before
(`storage.watches.values`).

Detection gets the numbers to compare with, since values are stored outside of the pages. While
there are none, nothing is lower or higher.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from tidings.detection.kinds.interests import interests_of, label_of
from tidings.model.watch.interest import EXTREMES, AllOf, AnyOf, Condition, Expression, Interest, Not
from tidings.record import replace
from tidings.storage.watches import values

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.service.watch.watchlist import Subscription
    from tidings.storage.db.connection import Connection

_NEVER: Final = float("inf")


class AskedSeries(NamedTuple):
    """A series by its label, and its time span (µs; 0: all of it)."""

    label: str
    span: Duration


Extremes = Mapping[AskedSeries, tuple[float, float]]
"""The lowest and highest value of each requested series; absent without values."""


def read(connection: Connection, takers: Sequence[Subscription], before: int, at: Instant) -> Mapping[int, Extremes]:
    """Return the extremes of what subscriptions saw in the earlier versions of their page, by
    subscription; `at` is now (µs).
    """
    found: dict[int, Extremes] = {}
    for sub in takers:
        asked = {one for part in sub.asked for one in _list_asked(part.expression)}
        if asked:
            since = {one: at - one.span if one.span else None for one in asked}
            known = {
                one: values.extremes(
                    connection, sub.row.sentinel_id, sub.row.page_id, one.label, before=before, since=since[one]
                )
                for one in asked
            }
            found[sub.row.id] = {one: pair for one, pair in known.items() if pair is not None}
    return found


def are_asked(takers: Sequence[Subscription]) -> bool:
    """Return whether a subscription uses a lowest or highest value."""
    return any(any(_list_asked(part.expression)) for sub in takers for part in sub.asked)


def with_extremes(expression: Expression, known: Extremes) -> Expression:
    """Return an expression whose numbers are compared with the known extremes."""
    match expression:
        case Interest():
            if not any(condition.measure in EXTREMES for condition in expression.where):
                return expression
            label = label_of(expression)
            return replace(expression, where=tuple(_number(condition, label, known) for condition in expression.where))
        case Not(part):
            return Not(with_extremes(part, known))
        case AnyOf(parts):
            return AnyOf(_each(parts, known))
        case AllOf(parts):
            return AllOf(_each(parts, known))


def _each(parts: Sequence[Expression], known: Extremes) -> tuple[Expression, ...]:
    return tuple(with_extremes(part, known) for part in parts)


def _number(condition: Condition, label: str, known: Extremes) -> Condition:
    if condition.measure not in EXTREMES:
        return condition
    lowest, highest = known.get(AskedSeries(label, condition.span), (-_NEVER, _NEVER))
    if condition.measure == "lowest":
        return Condition("value", "<", lowest)
    return Condition("value", ">", highest)


def _list_asked(expression: Expression) -> Iterator[AskedSeries]:
    for interest in interests_of(expression):
        for condition in interest.where:
            if condition.measure in EXTREMES:
                yield AskedSeries(label_of(interest), condition.span)

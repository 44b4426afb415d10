"""Conditions on two numbers: `value`, `is`, `becomes`, `changes`, `rises` and `drops`
(`model.interest.Condition`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final

from tidings.model.watch.interest import Condition

INFINITE: Final = Decimal("Infinity")
_HOLDS: Mapping[str, Callable[[Decimal, Decimal], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}


def holds_of_numbers(condition: Condition, was: Decimal | None, now: Decimal | None) -> bool:
    """Return whether a condition holds of a number that is `now` and was `was`; None is no
    number.
    """
    if now is None:
        return False
    if condition.measure in {"value", "is"}:
        return stands(condition, now)
    if condition.measure == "becomes":
        return stands(condition, now) and (was is None or not stands(condition, was))
    if was is None:
        return False
    difference = now - was
    if condition.measure == "changes":
        difference = abs(difference)
    elif condition.measure == "drops":
        difference = -difference
    if difference <= 0:
        return False
    if condition.is_percent:
        difference = difference * 100 / abs(was) if was else INFINITE
    return stands(condition, difference)


def stands(condition: Condition, number: Decimal) -> bool:
    """Return whether a number stands in the condition's relation to its bound."""
    if condition.relation == "between":
        return Decimal(str(condition.number)) <= number <= Decimal(str(condition.upper))
    return _HOLDS[condition.relation or ">="](number, Decimal(str(condition.number)))

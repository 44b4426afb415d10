"""Event expressions: primitive events combined by the operators of Snoop (004 §6.2), as frozen
values that compare by content.

| operator | occurs |
|---|---|
| `Or` | when any part does |
| `And` | when both have occurred, in any order |
| `AnyOf` | when `count` different parts have occurred |
| `Seq` | at `second`, if `first` had ended before it started |
| `Not` | as SEQ of `first` and `last`, if no whole `unless` lies between |
| `Aperiodic` (A) | at each `middle` after `first` and before `last` |
| `AperiodicStar` (A*) | at `last`, with all `middle` since `first`; silent if there were none |
| `Periodic` (P) | every `period` after the end of `first`, until `last` |
| `PeriodicStar` (P*) | at `last`, with all those ticks; silent if there were none |
| `Plus` | once, `delay` after the end of `event`, or at the instant that a param of it says |

If several occurrences qualify, the context decides which is taken (`node.Context`). Durations are
in µs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, ClassVar, Final

from tidings.model.interval import Duration
from tidings.record import dataclass

TERMINATOR: Final = 0
MIDDLE: Final = 1
INITIATOR: Final = 2
"""Roles, in the order in which an occurrence that fills several is received: it closes before it
opens.
"""


class Expression:
    """An event expression; `operator` is its name in Snoop, `options` are the names of its fields
    beside its parts.
    """

    __slots__ = ()
    operator: ClassVar[str]
    options: ClassVar[tuple[str, ...]] = ()

    @property
    def roles(self) -> tuple[tuple[int, Expression], ...]:
        """Return the parts, each with its role; for OR, AND and ANY the roles are their numbers."""
        return ()

    @property
    def is_stateless(self) -> bool:
        """Return whether it has no waiting state, so that contexts make no difference."""
        return False

    @property
    def is_punctual(self) -> bool:
        """Return whether all its occurrences are points in time."""
        return False


@dataclass(frozen=True, slots=True)
class Primitive(Expression):
    """An event from outside. `lasting`: its occurrences may have a duration."""

    operator: ClassVar[str] = "event"
    options: ClassVar[tuple[str, ...]] = ("name", "lasting")
    name: str
    lasting: bool = False

    @property
    def is_stateless(self) -> bool:
        """Return True."""
        return True

    @property
    def is_punctual(self) -> bool:
        """Return whether it was not declared to last."""
        return not self.lasting


@dataclass(frozen=True, slots=True)
class Or(Expression):
    """Any of the parts; occurrences pass through unchanged."""

    operator: ClassVar[str] = "OR"
    parts: tuple[Expression, ...]

    def __post_init__(self) -> None:
        _check_different(self.operator, self.parts)

    @property
    def roles(self) -> tuple[tuple[int, Expression], ...]:
        """Return the parts by number."""
        return tuple(enumerate(self.parts))

    @property
    def is_stateless(self) -> bool:
        """Return whether all parts are stateless."""
        return all(part.is_stateless for part in self.parts)

    @property
    def is_punctual(self) -> bool:
        """Return whether all parts are punctual."""
        return all(part.is_punctual for part in self.parts)


@dataclass(frozen=True, slots=True)
class And(Expression):
    """Both, in any order; `within` bounds the whole, `consume` removes reported occurrences in the
    recent context.
    """

    operator: ClassVar[str] = "AND"
    options: ClassVar[tuple[str, ...]] = ("within", "consume")
    left: Expression
    right: Expression
    within: Duration | None = None
    consume: bool = False

    def __post_init__(self) -> None:
        _check_different(self.operator, (self.left, self.right))
        _check_within(self.operator, self.within)

    @property
    def roles(self) -> tuple[tuple[int, Expression], ...]:
        """Return the two sides by number."""
        return ((0, self.left), (1, self.right))


@dataclass(frozen=True, slots=True)
class AnyOfEvents(Expression):
    """`count` different ones of the parts, in any order; `within` and `consume` as for AND."""

    operator: ClassVar[str] = "ANY"
    options: ClassVar[tuple[str, ...]] = ("count", "within", "consume")
    count: int
    parts: tuple[Expression, ...]
    within: Duration | None = None
    consume: bool = False

    def __post_init__(self) -> None:
        _check_different(self.operator, self.parts)
        _check_within(self.operator, self.within)
        if not 2 <= self.count <= len(self.parts):
            message = f"ANY takes from 2 to {len(self.parts)} of {len(self.parts)} parts, not {self.count}"
            raise ValueError(message)

    @property
    def roles(self) -> tuple[tuple[int, Expression], ...]:
        """Return the parts by number."""
        return tuple(enumerate(self.parts))


@dataclass(frozen=True, slots=True)
class Seq(Expression):
    """`first`, ended before `second` started; `within` bounds the whole, `consume` removes `first`
    in the recent context.
    """

    operator: ClassVar[str] = "SEQ"
    options: ClassVar[tuple[str, ...]] = ("within", "consume")
    first: Expression
    second: Expression
    within: Duration | None = None
    consume: bool = False

    def __post_init__(self) -> None:
        _check_within(self.operator, self.within)

    @property
    def roles(self) -> tuple[tuple[int, Expression], ...]:
        """Return initiator and terminator."""
        return ((INITIATOR, self.first), (TERMINATOR, self.second))


@dataclass(frozen=True, slots=True)
class NotBetween(Expression):
    """`first` … `last` without a complete `unless` from the end of the former to the start of the
    latter, both included.
    """

    operator: ClassVar[str] = "NOT"
    options: ClassVar[tuple[str, ...]] = ("within", "consume", "ends_at_points")
    unless: Expression
    first: Expression
    last: Expression
    within: Duration | None = None
    consume: bool = False

    def __post_init__(self) -> None:
        _check_within(self.operator, self.within)

    @property
    def roles(self) -> tuple[tuple[int, Expression], ...]:
        """Return the part that blocks, initiator and terminator."""
        return ((MIDDLE, self.unless), (INITIATOR, self.first), (TERMINATOR, self.last))

    @property
    def ends_at_points(self) -> bool:
        """Return whether every terminator begins when it arrives."""
        return self.last.is_punctual


@dataclass(frozen=True, slots=True)
class Between(Expression):
    """A window that `first` opens and `last` closes, with each `middle` in it."""

    first: Expression
    middle: Expression
    last: Expression

    @property
    def roles(self) -> tuple[tuple[int, Expression], ...]:
        """Return what opens the window, what is in it, and what closes it."""
        return ((INITIATOR, self.first), (MIDDLE, self.middle), (TERMINATOR, self.last))


@dataclass(frozen=True, slots=True)
class Aperiodic(Between):
    """Each `middle` in a window."""

    operator: ClassVar[str] = "A"


@dataclass(frozen=True, slots=True)
class AperiodicStar(Between):
    """All `middle` of a window together, when it closes."""

    operator: ClassVar[str] = "A*"


@dataclass(frozen=True, slots=True)
class Ticks(Expression):
    """A tick every `period` from the end of `first` until `last`."""

    options: ClassVar[tuple[str, ...]] = ("period",)
    first: Expression
    period: Duration
    last: Expression

    def __post_init__(self) -> None:
        if self.period <= 0:
            message = f"the period of {self.operator} must be above 0 µs, it is {self.period}"
            raise ValueError(message)

    @property
    def roles(self) -> tuple[tuple[int, Expression], ...]:
        """Return the parts that start and stop the timer."""
        return ((INITIATOR, self.first), (TERMINATOR, self.last))


@dataclass(frozen=True, slots=True)
class Periodic(Ticks):
    """Each tick."""

    operator: ClassVar[str] = "P"

    @property
    def is_punctual(self) -> bool:
        """Return True: a tick is a point."""
        return True


@dataclass(frozen=True, slots=True)
class PeriodicStar(Ticks):
    """All ticks together, at `last`."""

    operator: ClassVar[str] = "P*"


@dataclass(frozen=True, slots=True)
class Plus(Expression):
    """Once, `delay` (0 or more) after the end of `event`.

    `until` names a param of `event` with the instant to use instead (its end, if that is later); if
    it is not a number, `delay` holds.
    """

    operator: ClassVar[str] = "PLUS"
    options: ClassVar[tuple[str, ...]] = ("delay", "until")
    event: Expression
    delay: Duration
    until: str | None = None

    def __post_init__(self) -> None:
        if self.delay < 0:
            message = f"PLUS waits 0 µs or more, not {self.delay}"
            raise ValueError(message)

    @property
    def roles(self) -> tuple[tuple[int, Expression], ...]:
        """Return the part that starts the delay."""
        return ((INITIATOR, self.event),)

    @property
    def is_punctual(self) -> bool:
        """Return True."""
        return True


EXPRESSIONS: Final[dict[str, type[Expression]]] = {
    kind.operator: kind
    for kind in (
        Primitive,
        Or,
        And,
        AnyOfEvents,
        Seq,
        NotBetween,
        Aperiodic,
        AperiodicStar,
        Periodic,
        PeriodicStar,
        Plus,
    )
}


def spell(expression: Expression) -> str:
    """Return an expression as the papers write it: `SEQ(a, b)`, `NOT(b)[a, c]`, `P(a, [60000000],
    c)`.
    """
    match expression:
        case Primitive(name):
            return name
        case NotBetween(unless, first, last):
            text = f"NOT({spell(unless)})[{spell(first)}, {spell(last)}]"
        case Periodic(first, period, last) | PeriodicStar(first, period, last):
            text = f"{expression.operator}({spell(first)}, [{period}], {spell(last)})"
        case Plus(event, delay, until):
            text = f"PLUS({spell(event)}, {until or delay})"
        case AnyOfEvents(count, parts):
            text = f"ANY({count}, {', '.join(map(spell, parts))})"
        case _:
            text = f"{expression.operator}({', '.join(spell(part) for _, part in expression.roles)})"
    within, consume = getattr(expression, "within", None), getattr(expression, "consume", False)
    return f"{text}{'' if within is None else f' within {within}'}{' consumed' if consume else ''}"


def to_json(expression: Expression) -> Any:
    """Return an expression as plain JSON: a primitive is its name, all else an object with `op`."""
    if isinstance(expression, Primitive) and not expression.lasting:
        return expression.name
    options = {field.name: getattr(expression, field.name) for field in fields(expression)}  # type: ignore[arg-type]  # all are dataclasses
    return {"op": expression.operator} | {
        name: _value_to_json(value) for name, value in options.items() if value is not None and value is not False
    }


def from_json(data: Any) -> Expression:
    """Return the expression that `to_json` wrote. Raise `ValueError` for an unknown operator."""
    if isinstance(data, str):
        return Primitive(data)
    options = dict(data)
    operator = options.pop("op")
    if operator not in EXPRESSIONS:
        message = f'there is no event operator "{operator}"; there are: {", ".join(EXPRESSIONS)}'
        raise ValueError(message)
    if operator == Primitive.operator:
        return Primitive(**options)
    return EXPRESSIONS[operator](**{name: _value_from_json(value) for name, value in options.items()})


def _value_to_json(value: Any) -> Any:
    if isinstance(value, Expression):
        return to_json(value)
    return [to_json(part) for part in value] if isinstance(value, tuple) else value


def _value_from_json(value: Any) -> Any:
    if isinstance(value, (str, dict)):
        return from_json(value)
    return tuple(map(from_json, value)) if isinstance(value, list) else value


def _check_different(operator: str, parts: Sequence[Expression]) -> None:
    if len(parts) < 2 or len(set(parts)) < len(parts):
        message = f"{operator} joins two or more different events, not: {', '.join(map(spell, parts)) or 'none'}"
        raise ValueError(message)


def _check_within(operator: str, within: Duration | None) -> None:
    if within is not None and within < 0:
        message = f"{operator} can be bounded to 0 µs or more, not {within}"
        raise ValueError(message)

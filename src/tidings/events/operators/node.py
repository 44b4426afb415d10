"""The contract of operator nodes: occurrences come in by role, detections go out, waiting state can
be saved and dumped.

A node stands for one expression in one context. It is fed by the nodes of its parts and feeds the
nodes above it and its listeners; without either it is removed. Nodes never access rules.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final, Protocol

from tidings.events.expression import Expression, spell
from tidings.events.occurrence import NO_PARAMS, Occurrence
from tidings.events.timers import Timers
from tidings.model.interval import Duration, Instant
from tidings.record import dataclass

NONE: Final[tuple[Occurrence, ...]] = ()


class Context(StrEnum):
    """Which of several waiting occurrences a detection takes (Snoop's parameter contexts).

    Recent: the latest, which stays. Chronicle: the oldest, which is consumed. Continuous: each of
    them, a detection each, all consumed. Cumulative: all of them in one detection, all consumed.
    Unrestricted: every combination, nothing is consumed; it grows without bound, so rules may not
    use it; it exists to test the others against.
    """

    RECENT = "recent"
    CHRONICLE = "chronicle"
    CONTINUOUS = "continuous"
    CUMULATIVE = "cumulative"
    UNRESTRICTED = "unrestricted"


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much may wait in a node: `max_waiting` occurrences of a role, for `max_age` (µs; None:
    for ever).

    Beyond that the oldest are dropped and counted. Age bounds how long an occurrence waits for its
    partners (AND, ANY, SEQ, NOT) and how long a window stays open (A, A*); timers (P, P*, PLUS) run
    as long as the expression says.
    """

    max_waiting: int = 1_000
    max_age: Duration | None = None

    def __post_init__(self) -> None:
        if self.max_waiting < 1:
            message = f"a node must have room for at least 1 waiting occurrence, not {self.max_waiting}"
            raise ValueError(message)
        if self.max_age is not None and self.max_age < 0:
            message = f"the age of what waits is bounded to 0 µs or more, not {self.max_age}"
            raise ValueError(message)


class DetectionListener(Protocol):
    """A receiver of the detections of a node: a rule."""

    @property
    def id(self) -> Any:
        """Return its unique key."""
        ...

    @property
    def group(self) -> str:
        """Return the group with which it is dumped."""
        ...

    @property
    def acts(self) -> bool:
        """Return whether it runs an action in the step that could fail."""
        ...


@dataclass(frozen=True, slots=True)
class Reach:
    """What an occurrence of a node can lead to. `groups` have waiting state there; `acts`: a
    listener above acts.

    `branches`: some node above is reached by two paths, so that the order of visits matters.
    """

    branches: bool
    acts: bool
    groups: frozenset[str]


class Node:
    """One expression in one context. Subclasses are the rows of `operators.OPERATORS`, made with
    the same arguments.

    `parts` are the nodes below, in the order of `expression.roles`; `above` are the nodes that it
    feeds, with its role there; `rank` is 0 for a primitive, else one more than the highest part's.
    `dropped` counts overflowed occurrences. What ended more than `lifetime` ago is dropped.
    """

    type: str
    __slots__ = (
        "above",
        "bounds",
        "consume",
        "context",
        "dropped",
        "expression",
        "lifetime",
        "listeners",
        "number",
        "parts",
        "rank",
        "reach",
        "timers",
        "type",
        "within",
    )

    def __init__(
        self,
        number: int,
        expression: Expression,
        context: Context,
        bounds: Bounds,
        timers: Timers,
    ) -> None:
        self.number = number
        self.expression = expression
        self.context = context
        self.bounds = bounds
        self.timers = timers
        self.within: Duration | None = getattr(expression, "within", None)
        self.consume: bool = getattr(expression, "consume", False)
        self.lifetime = self.within
        if bounds.max_age is not None and (self.within is None or bounds.max_age < self.within):
            self.lifetime = bounds.max_age
        self.parts: tuple[Node, ...] = ()
        self.above: dict[tuple[int, int], tuple[Node, int]] = {}
        self.listeners: dict[Any, DetectionListener] = {}
        self.rank = 0
        self.dropped = 0
        self.reach: Reach | None = None

    def __getattr__(self, name: str) -> str:
        """Return the type of this node's detections, computed on first use: most never need it."""
        if name != "type":
            raise AttributeError(name)
        self.type = spell(self.expression)
        return self.type

    @property
    def subscribers(self) -> int:
        """Return the reference count: the node lives while it is above 0."""
        return len(self.above) + len(self.listeners)

    @property
    def is_idle(self) -> bool:
        """Return whether nothing waits: the node equals a new one."""
        return True

    def receive(self, role: int, occurrence: Occurrence) -> Sequence[Occurrence]:
        """Return the detections that an occurrence in a role completes. Occurrences come in the
        order of their ends.
        """
        raise NotImplementedError

    def fire(self, clock: int) -> Sequence[Occurrence]:
        """Return the occurrences of a firing timer of this node."""
        raise NotImplementedError

    def next_due(self) -> Instant | None:
        """Return when the next timer of this node fires, None if it has none."""
        return None

    def save(self) -> Any:
        """Return the state for `restore`; later events do not modify it."""
        return None

    def restore(self, saved: Any) -> None:
        """Restore a saved state, of this node or of another of the same expression and context."""

    def clear(self) -> None:
        """Drop all waiting state and timers."""

    def dump(self) -> Any:
        """Return the waiting state as plain JSON, None if there is none."""
        return None

    def load(self, data: Any) -> None:
        """Restore what `dump` wrote into an idle node."""


def join(node: Node, parts: Sequence[Occurrence], last: Occurrence) -> Occurrence:
    """Return the composite of `parts` and `last`, with which it ends."""
    start = min(last.start, *(part.start for part in parts))
    return Occurrence(node.type, start, last.end, NO_PARAMS, (*parts, last))


class PrimitiveNode(Node):
    """A primitive event: occurrences from outside pass through unchanged."""

    __slots__ = ()


class DisjunctionNode(Node):
    """OR: each occurrence of each part passes through unchanged."""

    __slots__ = ()

    def receive(self, role: int, occurrence: Occurrence) -> Sequence[Occurrence]:  # noqa: ARG002 - all parts are alike
        """Return the occurrence."""
        return (occurrence,)


class WaitingNode(Node):
    """A node whose initiators wait in the order of their ends, until they are completed or
    closed.
    """

    __slots__ = ("_open",)

    def __init__(self, number: int, expression: Expression, context: Context, bounds: Bounds, timers: Timers) -> None:
        super().__init__(number, expression, context, bounds, timers)
        self._open: deque[Occurrence] = deque()

    @property
    def is_idle(self) -> bool:
        """Return whether no initiator waits."""
        return not self._open

    def save(self) -> Any:
        """Return a copy of the waiting occurrences."""
        return self._open.copy()

    def restore(self, saved: Any) -> None:
        """Restore a saved copy."""
        self._open = saved

    def clear(self) -> None:
        """Drop all initiators."""
        self._open.clear()

    def dump(self) -> Any:
        """Return the waiting initiators."""
        return [initiator.to_json() for initiator in self._open] or None

    def load(self, data: Any) -> None:
        """Restore dumped initiators."""
        self._open = deque(map(Occurrence.from_json, data or ()))

    def _let_wait(self, initiator: Occurrence) -> None:
        """Add a waiting initiator: the only one in the recent context, else the last, dropping the
        oldest if there are too many.
        """
        if self.context is Context.RECENT:
            self._open.clear()
        elif len(self._open) >= self.bounds.max_waiting:
            self._open.popleft()
            self.dropped += 1
        self._open.append(initiator)

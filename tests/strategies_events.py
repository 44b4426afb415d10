"""Traces of events, expressions over them, and a naive detector, for tests of events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st

from tidings.events.expression import (
    And,
    AnyOfEvents,
    Aperiodic,
    AperiodicStar,
    Expression,
    NotBetween,
    Or,
    Periodic,
    PeriodicStar,
    Plus,
    Primitive,
    Seq,
    to_json,
)
from tidings.events.graph import Graph, Journal, Loading
from tidings.events.occurrence import Occurrence
from tidings.events.operators.node import Bounds, Context
from tidings.events.shifts import postpone

A, B, C = (Primitive(name) for name in "abc")
CONTEXTS = tuple(Context)
RULE_CONTEXTS = tuple(context for context in Context if context is not Context.UNRESTRICTED)
LATER = 200
"""An instant after all traces and all clocks that are bounded."""


class Ear(NamedTuple):
    """A listener that does nothing."""

    id: Any = "ear"
    group: str = ""
    acts: bool = False


class Detector:
    """The graph of one expression in one context, driven by events and time; it takes the unrestricted context, too."""

    def __init__(self, expression: Expression, context: Context, bounds: Bounds | None = None) -> None:
        self.wanted = (expression, context, bounds or Bounds())
        self.graph = Graph()
        self.node = self.graph.subscribe(*self.wanted, Ear())
        self.journal: Journal | None = None

    def push(self, occurrence: Occurrence) -> list[Occurrence]:
        """Return what is detected up to an occurrence and by it."""
        found = self.advance(occurrence.end - 1)
        self.graph.timers.now = occurrence.end
        leaf = self.graph.leaves.get(occurrence.type)
        return found if leaf is None else found + self._collect(leaf, (occurrence,))

    def advance(self, now: int) -> list[Occurrence]:
        """Return what is detected as time passes."""
        found: list[Occurrence] = []
        timers = self.graph.timers
        while (timer := timers.first()) is not None and timer.due <= now:
            timers.now = timer.due
            found += self._collect(*self.graph.fire(timer, self.journal))
        timers.now = max(timers.now, now)
        return found

    def run(self, trace: Iterable[Occurrence], until: int | None = LATER) -> list[Occurrence]:
        """Return what is detected in a trace, and after it until an instant."""
        found = [one for occurrence in trace for one in self.push(occurrence)]
        return found if until is None else found + self.advance(until)

    def reload(self, *, later: int = 0) -> Detector:
        """Return a detector made of the dump of this one, once it was plain text; all that waits in it so much `later`."""
        states: dict[str, Any] = {}
        numbers = self.graph.dump(self.node, states)
        dump = {"rules": [{"event": to_json(self.wanted[0]), "nodes": numbers}], "states": states}
        text = json.dumps([postpone(dump, later) if later else dump, self.graph.timers.now + later])
        dump, now = json.loads(text)
        numbers, states = dump["rules"][0]["nodes"], dump["states"]
        other = Detector.__new__(Detector)
        other.wanted, other.graph, other.journal = self.wanted, Graph(), None
        other.graph.timers.now = now
        other.node = other.graph.load(*self.wanted, Ear(), numbers, Loading(states))
        return other

    def _collect(self, node: Any, found: Sequence[Occurrence]) -> list[Occurrence]:
        return [occurrence for _, occurrence in self.graph.spread(node, found, self.journal)]


def detect(
    expression: Expression, context: Context, trace: Iterable[Occurrence], until: int | None = LATER
) -> list[Occurrence]:
    """Return what an expression detects in a trace, and after it until an instant."""
    return Detector(expression, context).run(trace, until)


def at(name: str, instant: int, number: int = 0) -> Occurrence:
    """Return a primitive occurrence with a number of its own."""
    return Occurrence.at(name, instant, {"n": number})


def number_events(events: Iterable[tuple[str, int, int]]) -> list[Occurrence]:
    """Return occurrences of (type, start, end), each with its number among those of its type."""
    count: dict[str, int] = {}
    found = []
    for name, start, end in events:
        count[name] = count.get(name, 0) + 1
        found.append(Occurrence(name, start, end, {"n": count[name]}))
    return found


def shift(occurrence: Occurrence, by: int) -> Occurrence:
    """Return the same occurrence at another time."""
    parts = tuple(shift(part, by) for part in occurrence.parts)
    return occurrence._replace(start=occurrence.start + by, end=occurrence.end + by, parts=parts)


def lasting(*names: str) -> list[Primitive]:
    """Return events whose occurrences may last."""
    return [Primitive(name, lasting=True) for name in names]


@st.composite
def point_traces(draw: st.DrawFn, names: str = "abc", size: int = 14) -> list[Occurrence]:
    """Points in time, often several at one instant."""
    steps = draw(st.lists(st.tuples(st.sampled_from(names), st.integers(0, 2)), max_size=size))
    now, events = 0, []
    for name, gap in steps:
        now += gap
        events.append((name, now, now))
    return number_events(events)


@st.composite
def interval_traces(draw: st.DrawFn, names: str = "abc", size: int = 14) -> list[Occurrence]:
    """Intervals in the order of their ends, that overlap in all ways."""
    steps = draw(st.lists(st.tuples(st.sampled_from(names), st.integers(0, 2), st.integers(0, 5)), max_size=size))
    now, events = 5, []
    for name, gap, length in steps:
        now += gap
        events.append((name, now - length, now))
    return number_events(events)


traces = point_traces() | interval_traces()


def _wider(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    several = st.lists(parts, min_size=2, max_size=3, unique=True).map(tuple)
    within = st.none() | st.integers(0, 6)
    period = st.integers(1, 4)
    return st.one_of(
        several.map(Or),
        st.builds(lambda pair, within, consume: And(pair[0], pair[1], within, consume), several, within, st.booleans()),
        st.builds(AnyOfEvents, st.just(2), several, within, st.booleans()),
        st.builds(Seq, parts, parts, within, st.booleans()),
        st.builds(NotBetween, parts, parts, parts, within),
        st.builds(Aperiodic, parts, parts, parts),
        st.builds(AperiodicStar, parts, parts, parts),
        st.builds(Periodic, parts, period, parts),
        st.builds(PeriodicStar, parts, period, parts),
        st.builds(Plus, parts, st.integers(0, 4)),
    )


event_expressions: st.SearchStrategy[Expression] = st.recursive(
    st.sampled_from([A, B, C, *lasting("c")]), _wider, max_leaves=5
)

OF_EACH_OPERATOR: dict[str, Expression] = {
    "OR": Or((A, B)),
    "AND": And(A, B),
    "AND within": And(A, B, within=3),
    "AND consumed": And(A, B, consume=True),
    "ANY": AnyOfEvents(2, (A, B, C)),
    "ANY of three": AnyOfEvents(3, (A, B, C)),
    "SEQ": Seq(A, B),
    "SEQ within": Seq(A, B, within=3),
    "SEQ consumed": Seq(A, B, consume=True),
    "NOT": NotBetween(B, A, C),
    "A": Aperiodic(A, B, C),
    "A*": AperiodicStar(A, B, C),
    "P": Periodic(A, 2, C),
    "P*": PeriodicStar(A, 2, C),
    "PLUS": Plus(A, 4),
}
"""At least one expression of each operator."""

"""The graph of nodes that rules share."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies_events import (
    CONTEXTS,
    LATER,
    RULE_CONTEXTS,
    A,
    B,
    C,
    Detector,
    Ear,
    at,
    detect,
    event_expressions,
    traces,
)
from tidings.events.expression import And, Aperiodic, NotBetween, Or, Periodic, Plus, Seq
from tidings.events.graph import Graph, Loading, listeners_above, reach_of
from tidings.events.occurrence import Occurrence
from tidings.events.operators.node import Bounds, Context, Reach

PLAIN = (Context.RECENT, Bounds())


def subscribe(graph, expression, name, context=Context.RECENT, bounds=None):
    return graph.subscribe(expression, context, bounds or Bounds(), Ear(name))


def list_rules(graph, occurrence):
    """Return the rules that detect an occurrence."""
    graph.timers.now = occurrence.end
    leaf = graph.leaves.get(occurrence.type)
    return [] if leaf is None else [listener.id for listener, _ in graph.spread(leaf, (occurrence,))]


def test_equal_expressions_share_one_node():
    """Two rules with the same expression and context use it, and it counts them."""
    graph = Graph()
    one = subscribe(graph, Seq(And(A, B), C), "one")
    two = subscribe(graph, Seq(And(A, B), C), "two")

    assert one is two
    assert 2 == one.subscribers
    assert 5 == len(graph.nodes)


def test_equal_parts_are_shared():
    """A part is shared by all expressions that contain it, also within one expression."""
    graph = Graph()
    subscribe(graph, Seq(And(A, B), C), "one")
    subscribe(graph, NotBetween(C, And(A, B), And(A, B)), "two")
    (shared,) = (node for node in graph.nodes.values() if node.expression == And(A, B))

    assert 3 == shared.subscribers
    assert {"one", "two"} == listeners_above(shared)


def test_other_contexts_and_bounds_have_their_own_nodes():
    """They detect something else."""
    graph = Graph()
    nodes = {subscribe(graph, Seq(A, B), context, context).number for context in RULE_CONTEXTS} | {
        subscribe(graph, Seq(A, B), "few", bounds=Bounds(5)).number
    }

    assert 5 == len(nodes)


def test_or_of_primitives_is_shared_by_contexts():
    """Nothing waits in it, so contexts and bounds make no difference."""
    graph = Graph()
    nodes = {subscribe(graph, Or((A, B)), context, context).number for context in CONTEXTS}

    assert 1 == len(nodes)


def test_node_with_waiting_occurrences_is_not_shared():
    """A new rule does not see what began before it."""
    graph = Graph()
    old = subscribe(graph, Seq(A, B), "old")
    list_rules(graph, at("a", 1))
    new = subscribe(graph, Seq(A, B), "new")

    assert old is not new
    assert ["old"] == list_rules(graph, at("b", 2))


def test_node_above_waiting_occurrences_is_not_shared():
    """Something waits in one of its parts."""
    graph = Graph()
    subscribe(graph, Seq(And(A, B), C), "old")
    list_rules(graph, at("a", 1))
    subscribe(graph, Seq(And(A, B), C), "new")
    list_rules(graph, at("b", 2))

    assert ["old"] == list_rules(graph, at("c", 3))


def test_node_lasts_as_long_as_its_last_user():
    """Earlier users take nothing away when they leave."""
    graph = Graph()
    node = subscribe(graph, Seq(And(A, B), C), "one")
    subscribe(graph, Seq(And(A, B), C), "two")
    part = subscribe(graph, And(A, B), "part")
    graph.release(node, Ear("one"))
    graph.release(node, Ear("two"))

    assert {"a", "b"} == set(graph.leaves)
    assert 1 == part.subscribers
    graph.release(part, Ear("part"))
    assert ({}, {}, {}) == (graph.nodes, graph.leaves, graph._index)


def test_removed_node_leaves_no_clock():
    """Its running clock has no entry any more."""
    graph = Graph()
    node = subscribe(graph, Periodic(A, 5, B), "one")
    list_rules(graph, at("a", 1))
    graph.release(node, Ear("one"))

    assert 0 == len(graph.timers)
    assert graph.timers.first() is None


def test_reach_is_updated_with_subscriptions():
    """It is the set of rules that an event can lead to."""
    graph = Graph()
    first = graph.subscribe(Seq(A, B), *PLAIN, Ear("one", "g"))
    before = reach_of(graph.leaves["a"])
    second = graph.subscribe(And(A, Seq(A, C)), *PLAIN, Ear("two", "h", acts=True))
    between = reach_of(graph.leaves["a"])
    graph.release(second, Ear("two"))

    assert Reach(branches=False, acts=False, groups=frozenset("g")) == before
    assert Reach(branches=True, acts=True, groups=frozenset("gh")) == between
    assert before == reach_of(graph.leaves["a"])
    assert 1 == first.subscribers


def test_event_that_only_passes_changes_no_group():
    """No state has to be stored."""
    graph = Graph()
    graph.subscribe(Or((A, B)), *PLAIN, Ear("one", "g"))

    assert frozenset() == reach_of(graph.leaves["a"]).groups


def test_event_in_two_roles_terminates_first():
    """It is terminator and, through a part, initiator."""
    found = detect(Seq(Or((A, C)), A), Context.RECENT, [at("a", 1), at("a", 2), at("a", 3)])

    assert [(1, 2), (2, 3)] == [(one.start, one.end) for one in found]


def test_closing_and_opening_tick_loses_nothing():
    """No change is missed or detected twice."""
    window = Aperiodic(Or((A, C)), B, C)
    trace = [at("a", 1), at("b", 2), at("c", 3), at("b", 3), at("c", 4), at("b", 5)]
    found = detect(window, Context.CONTINUOUS, trace)

    assert [(1, 2), (3, 3), (4, 5)] == [(one.start, one.end) for one in found]


@given(
    st.lists(st.tuples(event_expressions, st.sampled_from(CONTEXTS)), min_size=2, max_size=4),
    traces,
    st.data(),
)
def test_sharing_has_no_visible_effect(wanted, trace, data):
    """A rule detects what it would alone, whenever it is added."""
    graph = Graph()
    starts = sorted(data.draw(st.integers(0, len(trace))) for _ in wanted)
    alone = [
        detect(expression, context, trace[start:]) for (expression, context), start in zip(wanted, starts, strict=True)
    ]
    detected: list[list[Occurrence]] = [[] for _ in wanted]

    def run(now):
        while (timer := graph.timers.first()) is not None and timer.due <= now:
            graph.timers.now = timer.due
            note(graph.spread(*graph.fire(timer)))

    def note(triggered):
        for listener, occurrence in triggered:
            detected[listener.id].append(occurrence)

    for place in range(len(trace) + 1):
        for number, start in enumerate(starts):
            if start == place:
                expression, context = wanted[number]
                graph.subscribe(expression, context, Bounds(), Ear(number))
        if place < len(trace):
            run(trace[place].end - 1)
            graph.timers.now = trace[place].end
            leaf = graph.leaves.get(trace[place].type)
            note(graph.spread(leaf, (trace[place],)) if leaf else [])
    run(LATER)

    assert alone == detected


def test_sharing_does_not_affect_the_order_of_clocks():
    """Clocks that one event started for one instant run in the same order for all."""
    window = Aperiodic(Periodic(A, 1, C), B, Plus(A, 1))
    trace = [at("a", 1), at("b", 3)]
    graph = Graph()
    subscribe(graph, Plus(A, 1), "before")
    subscribe(graph, window, "late")
    list_rules(graph, trace[0])
    first, second = (drained.node for drained in _drain(graph))

    assert ["P", "PLUS"] == [graph.nodes[number].expression.operator for number in (first, second)]
    assert [] == detect(window, Context.RECENT, trace)


def _drain(graph):
    found = []
    while (timer := graph.timers.first()) is not None:
        found.append(timer)
        graph.timers.cancel(timer.clock)
    return found


def detects_the_same(expression, context, trace, cut):
    """Return whether a copy made at a place of a trace detects, in that order, what the original
    would.
    """
    detector = Detector(expression, context)
    found = detector.run(trace[:cut], until=None)
    size = len(detector.graph.nodes)
    detector.node = detector.graph.make_private(detector.node, Ear())
    end = trace[-1].end + 12 if trace else 0
    found += detector.run(trace[cut:], until=end)
    return size == len(detector.graph.nodes) and detect(expression, context, trace, until=end) == found


@settings(max_examples=60)
@given(event_expressions, st.sampled_from(CONTEXTS), traces, st.data())
def test_private_copy_detects_the_same(expression, context, trace, data):
    """It is a copy of a node and its parts, and the original leaves nothing."""
    cut = data.draw(st.integers(0, len(trace)))

    assert detects_the_same(expression, context, trace, cut)


@pytest.mark.parametrize("last", [Plus(A, 1), Seq(A, Plus(A, 1))], ids=["clock", "clock below"])
def test_private_copy_keeps_the_order_of_clocks(last):
    """A tick before its terminator at the same instant stays before it."""
    trace = [*(at("a", 0) for _ in range(8)), at("b", 0), at("a", 0)]

    assert detects_the_same(Periodic(B, 1, last), Context.RECENT, trace, len(trace))


def test_loaded_clocks_keep_their_order_beside_others():
    """They get new numbers since the graph has clocks already."""
    detector = Detector(Periodic(B, 1, Plus(A, 1)), Context.RECENT)
    trace = [at("b", 0), at("a", 0)]
    detector.run(trace, until=None)
    states: dict[str, Any] = {}
    numbers = detector.graph.dump(detector.node, states)
    other = Graph()
    other.timers.now = 0
    for clock in range(1, 3):
        other.timers.set(clock, 0, LATER, 0)
    other.load(*detector.wanted, Ear(), numbers, Loading(states))
    operators = [other.nodes[timer.node].expression.operator for timer in _drain(other)[:2]]

    assert ["P", "PLUS"] == operators


def test_equal_nodes_are_shared_again_after_a_restart():
    """They are loaded one by one."""
    graph = Graph()
    for name in ("one", "two"):
        subscribe(graph, Seq(And(A, B), Plus(C, 5)), name)
    list_rules(graph, at("a", 1))
    list_rules(graph, at("c", 2))
    node = next(node for node in graph.nodes.values() if node.listeners)
    states: dict[str, Any] = {}
    numbers = graph.dump(node, states)
    numbers, states = json.loads(json.dumps([numbers, states]))
    other = Graph()
    loaded = [other.load(node.expression, *PLAIN, Ear(name), numbers, Loading(states)) for name in ("one", "two")]

    assert loaded[0] is loaded[1]
    assert len(graph.nodes) == len(other.nodes)
    assert [7] == [timer.due for timer in (other.timers.first(),) if timer]
    assert 1 == len(other.timers)

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


def hear(graph, occurrence):
    """Return who hears of an occurrence."""
    graph.timers.now = occurrence.end
    leaf = graph.leaves.get(occurrence.type)
    return [] if leaf is None else [ear.id for ear, _ in graph.spread(leaf, (occurrence,))]


def test_equal_expressions_share_a_node():
    """Two who ask for the same in the same context are served by one node, which counts them."""
    graph = Graph()
    one = subscribe(graph, Seq(And(A, B), C), "one")
    two = subscribe(graph, Seq(And(A, B), C), "two")

    assert one is two
    assert 2 == one.subscribers
    assert 5 == len(graph.nodes)


def test_parts_are_shared():
    """A sub-expression is shared by all wholes in which it stands, within one expression too."""
    graph = Graph()
    subscribe(graph, Seq(And(A, B), C), "one")
    subscribe(graph, NotBetween(C, And(A, B), And(A, B)), "two")
    (shared,) = (node for node in graph.nodes.values() if node.expression == And(A, B))

    assert 3 == shared.subscribers
    assert {"one", "two"} == listeners_above(shared)


def test_other_contexts_and_bounds_have_nodes_of_their_own():
    """What would detect something else is another node."""
    graph = Graph()
    nodes = {subscribe(graph, Seq(A, B), context, context).number for context in RULE_CONTEXTS} | {
        subscribe(graph, Seq(A, B), "few", bounds=Bounds(5)).number
    }

    assert 5 == len(nodes)


def test_or_of_primitives_is_shared_by_all_contexts():
    """Nothing waits in an OR of primitive events, so that contexts and bounds make no difference."""
    graph = Graph()
    nodes = {subscribe(graph, Or((A, B)), context, context).number for context in CONTEXTS}

    assert 1 == len(nodes)


def test_newcomers_do_not_hear_of_what_began_before():
    """A node in which something waits already is not shared with a newcomer."""
    graph = Graph()
    old = subscribe(graph, Seq(A, B), "old")
    hear(graph, at("a", 1))
    new = subscribe(graph, Seq(A, B), "new")

    assert old is not new
    assert ["old"] == hear(graph, at("b", 2))


def test_newcomers_do_not_share_what_waits_below():
    """Nor is a node shared below which something waits."""
    graph = Graph()
    subscribe(graph, Seq(And(A, B), C), "old")
    hear(graph, at("a", 1))
    subscribe(graph, Seq(And(A, B), C), "new")
    hear(graph, at("b", 2))

    assert ["old"] == hear(graph, at("c", 3))


def test_a_node_lives_as_long_as_somebody_uses_it():
    """The first to leave takes nothing away from the others; the last takes all."""
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


def test_who_leaves_takes_his_clocks_along():
    """A running clock of a node that goes away leaves no entry behind."""
    graph = Graph()
    node = subscribe(graph, Periodic(A, 5, B), "one")
    hear(graph, at("a", 1))
    graph.release(node, Ear("one"))

    assert 0 == len(graph.timers)
    assert graph.timers.first() is None


def test_reach_follows_subscriptions():
    """What an event can lead to is known anew when somebody comes or goes."""
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


def test_where_nothing_waits_no_group_changes():
    """An event that only passes through changes no state that would have to be stored."""
    graph = Graph()
    graph.subscribe(Or((A, B)), *PLAIN, Ear("one", "g"))

    assert frozenset() == reach_of(graph.leaves["a"]).groups


def test_one_event_in_two_roles_closes_before_it_opens():
    """An occurrence that is terminator and, through a part, initiator is heard as terminator first."""
    found = detect(Seq(Or((A, C)), A), Context.RECENT, [at("a", 1), at("a", 2), at("a", 3)])

    assert [(1, 2), (2, 3)] == [(one.start, one.end) for one in found]


def test_an_event_that_opens_and_closes_hands_over():
    """A window that each tick closes and opens again misses nothing and tells nothing twice."""
    window = Aperiodic(Or((A, C)), B, C)
    trace = [at("a", 1), at("b", 2), at("c", 3), at("b", 3), at("c", 4), at("b", 5)]
    found = detect(window, Context.CONTINUOUS, trace)

    assert [(1, 2), (3, 3), (4, 5)] == [(one.start, one.end) for one in found]


@given(
    st.lists(st.tuples(event_expressions, st.sampled_from(CONTEXTS)), min_size=2, max_size=4),
    traces,
    st.data(),
)
def test_sharing_is_never_seen(wanted, trace, data):
    """Whoever subscribes, whenever, hears what he would hear alone."""
    graph = Graph()
    starts = sorted(data.draw(st.integers(0, len(trace))) for _ in wanted)
    alone = [
        detect(expression, context, trace[start:]) for (expression, context), start in zip(wanted, starts, strict=True)
    ]
    heard: list[list[Occurrence]] = [[] for _ in wanted]

    def run(now):
        while (timer := graph.timers.first()) is not None and timer.due <= now:
            graph.timers.now = timer.due
            note(graph.spread(*graph.fire(timer)))

    def note(triggered):
        for ear, occurrence in triggered:
            heard[ear.id].append(occurrence)

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

    assert alone == heard


def test_whom_one_shares_with_is_never_seen_in_the_order_of_clocks():
    """Clocks of one instant that one event started go off in the same order for everybody."""
    window = Aperiodic(Periodic(A, 1, C), B, Plus(A, 1))
    trace = [at("a", 1), at("b", 3)]
    graph = Graph()
    subscribe(graph, Plus(A, 1), "before")
    subscribe(graph, window, "late")
    hear(graph, trace[0])
    first, second = (drained.node for drained in _drain(graph))

    assert ["P", "PLUS"] == [graph.nodes[number].expression.operator for number in (first, second)]
    assert [] == detect(window, Context.RECENT, trace)


def _drain(graph):
    found = []
    while (timer := graph.timers.first()) is not None:
        found.append(timer)
        graph.timers.cancel(timer.clock)
    return found


def goes_on_alike(expression, context, trace, cut):
    """Return whether a copy made at a place of a trace detects, in that order, what the original would have."""
    detector = Detector(expression, context)
    found = detector.run(trace[:cut], until=None)
    size = len(detector.graph.nodes)
    detector.node = detector.graph.make_private(detector.node, Ear())
    end = trace[-1].end + 12 if trace else 0
    found += detector.run(trace[cut:], until=end)
    return size == len(detector.graph.nodes) and detect(expression, context, trace, until=end) == found


@settings(max_examples=60)
@given(event_expressions, st.sampled_from(CONTEXTS), traces, st.data())
def test_a_private_copy_goes_on_alike(expression, context, trace, data):
    """A copy of a node and of all below it detects what the original would have, and nothing is left of that."""
    cut = data.draw(st.integers(0, len(trace)))

    assert goes_on_alike(expression, context, trace, cut)


@pytest.mark.parametrize("last", [Plus(A, 1), Seq(A, Plus(A, 1))], ids=["clock", "clock below"])
def test_a_copy_keeps_the_order_of_clocks(last):
    """A tick that goes before its terminator at the same instant goes before it in a copy, too."""
    trace = [*(at("a", 0) for _ in range(8)), at("b", 0), at("a", 0)]

    assert goes_on_alike(Periodic(B, 1, last), Context.RECENT, trace, len(trace))


def test_what_is_loaded_beside_others_keeps_the_order_of_clocks():
    """Clocks that need numbers of their own, since a living graph has theirs, stand where they stood."""
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


def test_living_nodes_in_an_equal_state_are_shared_on_load():
    """What was shared before a restart is shared after it, though it is loaded one by one."""
    graph = Graph()
    for name in ("one", "two"):
        subscribe(graph, Seq(And(A, B), Plus(C, 5)), name)
    hear(graph, at("a", 1))
    hear(graph, at("c", 2))
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

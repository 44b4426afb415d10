"""The contract of event operators in every context, for all rows of `OPERATORS` (sentinels §3)."""

import random

import pytest

from tests.strategies_events import CONTEXTS, LATER, OF_EACH_OPERATOR, Detector, Ear, detect, number_events, shift
from tidings.events.expression import from_json, to_json
from tidings.events.operators.node import Bounds, Context
from tidings.events.operators.operators import OPERATORS

SEEDS = range(8)


@pytest.fixture(params=OF_EACH_OPERATOR)
def expression(request):
    """Return an expression of each operator."""
    return OF_EACH_OPERATOR[request.param]


@pytest.fixture(params=CONTEXTS, ids=str)
def context(request):
    """Return each context."""
    return request.param


def trace(seed, size=24):
    """Return a trace of three events, some of them simultaneous; failures print the seed."""
    rng = random.Random(seed)
    now, events = 0, []
    for _ in range(size):
        now += rng.choice([0, 1, 1, 2])
        events.append((rng.choice("abc"), now, now))
    return number_events(events)


def test_every_operator_is_tested():
    """Primitive events are part of all of them."""
    assert set(OPERATORS) == {expression.operator for expression in OF_EACH_OPERATOR.values()} | {"event"}


def test_restart_changes_nothing(expression, context):
    """Dumping and loading the state at any point gives the detections of an uninterrupted run."""
    for seed in SEEDS:
        events = trace(seed)
        expected = detect(expression, context, events)
        for cut in range(0, len(events) + 1, 3):
            before = Detector(expression, context)
            found = before.run(events[:cut], until=None)

            assert expected == found + before.reload().run(events[cut:]), f"seed {seed}, {cut} events before"


def test_rolled_back_events_have_no_effect(expression, context):
    """Later detections are those of a run without these events."""
    for seed in SEEDS:
        events = trace(seed)
        expected = detect(expression, context, events)
        for cut in range(0, len(events), 4):
            detector = Detector(expression, context)
            found = detector.run(events[:cut], until=None)
            now = detector.graph.timers.now
            detector.journal = {}
            detector.run(events[cut : cut + 4])
            detector.graph.roll_back(detector.journal)
            detector.graph.timers.now, detector.journal = now, None

            assert expected == found + detector.run(events[cut:]), f"seed {seed}, {cut} events before"


def test_detections_do_not_depend_on_the_absolute_time(expression, context):
    """A shifted trace gives the same detections, shifted."""
    for seed in SEEDS:
        events = trace(seed)
        expected = [shift(found, 500) for found in detect(expression, context, events)]
        later = [shift(event, 500) for event in events]

        assert expected == detect(expression, context, later, until=LATER + 500), f"seed {seed}"


def test_pause_shifts_pending_state(expression, context):
    """State that is dumped, postponed and loaded behaves as if all events had been later by the
    pause.
    """
    for seed in SEEDS:
        events = trace(seed)
        for cut in range(1, len(events), 5):
            rest = [shift(event, 500) for event in events[cut:]]
            before = Detector(expression, context)
            whole = Detector(expression, context)
            before.run(events[:cut], until=None)
            whole.run([shift(event, 500) for event in events[:cut]], until=None)

            expected = whole.run(rest, until=LATER + 500)
            assert expected == before.reload(later=500).run(rest, until=LATER + 500), (
                f"seed {seed}, {cut} events before"
            )


def test_new_node_is_idle(expression, context):
    """It waits for nothing, dumps nothing and has no clock."""
    detector = Detector(expression, context)

    assert detector.node.is_idle
    assert detector.node.dump() is None
    assert detector.node.next_due() is None


def test_cleared_node_is_idle(expression, context):
    """It detects what a new node would."""
    detector = Detector(expression, context)
    detector.run(trace(1), until=None)
    detector.node.clear()
    events = [shift(event, LATER) for event in trace(2)]

    assert detector.node.is_idle
    assert 0 == len(detector.graph.timers)
    assert detect(expression, context, events, 2 * LATER) == detector.run(events, 2 * LATER)


def test_node_is_removed_with_its_last_listener(expression, context):
    """Its nodes, primitive events and clocks are removed too."""
    detector = Detector(expression, context)
    detector.run(trace(1), until=None)
    detector.graph.release(detector.node, Ear())

    assert ({}, {}, 0) == (detector.graph.nodes, detector.graph.leaves, len(detector.graph.timers))


def test_pending_occurrences_are_bounded(expression, context):
    """A node holds at most its limit of each role, and counts what it drops."""
    detector = Detector(expression, context, Bounds(max_waiting=5))
    names = "a" * 40 + "b" * 40
    detector.run(number_events([(name, 1 + k // 10, 1 + k // 10) for k, name in enumerate(names)]), until=None)

    assert count_held(detector.node.dump()) <= 5 + 5
    if context is not Context.RECENT and expression.operator != "OR":
        assert detector.node.dropped >= 35


def test_expression_round_trips_as_json(expression):
    """The form is plain JSON."""
    assert expression == from_json(to_json(expression))


def count_held(data):
    """Return the number of occurrences in a dump."""
    if not isinstance(data, list):
        return 0
    return 1 if data and isinstance(data[0], str) else sum(map(count_held, data))

"""The operators SEQ and NOT."""

import pytest

from tests.strategies_events import RULE_CONTEXTS, A, B, C, Detector, at, detect
from tidings.events.expression import And, NotBetween, Plus, Primitive, Seq
from tidings.events.operators.node import Bounds, Context

D = Primitive("d")
CHRONICLE, RECENT = Context.CHRONICLE, Context.RECENT


def trace_of(names):
    return [at(name, instant) for instant, name in enumerate(names)]


def spans(found):
    return [(one.start, one.end) for one in found]


def test_events_of_one_instant_are_no_sequence():
    """The initiator must end before the terminator starts."""
    assert [] == detect(Seq(A, B), RECENT, [at("a", 1), at("b", 1)])


def test_consumed_initiator_is_used_once():
    """In the recent context it stays, unless the expression consumes it."""
    trace = [at("a", 1), at("b", 2), at("b", 3), at("a", 4), at("b", 5)]

    assert [(1, 2), (1, 3), (4, 5)] == spans(detect(Seq(A, B), RECENT, trace))
    assert [(1, 2), (4, 5)] == spans(detect(Seq(A, B, consume=True), RECENT, trace))


def test_chronicle_context_skips_initiators_that_are_too_old():
    """The oldest one that fits is used; those that no longer fit are removed."""
    detector = Detector(Seq(A, B, within=5), CHRONICLE)
    found = detector.run([at("a", 1), at("a", 4), at("a", 6), at("b", 9), at("b", 10), at("b", 11)])

    assert [(4, 9), (6, 10)] == spans(found)
    assert detector.node.is_idle


def test_page_that_answers_again_is_not_gone():
    """NOT(ok)[error, PLUS(error, 24)]: the page is gone after 24 without an answer (sentinels
    §3.5).
    """
    error, ok = A, B
    gone = NotBetween(ok, error, Plus(error, 24))

    assert [(1, 25)] == spans(detect(gone, RECENT, [at("a", 1)]))
    assert [] == detect(gone, RECENT, [at("a", 1), at("b", 20)])
    assert [(30, 54)] == spans(detect(gone, RECENT, [at("a", 1), at("b", 20), at("a", 30)]))


@pytest.mark.parametrize("context", RULE_CONTEXTS, ids=str)
def test_terminator_from_before_the_unwanted_event_is_not_blocked(context):
    """It had started before, even if it ends later."""
    event = NotBetween(D, A, Seq(B, C, consume=True))

    assert [] == detect(event, context, trace_of("adbc"))
    assert [(0, 3)] == spans(detect(event, context, trace_of("abdc")))
    assert (0, 5) not in spans(detect(event, context, trace_of("abdcbc")))


def test_latest_initiator_replaces_a_blocked_one():
    """In the recent context only the latest counts, whether the one before is blocked or open."""
    event = NotBetween(D, A, Seq(B, C))

    assert [(0, 3)] == spans(detect(event, RECENT, trace_of("abdc")))
    assert [] == detect(event, RECENT, trace_of("abdac"))


def test_blocked_initiator_is_not_counted_as_dropped():
    """It can no longer be detected, and takes the place of none."""
    detector = Detector(NotBetween(B, A, And(C, B)), CHRONICLE, Bounds(max_waiting=3))
    detector.run([at("a" if k % 2 else "b", k) for k in range(1, 40)], until=None)

    assert 0 == detector.node.dropped


def test_blocked_initiator_is_removed_at_once_before_points():
    """This is so if the terminators are points."""
    detector = Detector(NotBetween(B, A, C), CHRONICLE)
    detector.run([at("a", 1), at("a", 2), at("b", 3)])

    assert detector.node.is_idle

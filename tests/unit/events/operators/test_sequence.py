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


def test_at_one_instant_nothing_is_before():
    """An initiator at the very instant of the terminator did not end before it started."""
    assert [] == detect(Seq(A, B), RECENT, [at("a", 1), at("b", 1)])


def test_consumed_initiators_serve_once():
    """In the recent context an initiator stays, unless the expression consumes it."""
    trace = [at("a", 1), at("b", 2), at("b", 3), at("a", 4), at("b", 5)]

    assert [(1, 2), (1, 3), (4, 5)] == spans(detect(Seq(A, B), RECENT, trace))
    assert [(1, 2), (4, 5)] == spans(detect(Seq(A, B, consume=True), RECENT, trace))


def test_chronicle_passes_over_what_is_too_old():
    """The oldest initiator that fits is taken; those that no longer can are let go."""
    detector = Detector(Seq(A, B, within=5), CHRONICLE)
    found = detector.run([at("a", 1), at("a", 4), at("a", 6), at("b", 9), at("b", 10), at("b", 11)])

    assert [(4, 9), (6, 10)] == spans(found)
    assert detector.node.is_idle


def test_a_page_that_answers_again_is_not_gone():
    """NOT(ok)[error, PLUS(error, 24)]: gone after 24 without an answer, not if there was one (sentinels §3.5)."""
    error, ok = A, B
    gone = NotBetween(ok, error, Plus(error, 24))

    assert [(1, 25)] == spans(detect(gone, RECENT, [at("a", 1)]))
    assert [] == detect(gone, RECENT, [at("a", 1), at("b", 20)])
    assert [(30, 54)] == spans(detect(gone, RECENT, [at("a", 1), at("b", 20), at("a", 30)]))


@pytest.mark.parametrize("context", RULE_CONTEXTS, ids=str)
def test_what_began_before_the_block_is_not_blocked(context):
    """A terminator that had started before the unwanted occurrence is not blocked by it, though it is complete later."""
    event = NotBetween(D, A, Seq(B, C, consume=True))

    assert [] == detect(event, context, trace_of("adbc"))
    assert [(0, 3)] == spans(detect(event, context, trace_of("abdc")))
    assert (0, 5) not in spans(detect(event, context, trace_of("abdcbc")))


def test_the_latest_replaces_what_was_blocked_too():
    """In the recent context only the latest initiator counts, be the one before it blocked or open."""
    event = NotBetween(D, A, Seq(B, C))

    assert [(0, 3)] == spans(detect(event, RECENT, trace_of("abdc")))
    assert [] == detect(event, RECENT, trace_of("abdac"))


def test_blocked_initiators_are_not_counted_as_dropped():
    """What can no longer be detected may be forgotten without a word, and holds no place of others."""
    detector = Detector(NotBetween(B, A, And(C, B)), CHRONICLE, Bounds(max_waiting=3))
    detector.run([at("a" if k % 2 else "b", k) for k in range(1, 40)], until=None)

    assert 0 == detector.node.dropped


def test_points_leave_nothing_blocked_behind():
    """Where terminators are points a blocked initiator is forgotten at once."""
    detector = Detector(NotBetween(B, A, C), CHRONICLE)
    detector.run([at("a", 1), at("a", 2), at("b", 3)])

    assert detector.node.is_idle

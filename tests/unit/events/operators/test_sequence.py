from tests.strategies_events import A, B, Detector, at, detect
from tidings.events.expression import Seq
from tidings.events.operators.node import Context

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

"""Digests: windows that each tick closes and opens."""

from tests.strategies_events import A, B, C, Detector, at, detect
from tidings.events.expression import Aperiodic, AperiodicStar, Or
from tidings.events.operators.node import Bounds, Context

CHRONICLE, CUMULATIVE = Context.CHRONICLE, Context.CUMULATIVE


def numbers(found):
    return [[part.params["n"] for part in one.parts if part.type == "b"] for one in found]


def test_digest_has_all_changes_since_the_last_one():
    """Each change is in one digest, also one at the instant of the tick."""
    digest = AperiodicStar(Or((A, C)), B, C)
    trace = [
        at("a", 0),
        at("b", 1, 1),
        at("b", 5, 2),
        at("c", 5),
        at("b", 5, 3),
        at("c", 10),
        at("c", 15),
        at("b", 16, 4),
        at("c", 20),
    ]

    assert [[1, 2], [3], [4]] == numbers(detect(digest, CUMULATIVE, trace))


def test_empty_window_is_closed_silently():
    """There is no digest without a change."""
    detector = Detector(AperiodicStar(A, B, C), CUMULATIVE)

    assert [] == detector.run([at("a", 1), at("c", 2), at("b", 3), at("c", 4)])
    assert detector.node.is_idle


def test_change_without_a_window_is_forgotten():
    """When the oldest window is closed, what only it had is removed."""
    detector = Detector(AperiodicStar(A, B, C), CHRONICLE)
    detector.run([at("a", 1), at("b", 2), at("a", 3), at("b", 4), at("c", 5)], until=None)
    windows, gathered = detector.node.dump()

    assert [3] == [initiator[1] for initiator, _ in windows]
    assert [4] == [occurrence[1] for occurrence in gathered]


def test_old_window_is_closed():
    """It is open no longer than its rule allows, and its content is removed."""
    for operator in (Aperiodic, AperiodicStar):
        detector = Detector(operator(A, B, C), CUMULATIVE, Bounds(max_age=10))
        detector.run([at("a", 0), at("b", 10)], until=None)

        assert [] == detector.run([at("b", 11), at("c", 12)])
        assert detector.node.is_idle


def test_full_digest_keeps_the_newest_changes():
    """The oldest ones are dropped and counted."""
    detector = Detector(AperiodicStar(A, B, C), CUMULATIVE, Bounds(max_waiting=3))
    found = detector.run([at("a", 0), *(at("b", n, n) for n in range(1, 9)), at("c", 9)])

    assert [[6, 7, 8]] == numbers(found)
    assert 5 == detector.node.dropped

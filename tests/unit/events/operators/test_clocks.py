"""Operators with clocks: P, P* and PLUS."""

from tests.strategies_events import A, B, C, Detector, at, detect
from tidings.events.expression import Periodic, PeriodicStar, Plus, Seq
from tidings.events.occurrence import Occurrence
from tidings.events.operators.node import Context

CUMULATIVE, RECENT = Context.CUMULATIVE, Context.RECENT


def ends(found):
    return [one.end for one in found]


def test_ticks_begin_at_the_end_of_a_composite():
    """The end of its initiator starts a clock, however long that lasted."""
    assert [13, 15] == ends(detect(Periodic(Seq(A, B), 2, C), RECENT, [at("a", 1), at("b", 11), at("c", 17)]))


def test_plus_of_0_is_after_all_events_of_its_instant():
    """PLUS(a, 0) is due at the instant of a, after everything else at that instant."""
    detector = Detector(Plus(A, 0), CUMULATIVE)
    detector.push(at("a", 5, 1))

    assert [] == detector.push(at("a", 5, 2))
    (batch,) = detector.advance(5)
    assert [1, 2] == [part.params["n"] for part in batch.parts]


def test_tick_has_its_initiators():
    """In the cumulative context it has all that have joined so far."""
    found = detect(Periodic(A, 2, C), CUMULATIVE, [at("a", 1), at("a", 4), at("c", 6)])

    assert [(3, 1), (5, 2)] == [(one.end, len(one.parts)) for one in found]


def test_gathered_ticks_survive_a_restart():
    """P* reports the ticks from before a restart after it."""
    detector = Detector(PeriodicStar(A, 2, C), CUMULATIVE)
    detector.run([at("a", 1), at("a", 4)], until=5)
    expected = detector.run([at("c", 8)])

    other = Detector(PeriodicStar(A, 2, C), CUMULATIVE)
    other.run([at("a", 1), at("a", 4)], until=5)
    assert expected == other.reload().run([at("c", 8)])
    assert [3, 5, 7] == [part.end for part in expected[0].parts if part.type.startswith("P*")]


def test_terminator_stops_only_clocks_from_before_its_start():
    """A lasting terminator does not stop a clock that was started after its own start."""
    trace = [at("a", 4), Occurrence("c", 3, 5), at("c", 9)]

    assert [6, 8] == ends(detect(Periodic(A, 2, C), RECENT, trace))

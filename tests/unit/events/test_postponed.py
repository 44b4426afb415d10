"""Occurrences that wait while the service is paused."""

from tests.strategies_events import Detector, at, shift
from tidings.events.expression import Primitive, Seq
from tidings.events.operators.node import Context


def test_waiting_occurrence_is_shifted_with_its_parts():
    """It is detected as if all of it had happened after the pause."""
    a, b, c = (Primitive(name) for name in "abc")
    before = Detector(Seq(Seq(a, b), c), Context.CHRONICLE)
    events = [at("a", 10), at("b", 20)]
    before.run(events, until=None)
    (found,) = before.reload(later=500).run([at("c", 600)], until=None)
    (waited, last) = found.parts

    assert (510, 600) == (found.start, found.end)
    assert (tuple(shift(event, 500) for event in events), at("c", 600)) == (waited.parts, last)

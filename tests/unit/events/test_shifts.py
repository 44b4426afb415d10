"""Rules continue at the right time after a clock that was ahead is corrected."""

from __future__ import annotations

from typing import Any

from tidings.events.engine import Engine
from tidings.events.expression import And, Periodic, Plus, Primitive
from tidings.events.occurrence import Occurrence
from tidings.events.operators.node import Context
from tidings.events.rule import Rule
from tidings.events.shifts import take_back
from tidings.model.interval import DAY, HOUR

NOW = 1_700_000_000_000_000
A, B, END = Primitive("a"), Primitive("b"), Primitive("end")


def engine(event: Any) -> Engine:
    made = Engine()
    made.add(Rule(name="r", group="g", event=event, context=Context.RECENT))
    return made


def load(made: Engine, now: int = NOW) -> Engine:
    return Engine.load(take_back(made.dump(), now))


def test_clock_from_the_future_keeps_its_duration():
    """It was to run an hour after something in the future: it runs an hour from now."""
    made = engine(Plus(A, HOUR))
    made.push(Occurrence.at("a", NOW + DAY))
    right = load(made)

    assert NOW + HOUR == right.next_due()
    assert 1 == len(right.advance(NOW + HOUR).firings)


def test_clock_from_a_correct_time_keeps_its_instant():
    """The wrong time in between has no effect."""
    made = engine(Plus(A, 2 * HOUR))
    made.push(Occurrence.at("a", NOW - HOUR))
    made.advance(NOW + HOUR // 2)

    assert NOW + HOUR == load(made).next_due()


def test_ticks_continue_within_their_period():
    """An hourly clock that ticked for a day ahead ticks within an hour from now."""
    made = engine(Periodic(A, HOUR, END))
    made.push(Occurrence.at("a", NOW - HOUR // 2))
    made.advance(NOW + DAY)

    assert NOW < (load(made).next_due() or 0) <= NOW + HOUR


def test_waiting_occurrence_still_waits():
    """A part from before keeps its age; one from the future is of now."""
    made = engine(And(A, B))
    made.push(Occurrence.at("a", NOW - HOUR))
    made.advance(NOW + DAY)
    (firing,) = load(made).push(Occurrence.at("b", NOW)).firings

    assert (NOW - HOUR, NOW) == (firing.occurrence.start, firing.occurrence.end)

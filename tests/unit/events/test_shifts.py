"""Rules that a clock which was ahead has advanced go on at the right time."""

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


def back(made: Engine, now: int = NOW) -> Engine:
    return Engine.load(take_back(made.dump(), now))


def test_a_clock_that_was_set_going_too_late_has_as_long_left():
    """What was to go off an hour after something in the future goes off an hour from now."""
    made = engine(Plus(A, HOUR))
    made.push(Occurrence.at("a", NOW + DAY))
    right = back(made)

    assert NOW + HOUR == right.next_due()
    assert 1 == len(right.advance(NOW + HOUR).firings)


def test_a_clock_that_was_set_going_by_a_right_clock_keeps_its_time():
    """What was to go off at a time still does, though the clock was wrong meanwhile."""
    made = engine(Plus(A, 2 * HOUR))
    made.push(Occurrence.at("a", NOW - HOUR))
    made.advance(NOW + HOUR // 2)

    assert NOW + HOUR == back(made).next_due()


def test_ticks_go_on_within_their_period():
    """A clock that ticks every hour and has ticked for a day ahead ticks within an hour from now."""
    made = engine(Periodic(A, HOUR, END))
    made.push(Occurrence.at("a", NOW - HOUR // 2))
    made.advance(NOW + DAY)

    assert NOW < (back(made).next_due() or 0) <= NOW + HOUR


def test_what_waits_still_waits():
    """A part that came before stays as old as it is; one from the future is of now."""
    made = engine(And(A, B))
    made.push(Occurrence.at("a", NOW - HOUR))
    made.advance(NOW + DAY)
    (firing,) = back(made).push(Occurrence.at("b", NOW)).firings

    assert (NOW - HOUR, NOW) == (firing.occurrence.start, firing.occurrence.end)

"""The heap of clocks."""

from hypothesis import given
from hypothesis import strategies as st

from tidings.events.timers import NodeTimer, Timers


def drain(timers):
    """Return all timers in the order of their due times."""
    found = []
    while (timer := timers.first()) is not None:
        found.append(timer)
        timers.cancel(timer.clock)
    return found


def test_timers_are_due_by_instant_and_age():
    """At one instant, the older comes first."""
    timers = Timers()
    for clock, due in ((1, 20), (2, 10), (3, 20), (4, 10)):
        timers.set(clock, 7, due, 0)

    assert [(10, 2), (10, 4), (20, 1), (20, 3)] == [(timer.due, timer.clock) for timer in drain(timers)]


def test_timer_that_is_set_again_is_replaced():
    """It is due once, at the last given instant, whether earlier or later."""
    timers = Timers()
    timers.set(1, 7, 20, 0)
    timers.set(2, 7, 15, 0)
    timers.set(1, 7, 10, 3)
    timers.set(2, 7, 30, 0)

    assert [NodeTimer(10, 1, 1, 7, 3), NodeTimer(30, 2, 2, 7, 0)] == drain(timers)


def test_timer_numbers_are_never_reused():
    """A new number is larger than all before, also loaded ones."""
    timers = Timers()
    timers.set(41, 7, 1, 0)

    assert [42, 43] == [timers.number(), timers.number()]


def test_stopped_timers_take_no_space():
    """However often timers are set and stopped, the heap has little more than those that run."""
    timers = Timers()
    timers.set(1, 7, 10**9, 0)
    for instant in range(1, 10_000):
        timers.set(2, 7, 10**6 + instant, 0)
        assert len(timers) <= 2 * 2 + 8
    timers.cancel(2)
    timers.cancel(1)

    assert 0 == len(timers)
    assert timers.first() is None


@given(st.lists(st.tuples(st.integers(1, 6), st.none() | st.integers(0, 20))))
def test_timers_agree_with_a_table_of_due_times(steps):
    """Setting and stopping in any order is like writing and deleting rows."""
    timers = Timers()
    table: dict[int, int] = {}
    for clock, due in steps:
        if due is None:
            timers.cancel(clock)
            table.pop(clock, None)
        else:
            timers.set(clock, 7, due, 0)
            table[clock] = due

    assert {clock: clock in table for clock in range(1, 7)} == {clock: clock in timers for clock in range(1, 7)}
    assert sorted((due, clock) for clock, due in table.items()) == [(timer.due, timer.clock) for timer in drain(timers)]

from hypothesis import given
from hypothesis import strategies as st

from tidings.events.timers import NodeTimer, Timers


def drain(timers):
    """Return all timers in the order in which they go off."""
    found = []
    while (timer := timers.first()) is not None:
        found.append(timer)
        timers.cancel(timer.clock)
    return found


def test_due_order_then_age():
    """Clocks go off by due instant; at one instant the elder first."""
    timers = Timers()
    for clock, due in ((1, 20), (2, 10), (3, 20), (4, 10)):
        timers.set(clock, 7, due, 0)

    assert [(10, 2), (10, 4), (20, 1), (20, 3)] == [(timer.due, timer.clock) for timer in drain(timers)]


def test_setting_again_replaces():
    """A clock goes off when it was last set to, once, be it earlier or later."""
    timers = Timers()
    timers.set(1, 7, 20, 0)
    timers.set(2, 7, 15, 0)
    timers.set(1, 7, 10, 3)
    timers.set(2, 7, 30, 0)

    assert [NodeTimer(10, 1, 1, 7, 3), NodeTimer(30, 2, 2, 7, 0)] == drain(timers)


def test_numbers_are_new():
    """A new number is larger than all that were used, loaded ones included."""
    timers = Timers()
    timers.set(41, 7, 1, 0)

    assert [42, 43] == [timers.number(), timers.number()]


def test_forgotten_clocks_cost_nothing():
    """However often clocks are set anew and stopped, the heap holds little more than those that run."""
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
def test_like_a_table_of_dues(steps):
    """Setting and stopping clocks in any order is like writing and wiping a table."""
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

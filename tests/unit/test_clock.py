"""Time as everything that decides sees it: it never runs back, and in tests it moves only when asked."""

import asyncio
import time
from types import SimpleNamespace

import pytest

from tidings.clock import (
    DAY,
    HOUR,
    MILLISECOND,
    MINUTE,
    SECOND,
    SLACK,
    WEEK,
    ManualClock,
    SystemClock,
    put_forward,
    set_back,
)

START = 1_700_000_000 * SECOND


def test_durations_are_microseconds():
    """Every unit is a whole number of microseconds."""
    assert (10**3, 10**6) == (MILLISECOND, SECOND)
    assert (60, 3600, 86_400, 604_800) == (MINUTE // SECOND, HOUR // SECOND, DAY // SECOND, WEEK // SECOND)


# -- the machine's clock -----------------------------------------------------------------------------------------------------------


def test_the_machine_says_what_time_it_is():
    """The system clock is the machine's, in whole microseconds."""
    before = time.time_ns() // 1_000
    now = SystemClock().now()

    assert before <= now <= time.time_ns() // 1_000
    assert isinstance(now, int)


@pytest.fixture
def machine(monkeypatch):
    """What the machine says, and what has passed: two instants that a test sets."""
    machine = SimpleNamespace(says=START, passed=0)
    monkeypatch.setattr("tidings.clock.time.time_ns", lambda: machine.says * 1_000)
    monkeypatch.setattr("tidings.clock.read_steady", lambda: machine.passed)
    return machine


def test_the_system_clock_goes_on_while_the_machine_is_behind(machine):
    """If the machine's time jumps back, `wall` follows and `now` goes on by what has passed, until it is asked to start again (F-21)."""
    clock = SystemClock()
    machine.says, machine.passed = START - DAY + HOUR, HOUR

    assert (HOUR, HOUR - DAY) == (clock.now() - START, clock.wall() - START)
    assert DAY == set_back(clock)
    assert HOUR - DAY == clock.restart() - START
    assert 0 == set_back(clock)
    machine.says = 0
    assert HOUR - DAY == clock.now() - START
    assert 0 == set_back(clock)
    assert START == clock.restart(START)


def test_the_system_clock_goes_on_while_the_machine_is_ahead(machine):
    """If the machine's time jumps forward, `wall` follows and `now` goes on by what has passed, until it is asked to start again."""
    clock = SystemClock()
    machine.says, machine.passed = START + DAY + HOUR, HOUR

    assert (HOUR, DAY + HOUR) == (clock.now() - START, clock.wall() - START)
    assert (DAY, 0) == (put_forward(clock), set_back(clock))
    assert DAY + HOUR == clock.restart() - START
    assert 0 == put_forward(clock)


@pytest.mark.parametrize(("says", "passed"), [(DAY, DAY), (HOUR + SLACK, HOUR)], ids=["sleep", "a small step"])
def test_the_system_clock_follows_what_passes(machine, says, passed):
    """After a sleep, which the steady clock counts too, or a small step forward `now` is what the machine says."""
    clock = SystemClock()
    machine.says, machine.passed = START + says, passed

    assert machine.says == clock.now()
    assert 0 == put_forward(clock)


def test_a_pause_between_two_readings_does_not_last(machine, monkeypatch):
    """If the system interrupts `now` for a moment, the next reading is what the machine says."""
    clock = SystemClock()

    def pause(reading):
        value = reading()
        machine.says, machine.passed = machine.says + 100 * MILLISECOND, machine.passed + 100 * MILLISECOND
        return value

    with monkeypatch.context() as paused:
        paused.setattr("tidings.clock.time.time_ns", lambda: pause(lambda: machine.says * 1_000))
        paused.setattr("tidings.clock.read_steady", lambda: pause(lambda: machine.passed))
        clock.now()

    assert machine.says == clock.now()


def test_sleeping_ends_at_the_instant():
    """A sleeper wakes when its instant has come, not before; one in the past does not sleep."""
    clock = SystemClock()

    async def sleep(length):
        until = clock.now() + length
        await clock.sleep_until(until)
        return clock.now() - until

    assert asyncio.run(sleep(5 * MILLISECOND)) >= 0
    assert asyncio.run(sleep(-HOUR)) < HOUR + SECOND


# -- the clock of tests ------------------------------------------------------------------------------------------------------------


def test_a_manual_clock_stands_still():
    """Nothing moves by itself."""
    clock = ManualClock(START)

    assert [START] * 4 == [clock.now(), clock.wall(), clock.now(), clock.wall()]


def test_a_manual_clock_moves_when_asked():
    """`advance` moves by a duration, `move_to` to an instant; both say what time it is then."""
    clock = ManualClock(START)

    assert START + HOUR == clock.advance(HOUR) == clock.now()
    assert START + DAY == clock.move_to(START + DAY) == clock.wall()


def test_a_manual_clock_can_jump_back():
    """A jump back is seen on the wall; engine time holds still until the wall has caught up."""
    clock = ManualClock(START)
    clock.move_to(START - HOUR)

    assert (START, START - HOUR) == (clock.now(), clock.wall())
    assert START == clock.advance(HOUR)
    assert START + 1 == clock.advance(1)


def test_a_manual_clock_can_be_put_forward():
    """Nothing passes by that: engine time goes on from where it was until it is asked to start again."""
    clock = ManualClock(START)
    clock.put_forward(DAY)
    clock.advance(HOUR)

    assert (HOUR, DAY + HOUR) == (clock.now() - START, clock.wall() - START)
    assert DAY == put_forward(clock)
    assert DAY + HOUR == clock.restart() - START
    assert DAY + 2 * HOUR == clock.advance(HOUR) - START


def test_sleepers_wake_in_the_order_of_their_instants():
    """A month passes without a sleep, and each sleeper wakes once its instant is reached."""

    async def run():
        clock, woken = ManualClock(START), []

        async def sleeper(days):
            await clock.sleep_until(START + days * DAY)
            woken.append(days)

        tasks = [asyncio.create_task(sleeper(days)) for days in (30, 1, 7)]
        await asyncio.sleep(0)
        seen = []
        for days in (0, 1, 8, 30):
            clock.move_to(START + days * DAY)
            await asyncio.sleep(0)
            seen.append(list(woken))
        await asyncio.gather(*tasks)
        return seen

    assert [[], [1], [1, 7], [1, 7, 30]] == asyncio.run(run())


def test_sleepers_of_one_instant_wake_in_the_order_in_which_they_lay_down():
    """Ties are broken by order, so that tests run the same way each time."""

    async def run():
        clock, woken = ManualClock(START), []

        async def sleeper(name):
            await clock.sleep_until(START + SECOND)
            woken.append(name)

        tasks = [asyncio.create_task(sleeper(name)) for name in "abc"]
        await asyncio.sleep(0)
        clock.advance(DAY)
        await asyncio.gather(*tasks)
        return woken

    assert ["a", "b", "c"] == asyncio.run(run())


@pytest.mark.parametrize("at", [START, START - DAY])
def test_an_instant_that_has_come_is_not_slept_for(at):
    """Sleeping until now or before returns at once."""

    async def run():
        clock = ManualClock(START)
        await asyncio.wait_for(clock.sleep_until(at), timeout=5)
        return clock.next_wake()

    assert asyncio.run(run()) is None


def test_the_next_wake_is_the_earliest_sleepers():
    """A test can ask how far it must move; sleepers that gave up do not count."""

    async def run():
        clock = ManualClock(START)
        assert clock.next_wake() is None
        early, late = (asyncio.create_task(clock.sleep_until(START + n * HOUR)) for n in (1, 2))
        await asyncio.sleep(0)
        first = clock.next_wake()
        early.cancel()
        await asyncio.wait([early])
        second = clock.next_wake()
        clock.move_to(START + 2 * HOUR)
        await late
        return first, second, clock.next_wake()

    assert (START + HOUR, START + 2 * HOUR, None) == asyncio.run(run())


def test_moving_on_wakes_nobody_who_gave_up():
    """A sleeper that was cancelled is not woken, and disturbs nobody."""

    async def run():
        clock = ManualClock(START)
        task = asyncio.create_task(clock.sleep_until(START + HOUR))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return clock.advance(DAY)

    assert START + DAY == asyncio.run(run())

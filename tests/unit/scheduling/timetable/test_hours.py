from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.clock import DAY, HOUR, MINUTE
from tidings.model.interval import ExecutionInterval
from tidings.model.wall import instant_of, local_of
from tidings.model.watch.timing import DAILY, Opening
from tidings.scheduling.policy import NEVER
from tidings.scheduling.timetable.hours import ClockTimes, Hours

PARIS, NEW_YORK = ZoneInfo("Europe/Paris"), ZoneInfo("America/New_York")
OFFICE = (Opening((0, 1, 2, 3, 4), 8 * 60, 18 * 60),)


def utc(text: str) -> int:
    """Return the instant of a UTC time."""
    return instant_of(datetime.fromisoformat(text), UTC)


@pytest.mark.parametrize(
    ("zone", "clock", "after", "ticks"),
    [
        # Paris: the night of 29 March 2026 has no 02:30, that of 25 October has it twice
        (PARIS, 150, "2026-03-28T00:00", ["2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"]),
        (PARIS, 150, "2026-10-24T00:00", ["2026-10-24T00:30", "2026-10-25T00:30", "2026-10-26T01:30"]),
        (PARIS, 480, "2026-03-28T12:00", ["2026-03-29T06:00", "2026-03-30T06:00", "2026-03-31T06:00"]),
        (NEW_YORK, 150, "2026-03-07T00:00", ["2026-03-07T07:30", "2026-03-08T07:00", "2026-03-09T06:30"]),
        (NEW_YORK, 90, "2026-10-31T00:00", ["2026-10-31T05:30", "2026-11-01T05:30", "2026-11-02T06:30"]),
        (UTC, 0, "2026-12-31T23:59", ["2027-01-01T00:00", "2027-01-02T00:00", "2027-01-03T00:00"]),
    ],
)
def test_a_time_of_day_goes_by_the_wall(zone, clock, after, ticks):
    """Once a day whatever the clocks do: a missing time at the end of the gap, a doubled one the first time."""
    times, at, found = ClockTimes(start=0, clocks=(clock,), zone=zone), utc(after), []
    for _ in ticks:
        at = times.next_tick(at)
        found.append(at)

    assert [utc(tick) for tick in ticks] == found


def test_only_the_days_that_are_named_count():
    """Mondays at six (W-136)."""
    times = ClockTimes(start=utc("2026-03-01T00:00"), clocks=(360,), zone=UTC, days=(0,))

    assert [utc("2026-03-02T06:00"), utc("2026-03-09T06:00")] == [
        times.first_tick(0),
        times.after_check(utc("2026-03-02T06:00"), utc("2026-03-02T06:03")),
    ]


def test_a_look_before_the_time_of_day_does_not_serve_it():
    """Who asks for eight o'clock wants what stands there at eight; after days of silence one look is owed."""
    times = ClockTimes(start=0, clocks=(480,), zone=UTC, slack=10 * MINUTE)
    tick = utc("2026-03-02T08:00")

    assert tick == times.after_check(tick, tick - 1)
    assert tick + DAY == times.after_check(tick, tick)
    assert tick + 5 * DAY == times.after_check(tick, tick + 5 * DAY - HOUR)
    assert (tick, tick + 10 * MINUTE) == (times.execution_interval(tick).start, times.execution_interval(tick).end)


@pytest.mark.parametrize(
    ("at", "first", "closes"),
    [
        ("2026-03-27T07:00", "2026-03-27T07:00", "2026-03-27T17:00"),  # Friday 08:00 in Paris
        ("2026-03-27T16:59", "2026-03-27T16:59", "2026-03-27T17:00"),
        ("2026-03-27T17:00", "2026-03-30T06:00", "2026-03-30T16:00"),  # over the weekend the clocks go forward
        ("2026-03-29T12:00", "2026-03-30T06:00", "2026-03-30T16:00"),
    ],
)
def test_hours_open_and_close_by_the_wall(at, first, closes):
    """08:00 to 18:00 is that on the wall of Paris in winter and in summer; its end is outside."""
    hours = Hours(OFFICE, PARIS)

    assert utc(first) == hours.first_open(utc(at))
    assert utc(closes) == hours.closes(utc(first))


def test_hours_over_midnight_and_side_by_side():
    """20:00 to 07:00 ends the next morning; openings that touch are one; without openings it is always open."""
    night = Hours((Opening(DAILY, 20 * 60, 7 * 60),), UTC)
    two = Hours((Opening((0,), 480, 720), Opening((0,), 720, 1080)), UTC)

    assert utc("2026-03-02T06:59") == night.first_open(utc("2026-03-02T06:59"))
    assert utc("2026-03-02T20:00") == night.first_open(utc("2026-03-02T07:00"))
    assert utc("2026-03-03T07:00") == night.closes(utc("2026-03-02T20:00"))
    assert utc("2026-03-02T18:00") == two.closes(utc("2026-03-02T08:00"))
    assert (7, NEVER) == (Hours((), UTC).first_open(7), Hours((), UTC).closes(7))


@pytest.mark.parametrize(
    ("start", "end", "meant"),
    [
        ("2026-03-02 10:00", "2026-03-02 11:00", ("2026-03-02 10:00", "2026-03-02 11:00")),
        ("2026-03-02 06:30", "2026-03-02 08:30", ("2026-03-02 08:00", "2026-03-02 08:30")),
        ("2026-03-02 06:30", "2026-03-02 07:30", ("2026-03-02 08:00", "2026-03-02 09:00")),
    ],
    ids=["inside", "begins before", "before"],
)
def test_an_execution_interval_keeps_to_the_hours(start, end, meant):
    """What lies outside moves to the next opening; what begins before begins with it."""
    hours = Hours((Opening(DAILY, 480, 1080),), UTC)

    assert ExecutionInterval(*map(utc, meant)) == hours.open_part(ExecutionInterval(utc(start), utc(end)))


def test_an_execution_interval_ends_with_the_hours():
    """The last instant is the one before they close."""
    hours = Hours((Opening(DAILY, 480, 1080),), UTC)
    asked = ExecutionInterval(utc("2026-03-02 17:30"), utc("2026-03-02 18:30"))

    assert utc("2026-03-02 18:00") - 1 == hours.open_part(asked).end


def test_hours_that_a_change_of_clocks_swallows_are_none():
    """02:10 to 02:50 does not come in the night in which the clocks go forward."""
    hours = Hours((Opening(DAILY, 130, 170),), PARIS)

    assert utc("2026-03-30T00:10") == hours.first_open(utc("2026-03-28T12:00") + 12 * HOUR)


@given(
    minutes=st.integers(0, 366 * 24 * 60),
    days=st.sets(st.integers(0, 6), min_size=1).map(lambda d: tuple(sorted(d))),
    opens=st.integers(0, 1439),
    closes=st.integers(0, 1439),
)
def test_hours_equal_their_definition(minutes, days, opens, closes):
    """The first open minute is the first at which the wall shows an open one (whole days, no change of clocks: UTC)."""
    if opens == closes:
        return
    at = utc("2026-01-01T00:00") + minutes * MINUTE

    def is_open(instant):
        local = local_of(instant, UTC)
        minute, day = local.hour * 60 + local.minute, local.weekday()
        if opens < closes:
            return day in days and opens <= minute < closes
        return (day in days and minute >= opens) or ((day - 1) % 7 in days and minute < closes)

    expected = next(m for m in range(8 * 24 * 60) if is_open(at + m * MINUTE))

    assert at + expected * MINUTE == Hours((Opening(days, opens, closes),), UTC).first_open(at)

"""Times of day, hours, fixed intervals and admission."""

from __future__ import annotations

import heapq
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.clock import DAY, HOUR, MINUTE
from tidings.model.interval import SECOND, ExecutionInterval, instant_of, local_of
from tidings.model.watch.timing import DAILY, Opening
from tidings.scheduling.admission import admit
from tidings.scheduling.policy import NEVER
from tidings.scheduling.timetable import (
    ClockTimes,
    FixedInterval,
    Hours,
    execution_interval,
    learn_interval,
    next_update,
    rate_interval,
)

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
def test_time_of_day_is_local(zone, clock, after, ticks):
    """It comes once a day when clocks change: a missing time at the end of the gap, a double one
    the first time.
    """
    times, at, found = ClockTimes(start=0, clocks=(clock,), zone=zone), utc(after), []
    for _ in ticks:
        at = times.next_tick(at)
        found.append(at)

    assert [utc(tick) for tick in ticks] == found


def test_only_the_given_days_count():
    """An example is Monday at six (W-136)."""
    times = ClockTimes(start=utc("2026-03-01T00:00"), clocks=(360,), zone=UTC, days=(0,))

    assert [utc("2026-03-02T06:00"), utc("2026-03-09T06:00")] == [
        times.first_tick(0),
        times.after_check(utc("2026-03-02T06:00"), utc("2026-03-02T06:03")),
    ]


def test_poll_before_a_time_of_day_does_not_serve_it():
    """The content at eight o'clock is wanted; after days without polls one is owed."""
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
def test_hours_are_local(at, first, closes):
    """08:00 to 18:00 is that of Paris in winter and in summer; its end is outside."""
    hours = Hours(OFFICE, PARIS)

    assert utc(first) == hours.first_open(utc(at))
    assert utc(closes) == hours.closes(utc(first))


def test_hours_may_cross_midnight_and_touch():
    """20:00 to 07:00 ends the next morning; touching hours are one; without hours it is always
    open.
    """
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
def test_execution_interval_is_within_the_hours(start, end, meant):
    """A part outside moves to the next opening; one that begins before begins with it."""
    hours = Hours((Opening(DAILY, 480, 1080),), UTC)

    assert ExecutionInterval(*map(utc, meant)) == hours.open_part(ExecutionInterval(utc(start), utc(end)))


def test_execution_interval_ends_with_the_hours():
    """Its last instant is the one before they close."""
    hours = Hours((Opening(DAILY, 480, 1080),), UTC)
    asked = ExecutionInterval(utc("2026-03-02 17:30"), utc("2026-03-02 18:30"))

    assert utc("2026-03-02 18:00") - 1 == hours.open_part(asked).end


def test_skipped_hours_do_not_open():
    """02:10 to 02:50 does not exist in the night in which the clocks go forward."""
    hours = Hours((Opening(DAILY, 130, 170),), PARIS)

    assert utc("2026-03-30T00:10") == hours.first_open(utc("2026-03-28T12:00") + 12 * HOUR)


@given(
    minutes=st.integers(0, 366 * 24 * 60),
    days=st.sets(st.integers(0, 6), min_size=1).map(lambda d: tuple(sorted(d))),
    opens=st.integers(0, 1439),
    closes=st.integers(0, 1439),
)
def test_hours_agree_with_their_definition(minutes, days, opens, closes):
    """The first open minute is the first one whose local time is open (whole days without a change
    of clocks: UTC).
    """
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


HOURLY = FixedInterval(start=1_000, interval=600, slack=60)


@pytest.mark.parametrize(
    ("now", "expected"), [(0, 1_000), (999, 1_000), (1_000, 1_000), (1_001, 1_600), (1_600, 1_600), (6_999, 7_000)]
)
def test_ticks_keep_their_phase(now, expected):
    """They are start, start + interval, … whatever happened in between."""
    assert expected == HOURLY.first_tick(now)


@pytest.mark.parametrize(("now", "expected"), [(0, 1_000), (1_000, 1_600), (1_599, 1_600)])
def test_next_tick_is_after_a_tick(now, expected):
    """It is the following one."""
    assert expected == HOURLY.next_tick(now)


@pytest.mark.parametrize(
    ("first", "end", "expected"),
    [(0, 1_000, []), (0, 1_001, [1_000]), (1_000, 2_800, [1_000, 1_600, 2_200]), (1_001, 1_500, [])],
)
def test_ticks_between_two_instants_exclude_the_end(first, end, expected):
    """The first instant counts."""
    assert expected == list(HOURLY.ticks_between(first, end))


def test_execution_interval_of_a_tick_ends_with_the_slack():
    """A poll is never before its tick and at most the slack late (001 §2.1)."""
    assert ExecutionInterval(1_600, 1_660) == HOURLY.execution_interval(1_600)


@pytest.mark.parametrize(("checked_at", "expected"), [(None, False), (1_539, False), (1_540, True), (1_700, True)])
def test_poll_within_the_slack_before_a_tick_serves_it(checked_at, expected):
    """No other request is needed from tick − slack on."""
    assert expected == HOURLY.is_satisfied(1_600, checked_at)


@pytest.mark.parametrize(
    ("checked_at", "expected"),
    [(1_539, 1_600), (1_540, 2_200), (1_600, 2_200), (1_800, 2_200), (2_139, 2_200), (2_140, 2_800), (99_999, 100_600)],
)
def test_poll_serves_every_tick_up_to_its_slack(checked_at, expected):
    """One that is too early leaves the tick owed."""
    assert expected == HOURLY.after_check(1_600, checked_at)


@given(st.integers(-(10**15), 10**15), st.integers(1, 10**12), st.integers(0, 10**12), st.integers(-(10**15), 10**15))
def test_first_tick_agrees_with_its_definition(start, interval, slack, now):
    """For all numbers it is in phase, not before now nor the start, and the one before it is."""
    fixed = FixedInterval(start=start, interval=interval, slack=slack % interval)
    first = fixed.first_tick(now)

    assert 0 == (first - start) % interval
    assert first >= max(start, now)
    assert first == start or first - interval < now
    assert not fixed.is_satisfied(fixed.after_check(first, now), now)


@pytest.mark.parametrize(
    ("interval", "slack", "words"), [(0, 0, "above 0"), (-5, 0, "above 0"), (10, 10, "slack"), (10, -1, "slack")]
)
def test_impossible_interval_is_refused(interval, slack, words):
    """An interval of 0, or a slack as long as the interval, has no schedule."""
    with pytest.raises(ValueError, match=words):
        FixedInterval(start=0, interval=interval, slack=slack)


def _late(intervals: list[int], gap: int) -> int:
    """Return how late any poll is, at most, if a host is polled once a gap, the earliest deadline
    first, all due at 0.
    """
    queue = [(interval, 0, number) for number, interval in enumerate(intervals)]
    heapq.heapify(queue)
    now = late = 0
    coming: list[tuple[int, int]] = []
    for _ in range(400):
        while coming and coming[0][0] <= now:
            start, number = heapq.heappop(coming)
            heapq.heappush(queue, (start + intervals[number], start, number))
        if not queue:
            now = coming[0][0]
            continue
        deadline, start, number = heapq.heappop(queue)
        late = max(late, now + gap - deadline)
        now += gap
        heapq.heappush(coming, (start + intervals[number], number))
    return late


@given(st.lists(st.integers(2, 30), min_size=1, max_size=6), st.integers(1, 4))
def test_admitted_polls_are_never_late(intervals: list[int], gap: int):
    """With blocking, the test is safe for a host that cannot be interrupted."""
    found = admit(np.array(intervals), np.ones(len(intervals)), 1 / gap)

    assert not found.holds or _late(intervals, gap) <= 0
    assert found.load == pytest.approx(sum(gap / interval for interval in intervals))
    assert found.holds or found.worst > 1


def test_interval_that_is_too_short_is_named():
    """Three pages ask for one poll a minute each: 180 s of polls in 60 s."""
    minute = 60_000_000
    found = admit(np.array([minute] * 3), np.ones(3), 1 / minute)

    assert not found.holds
    assert 3 == pytest.approx(found.load)
    assert admit(np.array([3 * minute, 30 * minute]), np.ones(2), 1 / minute).holds
    assert admit(np.array([], dtype=np.int64), np.array([]), 1.0).holds
    assert not admit(np.array([minute]), np.ones(1), 0.0).holds


def test_long_poll_among_short_ones_is_considered():
    """Short intervals fit and the long run does; a begun poll of 5 leaves too little for one due
    after 1,000.
    """
    intervals = np.array([10, *[1_000] * 894])
    costs = np.ones(895)
    fits = admit(intervals, costs, 1.0)
    costs[-1] = 5.0
    dear = admit(intervals, costs, 1.0)

    assert fits.holds
    assert dear.load < 1
    assert (False, 1_000) == (dear.holds, dear.stretch)
    assert 1.003 == pytest.approx(dear.worst)


def test_test_that_would_take_too_long_is_not_passed():
    """Thousands of different intervals nearly fill the capacity."""
    intervals = np.arange(100_000, 106_000)
    capacity = float((1 / intervals).sum()) * 1.000001

    assert not admit(intervals, np.ones(intervals.size), capacity).holds


def test_begun_poll_blocks_others():
    """Polls that fit exactly do not fit beside one that has begun."""
    assert not admit(np.array([2, 3, 6]), np.ones(3), 1.0).holds
    assert admit(np.array([2, 3, 6]), np.ones(3), 2.0).holds


def test_learned_interval_is_the_median():
    """One long silence does not move it; without intervals there is none."""
    assert 60 * SECOND == learn_interval([60.0, 61.0, 59.0, 86_400.0, 60.0])
    assert learn_interval([]) is None


@pytest.mark.parametrize(
    ("after", "update"), [(0, 110), (100, 110), (109, 110), (110, 120), (119, 120), (205, 210)], ids=str
)
def test_next_update_is_after_the_last_poll(after, update):
    """Updates are expected in phase with the last one; a poll at the instant of one has seen it."""
    assert update == next_update(100, 10, after)


@pytest.mark.parametrize(
    ("within", "until", "end"),
    [(4, "window", 114), (40, "window", 150), (4, "overwrite", 114), (40, "overwrite", 120)],
    ids=["window", "wide window", "overwrite", "overwritten first"],
)
def test_interval_ends_after_its_time_or_with_the_next_update(within, until, end):
    """`window` ends after that time, `overwrite` also with the next expected update."""
    assert ExecutionInterval(110, end) == execution_interval(110, 10, within, until)


def test_interval_follows_from_a_learned_rate():
    """Twenty changes in ten days are one every half day; a rate without a seen change gives none."""
    assert DAY // 2 == rate_interval({"shape": 20.0, "scale": 10.0})
    assert None is rate_interval({"shape": 0.1, "scale": 0.2})
    assert None is rate_interval({})

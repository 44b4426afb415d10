"""Fixed intervals under a capacity, against running them."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.model.interval import ExecutionInterval
from tidings.scheduling.timetable.admission import admit
from tidings.scheduling.timetable.intervals import FixedInterval

HOURLY = FixedInterval(start=1_000, interval=600, slack=60)


@pytest.mark.parametrize(
    ("now", "expected"), [(0, 1_000), (999, 1_000), (1_000, 1_000), (1_001, 1_600), (1_600, 1_600), (6_999, 7_000)]
)
def test_first_tick_keeps_phase(now, expected):
    """Ticks are start, start + interval, … whatever happened between."""
    assert expected == HOURLY.first_tick(now)


@pytest.mark.parametrize(("now", "expected"), [(0, 1_000), (1_000, 1_600), (1_599, 1_600)])
def test_next_tick_is_later(now, expected):
    """The tick after a tick is the next one."""
    assert expected == HOURLY.next_tick(now)


@pytest.mark.parametrize(("now", "expected"), [(999, None), (1_000, 1_000), (1_599, 1_000), (1_600, 1_600)])
def test_last_tick_has_passed(now, expected):
    """Before the start there was none."""
    assert expected == HOURLY.last_tick(now)


@pytest.mark.parametrize(
    ("first", "end", "expected"),
    [(0, 1_000, []), (0, 1_001, [1_000]), (1_000, 2_800, [1_000, 1_600, 2_200]), (1_001, 1_500, [])],
)
def test_ticks_between_are_half_open(first, end, expected):
    """The first instant counts, the end does not."""
    assert expected == list(HOURLY.ticks_between(first, end))


def test_execution_interval_ends_with_the_slack():
    """A poll is never before its tick and at most the slack late (001 §2.1)."""
    assert ExecutionInterval(1_600, 1_660) == HOURLY.execution_interval(1_600)


@pytest.mark.parametrize(("checked_at", "expected"), [(None, False), (1_539, False), (1_540, True), (1_700, True)])
def test_check_within_the_slack_before_satisfies(checked_at, expected):
    """A look at or after tick − slack serves the tick without another request."""
    assert expected == HOURLY.is_satisfied(1_600, checked_at)


@pytest.mark.parametrize(
    ("checked_at", "expected"),
    [(1_539, 1_600), (1_540, 2_200), (1_600, 2_200), (1_800, 2_200), (2_139, 2_200), (2_140, 2_800), (99_999, 100_600)],
)
def test_after_check_names_the_next_owed_tick(checked_at, expected):
    """A check serves every tick up to its slack; one too early leaves the tick owed."""
    assert expected == HOURLY.after_check(1_600, checked_at)


@given(st.integers(-(10**15), 10**15), st.integers(1, 10**12), st.integers(0, 10**12), st.integers(-(10**15), 10**15))
def test_arithmetic_agrees_with_its_definition(start, interval, slack, now):
    """For all numbers the first tick is in phase, not before now nor the start, and the one before it is."""
    fixed = FixedInterval(start=start, interval=interval, slack=slack % interval)
    first = fixed.first_tick(now)

    assert 0 == (first - start) % interval
    assert first >= max(start, now)
    assert first == start or first - interval < now
    assert not fixed.is_satisfied(fixed.after_check(first, now), now)


@pytest.mark.parametrize(
    ("interval", "slack", "words"), [(0, 0, "above 0"), (-5, 0, "above 0"), (10, 10, "slack"), (10, -1, "slack")]
)
def test_interval_that_makes_no_sense_is_refused(interval, slack, words):
    """No interval, or a slack as long as it, has no schedule."""
    with pytest.raises(ValueError, match=words):
        FixedInterval(start=0, interval=interval, slack=slack)


def _late(intervals: list[int], gap: int) -> int:
    """Return how late any look is, at most, if a host is asked once a gap, the earliest deadline first, everything due at 0."""
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
def test_what_is_admitted_is_never_late(intervals: list[int], gap: int):
    """With blocking included the test is on the safe side of a host that cannot be interrupted."""
    found = admit(np.array(intervals), np.ones(len(intervals)), 1 / gap)

    assert not found.holds or _late(intervals, gap) <= 0
    assert found.load == pytest.approx(sum(gap / interval for interval in intervals))
    assert found.holds or found.worst > 1


def test_the_stretch_that_is_too_short_is_named():
    """One look a minute is asked for by three pages that want one each: 180 s of looks in 60 s."""
    minute = 60_000_000
    found = admit(np.array([minute] * 3), np.ones(3), 1 / minute)

    assert not found.holds
    assert 3 == pytest.approx(found.load)
    assert admit(np.array([3 * minute, 30 * minute]), np.ones(2), 1 / minute).holds
    assert admit(np.array([], dtype=np.int64), np.array([]), 1.0).holds
    assert not admit(np.array([minute]), np.ones(1), 0.0).holds


def test_a_dear_look_among_many_is_seen_however_long_the_others_wait():
    """Short stretches fit and the long run does; a look of 5 that has begun leaves too little for what is due after 1,000."""
    intervals = np.array([10, *[1_000] * 894])
    costs = np.ones(895)
    fits = admit(intervals, costs, 1.0)
    costs[-1] = 5.0
    dear = admit(intervals, costs, 1.0)

    assert fits.holds
    assert dear.load < 1
    assert (False, 1_000) == (dear.holds, dear.stretch)
    assert 1.003 == pytest.approx(dear.worst)


def test_what_cannot_be_tried_to_the_end_is_not_promised():
    """Thousands of intervals that nearly fill the capacity, no two alike."""
    intervals = np.arange(100_000, 106_000)
    capacity = float((1 / intervals).sum()) * 1.000001

    assert not admit(intervals, np.ones(intervals.size), capacity).holds


def test_a_poll_that_cannot_be_interrupted_blocks():
    """What fits to the last look does not fit beside one that has begun."""
    assert not admit(np.array([2, 3, 6]), np.ones(3), 1.0).holds
    assert admit(np.array([2, 3, 6]), np.ones(3), 2.0).holds

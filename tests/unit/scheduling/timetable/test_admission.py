"""Fixed intervals under a capacity, against running them."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.scheduling.timetable.admission import admit


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

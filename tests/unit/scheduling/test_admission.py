"""Fixed intervals under a capacity, against running them."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.scheduling.admission import admit


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

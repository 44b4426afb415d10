"""Predicted updates and their execution intervals: `Fetch on change within W [window|overwrite]` (paper 001 §5.1).

A page that changed last at `last`, about every `interval`, is expected to change again at `last + k · interval`. Each expected update opens an
execution interval; a good look in it captures it.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Literal

from tidings.model.interval import Duration, ExecutionInterval, Instant

SECOND = 1_000_000


def learned_interval(intervals: Sequence[float]) -> Duration | None:
    """Return how far apart changes are (µs), given the intervals (s) at which they were seen; None while none was.

    It is the median, which one long silence does not move.
    """
    return max(round(median(intervals) * SECOND), 1) if intervals else None


def next_update(last: Instant, interval: Duration, after: Instant) -> Instant:
    """Return the first expected update after an instant, when the last one was at `last`."""
    return last + max(1, (after - last) // interval + 1) * interval


def execution_interval(
    update: Instant, interval: Duration, within: Duration, until: Literal["window", "overwrite"]
) -> ExecutionInterval:
    """Return when the look for an expected update is to be made: `within` after it, and with `overwrite` before the next one if that is sooner."""
    end = update + within
    return ExecutionInterval(update, min(end, update + interval) if until == "overwrite" else end)

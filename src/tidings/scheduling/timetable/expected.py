"""Predicted updates and their execution intervals: `Fetch on change within W [window|overwrite]` (001 §5.1).

A page that changed last at `last`, about every `interval`, is expected to change again at `last + k · interval`. Each expected update opens an
execution interval; a good poll in it captures it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Final, Literal

from tidings.model.interval import DAY, SECOND, Duration, ExecutionInterval, Instant

RATE: Final = "rate"
"""The column that tells a policy the rates of its pages, and the name of what is known of one in what is remembered of its page."""


def learn_interval(intervals: Sequence[float]) -> Duration | None:
    """Return how far apart changes are (µs), given the intervals (s) at which they were seen; None while none was.

    It is the median, which one long silence does not move.
    """
    return max(round(median(intervals) * SECOND), 1) if intervals else None


def rate_interval(posterior: Mapping[str, Any]) -> Duration | None:
    """Return how far apart changes are (µs), given what is known of their rate: `shape` and `scale` (days) of its Gamma posterior.

    None while that comes from less than one change: then it is what was taken for granted before the first poll.
    """
    shape, scale = posterior.get("shape", 0.0), posterior.get("scale", 0.0)
    return max(round(scale / shape * DAY), 1) if shape > 1 and scale > 0 else None


def next_update(last: Instant, interval: Duration, after: Instant) -> Instant:
    """Return the first expected update after an instant, when the last one was at `last`."""
    return last + max(1, (after - last) // interval + 1) * interval


def execution_interval(
    update: Instant, interval: Duration, within: Duration, until: Literal["window", "overwrite"]
) -> ExecutionInterval:
    """Return when the look for an expected update is to be made: `within` after it, and with `overwrite` before the next one if that is sooner.

    Args:
        update: When the update is expected (µs).
        interval: The time until the update after it (µs).
        within: How long the poll may wait (µs).
        until: Whether the next update ends the wait, too.
    """
    end = update + within
    return ExecutionInterval(update, min(end, update + interval) if until == "overwrite" else end)

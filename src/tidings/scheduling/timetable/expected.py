"""Predicted updates and their execution intervals: `Fetch on change within W [window|overwrite]`
(001 §5.1).

A page that changed last at `last`, about every `interval`, is expected to change again at `last + k
· interval`. Each expected update opens an execution interval; a successful poll in it captures it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Final, Literal

from tidings.model.interval import DAY, SECOND, Duration, ExecutionInterval, Instant

RATE: Final = "rate"
"""The column of the rates of pages, and the name of the rate in the memory of a page."""


def learn_interval(intervals: Sequence[float]) -> Duration | None:
    """Return the estimated interval of changes (µs), given the observed intervals (s); None if
    there are none.

    It is the median, which one long silence does not move.
    """
    return max(round(median(intervals) * SECOND), 1) if intervals else None


def rate_interval(posterior: Mapping[str, Any]) -> Duration | None:
    """Return the estimated interval of changes (µs), given a Gamma posterior of the rate: `shape`
    and `scale` (days).

    None while it rests on less than one change: then it is only the prior.
    """
    shape, scale = posterior.get("shape", 0.0), posterior.get("scale", 0.0)
    return max(round(scale / shape * DAY), 1) if shape > 1 and scale > 0 else None


def next_update(last: Instant, interval: Duration, after: Instant) -> Instant:
    """Return the first expected update after an instant, if the last one was at `last`."""
    return last + max(1, (after - last) // interval + 1) * interval


def execution_interval(
    update: Instant, interval: Duration, within: Duration, until: Literal["window", "overwrite"]
) -> ExecutionInterval:
    """Return the execution interval of an expected update: `within` after it, with `overwrite`
    until the next one if that is sooner.

    Args:
        update: When the update is expected (µs).
        interval: The time until the update after it (µs).
        within: How long the poll may wait (µs).
        until: Whether the next update ends the wait, too.
    """
    end = update + within
    return ExecutionInterval(update, min(end, update + interval) if until == "overwrite" else end)

"""Complex needs: looks at several pages that belong together, each in its time (paper 001 §2.1; scheduling §2.1).

A *wait* is an execution interval (EI) of a page, a *need* a complex execution interval (CEI): groups of waits, of each of which so many must be
captured. A look at a page captures all waits for it that are open: one probe serves all. What is not captured when its interval ends is
missed. Who comes first where not all can be served is `urgency`: the earliest deadline first (S-EDF).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tidings.model.interval import ExecutionInterval, Instant
from tidings.scheduling.policy import Floats, Ids

MICROSECONDS = 1e6


@dataclass(frozen=True, slots=True)
class Wait:
    """A page is to be looked at within an interval, both ends included; `captured_at` is when it was."""

    page: int
    interval: ExecutionInterval
    captured_at: Instant | None = None

    def captured(self, page: int, at: Instant) -> Wait:
        """Return the wait after a look at a page."""
        is_hit = page == self.page and self.captured_at is None and self.interval.start <= at <= self.interval.end
        return replace(self, captured_at=at) if is_hit else self

    def is_open(self, now: Instant) -> bool:
        """Return whether a look can still capture it."""
        return self.captured_at is None and now <= self.interval.end


@dataclass(frozen=True, slots=True)
class Group:
    """Waits of which `least` must be captured."""

    waits: tuple[Wait, ...]
    least: int

    @property
    def missing(self) -> int:
        """Return how many more must be captured."""
        return max(0, self.least - sum(wait.captured_at is not None for wait in self.waits))


@dataclass(frozen=True, slots=True)
class Need:
    """What is needed together."""

    groups: tuple[Group, ...]

    @property
    def waits(self) -> tuple[Wait, ...]:
        """Return all waits, group by group."""
        return tuple(wait for group in self.groups for wait in group.waits)

    @property
    def rank(self) -> int:
        """Return the number of captures that make it complete (001 §2.1: the rank of a CEI)."""
        return sum(group.least for group in self.groups)

    @property
    def missing(self) -> int:
        """Return how many of them are still missing (MRSF's residual)."""
        return sum(group.missing for group in self.groups)

    def captured(self, page: int, at: Instant) -> Need:
        """Return the need after a look at a page, which captures each open wait for it."""
        return Need(
            tuple(replace(group, waits=tuple(w.captured(page, at) for w in group.waits)) for group in self.groups)
        )

    def is_over(self, now: Instant) -> bool:
        """Return whether no look at or after `now` can bring it further: it is complete, or what is missing has run out."""
        return not any(True for _ in self.open_waits(now))

    def open_waits(self, now: Instant) -> Iterable[Wait]:
        """Yield the waits that may still be captured and are of use: those of groups that miss something."""
        for group in self.groups:
            if group.missing:
                yield from (wait for wait in group.waits if wait.is_open(now))

    @property
    def verdict(self) -> Literal["complete", "partial", "missed"]:
        """Return how it ended, once it is over."""
        if not self.missing:
            return "complete"
        return "partial" if any(wait.captured_at is not None for wait in self.waits) else "missed"


def urgency(ends: Ids, now: Instant) -> Floats:
    """Return how urgent looks are whose intervals end at `ends`: the earlier the end, the more; never 0 or less.

    S-EDF minimises `end − now + 1`; the order is the same (001 §4.2.1). Intervals that are over are the most urgent of all.
    """
    return np.asarray(1.0 / (1.0 + np.maximum(ends - now, 0) / MICROSECONDS), np.float64)

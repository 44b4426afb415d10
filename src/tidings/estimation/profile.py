"""When in the week pages change: a profile by hour, and the clock that runs by it (scheduling §7).

A profile has mean 1. Operational time is its integral: an hour in which twice as much changes as usual lasts two. Instants are µs since
1970 UTC; the week begins on Thursday 00:00 UTC, as that epoch does. Whose hours differ by summer time has a blurred profile.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from tidings.estimation.gamma import Floats
from tidings.model.interval import HOUR, WEEK

HOURS = 168


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """168 weights of mean 1, one an hour."""

    weights: Floats
    _until: Floats = field(repr=False)

    @classmethod
    def of(cls, weights: ArrayLike) -> Profile:
        """Return the profile with these weights, scaled to mean 1. Raises ValueError unless they are 168, finite, above 0."""
        w = np.asarray(weights, dtype=np.float64)
        if w.shape != (HOURS,) or not np.isfinite(w).all() or not (w > 0).all():
            message = "a profile has 168 finite weights above 0"
            raise ValueError(message)
        w = w / w.mean()
        return cls(w, np.concatenate([[0.0], np.cumsum(w)]) * HOUR)

    @classmethod
    def flat(cls) -> Profile:
        """Return the profile of what changes at any hour alike."""
        return cls.of(np.ones(HOURS))

    def clock(self, instants: ArrayLike) -> Floats:
        """Return operational instants (µs): differences are operational durations."""
        at = np.asarray(instants, dtype=np.int64)
        weeks, within = np.divmod(at, WEEK)
        hour, rest = np.divmod(within, HOUR)
        return np.asarray(weeks * float(WEEK) + self._until[hour] + self.weights[hour] * rest)

    def elapsed(self, begin: ArrayLike, end: ArrayLike) -> Floats:
        """Return how much operational time (µs) lies between instants."""
        return np.asarray(self.clock(end) - self.clock(begin))


@dataclass(frozen=True, slots=True, eq=False)
class HourCounts:
    """What is known of the hours of a class of pages: changes found in each, and page-time looked over (hours)."""

    changes: Floats
    exposure: Floats

    @classmethod
    def none(cls) -> HourCounts:
        """Return no knowledge."""
        return cls(np.zeros(HOURS), np.zeros(HOURS))

    def add(self, begin: int, end: int, changed: float, profile: Profile) -> HourCounts:
        """Return the counts after a look at `end` that covers the time since `begin`.

        A change lies somewhere between; it is shared out over the hours as `profile` so far expects (one step of EM a look). More than
        four weeks say nothing about hours and are left out.
        """
        if end <= begin or end - begin > 4 * WEEK:
            return self
        covered = _covered(begin, end)
        likely = covered * profile.weights
        return HourCounts(self.changes + changed * likely / likely.sum(), self.exposure + covered)

    def profile(self, base: Profile, *, strength: float = 50.0) -> Profile:
        """Return the profile of these counts, smoothed over neighbouring hours, drawn to `base` as by so many changes of its own."""
        total, time = self.changes.sum(), self.exposure.sum()
        if not total or not time:
            return base
        expected = self.exposure * total / time + strength / HOURS
        found = self.changes + strength / HOURS * base.weights
        return Profile.of(_smooth(found) / _smooth(expected))


def _covered(begin: int, end: int) -> Floats:
    """Return how many hours of each hour of the week lie in a stretch of time."""
    weeks, rest = divmod(end - begin, WEEK)
    hours = np.full(HOURS, float(weeks))
    first, last = begin % WEEK, begin % WEEK + rest
    edges = np.arange(2 * HOURS + 1) * float(HOUR)
    within = np.clip(np.minimum(edges[1:], last) - np.maximum(edges[:-1], first), 0, None) / HOUR
    return np.asarray(hours + within[:HOURS] + within[HOURS:])


def _smooth(values: Floats) -> Floats:
    return np.asarray((np.roll(values, 1) + 2 * values + np.roll(values, -1)) / 4)

"""How far others are believed: headers that date a change, and hints that something may have changed (study of scheduling §6, §7)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

TRUSTED = 0.02
"""Dates are exact evidence where both their error rates are below this."""


@dataclass(frozen=True, slots=True)
class Dates:
    """What became of a host's Last-Modified dates: how often they moved with the content and stood still without, and how often not."""

    moved_with: float = 0.0
    moved_alone: float = 0.0
    still_with: float = 0.0
    still_alone: float = 0.0

    def observe(self, *, date_moved: bool, content_moved: bool) -> Dates:
        """Return the counts after a look."""
        if date_moved and content_moved:
            return replace(self, moved_with=self.moved_with + 1)
        if date_moved:
            return replace(self, moved_alone=self.moved_alone + 1)
        if content_moved:
            return replace(self, still_alone=self.still_alone + 1)
        return replace(self, still_with=self.still_with + 1)

    @property
    def false_alarm(self) -> float:
        """Return how likely the date moves though nothing changed: mean of a Beta(1, 1) posterior."""
        return (self.moved_alone + 1) / (self.moved_alone + self.still_with + 2)

    @property
    def miss(self) -> float:
        """Return how likely it stands still though something changed."""
        return (self.still_alone + 1) / (self.still_alone + self.moved_with + 2)

    @property
    def are_exact(self) -> bool:
        """Say whether dates count as exact instants of change."""
        return self.false_alarm < TRUSTED and self.miss < TRUSTED


@dataclass(frozen=True, slots=True)
class Hints:
    """Signals of change: which share of changes they tell (`recall`), and how many come for nothing (`noise`, per unit of time)."""

    recall: float
    noise: float

    def fresh(self, rate: float, gap: float, signals: int) -> float:
        """Return how likely a page of this rate is unchanged after a gap in which so many signals came: e^{−αt}(ν/γ)^n."""
        missed, told = rate * (1 - self.recall), rate * self.recall + self.noise
        if signals and not told:
            return math.exp(-missed * gap)
        return math.exp(-missed * gap) * (self.noise / told if told else 1.0) ** signals

    def effective_age(self, rate: float, gap: float, signals: int) -> float:
        """Return the age at which a page without signals would be as stale: −ln P/rate. A hint is weighed, never obeyed (study §6)."""
        fresh = self.fresh(rate, gap, signals)
        if fresh <= 0:
            return math.inf
        return -math.log(fresh) / rate if rate > 0 else gap

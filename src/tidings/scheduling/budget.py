"""A token bucket as a frozen value: budget flows in at a rate, is saved up to a burst and spent by polls.

The store keeps the same four numbers with each charge and must do the same arithmetic:
`level(now) = min(burst, level + rate · max(0, now − at) / 1 s)`, with `at` never going back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from tidings.model.interval import SECOND, Instant

TOLERANCE: Final = 1e-9
"""Share of a cost that rounding may lack: ten times a tenth is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBucket:
    """`level` tokens at the instant `at` (µs); `rate` more a second, never above `burst`."""

    rate: float
    burst: float
    level: float
    at: Instant

    def __post_init__(self) -> None:
        if not (0 <= self.rate < math.inf and 0 < self.burst < math.inf and 0 <= self.level <= self.burst):
            message = f"a bucket needs rate ≥ 0, burst > 0 and 0 ≤ level ≤ burst, all finite: {self}"
            raise ValueError(message)

    def refill(self, now: Instant) -> TokenBucket:
        """Return the bucket at `now`; at an earlier instant than `at` nothing flows and nothing is lost."""
        if now <= self.at:
            return self
        return replace(self, level=min(self.burst, self.level + self.rate * ((now - self.at) / SECOND)), at=now)

    def take(self, cost: float, *, now: Instant) -> TokenBucket | None:
        """Return the bucket after `cost` was spent at `now`, None if it does not hold so much."""
        full = self.refill(now)
        if not affords(full.level, cost):
            return None
        return replace(full, level=max(0.0, full.level - cost))

    def available_at(self, cost: float) -> Instant | None:
        """Return the first instant (whole µs) at which `cost` can be taken if nothing else is; None: never."""
        if affords(self.level, cost):
            return self.at
        if not affords(self.burst, cost) or self.rate == 0:
            return None
        return self.at + math.ceil((cost - self.level) / self.rate * SECOND)


def affords(level: float, cost: float) -> bool:
    """Return whether `level` tokens pay for `cost`, up to rounding."""
    return level >= cost * (1 - TOLERANCE)

"""A token bucket as a frozen value: budget flows in at a rate, is saved up to a burst and spent by
polls.

The store keeps its four numbers, the simulator has them in memory; both charge by `pay`, and so
follow one rule. `level(now) = min(burst, level + rate · max(0, now − at) / 1 s)`, with `at` never
going back.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from tidings.model.interval import SECOND, Instant
from tidings.record import dataclass, replace

TOLERANCE: Final = 1e-9
"""The share of a cost that rounding may lack: ten times a tenth is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBucket:
    """`level` tokens at the instant `at` (µs); `rate` more a second, never above `burst`."""

    rate: float
    burst: float
    level: float
    at: Instant

    def __post_init__(self) -> None:
        if not (0 <= self.rate < math.inf and 0 <= self.level <= self.burst < math.inf):
            message = f"a bucket needs rate ≥ 0 and 0 ≤ level ≤ burst, all finite: {self}"
            raise ValueError(message)

    def refill(self, now: Instant) -> TokenBucket:
        """Return the bucket at `now`; before `at` it is unchanged."""
        if now <= self.at:
            return self
        return replace(self, level=min(self.burst, self.level + self.rate * ((now - self.at) / SECOND)), at=now)

    def take(self, cost: float, *, now: Instant) -> TokenBucket | None:
        """Return the bucket after `cost` was spent at `now`, None if it holds less."""
        full = self.refill(now)
        if not affords(full.level, cost):
            return None
        return replace(full, level=max(0.0, full.level - cost))

    def available_at(self, cost: float) -> Instant | None:
        """Return the first instant (whole µs) at which `cost` can be taken if nothing else is;
        None: never.
        """
        if affords(self.level, cost):
            return self.at
        if not affords(self.burst, cost) or self.rate == 0:
            return None
        return self.at + math.ceil((cost - self.level) / self.rate * SECOND)


def pay(
    budgets: Mapping[str, TokenBucket],
    asked: Iterable[tuple[Collection[str], float]],
    *,
    now: Instant,
    in_turn: bool = True,
) -> tuple[list[bool], dict[str, TokenBucket]]:
    """Return which polls are paid for, best first, and the budgets after that.

    Each poll takes its cost from all of its budgets, or is refused and takes from none.

    Args:
        budgets: The budgets by name.
        asked: The budgets and the cost of each poll, best first.
        now: The present (µs).
        in_turn: Whether polls after a refused one wait for the same tokens, so that an expensive
            poll is not starved by cheap ones.
    """
    left, spent, paid = dict(budgets), set[str](), list[bool]()
    for names, cost in asked:
        after = {name: None if name in spent else left[name].take(cost, now=now) for name in names}
        lacking = {name for name, bucket in after.items() if bucket is None}
        paid.append(not lacking)
        if not lacking:
            left |= {name: bucket for name, bucket in after.items() if bucket is not None}
        elif in_turn:
            spent |= lacking
    return paid, left


def affords(level: float, cost: float) -> bool:
    """Return whether `level` tokens pay for `cost`, up to rounding."""
    return level >= cost * (1 - TOLERANCE)

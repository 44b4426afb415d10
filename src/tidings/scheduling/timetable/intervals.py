"""Fixed intervals by arithmetic, and whether all their polls can be made in time (004 §4.3;
sentinels §1.4, §5.1; bid §7; 003 §3).

Tick i is at `start + i · interval`, in phase for ever. It is an execution interval of paper 001:
the page is polled in `[tick, tick + slack]`. Any check of the page at or after `tick − slack`
satisfies it. Of the ticks missed during an outage only the newest is caught up with.

Admission tests the demand bound. The demand of a stretch h is Σ c·⌊h/T⌋, all intervals beginning at
once; it and the blocking of one poll of maximal cost, which is not preempted, must fit into the
supply of h. A sum of c/T below the capacity is necessary; with blocking it is not sufficient.
Pinwheels (`gardener.pinwheel`) say more only with a schedule in hand.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tidings.model.interval import Duration, ExecutionInterval, Instant
from tidings.record import dataclass
from tidings.scheduling.population import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedInterval:
    """Ticks every `interval` from `start` on, each at most `slack` late (all µs)."""

    start: Instant
    interval: Duration
    slack: Duration = 0

    def __post_init__(self) -> None:
        if self.interval <= 0:
            message = f"an interval must be above 0 µs, it is {self.interval}"
            raise ValueError(message)
        if not 0 <= self.slack < self.interval:
            message = f"the slack must be at least 0 and below the interval of {self.interval} µs, it is {self.slack}"
            raise ValueError(message)

    def first_tick(self, at_or_after: Instant) -> Instant:
        """Return the first tick at or after an instant; never one before `start`."""
        return self.start + max(0, -((self.start - at_or_after) // self.interval)) * self.interval

    def next_tick(self, after: Instant) -> Instant:
        """Return the first tick after an instant."""
        return self.first_tick(after + 1)

    def last_tick(self, at_or_before: Instant) -> Instant | None:
        """Return the last tick at or before an instant, None before `start`."""
        if at_or_before < self.start:
            return None
        return at_or_before - (at_or_before - self.start) % self.interval

    def ticks_between(self, first: Instant, end: Instant) -> range:
        """Return the ticks from `first` on and before `end`."""
        return range(self.first_tick(first), max(end, self.start), self.interval)

    def execution_interval(self, tick: Instant) -> ExecutionInterval:
        """Return the execution interval of a tick: not before it, at most `slack` late."""
        return ExecutionInterval(tick, tick + self.slack)

    def is_satisfied(self, tick: Instant, checked_at: Instant | None) -> bool:
        """Return whether a check at that instant (None: there was none) serves the tick without
        another request.
        """
        return checked_at is not None and checked_at >= tick - self.slack

    def get_owed_tick(self, tick: Instant, now: Instant) -> Instant:
        """Return the tick to be served when `tick` has not been yet: itself, or the newest one
        since.

        After ten missed ticks one is pending, not ten.
        """
        return max(tick, self.last_tick(now) or tick)

    def after_check(self, tick: Instant, checked_at: Instant) -> Instant:
        """Return the pending tick after a check, when `tick` was pending before.

        A check too early for `tick` leaves it pending; else it is the first tick that this check
        does not satisfy.
        """
        return max(tick, self.next_tick(checked_at + self.slack)) if self.is_satisfied(tick, checked_at) else tick


MOST = 4_096
"""The number of stretches that are tested, the shortest first."""


@dataclass(frozen=True, slots=True)
class Admission:
    """`load` is the share of the capacity that the intervals take in the long run; `worst` the
    highest ratio of demand (with blocking) to supply of any stretch, and `stretch` (µs) which one.
    """

    load: float
    worst: float
    stretch: int

    @property
    def holds(self) -> bool:
        """Return whether all intervals can be kept."""
        return self.worst <= 1 + 1e-9


def admit(intervals: NDArray[np.int64], costs: Floats, capacity: float) -> Admission:
    """Return whether polls of these costs at these intervals (µs) fit a capacity (cost per µs, a
    host's is 1/gap).

    A stretch h demands at most load·h plus blocking, so none beyond blocking/(capacity − load) is
    overloaded. If more than `MOST` stretches would have to be tested, the rest is assumed to demand
    that maximum: the answer errs towards no.
    """
    if not intervals.size:
        return Admission(0.0, 0.0, 0)
    asked = float((costs / intervals).sum())
    load = asked / capacity if capacity > 0 else np.inf
    if load > 1:
        return Admission(load, load, int(intervals.max()))
    blocking = float(costs.max()) if intervals.size > 1 else 0.0
    last = max(MOST / float((1 / intervals).sum()), float(intervals.min()))  # `MOST` multiples are not longer than this
    stretches = np.unique(np.concatenate([np.arange(1, int(last // each) + 1) * each for each in intervals.tolist()]))
    share = (_demand(intervals, costs, stretches) + blocking) / (capacity * stretches)
    worst = int(share.argmax())
    beyond = load + blocking / (capacity * last)
    if beyond > max(1.0, float(share[worst])):
        return Admission(load, beyond, int(last))
    return Admission(load, float(share[worst]), int(stretches[worst]))


def _demand(intervals: NDArray[np.int64], costs: Floats, stretches: NDArray[np.int64]) -> Floats:
    """Return Σ c·⌊h/T⌋ for each stretch."""
    total = np.zeros(stretches.size)
    for interval, cost in zip(intervals.tolist(), costs.tolist(), strict=True):
        total += cost * (stretches // interval)
    return total

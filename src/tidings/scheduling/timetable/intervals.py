"""Fixed intervals by arithmetic (004 §4.3; sentinels §1.4, §5.1).

Tick i is at `start + i · interval`, in phase for ever. It is an execution interval of paper 001:
the page is polled in `[tick, tick + slack]`. Any check of the page at or after `tick − slack`
satisfies it. Of the ticks missed during an outage only the newest is caught up with.
"""

from __future__ import annotations

from tidings.model.interval import Duration, ExecutionInterval, Instant
from tidings.record import dataclass


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

    def after_check(self, tick: Instant, checked_at: Instant) -> Instant:
        """Return the pending tick after a check, when `tick` was pending before.

        A check too early for `tick` leaves it pending; else it is the first tick that this check
        does not satisfy.
        """
        return max(tick, self.next_tick(checked_at + self.slack)) if self.is_satisfied(tick, checked_at) else tick

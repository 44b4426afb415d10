"""The instants of a schedule: fixed intervals by arithmetic (004 §4.3; sentinels §1.4, §5.1), times
of day and hours in which a page may be polled (W-26, W-136), and predicted updates with their
execution intervals, `Fetch on change within W [window|overwrite]` (001 §5.1).

Tick i of a fixed interval is at `start + i · interval`, in phase for ever. It is an execution
interval of paper 001: the page is polled in `[tick, tick + slack]`. Any check of the page at or
after `tick − slack` satisfies it. Of the ticks missed during an outage only the newest is caught up
with.

A page that changed last at `last`, about every `interval`, is expected to change again at `last + k
· interval`. Each expected update opens an execution interval; a successful poll in it captures it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta, tzinfo
from statistics import median
from typing import Any, Final, Literal

from tidings.model.interval import DAY, NEVER, SECOND, Duration, ExecutionInterval, Instant, instant_of, local_of
from tidings.model.watch.timing import DAILY, Clock, Days, Opening
from tidings.record import dataclass

_DAY = timedelta(days=1)
_WEEK = 8
"""days after which every opening has come once, whatever the day"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockTimes:
    """Ticks at times of day, on some days of the week, from `start` on; each may be served `slack`
    late.

    They follow local time: one that a change of clocks skips comes right after it, one that occurs
    twice comes once.
    """

    start: Instant
    clocks: tuple[Clock, ...]
    zone: tzinfo
    days: Days = DAILY
    slack: Duration = 0

    def first_tick(self, at_or_after: Instant) -> Instant:
        """Return the first tick at or after an instant; never one before `start`."""
        earliest = max(self.start, at_or_after)
        day = local_of(earliest, self.zone).date()
        while True:
            ticks = (_at(day, clock, self.zone) for clock in self.clocks) if day.weekday() in self.days else ()
            if (tick := min((tick for tick in ticks if tick >= earliest), default=None)) is not None:
                return tick
            day += _DAY

    def next_tick(self, after: Instant) -> Instant:
        """Return the first tick after an instant."""
        return self.first_tick(after + 1)

    def execution_interval(self, tick: Instant) -> ExecutionInterval:
        """Return the execution interval of a tick: not before it, at most `slack` late."""
        return ExecutionInterval(tick, tick + self.slack)

    def is_satisfied(self, tick: Instant, checked_at: Instant | None) -> bool:
        """Return whether a check at that instant serves the tick: an earlier one does not, since a
        time of day was asked for.
        """
        return checked_at is not None and checked_at >= tick

    def after_check(self, tick: Instant, checked_at: Instant) -> Instant:
        """Return the pending tick after a check, when `tick` was pending before; missed ones are
        dropped.
        """
        return max(tick, self.next_tick(checked_at)) if self.is_satisfied(tick, checked_at) else tick


@dataclass(frozen=True, slots=True)
class Hours:
    """Opening hours in the local time of a zone; without openings it is always open."""

    openings: tuple[Opening, ...]
    zone: tzinfo

    def first_open(self, at_or_after: Instant) -> Instant:
        """Return the first open instant at or after an instant; NEVER if there is none within the
        range of dates.
        """
        return self._span(at_or_after)[0]

    def closes(self, at: Instant) -> Instant:
        """Return the first closed instant after an open one; NEVER if that is far away."""
        end = at
        for _ in range(_WEEK):
            begin, close = self._span(end)
            if begin > end or close == NEVER:
                return end if begin > end else NEVER
            end = close
        return end

    def open_part(self, asked: ExecutionInterval) -> ExecutionInterval:
        """Return the open part of an execution interval, up to where it first closes.

        One that lies outside the hours moves, with its length, to their next beginning (sentinels
        §1.4).
        """
        start = self.first_open(asked.start)
        end = asked.end if start <= asked.end else start + asked.end - asked.start
        return ExecutionInterval(start, max(start, min(end, self.closes(start) - 1)))

    def _span(self, at_or_after: Instant) -> tuple[Instant, Instant]:
        """Return the first open instant at or after an instant, and the end of its opening."""
        if not self.openings:
            return at_or_after, NEVER
        try:
            today = local_of(at_or_after, self.zone).date()
            found: list[tuple[Instant, Instant]] = []
            for number in range(-1, _WEEK + 1):
                day = today + number * _DAY
                if found and number > 1:
                    break
                found += ((max(b, at_or_after), e) for b, e in self._of(day) if e > at_or_after)
            first = min(begin for begin, _ in found)
        except (OverflowError, ValueError):
            return NEVER, NEVER
        return first, max(end for begin, end in found if begin == first)

    def _of(self, day: date) -> Iterator[tuple[Instant, Instant]]:
        """Yield the openings that begin on a day; one that a change of clocks skips is left out."""
        for opening in self.openings:
            if day.weekday() in opening.days:
                last = day if opening.closes > opening.opens else day + _DAY
                begin, end = _at(day, opening.opens, self.zone), _at(last, opening.closes, self.zone)
                if begin < end:
                    yield begin, end


def _at(day: date, clock: Clock, zone: tzinfo) -> Instant:
    return instant_of(datetime(day.year, day.month, day.day, clock // 60, clock % 60), zone)  # noqa: DTZ001 - local


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

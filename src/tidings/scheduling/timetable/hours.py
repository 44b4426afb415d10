"""Polls at a time of day, and hours in which a page may be polled (sentinels §1.4; W-26, W-136).
All instants are µs.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta, tzinfo

from tidings.model.interval import NEVER, Duration, ExecutionInterval, Instant
from tidings.model.wall import instant_of, local_of
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

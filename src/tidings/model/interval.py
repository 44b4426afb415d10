"""Instants and durations, the execution intervals of fixed-interval polling (paper 001: EI), and
local times as instants, across changes of clocks (sentinels §2.4).

A local time that a change of clocks skips means the first instant after it; one that occurs twice
means the first.
"""

from __future__ import annotations

from dataclasses import dataclass  # noqa: TID251 - the one with an order
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

Instant = int
Duration = int

SECOND: Final[Duration] = 1_000_000
MINUTE: Final[Duration] = 60 * SECOND
HOUR: Final[Duration] = 60 * MINUTE
DAY: Final[Duration] = 24 * HOUR
WEEK: Final[Duration] = 7 * DAY
"""Units of time (µs) for packages that must not import `clock`."""

NEVER: Final[Instant] = 2**63 - 1
"""An instant that never comes: no event, no upper bound. It fits into 64 bits, as every instant
does.
"""

UNITS: tuple[tuple[str, Duration], ...] = (
    ("week", WEEK),
    ("day", DAY),
    ("hour", HOUR),
    ("min", MINUTE),
    ("s", SECOND),
)


@dataclass(frozen=True, slots=True)
class Period:
    """The time from `since` to `until` (µs), both included; None where it is open."""

    since: Instant | None = None
    until: Instant | None = None

    def has(self, at: Instant) -> bool:
        """Return whether an instant lies in it."""
        return (self.since is None or at >= self.since) and (self.until is None or at <= self.until)


ALWAYS: Final = Period()
"""All times."""


@dataclass(frozen=True, slots=True, order=True)
class ExecutionInterval:
    """A page is to be polled once at or after `start` and not after `end` (instants in µs, 001
    §2.1).
    """

    start: Instant
    end: Instant


def spell_duration(duration: Duration) -> str:
    """Return a duration in the largest unit that divides it, as the language writes it: `2 day`,
    `90 min`.

    A part below one second is printed as a fraction of a second.
    """
    for name, size in UNITS:
        if duration % size == 0 and duration >= size:
            return f"{duration // size} {name}"
    return f"{duration / 1_000_000:.6f}".rstrip("0").rstrip(".") + " s"


def describe_duration(duration: Duration) -> str:
    """Return a duration as a sentence says it: `2 days`, `1 hour`, `90 min`."""
    spelled = spell_duration(duration)
    return spelled if spelled.startswith("1 ") or not spelled.endswith(("hour", "day", "week")) else f"{spelled}s"


_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - this module converts between local time and UTC by hand
_EPOCH_UTC = datetime(1970, 1, 1, tzinfo=UTC)


def instant_of(local: datetime, zone: tzinfo) -> Instant:
    """Return the instant of a local time (naive) in a zone."""
    microseconds = (local - _EPOCH) // timedelta(microseconds=1)
    if zone is UTC:
        return microseconds
    before = _utc_offset(local, zone, fold=0)
    after = _utc_offset(local, zone, fold=1)
    if after <= before:
        return microseconds - before
    return _first_instant_after(microseconds - after, microseconds - before, zone)


def local_of(instant: Instant, zone: tzinfo) -> datetime:
    """Return the local time of an instant in a zone, aware."""
    return (_EPOCH_UTC + timedelta(microseconds=instant)).astimezone(zone)


def _utc_offset(local: datetime, zone: tzinfo, *, fold: int) -> int:
    return (local.replace(tzinfo=zone, fold=fold).utcoffset() or timedelta()) // timedelta(microseconds=1)


def _first_instant_after(early: Instant, late: Instant, zone: tzinfo) -> Instant:
    """Return the change of clocks between two instants, to the second: the local time asked for
    does not exist.
    """
    before = _offset_at(early, zone)
    low, high = early // SECOND, late // SECOND
    while high - low > 1:
        middle = (low + high) // 2
        if _offset_at(middle * SECOND, zone) == before:
            low = middle
        else:
            high = middle
    return high * SECOND


def _offset_at(instant: Instant, zone: tzinfo) -> int:
    return (local_of(instant, zone).utcoffset() or timedelta()) // timedelta(microseconds=1)

"""Local dates and times of day as instants, across changes of clocks (sentinels §2.4).

A local time that a change of clocks skips means the first instant after it; one that occurs twice
means the first.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo

from tidings.model.interval import Instant

SECOND: Instant = 1_000_000
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

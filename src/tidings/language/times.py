"""Dates, zones, durations, times of day and days of the week; when a sentinel's life begins and
ends. Durations are in microseconds.

A date without a time is the start of that day in the sentinel's zone (sentinels §1.2). A local time
that a change of clocks skips means the first instant after it; one that occurs twice means the
first (sentinels §2.4).
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, time, timedelta, tzinfo
from decimal import Decimal
from difflib import get_close_matches
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from tidings.errors import UsageError
from tidings.model.interval import UNITS, Duration, Instant, local_of, spell_duration
from tidings.model.interval import instant_of as instant_of_local
from tidings.model.watch.sentinel import Sentinel
from tidings.model.watch.timing import DAILY, Clock, Days, Point
from tidings.record import dataclass, replace

SECOND: Duration = 1_000_000
DAY: Duration = 86_400 * SECOND
LONGEST: Duration = 36_525 * DAY
"""A hundred years: the longest duration of the language."""

_SIZES: dict[str, Duration] = dict(UNITS)
_UNIT_WORDS: dict[str, str] = {
    "s": "s",
    "sec": "s",
    "second": "s",
    "min": "min",
    "minute": "min",
    "h": "hour",
    "hour": "hour",
    "d": "day",
    "day": "day",
    "w": "week",
    "week": "week",
}
_TIME = r"(?:[Tt ](?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?(?P<zone>[Zz]|[+-]\d\d:\d\d)?)?"
_ISO = re.compile(r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})" + _TIME)
_SLASHED = re.compile(r"(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4}|\d\d)" + _TIME)
_FIRST: Instant = -62_135_424_000 * SECOND
_LAST: Instant = 253_402_128_000 * SECOND
"""The days that every zone can represent: from 0001-01-03 to 9999-12-30."""
_PIVOT = 68
"""Two-digit years up to this one are in the 2000s (sentinels §1.2)."""
_MONTHS = {"month": 30 * DAY, "year": 365 * DAY}
_AGO = re.compile(
    r"(?:the )?(?:(?:last|past) )?(?:(?P<number>\d{1,6}) ?|an? )?"
    rf"(?:(?P<unit>{'|'.join(_UNIT_WORDS)})|(?P<months>month|year))s?(?: ago)?"
)
_WEEKDAY = re.compile(r"(?:last |on )?(mon|tue|wed|thu|fri|sat|sun)[a-z]*")


class KnownLife(Protocol):
    """When another sentinel starts and ends: planned or actual."""

    @property
    def start_at(self) -> Instant | None:
        """Return when it started or will start; None while it waits for an event."""
        ...

    @property
    def end_at(self) -> Instant | None:
        """Return when it ended or will end; None if that is not fixed."""
        ...

    @property
    def ended_at(self) -> Instant | None:
        """Return when it ended, None while it lives."""
        ...


Lookup = Callable[[str], KnownLife | None]


@dataclass(frozen=True, slots=True)
class DateReading:
    """A parsed date: its canonical text, local time, own offset from UTC if it has one; `slashed`:
    month/day/year.
    """

    text: str
    local: datetime
    offset: timedelta | None
    slashed: bool


def measure(number: str, unit: str) -> Duration:
    """Return `number` of `unit` ("1.5", "hours") in µs. Raise `KeyError` for an unknown unit."""
    word = unit.lower()
    if word not in _UNIT_WORDS and word.endswith("s"):
        word = word[:-1]
    return int((Decimal(number) * _SIZES[_UNIT_WORDS[word]]).to_integral_value())


def read_date(text: str) -> DateReading | None:
    """Return the parsed date or time, or None for a nonexistent day or time."""
    iso = _ISO.fullmatch(text)
    found = iso or _SLASHED.fullmatch(text)
    if found is None:
        return None
    year = int(found["year"])
    if len(found["year"]) == 2:
        year += 2000 if year <= _PIVOT else 1900
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    try:
        local = datetime(year, int(found["month"]), int(found["day"]), hour, minute, second)  # noqa: DTZ001 - its zone comes later
    except ValueError:
        return None
    offset = _offset(found["zone"])
    if offset is not None and abs(offset) >= timedelta(days=1):
        return None
    return DateReading(_canonical(local, found["hour"] is not None, found["zone"]), local, offset, slashed=iso is None)


def read_moment(text: str, zone: str, now: Instant, *, is_end: bool = False) -> Instant:
    """Return the instant that a text means. Raise `UsageError` for a text without meaning.

    Args:
        text: A date, a date with a time, `now`, `today`, `yesterday`, `monday`, or a time before
            now: `2 days ago`, `7d`, `last week`.
        zone: The name of the zone of dates and days.
        now: The present (µs).
        is_end: Whether a day means its last instant instead of its first.
    """
    known = zone_of(zone) or UTC
    words = " ".join(text.lower().split())
    if words == "now":
        return now
    if found := _AGO.fullmatch(words):
        number = found["number"] or "1"
        size = int(number) * _MONTHS[found["months"]] if found["months"] else measure(number, found["unit"])
        return now - min(size, LONGEST)
    reading = read_date(text.strip())
    if reading is None:
        today = local_of(now, known).replace(tzinfo=None, hour=0, minute=0, second=0, microsecond=0)
        if words in {"today", "yesterday"}:
            day = today - timedelta(days=int(words == "yesterday"))
        elif found := _WEEKDAY.fullmatch(words):
            day = today - timedelta(days=(today.weekday() - DAY_WORDS.index(found[1])) % 7)
        else:
            message = f"{text[:40]!r} is not a date; write 2026-03-01, 2026-03-01T08:00, yesterday, or 2 days ago"
            raise UsageError(message)
        reading = DateReading(day.date().isoformat(), day, None, slashed=False)
    if is_end and "T" not in reading.text:
        reading = replace(reading, local=datetime.combine(reading.local, time.max))
    return instant_of(reading, known)


def read_coming(text: str, zone: str, now: Instant) -> Instant:
    """Return the coming instant that a text means. Raise `UsageError` for one that has passed, or a
    text without meaning.

    Args:
        text: A date, a date with a time, a time of day, `tomorrow`, `monday 8:00`, `next week`, or
            a time from now: `3 days`, `3d`.
        zone: The name of the zone of dates and days.
        now: The present (µs).
    """
    known = zone_of(zone) or UTC
    words = " ".join(text.lower().replace(" at ", " ").split())
    found = _COMING.fullmatch(words)
    if found is None:
        at = _read_span(words, now) or _read_day(text.strip(), known)
    else:
        today = local_of(now, known).replace(tzinfo=None, hour=0, minute=0, second=0, microsecond=0)
        clock = read_clock(found["clock"] or "0:00")
        if clock is None:
            raise _not_coming(text)
        day = today + timedelta(days=_days_until(found["day"] or "", today), minutes=clock)
        at = instant_of(DateReading("", day, None, slashed=False), known)
        if at <= now and not found["day"]:  # a time of day that has passed today
            at = instant_of(DateReading("", day + timedelta(days=1), None, slashed=False), known)
    if at is None:
        raise _not_coming(text)
    if at <= now:
        message = f"{text[:40]!r} has passed; give a time that comes"
        raise UsageError(message)
    return at


_COMING = re.compile(
    r"(?:(?:the )?(?P<day>today|tomorrow|next week|(?:next |on )?(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*))?"
    r" ?(?P<clock>\d{1,2}:\d\d(?: ?[ap]m)?|\d{1,2} ?[ap]m)?(?<=.)"
)
_SPAN = re.compile(
    rf"(?:in |for |(?:now )?\+ ?)?(?:(?P<number>\d{{1,6}}) ?|an? )(?P<unit>{'|'.join((*_UNIT_WORDS, *_MONTHS))})s?"
)


def _read_span(words: str, now: Instant) -> Instant | None:
    found = _SPAN.fullmatch(words)
    if found is None:
        return None
    size = _MONTHS.get(found["unit"]) or measure("1", found["unit"])
    return now + min(int(found["number"] or 1) * size, LONGEST)


def _read_day(text: str, zone: tzinfo) -> Instant | None:
    reading = read_date(text)
    return None if reading is None else instant_of(reading, zone)


def _days_until(word: str, today: datetime) -> int:
    """Return how many days from today a day is; a day of the week is never today."""
    if word in {"", "today", "tomorrow"}:
        return int(word == "tomorrow")
    if word == "next week":
        return 7 - today.weekday()
    return (DAY_WORDS.index(word.rpartition(" ")[2][:3]) - today.weekday() - 1) % 7 + 1


def _not_coming(text: str) -> UsageError:
    return UsageError(f"{text[:40]!r} is not a time that comes; write 2026-12-24, tomorrow 8:00, monday, or 3 days")


def swap_day_and_month(text: str) -> str | None:
    """Return the ISO date of a day/month/year reading, or None: the suggestion for `25/12/02`."""
    found = _SLASHED.fullmatch(text)
    if found is None:
        return None
    reading = read_date(f"{found['day']}/{found['month']}/{found['year']}")
    return reading.text if reading else None


def missing_day(text: str) -> str:
    """Return why a date with a valid month is no day: the length of the month; empty for other
    faults.
    """
    found = _ISO.fullmatch(text) or _SLASHED.fullmatch(text)
    if found is None or not 1 <= int(found["month"]) <= 12 or int(found["year"]) < 1:
        return ""
    year, month = int(found["year"]), int(found["month"])
    if len(found["year"]) == 2:
        year += 2000 if year <= _PIVOT else 1900
    days = calendar.monthrange(year, month)[1]
    return "" if 1 <= int(found["day"]) <= days else f"{calendar.month_name[month]} {year} has {days} days"


def nearest_zone(name: str) -> str:
    """Return the IANA time zone whose name or city is most similar to an unknown name; Europe/Paris
    if none is.
    """
    zones = {zone.casefold(): zone for zone in sorted(available_timezones())}
    cities = {folded.rpartition("/")[2]: zone for folded, zone in zones.items() if "/" in folded}
    wanted = name.casefold().replace(" ", "_")
    for known in (zones, cities):
        if near := get_close_matches(wanted, known, n=1, cutoff=0.8):
            return known[near[0]]
    return "Europe/Paris"


def zone_of(name: str) -> tzinfo | None:
    """Return the IANA time zone of that name, or None if there is none."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def read_zone(name: str) -> tzinfo:
    """Return the IANA time zone of that name. Raise `ValueError` if there is none."""
    zone = zone_of(name)
    if zone is None:
        message = f'unknown time zone "{name}"; expected an IANA name such as Europe/Paris'
        raise ValueError(message)
    return zone


def instant_of(reading: DateReading, zone: tzinfo) -> Instant:
    """Return the instant of a date: in its own offset if it has one, else in `zone`."""
    if reading.offset is not None:
        return instant_of_local(reading.local, UTC) - _microseconds(reading.offset)
    return instant_of_local(reading.local, zone)


def local_text(instant: Instant, zone: tzinfo, *, clock: bool = False) -> str:
    """Return the day of an instant in a zone, `2026-03-01`; with `clock` the second too,
    `2026-03-01T08:00:00+01:00`.
    """
    limited = min(max(instant, _FIRST), _LAST)
    local = local_of(limited, zone)
    return local.isoformat(timespec="seconds") if clock else local.date().isoformat()


def starts_at(sentinel: Sentinel, now: Instant, lookup: Lookup) -> Instant | None:
    """Return when a sentinel starts, computed at its creation or when its event happens; None: it
    waits for an event.

    A past date is returned as it is: the sentinel is then enabled at once, and its ticks keep that
    phase. An event that has already happened means now (sentinels §2).
    """
    point = sentinel.start
    if point.base == "now":
        return now + point.offset
    if point.base == "at":
        return None if point.instant is None else point.instant + point.offset
    life = lookup(point.sentinel) if point.sentinel is not None else None
    if life is None:
        return None
    happened = life.ended_at if point.base == "end" else _find_start(life, now)
    if happened is not None:
        return max(now, happened + point.offset)
    planned = life.end_at if point.base == "end" else life.start_at
    if point.offset < 0 and planned is not None:
        return max(now, planned + point.offset)
    return None


def ends_at(sentinel: Sentinel, start_at: Instant | None, lookup: Lookup) -> Instant | None:
    """Return when a sentinel ends; None: it has no end (`end` and `span` are None), or waits for an
    event or for its own start.
    """
    if sentinel.span is not None:
        return None if start_at is None else start_at + sentinel.span
    point = sentinel.end
    if point is None or point.base == "change":
        return None
    if point.base == "now":
        return None if start_at is None else start_at + point.offset
    if point.base == "at":
        return None if point.instant is None else point.instant + point.offset
    life = lookup(point.sentinel) if point.sentinel is not None else None
    if life is None:
        return None
    if point.base == "start":
        return None if life.start_at is None else life.start_at + point.offset
    if life.ended_at is not None:
        return life.ended_at + point.offset
    return life.end_at + point.offset if point.offset < 0 and life.end_at is not None else None


def resolve(point: Point, zone: tzinfo) -> Point:
    """Return a point whose date is interpreted in `zone`; other points stay as they are."""
    if point.base != "at" or point.text is None:
        return point
    reading = read_date(point.text)
    if reading is None:
        return point
    return Point("at", point.offset, reading.text, instant_of(reading, zone))


def point_text(point: Point) -> str:
    """Return a point as the language writes it: `2026-03-01`, `end(s1) + 7 day`."""
    match point.base:
        case "now":
            text = "now"
        case "change":
            return "first change"
        case "at":
            text = point.text or ""
        case _:
            text = f"{point.base}({point.event if point.base == 'event' else point.sentinel})"
    if not point.offset:
        return text
    return f"{text} {'+' if point.offset > 0 else '-'} {spell_duration(abs(point.offset))}"


def _find_start(life: KnownLife, now: Instant) -> Instant | None:
    return life.start_at if life.start_at is not None and life.start_at <= now else None


def _canonical(local: datetime, timed: bool, zone: str | None) -> str:
    if not timed:
        return local.date().isoformat()
    text = local.isoformat(timespec="seconds" if local.second else "minutes")
    return text + ("+00:00" if zone in {"Z", "z"} else zone or "")


def _offset(text: str | None) -> timedelta | None:
    if text is None:
        return None
    if text in {"Z", "z"}:
        return timedelta()
    size = timedelta(hours=int(text[1:3]), minutes=int(text[4:6]))
    return -size if text[0] == "-" else size


def _microseconds(span: timedelta) -> int:
    return span // timedelta(microseconds=1)


DAY_WORDS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_CLOCK = re.compile(r"(\d{1,2})(?::(\d\d))?\s?([ap]m)?", re.IGNORECASE)
_GROUPS = {"daily": DAILY, "weekday": (0, 1, 2, 3, 4), "weekend": (5, 6)}


def read_clock(text: str) -> Clock | None:
    """Return a time of day in minutes after midnight, or None if it is invalid: 00:00 to 23:59,
    6am, 6:30 pm.
    """
    found = _CLOCK.fullmatch(text)
    if found is None or (found[2] is None and found[3] is None):
        return None
    hour, minute = int(found[1]), int(found[2] or 0)
    if found[3]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found[3].lower() == "pm" else 0)
    return hour * 60 + minute if hour <= 23 and minute <= 59 else None


def clock_text(clock: Clock) -> str:
    """Return a time of day in the language."""
    return f"{clock // 60:02}:{clock % 60:02}"


def read_days(texts: Iterable[str]) -> Days:
    """Return the days named by `daily`, `sat`, `weekdays` or `mon-fri`; a range may cross the end
    of the week: `friday to monday`.
    """
    days: set[int] = set()
    for text in texts:
        if (group := _GROUPS.get(text.lower().removesuffix("s"))) is not None:
            days |= set(group)
            continue
        first, last = (part.strip()[:3] for part in (text.lower().replace(" to ", "-") + "-").split("-")[:2])
        start, end = DAY_WORDS.index(first), DAY_WORDS.index(last or first)
        days |= {day % 7 for day in range(start, end + 1 if end >= start else end + 8)}
    return tuple(sorted(days))


def clocks_text(clocks: Iterable[Clock]) -> str:
    """Return times of day in the language: `06:00, 18:00`."""
    return ", ".join(map(clock_text, clocks))


def days_text(days: Days) -> str:
    """Return days in the language, consecutive ones as a range: `mon-fri`, `mon, wed, sat-sun`."""
    if days == DAILY:
        return "daily"
    spans: list[list[int]] = []
    for day in days:
        if spans and spans[-1][-1] == day - 1:
            spans[-1].append(day)
        else:
            spans.append([day])
    return ", ".join(
        DAY_WORDS[span[0]] if len(span) == 1 else f"{DAY_WORDS[span[0]]}-{DAY_WORDS[span[-1]]}" for span in spans
    )

"""Times of day and days of the week: `08:00`, `mon-fri`, `daily`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tidings.model.watch.timing import DAILY, Clock, Days

DAY_WORDS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_CLOCK = re.compile(r"(\d{1,2})(?::(\d\d))?\s?([ap]m)?", re.IGNORECASE)
_GROUPS = {"daily": DAILY, "weekday": (0, 1, 2, 3, 4), "weekend": (5, 6)}


def read_clock(text: str) -> Clock | None:
    """Return a time of day in minutes after midnight, or None if there is no such time: 00:00 to 23:59, 6am, 6:30 pm."""
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
    """Return a time of day as the language writes it."""
    return f"{clock // 60:02}:{clock % 60:02}"


def read_days(texts: Iterable[str]) -> Days:
    """Return the days that `daily`, `sat`, `weekdays` or `mon-fri` name; a span may go over the end of the week: `friday to monday`."""
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
    """Return times of day as the language writes them: `06:00, 18:00`."""
    return ", ".join(map(clock_text, clocks))


def days_text(days: Days) -> str:
    """Return days as the language writes them, those that follow on one another as a span: `mon-fri`, `mon, wed, sat-sun`."""
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

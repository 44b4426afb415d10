"""Times of day and days of the week: `08:00`, `mon-fri`, `daily`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tidings.model.watch.timing import DAILY, Clock, Days

DAY_WORDS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_CLOCK = re.compile(r"(\d{1,2}):(\d\d)")


def read_clock(text: str) -> Clock | None:
    """Return a time of day in minutes after midnight, or None if there is no such time: 00:00 to 23:59."""
    found = _CLOCK.fullmatch(text)
    if found is None or int(found[1]) > 23 or int(found[2]) > 59:
        return None
    return int(found[1]) * 60 + int(found[2])


def clock_text(clock: Clock) -> str:
    """Return a time of day as the language writes it."""
    return f"{clock // 60:02}:{clock % 60:02}"


def read_days(texts: Iterable[str]) -> Days:
    """Return the days that `daily`, `sat` or `mon-fri` name; a span may go over the end of the week: `fri-mon`."""
    days: set[int] = set()
    for text in texts:
        if text.lower() == "daily":
            return DAILY
        first, _, last = text.lower().partition("-")
        start, end = DAY_WORDS.index(first), DAY_WORDS.index(last or first)
        days |= {day % 7 for day in range(start, end + 1 if end >= start else end + 8)}
    return tuple(sorted(days))


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

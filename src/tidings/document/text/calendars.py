"""Events of calendars (iCalendar) in words: `Team meeting, 2026-12-03 10:00, Hall`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_BEGIN: Final = "BEGIN:VEVENT"
_END: Final = "END:VEVENT"
_FIELD: Final = re.compile(
    r"\b(SUMMARY|DTSTART|LOCATION)(?:;[^:\s]*)?:(.*?)(?=\s+[A-Z][A-Z-]+(?:;[^:\s]*)?:|\s*$)", re.DOTALL
)
_TIME: Final = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?")
_ESCAPED: Final = re.compile(r"\\(.)")
LABELS: Final[Mapping[str, str]] = {
    "SUMMARY": "name",
    "DTSTART": "start",
    "DTEND": "end",
    "LOCATION": "place",
    "DESCRIPTION": "description",
    "STATUS": "state",
    "RRULE": "repeats",
}
"""Fields of events, and their names in messages."""


def name_events(text: str, start: int, end: int) -> str:
    """Return the events of a calendar that a changed part is about; "" if it is within none.

    A part within an event has the name and time of the event, one with new events also their
    places. Such a part may begin within an event before them: if that one changed, too, so that
    the text behind the part is another, it is named as well.
    """
    begin = text.rfind(_BEGIN, 0, start)
    is_within = begin >= 0 and text.find(_END, begin, start) < 0
    before = _name_event(_event_at(text, begin), has_place=False) if is_within else ""
    begins = [found.start() for found in re.finditer(_BEGIN, text[start:end])]
    if not begins:
        return before if text.find(_END, start, end) < 0 else ""
    names = [_name_event(_event_at(text, start + at)) for at in begins]
    rest = text[start : start + begins[0]].split()
    if before and text[end:].split(maxsplit=len(rest))[: len(rest)] != rest:
        names.insert(0, f"{before}: {' '.join(rest).removesuffix(_END).strip()}")
    return "; ".join(filter(None, names))


def is_of_events(text: str) -> bool:
    """Return whether a changed part has the beginning of an event."""
    return _BEGIN in text


def _event_at(text: str, begin: int) -> str:
    close = text.find(_END, begin)
    return text[begin : close if close >= 0 else len(text)]


def _name_event(text: str, *, has_place: bool = True) -> str:
    fields: dict[str, str] = {}
    for name, value in _FIELD.findall(text):
        fields.setdefault(name, _ESCAPED.sub(lambda found: " " if found[1] in "nN" else found[1], value).strip())
    parts = (fields.get("SUMMARY"), write_time(fields.get("DTSTART", "")), fields.get("LOCATION") if has_place else "")
    return ", ".join(filter(None, parts)) if fields.get("SUMMARY") else ""


def write_time(value: str) -> str:
    """Return `2026-12-03 10:00` for `20261203T100000`; another text as it is."""
    found = _TIME.fullmatch(value)
    if found is None:
        return value
    clock = f" {found[4]}:{found[5]}{' UTC' if found[6] else ''}" if found[4] else ""
    return f"{found[1]}-{found[2]}-{found[3]}{clock}"

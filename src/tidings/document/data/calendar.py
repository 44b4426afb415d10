"""iCalendar as text: components in the order of their UIDs, without properties that are not content
(RFC 5545).
"""

from __future__ import annotations

import re

_FOLD = re.compile(r"\r?\n[ \t]")
_SILENT = frozenset({"DTSTAMP", "SEQUENCE", "LAST-MODIFIED", "CREATED"})
"""Properties on when and how often the calendar was written, not on events."""
_BEGIN = re.compile(r"\s*BEGIN:VCALENDAR\s", re.IGNORECASE)


def is_calendar(text: str) -> bool:
    """Return whether a text is a calendar."""
    return _BEGIN.match(text) is not None


def calendar_text(text: str) -> str:
    """Return a calendar with its events, to-dos and the like in the order of their UIDs, long lines
    unfolded, without `_SILENT`.

    Anything outside components stays in place, before them all.
    """
    outside: list[str] = []
    components: list[tuple[str, str, list[str]]] = []
    held: list[str] = []
    depth = 0
    for line in _FOLD.sub("", text).splitlines():
        name = re.split("[:;]", line.strip(), maxsplit=1)[0].upper()
        if name in _SILENT or not line.strip():
            continue
        is_calendar_line = line.strip().upper().endswith(":VCALENDAR")
        depth += (name == "BEGIN") and not is_calendar_line
        (held if depth else outside).append(line.strip())
        if name == "END" and depth:
            depth -= 1
            if not depth:
                components.append((_get_text(held, "UID"), _get_text(held, "RECURRENCE-ID"), held))
                held = []
    lines = (line for _, _, own in sorted(components) for line in own)
    return "\n".join((*outside, *lines, *held))


def _get_text(lines: list[str], name: str) -> str:
    return next((line for line in lines if re.split("[:;]", line, maxsplit=1)[0].upper() == name), "")

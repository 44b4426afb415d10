"""A finding of `doctor`, and the format of its times and sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.document.select.extraction import why_little, why_nothing
from tidings.model.interval import Duration, Instant
from tidings.model.watch.interest import Selector
from tidings.model.watch.sentinel import Sentinel
from tidings.record import dataclass
from tidings.service.show.records import rfc3339

Status = Literal["ok", "warn", "fail"]

MOST_LINES = 10
"""Findings of one kind that are listed; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of `doctor`: what was examined, what was found, and the command that fixes it (empty
    if all is well).
    """

    status: Status
    what: str
    detail: str
    mend: str = ""


def ok(what: str, detail: str) -> Finding:
    """Return a finding that all is well."""
    return Finding("ok", what, detail)


def warn(what: str, detail: str, mend: str = "") -> Finding:
    """Return a finding of something that works for now, or worse than it could."""
    return Finding("warn", what, detail, mend)


def fail(what: str, detail: str, mend: str = "") -> Finding:
    """Return a finding of something that does not work, or has lost data."""
    return Finding("fail", what, detail, mend)


def shorten(found: Sequence[Finding], *, mend: str = "") -> Iterator[Finding]:
    """Yield the first findings and, if there are many, one that counts the rest; all must be of one
    kind.
    """
    yield from found[:MOST_LINES]
    if rest := found[MOST_LINES:]:
        yield Finding(rest[0].status, rest[0].what, f"and {len(rest)} more", mend)


def spell_instant(instant: Instant) -> str:
    """Return an instant to the second, in UTC."""
    return f"{(rfc3339(instant) or '')[:19].replace('T', ' ')} UTC"


def spell_since(instant: Instant, now: Instant) -> str:
    """Return an instant and how long ago or ahead it is."""
    away = spell_length(abs(now - instant))
    return f"{spell_instant(instant)} ({f'in {away}' if instant > now else f'{away} ago'})"


def spell_length(duration: Duration) -> str:
    """Return a rounded duration, in the largest unit with at least two: 90 min, 3 days."""
    for size, name in ((DAY, "days"), (HOUR, "h"), (MINUTE, "min")):
        if duration >= 2 * size:
            return f"{duration // size} {name}"
    return f"{duration // SECOND} s"


def spell_bytes(size: int) -> str:
    """Return a size with three digits and a unit of 1024."""
    amount, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.3g} {unit}" if amount < 1000 else f"{amount:.0f} {unit}"


def spell_count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


INSTEAD: Final = {
    "price": 'watch the place where the page shows it, for example: Monitor number in css ".price"',
    "availability": 'watch the words of the page, for example: Monitor keyword "in stock"',
}
"""What to watch if a page does not say it for search engines."""


def matches_nothing(name: str, media: str = "") -> str:
    """Return the message about a missing part; `name` is in words of the language, `media` the
    page's type if known.
    """
    if name in {"price", "availability"}:
        where = "the page has none in JSON-LD, microdata or Open Graph"
        return f"W7 no {name} is found on this page: {where}; {INSTEAD[name]}"
    language = name.partition(" ")[0] if name.endswith('"') else ""
    why = (why_nothing(language, media) or why_little(language, media)) if language else ""
    return f"W7 {name} matches nothing on this page as it is now{': ' if why else ''}{why}"


def excludes_nothing(sentinel: Sentinel, media: str) -> list[str]:
    """Return messages about the exclusions that cannot match a page of this type (W7)."""
    selectors = (excluded for excluded in sentinel.exclude if isinstance(excluded, Selector))
    return [
        f'W7 Exclude {one.language} "{one.text}" matches nothing on this page: {why}'
        for one in selectors
        if (why := why_nothing(one.language, media))
    ]

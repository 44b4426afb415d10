"""What `doctor` says of one thing, and how it spells times and sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.document.select.extraction import why_little, why_nothing
from tidings.model.interval import Duration, Instant
from tidings.model.watch.interest import Selector
from tidings.model.watch.sentinel import Sentinel
from tidings.record import dataclass
from tidings.service.show.records import rfc3339

Status = Literal["ok", "warn", "fail"]

MOST_LINES = 10
"""Findings of one kind that are told one by one; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of `doctor`: what was examined, what was found, and the command that mends it (empty if all is well)."""

    status: Status
    what: str
    detail: str
    mend: str = ""


def ok(what: str, detail: str) -> Finding:
    """Return that all is well."""
    return Finding("ok", what, detail)


def warn(what: str, detail: str, mend: str = "") -> Finding:
    """Return something that works for now, or works less well than it could."""
    return Finding("warn", what, detail, mend)


def fail(what: str, detail: str, mend: str = "") -> Finding:
    """Return something that does not work, or has lost something."""
    return Finding("fail", what, detail, mend)


def shorten(found: Sequence[Finding], *, mend: str = "") -> Iterator[Finding]:
    """Yield the first findings and, if there are many, one that counts the rest; all must be of one kind."""
    yield from found[:MOST_LINES]
    if rest := found[MOST_LINES:]:
        yield Finding(rest[0].status, rest[0].what, f"and {len(rest)} more", mend)


def spell_instant(instant: Instant) -> str:
    """Return an instant to the second, in UTC."""
    return f"{(rfc3339(instant) or '')[:19].replace('T', ' ')} UTC"


def spell_since(instant: Instant, now: Instant) -> str:
    """Return an instant and how long ago it was (or how far off it is)."""
    away = spell_length(abs(now - instant))
    return f"{spell_instant(instant)} ({f'in {away}' if instant > now else f'{away} ago'})"


def spell_length(duration: Duration) -> str:
    """Return a duration roughly, in the largest unit of which there are two: 90 min, 3 days."""
    for size, name in ((DAY, "days"), (HOUR, "h"), (MINUTE, "min")):
        if duration >= 2 * size:
            return f"{duration // size} {name}"
    return f"{duration // SECOND} s"


def spell_bytes(size: int) -> str:
    """Return a number of bytes with three digits and a unit of 1024."""
    amount, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.3g} {unit}" if amount < 1000 else f"{amount:.0f} {unit}"


def spell_count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def matches_nothing(name: str, media: str = "") -> str:
    """Return what is said of a part that is not there; `name` is in words of the language, `media` what the page is, as far as that is known."""
    if name in {"price", "availability"}:
        kind = "number" if name == "price" else "all words"
        where = "neither JSON-LD nor microdata nor Open Graph has one"
        return (
            f'W7 no {name} is found on this page: {where}; watch where it is written: Monitor {kind} in css ".{name}"'
        )
    language = name.partition(" ")[0] if name.endswith('"') else ""
    why = (why_nothing(language, media) or why_little(language, media)) if language else ""
    return f"W7 {name} matches nothing on this page as it is now{': ' if why else ''}{why}"


def excludes_nothing(sentinel: Sentinel, media: str) -> list[str]:
    """Return what is said of the exclusions that can leave nothing out of a page, for what it is (W7)."""
    selectors = (excluded for excluded in sentinel.exclude if isinstance(excluded, Selector))
    return [
        f'W7 Exclude {one.language} "{one.text}" leaves out nothing of this page: {why}'
        for one in selectors
        if (why := why_nothing(one.language, media))
    ]

"""The format of times, sizes and counts on screens (design/face: a figure has its unit; today's
times are short).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from math import ceil
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from markupsafe import Markup, escape

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.web.markup.translations import sentences, translate, translate_count

if TYPE_CHECKING:
    from datetime import tzinfo

    from tidings.model.interval import Duration, Instant

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NBSP: Final = "\N{NO-BREAK SPACE}"
_UNITS: Final = tuple(zip((DAY, HOUR, MINUTE, SECOND), sentences("d", "h", "min", "s"), strict=True))
_DAYS: Final = sentences("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = sentences(
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_SHORT_MONTHS: Final = sentences("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_BRIEFS: Final = dict(
    zip(("dead letters", "switched off"), sentences("not delivered", "receiver switched off"), strict=True)
)
"""Briefs of troubles that say more on a screen."""
NEARLY_NOTHING: Final = 0.001
_CONTROLS: Final = frozenset(
    {*range(0x20), *range(0x7F, 0xA0), 0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
)


def zone_of(name: str) -> tzinfo:
    """Return a time zone by its name; UTC for an unknown one."""
    try:
        return ZoneInfo(name) if name else UTC
    except (ValueError, OSError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        return UTC


def local(instant: Instant, zone: tzinfo) -> datetime:
    """Return an instant (µs) in a zone."""
    return (_EPOCH + timedelta(microseconds=instant)).astimezone(zone)


def short(instant: Instant, now: Instant, zone: tzinfo) -> str:
    """Return `11:31` for an instant of today, `26 Nov, 22:10` for another of the last year, else
    `26 Nov 2024`.
    """
    at, today = local(instant, zone), local(now, zone)
    if at.date() == today.date():
        return f"{at:%H:%M}"
    month = translate(_SHORT_MONTHS[at.month - 1])
    if abs(instant - now) < 300 * DAY:
        return translate("{day}\N{NO-BREAK SPACE}{month}, {time}", day=at.day, month=month, time=f"{at:%H:%M}")
    return translate("{day}\N{NO-BREAK SPACE}{month}\N{NO-BREAK SPACE}{year}", day=at.day, month=month, year=at.year)


def day(instant: Instant, now: Instant, zone: tzinfo) -> str:
    """Return the heading of a day: `Today, Saturday 28 November`, `Yesterday`, `Monday 2 March`."""
    at, today = local(instant, zone).date(), local(now, zone).date()
    text = _day(at) + ("" if at.year == today.year else f" {at.year}")
    match (today - at).days:
        case 0:
            return translate("Today, {day}", day=text)
        case 1:
            return translate("Yesterday")
        case _:
            return text


def _day(at: date) -> str:
    return translate(
        "{weekday} {day} {month}",
        weekday=translate(_DAYS[at.weekday()]),
        day=at.day,
        month=translate(_MONTHS[at.month - 1]),
    )


def stamp(instant: Instant | None, now: Instant, zone: tzinfo, *, is_day_known: bool = False) -> Markup:
    """Return a `time` element; a dash for None.

    Args:
        instant: The instant (µs).
        now: The present (µs).
        zone: The reader's zone.
        is_day_known: Whether it stands under the heading of its day, so that the time of day is
            enough.
    """
    if instant is None:
        return Markup("–")
    at = local(instant, zone)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        at.isoformat(timespec="seconds"),
        f"{_day(at)} {at:%Y, %H:%M:%S %Z}",
        f"{at:%H:%M}" if is_day_known else short(instant, now, zone),
    )


def span(duration: Duration) -> str:
    """Return a duration in its largest unit: `9 s`, `3 min`, `5 h`, `2 d`; in tenths of a second,
    rounded up, below one.
    """
    for size, unit in _UNITS:
        if duration >= size:
            number = duration / size
            figure = f"{number:.0f}" if number >= 3 else f"{number:.1f}".removesuffix(".0")
            return f"{figure}{_NBSP}{translate(unit)}"
    return f"{ceil(10 * duration / SECOND) / 10:g}{_NBSP}{translate('s')}"


def ago(instant: Instant | None, now: Instant) -> str:
    """Return `3 min ago`, `in 9 s`, `just now`, or `never`."""
    if instant is None:
        return translate("never")
    if instant <= now < instant + SECOND:
        return translate("just now")
    if instant > now:
        return translate("in {time}", time=span(instant - now)) if instant - now >= SECOND else translate("now")
    return translate("{time} ago", time=span(now - instant))


def number(value: float) -> str:
    """Return a formatted number: whole and with separators from 10 on, else with two digits, and
    `<0.001` for smaller ones.
    """
    if 0 < value < NEARLY_NOTHING:
        return f"<{NEARLY_NOTHING}"
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"


def count(many: float, noun: str, plural: str = "") -> str:
    """Return a count with its noun: `1 check`, `1,284 checks`."""
    return translate_count(many, f"{{n}}{_NBSP}{noun}", f"{{n}}{_NBSP}{plural or noun + 's'}")


def text(value: object, *, most: int = 400) -> Markup:
    """Return a page's text, escaped, in its own `bdi`, control characters shown by their code, cut
    after `most` characters.
    """
    return Markup("<bdi>{}</bdi>").format(plain(value, most=most))


def plain(value: object, *, most: int = 2_000) -> Markup:
    """Return a text of the service, escaped, control characters shown by their code, cut after
    `most` characters.
    """
    whole = str(value)
    return Markup("{}").format(_show(whole if len(whole) <= most else f"{whole[:most]}…"))


def stretches(pieces: Iterable[tuple[str, bool]]) -> Markup:
    """Return a page's text given in pieces, as `text` does, with flagged pieces marked."""
    parts = (Markup("<mark>{}</mark>").format(_show(one)) if is_marked else _show(one) for one, is_marked in pieces)
    return Markup("<bdi>{}</bdi>").format(Markup("").join(parts))


def _show(text: str) -> Markup:
    """Return a text, escaped, control characters shown by their code."""
    if not any(ord(one) in _CONTROLS for one in text):
        return escape(text)
    return Markup("").join(
        Markup('<span class="tag" title="{}">U+{}</span>').format(translate("a control character"), f"{ord(one):04X}")
        if ord(one) in _CONTROLS and one not in "\n\t"
        else escape(one)
        for one in text
    )


def brief(text: str) -> str:
    """Return the brief of a trouble in the reader's language; a page in error is failing."""
    return translate("failing") if "(" in text else translate(_BRIEFS.get(text, text))

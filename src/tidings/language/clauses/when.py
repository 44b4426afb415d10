"""When a page is polled, and how long a sentinel lives: Fetch, During, From, To, For, Zone."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable
from datetime import MAXYEAR, datetime, timedelta
from typing import cast

from lark import Token, Tree

from tidings.language.clauses.clause import (
    Clause,
    Node,
    check_name,
    first,
    parts_of,
    read_duration,
    read_positive_duration,
    word_types,
)
from tidings.language.times import (
    clocks_text,
    days_text,
    instant_of,
    measure,
    missing_day,
    nearest_zone,
    read_clock,
    read_date,
    read_days,
    swap_day_and_month,
    zone_of,
)
from tidings.model.interval import Duration, spell_duration
from tidings.model.watch.timing import (
    DAILY,
    Clock,
    Days,
    Fetch,
    FetchAt,
    FetchEvery,
    FetchOnChange,
    FetchOnDemand,
    Opening,
    Point,
)
from tidings.record import replace

MIDNIGHT = "24:00"
"""The end of a day; written so only as the end of a period."""
WHOLE_DAY: tuple[Clock, Clock] = (0, 0)


def read_fetch(node: Node, clause: Clause) -> Fetch:
    """Return when a page is polled."""
    parts = parts_of(node)
    events = _events([parts[rule] for rule in ("happening", "summons") if rule in parts], clause)
    return FetchOnDemand(events) if "happening" in parts else replace(_read_fetch(node, clause), events=events)


def _events(nodes: Iterable[Node], clause: Clause) -> tuple[str, ...]:
    """Return the events that trigger a poll, in order."""
    names: list[str] = []
    for node in nodes:
        for happening in node.find_data("happening"):
            name = read_event_name(happening, clause)
            if name in names:
                raise clause.fail(
                    first(happening).start_pos, "E17", f'the event "{name}" is named twice', hint="keep one"
                )
            names.append(name)
    return tuple(names)


def read_event_name(node: Node, clause: Clause) -> str:
    """Return the event of `event(NAME)`. Raise `FaultFoundError` (E20) if there is certainly none
    of that name.
    """
    token = cast("Token", node.children[1])
    name = check_name(token, clause)
    if clause.events is not None and not clause.events.exists(name):
        raise clause.fail(token.start_pos, "E20", f'there is no event "{name}"', hint=clause.events.hint(name))
    return name


def _read_fetch(node: Node, clause: Clause) -> Fetch:
    parts, words = parts_of(node), word_types(node)
    if "duration" in parts:
        interval = read_positive_duration(parts["duration"], clause)
        return FetchEvery(interval, _slack(parts.get("slack"), interval, clause))
    if "often" in parts or ("days" in parts and getattr(node.children[1], "type", "") != "AT"):
        meant = read_often(node, clause)
        slack = _slack(parts.get("slack"), meant if isinstance(meant, int) else None, clause)
        return FetchEvery(meant, slack) if isinstance(meant, int) else FetchAt(*meant, slack)
    if "AT" in words:
        clause.note("fetch at", first(node).start_pos)
        days = read_weekdays(parts.get("days"))
        return FetchAt(read_clocks(parts["times"], days, clause), days, _slack(parts.get("slack"), None, clause))
    if "slack" in parts:
        hint = "Fetch 1 hour slack 5 min"
        raise clause.fail(first(parts["slack"]).start_pos, "E14", "slack belongs to a fixed interval", hint=hint)
    if "DEMAND" in words:
        return FetchOnDemand()
    shortest, longest = _between(parts["between"], clause) if "between" in parts else (None, None)
    if "prompt" not in parts:
        return FetchOnChange(shortest, longest)
    clause.note("prompt", first(parts["prompt"]).start_pos)
    within = read_positive_duration(parts_of(parts["prompt"])["duration"], clause)
    is_overwrite = "OVERWRITE" in word_types(parts["prompt"])
    return FetchOnChange(shortest, longest, within, "overwrite" if is_overwrite else "window")


def read_often(node: Node, clause: Clause) -> Duration | tuple[tuple[Clock, ...], Days]:
    """Return the interval of `daily`, `hourly` or `every day`, or the times and the days of `every
    day at 08:00` or `mon-fri at 08:00`.

    Raises `FaultFoundError` (E08) for days without a time, and for a time of an hour.
    """
    parts = parts_of(node)
    period = first(parts.get("days") or parts["often"])
    days = read_weekdays(parts["days"]) if "days" in parts else DAILY
    if "times" in parts and ("days" in parts or period.lower() in {"d", "day", "days"}):
        return read_clocks(parts["times"], days, clause), days
    if "times" in parts:
        times = clocks_text(read_clocks(parts["times"], days, clause))
        raise clause.fail(period.start_pos, "E08", f'"{period}" has no time of day', hint=f"write daily at {times}")
    if "days" in parts and days != DAILY:
        raise clause.fail(
            period.start_pos, "E08", f'"{period}" needs a time of day', hint=f"write at 08:00 {days_text(days)}"
        )
    unit = {"hourly": "hour", "daily": "day", "weekly": "week"}.get(period.lower(), str(period))
    return measure("1", unit)


def _slack(node: Node | None, interval: Duration | None, clause: Clause) -> Duration | None:
    if node is None:
        return None
    slack = read_duration(cast("Node", node.children[1]), clause)
    if interval is not None and slack > interval:
        message = f"slack {spell_duration(slack)} is longer than the interval of {spell_duration(interval)}"
        hint = "otherwise the next check would be due before this one"
        raise clause.fail(first(node).start_pos, "E14", message, hint=hint)
    return slack


def _between(node: Node, clause: Clause) -> tuple[Duration, Duration]:
    early, late = (child for child in node.children if isinstance(child, Tree))
    shortest, longest = read_positive_duration(early, clause), read_positive_duration(late, clause)
    if shortest >= longest:
        early_text, late_text = (f"{child.children[0]} {child.children[1]}" for child in (early, late))
        message = f'"between {early_text} and {late_text}" leaves no time for a check'
        raise clause.fail(first(early).start_pos, "E14", message, hint="the smaller interval comes first")
    return shortest, longest


def read_clocks(node: Node, days: Days, clause: Clause) -> tuple[Clock, ...]:
    """Return times of day, in order. Raise `FaultFoundError` (E08) for an invalid one, and for
    24:00 on some days only.
    """
    if days != DAILY and (midnight := next((token for token in node.children if token == MIDNIGHT), None)) is not None:
        after = days_text(tuple(sorted((day + 1) % 7 for day in days)))
        token = cast("Token", midnight)
        raise clause.fail(token.start_pos, "E08", "24:00 is on the next day", hint=f"write at 00:00 {after}")
    return tuple(sorted(set(read_times(node, clause))))


def read_times(node: Node, clause: Clause) -> list[Clock]:
    """Return the times of day in a node. Raise `FaultFoundError` (E08) for an invalid one."""
    times: list[Clock] = []
    for token in node.children:
        if isinstance(token, Token) and token.type == "CLOCK":
            clock = 0 if token == MIDNIGHT else read_clock(token)
            if clock is None:
                raise clause.fail(token.start_pos, "E08", f'"{token}" is not a time of day', expected="00:00 to 23:59")
            times.append(clock)
    return times


def read_span_of_day(node: Node, clause: Clause, what: str) -> tuple[Clock, Clock]:
    """Return two different times of day. Raise `FaultFoundError` (E14) if they are equal."""
    begin, end = read_times(node, clause)
    clocks = [token for token in node.children if isinstance(token, Token) and token.type == "CLOCK"]
    if (sign := next((child for child in node.children if child == "+"), None)) is not None:
        raise clause.fail(
            cast("Token", sign).start_pos, "E03", 'found "+"', expected=f'"to": {clocks[0]} to {clocks[1]}'
        )
    if begin == end and not (begin == 0 and clocks[1] == MIDNIGHT):
        message = f"{what} from a time to the same time has no length"
        raise clause.fail(clocks[1].start_pos, "E14", message, hint="08:00 to 18:00, or over midnight 20:00 to 07:00")
    return begin, end


def read_weekdays(node: Node | None) -> Days:
    """Return the named days of the week; daily if there are none."""
    if node is None:
        return DAILY
    return read_days(str(day) for day in node.children if cast("Token", day).type == "DAYS")


def read_during(node: Node, clause: Clause) -> tuple[Opening, ...]:
    """Return the hours in which a page may be polled."""
    openings: list[Opening] = []
    for opening in node.children:
        if isinstance(opening, Tree):
            days = read_weekdays(parts_of(opening).get("days"))
            has_times = "CLOCK" in word_types(opening)
            openings.append(Opening(days, *(read_span_of_day(opening, clause, "During") if has_times else WHOLE_DAY)))
    return tuple(openings)


def read_point(node: Node, clause: Clause) -> Point:
    """Return a point in time; dates are read in the sentinel's zone."""
    point = cast("Node", node.children[1])
    if point.data == "first_change":
        clause.note("first_change", first(point).start_pos)
        return Point("change")
    word, parts = first(point), parts_of(point)
    offset = _offset(parts["offset"], clause) if "offset" in parts else 0
    if "happening" in parts:
        name = read_event_name(parts["happening"], clause)
        if offset < 0:
            message = f"a time before event({name}) is impossible, because nobody knows when the event happens"
            raise clause.fail(word.start_pos, "E34", message, hint=f"event({name}) without a minus")
        return Point("event", offset, event=name)
    if word.type == "NOW":
        return Point("now", offset)
    if word.type == "DATE":
        at = _date(word, offset, clause)
        _warn_of_last_day(first(node), word, at, clause)
        return at
    name = check_name(cast("Token", point.children[1]), clause)
    return Point("start" if word.type == "START" else "end", offset, sentinel=name)


def read_pause(node: Node, clause: Clause) -> Point:
    """Return when a pause ends: a date, or a point after its beginning."""
    parts = parts_of(node)
    if "duration" in parts:
        return Point("now", read_positive_duration(parts["duration"], clause))
    word = cast("Token", node.children[1])
    offset = _offset(parts["offset"], clause) if "offset" in parts else 0
    return Point("now", offset) if word.type == "NOW" else _date(word, offset, clause)


def _offset(node: Node, clause: Clause) -> Duration:
    sign, duration = node.children
    size = read_duration(cast("Node", duration), clause)
    return -size if sign == "-" else size


def _date(token: Token, offset: Duration, clause: Clause) -> Point:
    reading = read_date(token)
    if reading is None:
        raise _no_date(token, clause)
    if reading.slashed:
        message = f"{token} is read as {reading.text} (month/day/year)"
        clause.warn(token.start_pos, "W1", message, hint=f"write {reading.text}")
    return Point("at", offset, reading.text, instant_of(reading, clause.zone))


def _warn_of_last_day(verb: Token, word: Token, at: Point, clause: Clause) -> None:
    """Record W20 for an end on the last day of a month: it comes when that day begins."""
    if verb.type != "TO" or at.offset or at.text is None or "T" in at.text:
        return
    day = datetime.fromisoformat(at.text)
    if day.day == monthrange(day.year, day.month)[1] and day.year < MAXYEAR:
        after = day + timedelta(days=1)
        message = f"To {at.text} ends when that day begins"
        clause.warn(word.start_pos, "W20", message, hint=f"to include the day, write To {after:%Y-%m-%d}")


def _no_date(token: Token, clause: Clause) -> Exception:
    if days := missing_day(token):
        return clause.fail(token.start_pos, "E08", f'"{token}" is not a date', hint=days)
    if found := re.fullmatch(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})|(\d{1,2})\.(\d{1,2})\.(\d{4})", token):
        year, month, day = (found[1], found[2], found[3]) if found[1] else (found[6], found[5], found[4])
        return clause.fail(
            token.start_pos, "E08", f'"{token}" is not a date', hint=f"write {year}-{int(month):02}-{int(day):02}"
        )
    if "/" not in token:
        return clause.fail(
            token.start_pos, "E08", f'"{token}" is not a date', hint="write it as 2026-03-01 (year-month-day)"
        )
    instead = swap_day_and_month(token) or "2026-03-01"
    message = f'"{token}" is not a month/day/year date'
    return clause.fail(token.start_pos, "E08", message, hint=f"write it as {instead} (year-month-day)")


def read_span(node: Node, clause: Clause) -> Duration:
    """Return how long a sentinel lives."""
    return read_positive_duration(cast("Node", node.children[1]), clause)


def read_zone(node: Node, clause: Clause) -> str:
    """Return the name of a time zone. Raise `FaultFoundError` (E18) for an unknown one."""
    name = cast("Token", node.children[1])
    if zone_of(name) is None:
        nearest = nearest_zone(name)
        hint = f"write Zone {nearest}" if nearest.lower() != "europe/paris" or "paris" in name.lower() else ""
        expected = "" if hint else f"an IANA name such as {nearest}"
        raise clause.fail(name.start_pos, "E18", f'unknown time zone "{name}"', expected=expected, hint=hint)
    return str(name)

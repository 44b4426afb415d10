"""What each clause but Monitor means: when to look, whom to tell, how much it matters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any, cast

from lark import Token, Tree

from tidings.language.dates import LONGEST, instant_of, is_clock, measure, read_date, swapped, zone_of
from tidings.language.faults import reserved_message
from tidings.language.monitor import Clause, FaultFoundError, check_page_name
from tidings.language.verify import check_address
from tidings.language.words import did_you_mean, is_reserved
from tidings.model.interval import Duration, spell_duration
from tidings.model.sentinel import Channel, Compare, Fetch, FetchEvery, FetchOnChange, Notify, Point, Rate

Node = Tree[Token]

CHANNELS = ("email", "webhook", "console", "dashboard", "feed", "stream")


@dataclass(frozen=True, slots=True)
class Timed(Clause):
    """A clause with dates: they are read in `zone`."""

    zone: tzinfo


def check_name(name: Token, clause: Clause) -> str:
    """Return a name; raises `FaultFoundError` (E04) if it is a word of the language."""
    if is_reserved(name):
        raise clause.fail(name.start_pos, "E04", reserved_message(name), hint=f"try {name}_1")
    return str(name)


def read_duration(node: Node, clause: Clause) -> Duration:
    """Return a duration in µs; raises `FaultFoundError` (E05) for nothing and for more than a hundred years."""
    number, unit = cast("list[Token]", node.children)
    duration = measure(number, unit) if len(number) <= 20 else LONGEST + 1
    if duration > LONGEST:
        raise clause.fail(number.start_pos, "E05", f'"{number[:20]} {unit}" is too long', expected="at most 100 years")
    return duration


def read_positive_duration(node: Node, clause: Clause) -> Duration:
    """Return a duration above zero."""
    duration = read_duration(node, clause)
    if duration <= 0:
        number, unit = cast("list[Token]", node.children)
        raise clause.fail(number.start_pos, "E05", f'"{number} {unit}" is no time at all', expected="more than 0 s")
    return duration


def read_fetch(node: Node, clause: Clause) -> Fetch:
    """Return how often a page is looked at."""
    parts = {child.data: child for child in node.children if isinstance(child, Tree)}
    words = {child.type: child for child in node.children if isinstance(child, Token)}
    if "DEMAND" in words:
        raise clause.later(words["ON"].start_pos, "on demand")
    if "duration" in parts:
        interval = read_positive_duration(parts["duration"], clause)
        return FetchEvery(interval, _slack(parts.get("slack"), interval, clause))
    if "slack" in parts:
        word = cast("Token", parts["slack"].children[0])
        raise clause.fail(word.start_pos, "E14", "slack belongs to a fixed interval", hint="Fetch 1 hour slack 5 min")
    return _between(parts["between"], clause) if "between" in parts else FetchOnChange()


def _slack(node: Node | None, interval: Duration, clause: Clause) -> Duration | None:
    if node is None:
        return None
    word, duration = node.children
    slack = read_duration(cast("Node", duration), clause)
    if slack > interval:
        message = f"slack {spell_duration(slack)} is longer than the interval of {spell_duration(interval)}"
        raise clause.fail(
            cast("Token", word).start_pos, "E14", message, hint="the next look would be due before this one"
        )
    return slack


def _between(node: Node, clause: Clause) -> FetchOnChange:
    first, second = (child for child in node.children if isinstance(child, Tree))
    shortest, longest = read_positive_duration(first, clause), read_positive_duration(second, clause)
    if shortest >= longest:
        first_text, second_text = (f"{child.children[0]} {child.children[1]}" for child in (first, second))
        message = f'"between {first_text} and {second_text}" is empty'
        offset = cast("Token", first.children[0]).start_pos
        raise clause.fail(offset, "E14", message, hint="the smaller interval comes first")
    return FetchOnChange(shortest, longest)


def read_point(node: Node, clause: Timed) -> Point:
    """Return a point in time; a date is read in the sentinel's zone."""
    point = cast("Node", node.children[1])
    first = cast("Token", point.children[0])
    last = point.children[-1]
    offset = _offset(last, clause) if isinstance(last, Tree) else 0
    if first.type == "NOW":
        return Point("now", offset)
    if first.type == "DATE":
        return _date(first, offset, clause)
    name = check_name(cast("Token", point.children[1]), clause)
    return Point("start" if first.type == "START" else "end", offset, sentinel=name)


def _offset(node: Node, clause: Clause) -> Duration:
    sign, duration = node.children
    size = read_duration(cast("Node", duration), clause)
    return -size if sign == "-" else size


def _date(token: Token, offset: Duration, clause: Timed) -> Point:
    reading = read_date(token)
    if reading is None:
        raise _no_date(token, clause)
    if reading.slashed:
        message = f"{token} is read as {reading.text} (month/day/year)"
        clause.report.warn(token.start_pos or 0, "W1", message, hint=f"write {reading.text}")
    return Point("at", offset, reading.text, instant_of(reading, clause.zone))


def _no_date(token: Token, clause: Clause) -> Exception:
    if "/" not in token:
        return clause.fail(
            token.start_pos, "E08", f'"{token}" is no date', hint="write it as 2026-03-01 (year-month-day)"
        )
    instead = swapped(token) or "2026-03-01"
    message = f'"{token}" is not a month/day/year date'
    return clause.fail(token.start_pos, "E08", message, hint=f"write it as {instead} (year-month-day)")


def read_span(node: Node, clause: Clause) -> Duration:
    """Return how long a sentinel lives."""
    return read_positive_duration(cast("Node", node.children[1]), clause)


def read_zone(node: Node, clause: Clause) -> str:
    """Return the name of a time zone; raises `FaultFoundError` (E18) if there is none of that name."""
    name = cast("Token", node.children[1])
    if zone_of(name) is None:
        expected = "an IANA name such as Europe/Paris"
        raise clause.fail(name.start_pos, "E18", f'unknown time zone "{name}"', expected=expected)
    return str(name)


def read_notify(node: Node, clause: Clause) -> Notify:
    """Return whom to tell and when; mail is accepted with W10."""
    channels: list[Channel] = []
    rate: Rate | None = None
    for child in node.children:
        if not isinstance(child, Tree):
            continue
        if child.data == "channel":
            channels.append(_channel(child, clause))
        elif child.data == "rate":
            rate = _rate(child, channels, clause)
        else:
            raise _later_clock(child, clause)
    shown_only = all(channel.kind == "dashboard" for channel in channels)
    return Notify(tuple(channels), rate or Rate("interactive" if shown_only else "immediate"))


def _channel(node: Node, clause: Clause) -> Channel:
    first, last = cast("Token", node.children[0]), cast("Token", node.children[-1])
    match first.type:
        case "EMAIL":
            message = f"mail to {last} is sent once mail is set up (notify.smtp_host)"
            clause.report.warn(first.start_pos or 0, "W10", message, hint="until then: tidings changes, or a webhook")
            return Channel("email", str(last))
        case "URL" | "WEBHOOK":
            return _address(first, last, clause)
        case "CONSOLE" | "DASHBOARD":
            return Channel(first.lower())
        case "FEED" | "STREAM":
            raise clause.later(first.start_pos, first.lower())
    hint = did_you_mean(first, CHANNELS) or (
        "give an Apprise or https:// address instead, for example tgram://bot/chat"
    )
    raise clause.fail(first.start_pos, "E15", f'"{first}" has no channel here', hint=hint)


def _address(first: Token, url: Token, clause: Clause) -> Channel:
    scheme = url.partition("://")[0].lower()
    if scheme not in {"http", "https"}:
        if first.type == "WEBHOOK":
            message = f'a webhook cannot be a "{scheme}:" address'
            raise clause.fail(url.start_pos, "E22", message, expected="http:// or https://")
        return Channel("apprise", str(url))
    if not check_address(clause.report, url.start_pos or 0, url):
        raise FaultFoundError
    return Channel("webhook", str(url))


def _rate(node: Node, channels: list[Channel], clause: Clause) -> Rate:
    first = cast("Token", node.children[0])
    last = node.children[-1]
    if isinstance(last, Tree):
        return Rate("every", read_positive_duration(last, clause))
    if last.type == "EFFORT":
        raise clause.later(first.start_pos, "best effort")
    if last.type == "CLOCK":
        raise _later_clock(node, clause)
    if last.type == "IMMEDIATE":
        return Rate("immediate")
    pushed = next((channel.kind for channel in channels if channel.kind != "dashboard"), None)
    if pushed is not None:
        message = f"interactive news are looked up on the dashboard, {pushed} cannot wait for that"
        raise clause.fail(first.start_pos, "E15", message, hint="write immediate, or every 1 hour")
    return Rate("interactive")


def _later_clock(node: Node, clause: Clause) -> Exception:
    for token in node.children:
        if isinstance(token, Token) and token.type == "CLOCK" and not is_clock(token):
            return clause.fail(token.start_pos, "E08", f'"{token}" is no time of day', expected="00:00 to 23:59")
    word = cast("Token", node.children[0])
    return clause.later(word.start_pos, word.lower())


def read_compare(node: Node, clause: Clause) -> Compare:
    """Return which versions are compared."""
    word = cast("Token", node.children[1])
    if word.type == "PAIRWISE":
        return Compare()
    if word.type != "FIRST":
        number = cast("Token", node.children[2])
        if not number.isdecimal() or int(number[:20]) < 2:
            message = f"Compare {word.lower()} {number} makes no sense"
            expected, hint = "a whole number from 2", "Compare pairwise compares neighbours"
            raise clause.fail(number.start_pos, "E16", message, expected=expected, hint=hint)
    raise clause.later(cast("Token", node.children[0]).start_pos, f"compare {word.lower()}")


def read_importance(node: Node, clause: Clause) -> float:
    """Return how much a page matters: 0 < w ≤ 1 (W_i of paper 000)."""
    number = cast("Token", node.children[1])
    weight = float(number)
    if not 0 < weight <= 1:
        message = f"importance {number[:20]} is out of range"
        raise clause.fail(number.start_pos, "E19", message, expected="a number above 0, at most 1")
    return weight


def read_tags(node: Node, clause: Clause) -> tuple[str, ...]:
    """Return the tags, each once, in the order given."""
    names = [check_name(cast("Token", name), clause) for name in node.children[1:]]
    return tuple(dict.fromkeys(names))


def refuse(node: Node, clause: Clause) -> Any:
    """Refuse a clause that has no meaning yet; a wrong page name in it is told first."""
    if node.data == "then":
        for child in node.children:
            if isinstance(child, Token) and child.type == "NAME":
                check_page_name(child, clause)
    raise clause.later(cast("Token", node.children[0]).start_pos, node.data)


READERS: Mapping[str, Callable[[Node, Any], Any]] = {
    "fetch": read_fetch,
    "from": read_point,
    "to": read_point,
    "for": read_span,
    "zone": read_zone,
    "compare": read_compare,
    "importance": read_importance,
    "tags": read_tags,
}
"""Clauses that have meaning, beside Monitor and Notify; every other one is refused by name."""

"""The canonical text of a statement: ISO dates, one clause a line, clauses of default value left out.

Laws (tested): reading what was printed gives the same statement, and printing what was read of it changes nothing. Of a sentinel
made from another one all clauses are printed, so that it keeps its meaning whatever becomes of its base.
"""

from __future__ import annotations

from collections.abc import Iterator

from tidings.language import asked, expressions
from tidings.language.dates import point_text
from tidings.language.hours import clock_text, days_text
from tidings.model.interval import spell_duration
from tidings.model.sentinel import (
    DEFAULT_NOTIFY,
    Channel,
    Command,
    Compare,
    Fetch,
    FetchAt,
    FetchEvery,
    FetchOnChange,
    FetchOnDemand,
    Notify,
    Point,
    Rate,
    Sentinel,
    Statement,
    Watched,
)

DEFAULT_IMPORTANCE = 0.5


def to_text(statement: Statement) -> str:
    """Return a statement as the language writes it, without a line end after the last line."""
    if isinstance(statement, Command):
        return f"{statement.verb.capitalize()} {statement.name}"
    return "\n  ".join(_clauses(statement))


def _clauses(sentinel: Sentinel) -> Iterator[str]:
    everything = sentinel.base is not None
    target = sentinel.base or ", ".join(_page(page) for page in sentinel.pages)
    yield f"Create Sentinel {sentinel.name} Using {target}"
    yield f"Monitor {expressions.to_text(sentinel.monitor)}"
    if everything or sentinel.fetch != FetchOnChange():
        yield f"Fetch {_fetch(sentinel.fetch)}"
    if not sentinel.correlated:
        yield from _life(sentinel, everything=everything)
    if sentinel.zone is not None:
        yield f"Zone {sentinel.zone}"
    if everything or sentinel.notify != DEFAULT_NOTIFY:
        yield from (_notify(notify) for notify in sentinel.notify)
    if everything or sentinel.compare != Compare():
        yield f"Compare {_compare(sentinel.compare)}"
    yield from asked.to_clauses(sentinel.asking, everything=everything)
    if everything or sentinel.importance != DEFAULT_IMPORTANCE:
        yield f"Importance {number_text(sentinel.importance)}"
    if sentinel.tags:
        yield f"Tags {', '.join(sentinel.tags)}"


def _page(page: Watched) -> str:
    return page.url if page.name is None else f"{page.url} As {page.name}"


def _fetch(fetch: Fetch) -> str:
    match fetch:
        case FetchEvery(interval, slack):
            text = f"every {spell_duration(interval)}"
            return text if slack is None else f"{text} slack {spell_duration(slack)}"
        case FetchOnChange(shortest, longest) if shortest is not None and longest is not None:
            return f"on change between {spell_duration(shortest)} and {spell_duration(longest)}"
        case FetchOnChange():
            return "on change"
        case FetchAt(clock, days, slack):
            text = f"at {clock_text(clock)} {days_text(days)}"
            return text if slack is None else f"{text} slack {spell_duration(slack)}"
        case FetchOnDemand():
            return "on demand"


def _life(sentinel: Sentinel, *, everything: bool) -> Iterator[str]:
    if everything or sentinel.start != Point("now"):
        yield f"From {point_text(sentinel.start)}"
    if sentinel.end is not None:
        yield f"To {point_text(sentinel.end)}"
    if sentinel.span is not None:
        yield f"For {spell_duration(sentinel.span)}"


def _notify(notify: Notify) -> str:
    channels = ", ".join(_channel(channel) for channel in notify.channels)
    return f"Notify by {channels} {_rate(notify.rate)}"


def _channel(channel: Channel) -> str:
    if channel.kind == "apprise":  # its address says all
        return channel.address
    return f"{channel.kind} {channel.address}" if channel.address else channel.kind


def _rate(rate: Rate) -> str:
    match rate.mode:
        case "every":
            return f"every {spell_duration(rate.interval)}"
        case "best_effort":
            return "every best effort"
        case "at":
            return f"at {clock_text(rate.clock)} {days_text(rate.days)}"
        case "immediate" | "interactive":
            return rate.mode


def _compare(compare: Compare) -> str:
    return f"{compare.mode} {compare.n}" if compare.mode in {"moving", "every"} else compare.mode


def number_text(number: float) -> str:
    """Return a number without an exponent, as exactly as Python reads it back."""
    text = repr(number)
    return f"{number:.400f}".rstrip("0").rstrip(".") if "e" in text else text

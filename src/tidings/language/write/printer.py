"""The canonical text of a statement: ISO dates, one clause per line, default clauses left out.

Laws (tested): parsing a printed statement gives the same statement, and printing it again the same
text. Of a sentinel made from another one all clauses are printed, so that it does not depend on its
base.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tidings.language import expressions
from tidings.language.expressions import number_text, quote, selector_text
from tidings.language.times import clock_text, clocks_text, days_text, point_text
from tidings.language.write.table import FIELDS, NOTHING, ORDER
from tidings.model.event_type import EventSource
from tidings.model.interval import spell_duration
from tidings.model.watch.asking import BrowserStep, Header, Login, Render, Value, argv_of, is_command
from tidings.model.watch.interest import HIDDEN, Exclusion, Interest, Pattern, Selector, StopWords, Transform
from tidings.model.watch.notifying import Cap, Channel, Notify, Quiet, Rate, Wording
from tidings.model.watch.sentinel import (
    Alter,
    ChangeLife,
    Clauses,
    Command,
    Compare,
    CreateEvent,
    Defaults,
    DropEvent,
    History,
    Lasting,
    Scope,
    Sentinel,
    Statement,
    Then,
    Urgency,
    Watched,
)
from tidings.model.watch.timing import Fetch, FetchAt, FetchEvery, FetchOnChange, FetchOnDemand, Opening

__all__ = ["clauses_of", "number_text", "to_text"]

COLLECTION = "Create Collection "
"""How the text of a collection begins."""
PLAINEST = Sentinel(name="plainest", pages=(), monitor=Interest("any"))
"""A sentinel with only default clauses."""
_LIFE = frozenset({"from", "to", "for"})


def to_text(statement: Statement) -> str:
    """Return a statement in the language, without a line end after the last line."""
    match statement:
        case Command():
            words = [statement.verb.capitalize(), statement.name]
            words += ["fresh"] if statement.fresh else []
            words += [] if statement.until is None else [f"until {point_text(statement.until)}"]
            return " ".join(words)
        case Alter():
            moved = f" Using {', '.join(map(page_text, statement.pages))}" if statement.pages else ""
            return _text(f"Alter {statement.name}{moved}", statement.clauses)
        case Defaults():
            return _text(f"Defaults For Tags {', '.join(statement.tags)}", statement.clauses)
        case CreateEvent(name, source):
            return f"Create Event {name} Using {source_text(source)}"
        case DropEvent(name):
            return f"Drop Event {name}"
        case Sentinel():
            target = statement.base or ", ".join(map(page_text, statement.pages))
            what = "Sentinel" if statement.scope is None else "Collection"
            return _text(f"Create {what} {statement.name} Using {target}", clauses_of(statement))


def clauses_of(sentinel: Sentinel) -> Clauses:
    """Return the clauses of a sentinel that differ from the defaults.

    All of them if it was made from another one, but those of its life only if that differs from its
    base's.
    """
    return Clauses(tuple(_list_clauses(sentinel, everything=sentinel.base is not None)))


def meaning_of(sentinel: Sentinel, word: str) -> Any:
    """Return the value of a clause of a sentinel."""
    if word in FIELDS:
        return getattr(sentinel, FIELDS[word])
    asked = sentinel.asking
    match word:
        case "monitor":
            return sentinel.monitor, sentinel.window, sentinel.lasting
        case "header":
            return asked.headers
        case "render":
            return asked.render, asked.screenshot, asked.steps
        case "robots":
            return asked.robots_ignored
    return getattr(asked, word)


def _list_clauses(sentinel: Sentinel, *, everything: bool) -> Iterator[tuple[str, Any]]:
    for word in ORDER:
        meaning = meaning_of(sentinel, word)
        if word in _LIFE:
            if not sentinel.correlated and _must_print(sentinel, word, everything=everything):
                yield word, meaning
        elif word in {"life", "scope"} and meaning is None:
            continue  # it is learned; it is no collection
        elif everything or word == "monitor" or meaning != meaning_of(PLAINEST, word) or _is_posted(sentinel, word):
            yield word, meaning


def _must_print(sentinel: Sentinel, word: str, *, everything: bool) -> bool:
    """Return whether a clause of the life must be printed: only one of To and For, and an empty one
    only if all clauses are printed.
    """
    if word == "from":
        return everything or sentinel.start != PLAINEST.start
    if word == "for":
        return sentinel.span is not None
    return sentinel.end is not None or (everything and sentinel.span is None)


def _is_posted(sentinel: Sentinel, word: str) -> bool:
    """Return whether this is the Method of a sentinel with a Body, whose default is POST."""
    return word == "method" and sentinel.asking.body is not None


def _text(head: str, clauses: Clauses) -> str:
    return "\n  ".join([head, *(line for word, meaning in clauses.stated for line in clause_lines(word, meaning))])


_WORDS: Mapping[str, str] = {"history": "ChangeHistory"}
_MANY = frozenset({"then", "exclude", "header", "notify"})
"""Clauses with one line per member."""


def clause_lines(word: str, meaning: Any) -> list[str]:
    """Return the lines of one clause; an empty one is `Exclude none`."""
    begin = _WORDS.get(word, word.capitalize())
    if word in NOTHING and meaning == NOTHING[word]:
        return [f"{begin} none"]
    return [f"{begin} {_TEXTS[word](part)}" for part in (meaning if word in _MANY else (meaning,))]


def channel_text(channel: Channel) -> str:
    """Return a channel; an Apprise service is written by its address only, literal or as a
    secret.
    """
    address = f"secret {quote(channel.address)}" if channel.is_secret else channel.address
    if channel.kind == "apprise":
        return address
    return f"{channel.kind} {address}" if address else channel.kind


def page_text(page: Watched) -> str:
    """Return a page of a sentinel in the language."""
    command = f"command {' '.join(map(quote, argv_of(page.url)))}" if is_command(page.url) else page.url
    return command if page.name is None else f"{command} As {page.name}"


def source_text(source: EventSource) -> str:
    """Return the source of an event in the language."""
    words = {"webhook": (), "file": (source.path,), "command": source.argv}[source.origin]
    every = () if source.every is None else (f"every {spell_duration(source.every)}",)
    return " ".join((source.origin, *map(quote, words), *every))


def _monitor(meaning: tuple[Any, Any, Any]) -> str:
    expression, window, lasting = meaning
    words = [expressions.to_text(expression)]
    if window is not None:
        words.append(f"within {spell_duration(window)}")
    if lasting is not None:
        words.append(f"for at least {lasting_text(lasting)}")
    return " ".join(words)


def _scope(scope: Scope) -> str:
    patterns = ", ".join(map(quote, scope.patterns))
    return f"{patterns} Depth {scope.depth} Budget {number_text(scope.budget)} per day"


def lasting_text(lasting: Lasting) -> str:
    """Return how long a change must last in the language: `2 checks`, `1 hour`."""
    if not lasting.checks:
        return spell_duration(lasting.duration)
    return f"{lasting.checks} {'check' if lasting.checks == 1 else 'checks'}"


def _then(then: Then) -> str:
    least = "" if then.least is None else f"any {then.least} of "
    return f"within {spell_duration(then.within)} check {least}{', '.join(then.pages)}"


def _exclude(exclusion: Exclusion) -> str:
    if exclusion == HIDDEN:
        return "hidden"
    match exclusion:
        case Selector():
            return selector_text(exclusion)
        case StopWords(words):
            return f"words {expressions.write_list(words) if expressions.fits_list(words) else quote(' '.join(words))}"
        case Pattern(text):
            return f"regex {quote(text)}"


def _transform(steps: Iterable[Transform]) -> str:
    return ", ".join(map(_step, steps))


def _step(step: Transform) -> str:
    match = f"{'regex ' if step.is_pattern else ''}{quote(step.match)}"
    match step.verb:
        case "keep" | "drop":
            return f"{step.verb} lines {match}"
        case "replace":
            return f"replace {match} with {quote(step.replacement)}"
        case "sort" | "unique":
            return f"{step.verb} lines"
        case "fold":
            return "ignore case"
        case "after" | "before":
            return f"{step.verb} {match}"


def _fetch(fetch: Fetch) -> str:
    happenings = [f"on event({name})" for name in fetch.events]
    return " or ".join(
        happenings if fetch == FetchOnDemand(fetch.events) and happenings else [_usual(fetch), *happenings]
    )


def _usual(fetch: Fetch) -> str:
    match fetch:
        case FetchEvery(interval, slack):
            return f"every {spell_duration(interval)}{_slack(slack)}"
        case FetchAt(clocks, days, slack):
            return f"at {clocks_text(clocks)} {days_text(days)}{_slack(slack)}"
        case FetchOnDemand():
            return "on demand"
        case FetchOnChange(shortest, longest, within, until):
            words = ["on change"]
            if shortest is not None and longest is not None:
                words.append(f"between {spell_duration(shortest)} and {spell_duration(longest)}")
            if within is not None:
                words.append(f"within {spell_duration(within)} {until}")
            return " ".join(words)


def _slack(slack: int | None) -> str:
    return "" if slack is None else f" slack {spell_duration(slack)}"


def _during(openings: Iterable[Opening]) -> str:
    return ", ".join(f"{days_text(o.days)} {clock_text(o.opens)} to {_end(o)}" for o in openings)


def _end(opening: Opening) -> str:
    """Return when an opening closes; a whole day closes at 24:00."""
    return "24:00" if opening.opens == opening.closes else clock_text(opening.closes)


def _notify(notify: Notify) -> str:
    words = [f"by {_channels(notify.channels)}", rate_text(notify.rate)]
    if isinstance(notify.quiet, Quiet):
        words.append(f"quiet {clock_text(notify.quiet.begins)} to {clock_text(notify.quiet.ends)}")
    if isinstance(notify.cap, Cap):
        words.append(f"max {notify.cap.count} per {spell_duration(notify.cap.per)}")
    if notify.wording is not None:
        words.append(f"with {_wording(notify.wording)}")
    return " ".join(words)


def _wording(wording: Wording) -> str:
    title = f"title {quote(wording.title)}" if wording.title else ""
    text = f"text {' '.join(map(quote, wording.text.split(chr(10))))}" if wording.text else ""
    return " ".join(filter(None, (title, text)))


def _errors(channels: Iterable[Channel]) -> str:
    return f"to {_channels(channels)}"


def _channels(channels: Iterable[Channel]) -> str:
    return ", ".join(map(channel_text, channels))


def rate_text(rate: Rate) -> str:
    """Return a rate in the language."""
    match rate.mode:
        case "every":
            interval = spell_duration(rate.interval) if rate.interval else ""
            changes = f"{rate.changes} changes" if rate.changes else ""
            return f"every {' or '.join(filter(None, (interval, changes)))}"
        case "best_effort":
            return "every best effort"
        case "at":
            return f"at {clocks_text(rate.clocks)} {days_text(rate.days)}"
        case "immediate" | "interactive":
            return rate.mode


def compare_text(compare: Compare) -> str:
    """Return which versions are compared in the language."""
    return f"{compare.mode} {compare.n}" if compare.mode in {"moving", "every"} else compare.mode


def _history(history: History) -> str:
    return str(history.changes) if history.age is None else spell_duration(history.age)


def _urgency(urgency: Urgency) -> str:
    return urgency.mode if urgency.span is None else f"{urgency.mode} {spell_duration(urgency.span)}"


def _life(life: ChangeLife) -> str:
    match life.mode:
        case "window":
            return spell_duration(life.span)
        case "changes":
            return f"{life.changes} changes"
        case "forever" | "overwrite":
            return life.mode


def _value(value: Value) -> str:
    return f"secret {quote(value.text)}" if value.is_secret else quote(value.text)


def _header(header: Header) -> str:
    return f"{quote(header.name)} {_value(header.value)}"


def _login(login: Login) -> str:
    words = [f"form {quote(login.url)} user {_value(login.user)}"]
    words.append(f"password secret {quote(login.password)}")
    words += [f"success css {quote(login.success)}"] * bool(login.success)
    words += [f"via {' '.join(map(quote, login.via))}"] * bool(login.via)
    return " ".join(words)


def _proxy(value: Value) -> str:
    return _value(value) if value.is_secret else value.text


def _render(render: Render) -> str:
    browser, screenshot, steps = render
    done = f" steps ({', '.join(map(step_text, steps))})" if steps else ""
    return f"{browser}{' screenshot' if screenshot else ''}{done}"


def step_text(step: BrowserStep) -> str:
    """Return a browser step in the language."""
    place = f"{step.language} {quote(step.place)}" if step.place else ""
    value = "" if step.value is None else _value(step.value)
    match step.verb:
        case "fill" | "select":
            return f"{step.verb} {place} with {value}"
        case "press":
            return f"press {value} in {place}" if place else f"press {value}"
        case "wait":
            return f"wait for {place}" if place else f"wait {spell_duration(step.wait)}"
        case "scroll":
            return f"scroll to {place or 'end'}"
        case "click":
            return f"click {place}"


def _space(text: str) -> str:
    return text.replace("_", " ")


def _robots(reason: str) -> str:
    return f"ignored because {quote(reason)}"


_TEXTS: Mapping[str, Callable[[Any], str]] = {
    "scope": _scope,
    "monitor": _monitor,
    "then": _then,
    "select": selector_text,
    "exclude": _exclude,
    "transform": _transform,
    "fetch": _fetch,
    "during": _during,
    "from": point_text,
    "to": point_text,
    "for": spell_duration,
    "zone": str,
    "notify": _notify,
    "errors": _errors,
    "compare": compare_text,
    "history": _history,
    "presentation": _space,
    "method": quote,
    "header": _header,
    "body": _value,
    "login": _login,
    "timeout": spell_duration,
    "trust": quote,
    "proxy": _proxy,
    "frames": str,
    "render": _render,
    "robots": _robots,
    "importance": number_text,
    "urgency": _urgency,
    "life": _life,
    "class": str,
    "tags": ", ".join,
}

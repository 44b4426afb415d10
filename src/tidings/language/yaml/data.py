"""Statements as plain data, as the YAML form has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tidings.language.expressions import condition_text, fits_list, number_text
from tidings.language.times import clock_text, days_text, point_text
from tidings.language.write.printer import channel_text, clauses_of, compare_text, lasting_text, rate_text, step_text
from tidings.language.write.table import GATHERED, NOTHING
from tidings.model.interval import spell_duration
from tidings.model.watch.asking import Header, Login, Render, Value, argv_of, is_command
from tidings.model.watch.interest import (
    HIDDEN,
    AllOf,
    AnyOf,
    Condition,
    Exclusion,
    Expression,
    Interest,
    Not,
    Pattern,
    Selector,
    StopWords,
    Transform,
)
from tidings.model.watch.notifying import Channel, Notify
from tidings.model.watch.sentinel import (
    Alter,
    ChangeLife,
    Clauses,
    Command,
    CreateEvent,
    Defaults,
    DropEvent,
    EventSource,
    History,
    Lasting,
    Scope,
    Sentinel,
    Statement,
    Then,
    Urgency,
    Watched,
)
from tidings.model.watch.timing import Days, Fetch, FetchAt, FetchEvery, FetchOnChange, FetchOnDemand, Opening

Data = Any
"""Texts, numbers, lists and mappings."""


def plain(statement: Statement) -> dict[str, Data]:
    """Return a statement as a mapping."""
    match statement:
        case Command(verb, name, fresh, until):
            ends = {} if until is None else {"until": point_text(until)}
            return {verb: name, **({"fresh": True} if fresh else {}), **ends}
        case Alter(name, clauses):
            moved = {"pages": [_page(page) for page in statement.pages]} if statement.pages else {}
            return {"alter": name, **moved, **_clauses(clauses)}
        case Defaults(tags, clauses):
            return {"defaults": list(tags), **_clauses(clauses)}
        case CreateEvent(name, origin):
            return {"event": name, "using": _source(origin)}
        case DropEvent(name):
            return {"drop_event": name}
        case Sentinel():
            source = {"pages": [_page(page) for page in statement.pages]}
            target: dict[str, Data] = {"using": statement.base} if statement.base is not None else source
            return {"name": statement.name, **target, **_clauses(clauses_of(statement))}


def _source(source: EventSource) -> Data:
    every = {} if source.every is None else {"every": spell_duration(source.every)}
    match source.origin:
        case "webhook":
            return "webhook"
        case "file":
            return {"file": source.path, **every}
        case "command":
            return {"command": list(source.argv), **every}


def _clauses(clauses: Clauses) -> dict[str, Data]:
    found: dict[str, Data] = {}
    for word, meaning in clauses.stated:
        if isinstance(meaning, Scope):
            found |= {"scope": list(meaning.patterns), "depth": meaning.depth}
            found["budget"] = f"{number_text(meaning.budget)} per day"
        else:
            found["headers" if word == "header" else word] = _clause(word, meaning)
    return found


def _clause(word: str, meaning: Any) -> Data:
    if word in NOTHING and meaning == NOTHING[word]:
        return None
    if word in GATHERED:
        return [_DATA[word](part) for part in meaning]
    return _DATA[word](meaning)


def _page(page: Watched) -> Data:
    name = {} if page.name is None else {"as": page.name}
    if is_command(page.url):
        return {"command": list(argv_of(page.url)), **name}
    return {"url": page.url, **name} if name else page.url


def _monitor(meaning: tuple[Expression, int | None, Lasting | None]) -> Data:
    expression, window, lasting = meaning
    within = {} if window is None else {"within": spell_duration(window)}
    duration = {} if lasting is None else {"for at least": lasting_text(lasting)}
    return {**_expression(expression), **within, **duration}


def _expression(expression: Expression) -> dict[str, Data]:
    match expression:
        case Interest():
            return _interest(expression)
        case Not(part):
            return {"not": _expression(part)}
        case AllOf(parts):
            return {"and": [_expression(part) for part in parts]}
        case AnyOf(parts):
            return {"or": [_expression(part) for part in parts]}


def _interest(interest: Interest) -> dict[str, Data]:
    data: dict[str, Data] = {"type": interest.kind}
    if interest.terms:
        data["list"] = list(interest.terms)
    if interest.ordinal is not None:
        data["number"] = interest.ordinal
    if interest.column:
        data["column"] = interest.column
    data |= {name: text for name in ("after", "before") if (text := getattr(interest, name))}
    if interest.kind == "regex":
        data["pattern"] = interest.pattern
    if interest.kind == "header":
        data["name"] = interest.header
    if interest.form:
        data["form"] = interest.form
    if interest.direction is not None:
        data["dir"] = interest.direction
    if interest.selector is not None:
        data["in"] = _selector(interest.selector)
    if interest.of is not None:
        data["of"] = interest.of
    if interest.where:
        conditions = [_condition(condition) for condition in interest.where]
        data["where"] = conditions[0] if len(conditions) == 1 else conditions
    return data


def _condition(condition: Condition) -> Data:
    if condition.measure == "never seen":
        return condition_text(condition)
    if condition.text:
        return {condition.measure: list(condition.texts) if condition.others else condition.text}
    value = condition_text(condition).removeprefix(f"{condition.measure} ").removeprefix("by ")
    return {condition.measure: value}


def _selector(selector: Selector) -> Data:
    return {selector.language: selector.text}


def _then(then: Then) -> Data:
    least = {} if then.least is None else {"any": then.least}
    return {"within": spell_duration(then.within), "check": list(then.pages), **least}


def _exclude(exclusion: Exclusion) -> Data:
    if exclusion == HIDDEN:
        return "hidden"
    match exclusion:
        case Selector():
            return _selector(exclusion)
        case StopWords(words):
            return {"words": list(words) if fits_list(words) else " ".join(words)}
        case Pattern(text):
            return {"regex": text}


def _transform(steps: Iterable[Transform]) -> Data:
    return [_step(step) for step in steps]


def _step(step: Transform) -> Data:
    if step.verb == "fold":
        return "ignore case"
    if step.verb in {"sort", "unique"}:
        return step.verb
    name = "regex" if step.is_pattern else "text"
    if step.verb == "replace":
        return {"replace": {name: step.match, "with": step.replacement}}
    return {step.verb: {name: step.match} if step.is_pattern else step.match}


def _fetch(fetch: Fetch) -> Data:
    return {**_usual(fetch), **({"events": list(fetch.events)} if fetch.events else {})}


def _usual(fetch: Fetch) -> dict[str, Data]:
    match fetch:
        case FetchEvery(interval, slack):
            return {"every": spell_duration(interval), **_slack(slack)}
        case FetchAt(clocks, days, slack):
            times = [clock_text(clock) for clock in clocks]
            return {"at": times[0] if len(times) == 1 else times, "days": _days(days), **_slack(slack)}
        case FetchOnDemand():
            return {"on": "demand"}
        case FetchOnChange(shortest, longest, within, until):
            data: dict[str, Data] = {"on": "change"}
            if shortest is not None and longest is not None:
                data["between"] = [spell_duration(shortest), spell_duration(longest)]
            if within is not None:
                data |= {"within": spell_duration(within), "until": until}
            return data


def _slack(slack: int | None) -> dict[str, Data]:
    return {} if slack is None else {"slack": spell_duration(slack)}


def _days(days: Days) -> list[str]:
    return days_text(days).split(", ")


def _during(openings: Iterable[Opening]) -> Data:
    return [
        {"days": _days(opening.days), "from": clock_text(opening.opens), "to": clock_text(opening.closes)}
        for opening in openings
    ]


def _notify(notify: Notify) -> Data:
    data: dict[str, Data] = {"by": _errors(notify.channels), "when": rate_text(notify.rate)}
    if notify.quiet is not None:
        data["quiet"] = [clock_text(notify.quiet.begins), clock_text(notify.quiet.ends)]
    if notify.cap is not None:
        data["max"] = {"count": notify.cap.count, "per": spell_duration(notify.cap.per)}
    if notify.wording is not None:
        data |= {name: text for name in ("title", "text") if (text := getattr(notify.wording, name))}
    return data


def _errors(channels: Iterable[Channel]) -> Data:
    return [channel_text(channel) for channel in channels]


def _history(history: History) -> Data:
    return history.changes if history.age is None else spell_duration(history.age)


def _value(value: Value) -> Data:
    return {"secret": value.text} if value.is_secret else value.text


def _login(login: Login) -> Data:
    data: dict[str, Data] = {"form": login.url, "user": _value(login.user)}
    data["password"] = {"secret": login.password}
    if login.success:
        data["success"] = {"css": login.success}
    return {**data, "via": list(login.via)} if login.via else data


def _header(header: Header) -> Data:
    return {"name": header.name, ("secret" if header.value.is_secret else "value"): header.value.text}


def _render(render: Render) -> Data:
    browser, screenshot, steps = render
    if steps:
        pictures = {"screenshot": True} if screenshot else {}
        return {"browser": True, **pictures, "steps": [step_text(step) for step in steps]}
    return f"{browser} screenshot" if screenshot else browser


def _robots(reason: str) -> Data:
    return {"ignored": reason}


def _urgency(urgency: Urgency) -> Data:
    return urgency.mode if urgency.span is None else {urgency.mode: spell_duration(urgency.span)}


def _life(life: ChangeLife) -> Data:
    match life.mode:
        case "window":
            return {"window": spell_duration(life.span)}
        case "changes":
            return {"changes": life.changes}
    return life.mode


def _space(text: str) -> Data:
    return text.replace("_", " ")


def _number(number: float) -> Data:
    text = number_text(number)
    return number if repr(number) == text else text


def _same(value: Data) -> Data:
    return value


_DATA: Mapping[str, Callable[[Any], Data]] = {
    "monitor": _monitor,
    "then": _then,
    "select": _selector,
    "exclude": _exclude,
    "transform": _transform,
    "fetch": _fetch,
    "during": _during,
    "from": point_text,
    "to": point_text,
    "for": spell_duration,
    "zone": _same,
    "notify": _notify,
    "errors": _errors,
    "compare": compare_text,
    "history": _history,
    "presentation": _space,
    "method": _same,
    "header": _header,
    "body": _value,
    "login": _login,
    "frames": _same,
    "render": _render,
    "timeout": spell_duration,
    "trust": _same,
    "proxy": _value,
    "robots": _robots,
    "importance": _number,
    "urgency": _urgency,
    "life": _life,
    "class": _same,
    "tags": list,
}

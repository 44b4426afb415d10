"""The table of all clauses, and their combination: a sentinel's own, then those of its base, of its
tags, and the defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, tzinfo
from typing import Any

from lark import Token

from tidings.language.clauses.asking import ASKING_READERS, asking
from tidings.language.clauses.clause import Clause, FaultFoundError, Node, first
from tidings.language.clauses.monitor import read_monitor
from tidings.language.clauses.notify import read_compare, read_errors, read_history, read_notify, read_presentation
from tidings.language.clauses.patterns import read_exclude, read_select, read_then, read_transform
from tidings.language.clauses.scope import read_budget, read_depth, read_scope
from tidings.language.clauses.when import read_during, read_fetch, read_point, read_span, read_zone
from tidings.language.clauses.worth import read_class, read_importance, read_life, read_tags, read_urgency, read_watch
from tidings.language.times import instant_of, local_text, read_date, resolve
from tidings.language.write.table import FIELDS, GATHERED, JOINED, NOTHING, ORDER, REACH, Reach
from tidings.model.interval import Instant
from tidings.model.watch.asking import PLAIN
from tidings.model.watch.sentinel import Clauses, Point, Scope, Sentinel, Watched
from tidings.record import replace

Values = dict[str, Any]
"""The values of clauses, by clause word in lower case (`history` for ChangeHistory)."""

READERS: Mapping[str, Callable[[Node, Any], Any]] = {
    "scope": read_scope,
    "depth": read_depth,
    "budget": read_budget,
    "then": read_then,
    "select": read_select,
    "exclude": read_exclude,
    "transform": read_transform,
    "fetch": read_fetch,
    "during": read_during,
    "from": read_point,
    "to": read_point,
    "for": read_span,
    "zone": read_zone,
    "notify": read_notify,
    "errors": read_errors,
    "compare": read_compare,
    "history": read_history,
    "presentation": read_presentation,
    **ASKING_READERS,
    "importance": read_importance,
    "urgency": read_urgency,
    "life": read_life,
    "watch": read_watch,
    "class": read_class,
    "tags": read_tags,
}
"""All clauses except Monitor, whose faults refer to the name of its sentinel."""


def read_clauses(nodes: Sequence[Node], name: Token, clause: Clause) -> Values:
    """Return the values of clauses, without faulty ones; `clause.places` gets the start of each.
    E26 refers to `name`.
    """
    values: Values = {}
    for node in nodes:
        word, is_nothing = _word(node)
        offset = first(node).start_pos or 0
        if word in clause.places and (is_nothing or word not in GATHERED | JOINED or word in _nothing(values)):
            _refuse_second(word, offset, clause)
            continue
        clause.note(word, offset)
        if is_nothing:
            values[word] = NOTHING[word]
            continue
        try:
            _add(values, word, read_monitor(node, name, clause) if word == "monitor" else READERS[word](node, clause))
        except FaultFoundError:
            continue
    for limit in ("depth", "budget"):
        if limit in values:
            values["scope"] = replace(values.get("scope", Scope(())), **{limit: values.pop(limit)})
    if "watch" in values:
        life, urgency = values.pop("watch")
        values.setdefault("life", life)
        values.setdefault("urgency", urgency)
    return values


def _add(values: Values, word: str, value: Any) -> None:
    if word in GATHERED:
        values[word] = (*values.get(word, ()), value)
    elif word in JOINED:
        values[word] = (*values.get(word, ()), *value)
    else:
        values[word] = value


def _word(node: Node) -> tuple[str, bool]:
    if node.data != "none":
        return str(node.data), False
    word = first(node).type.lower()
    return ("history" if word == "change_history" else word), True


def _nothing(values: Values) -> set[str]:
    return {word for word, value in values.items() if word in GATHERED | JOINED and value == ()}


def _refuse_second(word: str, offset: int, clause: Clause) -> None:
    name = "ChangeHistory" if word == "history" else word.capitalize()
    hint = f"the first is on line {clause.report.line(clause.places[word])}"
    clause.report.fault(offset, "E23", f"second {name} clause", hint=hint)


def in_order(values: Values) -> Clauses:
    """Return clauses as a model value, in canonical order."""
    return Clauses(tuple((word, values[word]) for word in ORDER if word in values))


def reach_of(words: Iterable[str]) -> Reach:
    """Return the highest class of some clauses."""
    return max((REACH[word] for word in words), default="A")


def with_defaults(own: Values, groups: Iterable[Clauses]) -> Values:
    """Return clauses completed by the defaults of their tags, the first tag first. To and For count
    as one.
    """
    values = dict(own)
    for group in groups:
        stated = dict(group.stated)
        if values.keys() & {"to", "for"}:
            stated.pop("to", None)
            stated.pop("for", None)
        values = {**stated, **values}
    return values


def create(name: str, pages: tuple[Watched, ...], values: Values, *, zone: tzinfo, now: Instant | None) -> Sentinel:
    """Return the sentinel of these clauses on these pages, with defaults for the others.

    Args:
        name: The sentinel's name.
        pages: Its pages.
        values: The values of its clauses.
        zone: The zone of its dates.
        now: The present (µs); None if unknown.
    """
    given = _collect_values(values, now)
    for point in ("start", "end"):
        if given.get(point) is not None:
            given[point] = resolve(given[point], zone)
    asked = asking(PLAIN, values) if ASKING_READERS.keys() & values.keys() else PLAIN
    return Sentinel(name=name, pages=pages, asking=asked, **given)


def inherit(name: str, base: Sentinel, values: Values, *, zone: tzinfo, now: Instant | None) -> Sentinel:
    """Return a sentinel made from another one: its clauses replace those of the base (sentinels
    §1.3).

    Args:
        name: The sentinel's name.
        base: The sentinel that it is made from.
        values: The values of its own clauses.
        zone: The zone of its dates.
        now: The present (µs); None if unknown.
    """
    life: dict[str, Any] = {}
    if not {"from", "to", "for"} & values.keys():
        life = {"start": Point("start", sentinel=base.name), "end": Point("end", sentinel=base.name), "span": None}
        life["correlated"] = True
    else:
        life = _keep_life(base, values, zone)
    return replace(_over(base, values, now), name=name, base=base.name, **{**life, **_life_of(values, now)})


def alter(sentinel: Sentinel, values: Values, *, zone: tzinfo, now: Instant | None) -> Sentinel:
    """Return a sentinel with these clauses replacing its own.

    Args:
        sentinel: The sentinel before.
        values: The values of the new clauses.
        zone: The zone of its dates.
        now: The present (µs); None if unknown.
    """
    life: dict[str, Any] = {}
    if {"from", "to", "for", "zone"} & values.keys() and not sentinel.correlated:
        life = _keep_life(sentinel, values, zone)
    elif {"from", "to", "for"} & values.keys():
        life = {"correlated": False, **({"span": None} if "to" in values else {})}
        life |= {"end": None} if "for" in values else {}
    return replace(_over(sentinel, values, now), **{**life, **_life_of(values, now)})


def _over(sentinel: Sentinel, values: Values, now: Instant | None) -> Sentinel:
    given = _collect_values(values, now)
    if ASKING_READERS.keys() & values.keys():
        given["asking"] = asking(sentinel.asking, values)
    return replace(sentinel, **given)


def _collect_values(values: Values, now: Instant | None) -> dict[str, Any]:
    given = {field: values[word] for word, field in FIELDS.items() if word in values}
    if "monitor" in values:
        given["monitor"], given["window"], given["lasting"] = values["monitor"]
    return {**given, **_life_of(values, now)}


def _life_of(values: Values, now: Instant | None) -> dict[str, Any]:
    life = {FIELDS[word]: values[word] for word in ("from", "to", "for") if word in values}
    if life.get("end") is not None:
        life["end"] = _fix_end(life["end"], now)
    return life


def _keep_life(base: Sentinel, values: Values, zone: tzinfo) -> dict[str, Any]:
    """Return the inherited parts of a base's life when some of it is replaced; dates are read in
    `zone`.
    """
    life: dict[str, Any] = {"correlated": False}
    if "from" not in values:
        life["start"] = resolve(base.start, zone)
    if "to" in values:
        life["span"] = None
    elif "for" in values:
        life["end"] = None
    elif base.end is not None:
        life["end"] = resolve(base.end, zone)
    return life


def _fix_end(end: Point, now: Instant | None) -> Point:
    """Return `To now + 7 day` as a fixed time, so that it does not move when it is parsed again."""
    if end.base != "now" or end.offset <= 0 or now is None:
        return end
    reading = read_date(local_text(now + end.offset, UTC, clock=True))
    return end if reading is None else Point("at", 0, reading.text, instant_of(reading, UTC))

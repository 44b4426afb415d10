"""Clauses of the YAML form as pieces of the sentence form: each may be written in the language, or
as keys and lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from yaml.nodes import Node

from tidings.language.expressions import quote
from tidings.language.yaml.nodes import (
    FormError,
    Segments,
    duration,
    fields,
    is_mapping,
    is_true,
    join,
    list_texts,
    members,
    scalar,
    string,
)
from tidings.model.watch.interest import ON_PAGE, ON_TEXTS

_SELECTORS = ("css", "xpath", "jsonpath")
_TYPED = (
    "type",
    "list",
    "number",
    "column",
    "after",
    "before",
    "pattern",
    "name",
    "form",
    "dir",
    "in",
    "of",
    "where",
    "within",
    "for at least",
)


def _monitor(node: Node) -> Segments:
    if not is_mapping(node):
        yield scalar(node)
        return
    yield from _expression(node)
    found = {str(key.value): value for key, value in node.value}
    if "within" in found:
        yield " within "
        yield duration(found["within"])
    if "for at least" in found:
        yield " for at least "
        yield scalar(found["for at least"])


def _expression(node: Node) -> Segments:
    if not is_mapping(node):
        yield "("
        yield scalar(node)
        yield ")"
        return
    found = fields(node, ("or", "and", "not", *_TYPED))
    joints = [name for name in ("or", "and", "not") if name in found]
    if joints and len(found.keys() - {"within", "for at least"}) > 1:
        raise FormError(node, "E45", f'"{joints[0]}" cannot have other keys beside it', hint="put them into its list")
    match joints:
        case ["not"]:
            yield "NOT ("
            yield from _expression(found["not"])
            yield ")"
        case [joint]:
            for number, part in enumerate(members(found[joint])):
                yield "" if number == 0 else f" {joint.upper()} "
                yield "("
                yield from _expression(part)
                yield ")"
        case _:
            yield from _change(node, found)


def _change(node: Node, found: Mapping[str, Node]) -> Segments:
    if "type" not in found:
        raise FormError(node, "E25", 'the key "type" is missing', hint="type: words")
    kind, place = scalar(found["type"])
    yield ("any change" if kind == "any" else kind), place
    yield " "
    if "list" in found:
        yield from list_texts(found["list"])
    if "number" in found:
        yield scalar(found["number"])
    if "column" in found:
        yield " column "
        yield string(found["column"])
    if "pattern" in found:
        yield string(found["pattern"])
    if "name" in found:
        yield string(found["name"])
    if "form" in found:
        yield " "
        yield scalar(found["form"])
    ends = [name for name in ("after", "before") if name in found]
    for end, word in zip(ends, (*ends,) if len(ends) < 2 else ("between", "and"), strict=True):
        yield f" {word} "
        yield string(found[end])
    if "dir" in found:
        yield " "
        yield scalar(found["dir"])
    if "in" in found:
        yield " in "
        yield from _selector(found["in"])
    if "of" in found:
        yield " of "
        yield scalar(found["of"])
    if "where" in found:
        yield " where "
        yield from _conditions(found["where"])


def _selector(node: Node) -> Segments:
    if not is_mapping(node):
        yield scalar(node)
        return
    found = fields(node, _SELECTORS)
    for language, text in found.items():
        yield f"{language} "
        yield string(text)


def _conditions(node: Node) -> Segments:
    joint = ""
    for part in members(node):
        if not is_mapping(part):
            yield joint
            yield scalar(part)
            joint = " but "
            continue
        for measure, value in fields(part, _MEASURES).items():
            by = "by " if measure in {"changes", "rises", "drops"} else ""
            yield f"{joint}{measure} {by}", value
            if measure in {*ON_TEXTS, *ON_PAGE} or (measure == "is" and not _COMPARED.match(str(value.value))):
                yield from list_texts(value)
            else:
                yield scalar(value)
            joint = " but "


_COMPARED = re.compile(r"\s*(?:[<>=!]|-?\d|between\b|below\b|above\b)")
"""The beginning of the text after `is` if it is a comparison."""
_MEASURES = (
    *("value", "is", "becomes", "lowest", "highest", "share", "inserted", "deleted", "changed"),
    *("changes", "rises", "drops", *sorted(ON_TEXTS), *sorted(ON_PAGE)),
)


def _then(node: Node) -> Segments:
    if not is_mapping(node):
        yield scalar(node)
        return
    found = fields(node, ("within", "check", "any"), needed=("within", "check"))
    yield "within "
    yield duration(found["within"])
    yield " check "
    if "any" in found:
        yield "any "
        yield scalar(found["any"])
        yield " of "
    yield from join(found["check"])


def _exclude(node: Node) -> Segments:
    if not is_mapping(node):
        yield scalar(node)
        return
    found = fields(node, (*_SELECTORS, "words", "regex"))
    for name, value in found.items():
        yield f"{name} "
        if name == "words":
            yield from list_texts(value)
        else:
            yield string(value)


def _transform(node: Node) -> Segments:
    for number, step in enumerate(members(node)):
        yield "" if number == 0 else ", "
        if not is_mapping(step):
            yield scalar(step)
            continue
        for verb, value in fields(step, ("keep", "drop", "replace")).items():
            yield f"{verb} lines " if verb != "replace" else "replace "
            yield from _match(value, replaces=verb == "replace")


def _match(node: Node, *, replaces: bool) -> Segments:
    if not is_mapping(node):
        yield string(node)
        return
    found = fields(
        node, ("text", "regex", "with") if replaces else ("text", "regex"), needed=("with",) if replaces else ()
    )
    for name in found.keys() - {"with"}:
        yield "regex " if name == "regex" else ""
        yield string(found[name])
    if replaces:
        yield " with "
        yield string(found["with"])


def _fetch(node: Node) -> Segments:
    if not is_mapping(node):
        yield scalar(node)
        return
    found = fields(node, ("every", "on", "at", "days", "slack", "between", "within", "until", "events"))
    if not found.keys() & {"every", "on", "at"}:
        yield "on demand"
    if "every" in found:
        yield "every "
        yield duration(found["every"])
    if "at" in found:
        yield "at "
        yield from join(found["at"])
        if "days" in found:
            yield " "
            yield from join(found["days"])
    if "on" in found:
        yield "on "
        yield scalar(found["on"])
    if "between" in found:
        bounds = members(found["between"])
        if len(bounds) != 2:
            raise FormError(found["between"], "E45", "between takes two durations", expected="[5 min, 1 day]")
        yield " between "
        yield duration(bounds[0])
        yield " and "
        yield duration(bounds[1])
    if "within" in found:
        yield " within "
        yield duration(found["within"])
        if "until" in found:
            yield " "
            yield scalar(found["until"])
    if "slack" in found:
        yield " slack "
        yield duration(found["slack"])
    for event in members(found["events"]) if "events" in found else ():
        yield " or on event("
        yield scalar(event)
        yield ")"


def _during(node: Node) -> Segments:
    for number, opening in enumerate(members(node)):
        yield "" if number == 0 else ", "
        if not is_mapping(opening):
            yield scalar(opening)
            continue
        found = fields(opening, ("days", "from", "to"), needed=("days", "from", "to"))
        yield from join(found["days"])
        yield " "
        yield scalar(found["from"])
        yield " to "
        yield scalar(found["to"])


def _notify(node: Node) -> Segments:
    if not is_mapping(node):
        yield scalar(node)
        return
    found = fields(node, ("by", "when", "quiet", "max", "title", "text"), needed=("by",))
    yield "by "
    yield from _channels(found["by"])
    if "when" in found:
        yield " "
        yield scalar(found["when"])
    if "quiet" in found:
        hours = members(found["quiet"])
        if len(hours) != 2:
            raise FormError(found["quiet"], "E45", "quiet takes two times of day", expected="[20:00, 07:00]")
        yield " quiet "
        yield scalar(hours[0])
        yield " to "
        yield scalar(hours[1])
    if "max" in found:
        cap = fields(found["max"], ("count", "per"), needed=("count", "per"))
        yield " max "
        yield scalar(cap["count"])
        yield " per "
        yield duration(cap["per"])
    if "title" in found or "text" in found:
        yield " with"
    if "title" in found:
        yield " title "
        yield string(found["title"])
    if "text" in found:
        yield " text"
        text, place = scalar(found["text"])
        for line in text.rstrip("\n").split("\n"):
            yield " "
            yield quote(line), place


def _errors(node: Node) -> Segments:
    yield "to "
    yield from _channels(node)


def _channels(node: Node) -> Segments:
    """Yield channels: words, `{secret: NAME}` or `{webhook: {secret: NAME}}`."""
    for number, channel in enumerate(members(node)):
        yield "" if number == 0 else ", "
        if not is_mapping(channel):
            yield scalar(channel)
            continue
        found = fields(channel, ("webhook", "secret"))
        if len(found) != 1:
            raise FormError(
                channel, "E45", "a channel has one key", expected="{secret: NAME} or {webhook: {secret: NAME}}"
            )
        if "webhook" in found and is_mapping(found["webhook"]):
            yield "webhook "
            yield from _value(found["webhook"])
        elif "webhook" in found:
            yield "webhook "
            yield scalar(found["webhook"])
        else:
            yield from _value(channel)


def _header(node: Node) -> Segments:
    found = fields(node, ("name", "value", "secret"), needed=("name",))
    yield string(found["name"])
    for name in found.keys() - {"name"}:
        yield " secret " if name == "secret" else " "
        yield string(found[name])


def _value(node: Node) -> Segments:
    if is_mapping(node):
        yield "secret "
        yield string(fields(node, ("secret",), needed=("secret",))["secret"])
    else:
        yield string(node)


def _login(node: Node) -> Segments:
    if not is_mapping(node):
        yield scalar(node)
        return
    found = fields(node, ("form", "user", "password", "success", "via"), needed=("form", "user", "password"))
    yield "form "
    yield string(found["form"])
    yield " user "
    yield from _value(found["user"])
    yield " password "
    yield from _value(found["password"])
    if "success" in found:
        yield " success "
        yield from _selector(found["success"])
    if "via" in found:
        yield " via"
        for origin in members(found["via"]):
            yield " "
            yield string(origin)


def _proxy(node: Node) -> Segments:
    if is_mapping(node):
        yield from _value(node)
    else:
        yield scalar(node)


def _render(node: Node) -> Segments:
    if not is_mapping(node):
        yield scalar(node)
        return
    found = fields(node, ("browser", "screenshot", "steps"))
    yield "browser"
    if "screenshot" in found and is_true(found["screenshot"]):
        yield " screenshot"
    if "steps" in found:
        yield " steps ("
        yield from join(found["steps"])
        yield ")"


def _robots(node: Node) -> Segments:
    if not is_mapping(node):
        yield scalar(node)
        return
    yield "ignored because "
    yield string(fields(node, ("ignored",), needed=("ignored",))["ignored"])


def _worth(node: Node) -> Segments:
    """Yield `uniform`, or a mode and its duration: {exponential: 10 min}."""
    if not is_mapping(node):
        yield scalar(node)
        return
    for mode, value in fields(node, ("exponential", "window")).items():
        yield f"{mode} "
        yield duration(value)


def _life(node: Node) -> Segments:
    if not is_mapping(node):
        yield scalar(node)
        return
    for mode, value in fields(node, ("window", "changes")).items():
        if mode == "window":
            yield duration(value)
        else:
            yield scalar(value)
            yield " changes"


def _text(node: Node) -> Segments:
    yield string(node)


def _as_written(node: Node) -> Segments:
    yield scalar(node)


def _duration(node: Node) -> Segments:
    yield duration(node)


def _watch(node: Node) -> Segments:
    yield "as "
    yield scalar(node)


def _every(node: Node) -> Segments:
    yield "every "
    yield duration(node)


def _at(node: Node) -> Segments:
    yield "at "
    yield from join(node)


def _css(node: Node) -> Segments:
    yield "css "
    yield string(node)


def _xpath(node: Node) -> Segments:
    yield "xpath "
    yield string(node)


def _jsonpath(node: Node) -> Segments:
    yield "jsonpath "
    yield string(node)


def _ignore(node: Node) -> Segments:
    """Yield what to ignore: a text that begins like a selector of a class, an id or an attribute is
    one.
    """
    if is_mapping(node):
        yield from _exclude(node)
        return
    text, _ = scalar(node)
    yield "css " if text[:1] in {".", "#", "["} else ""
    yield string(node)


def _scope(node: Node) -> Segments:
    for number, pattern in enumerate(members(node)):
        yield "" if number == 0 else ", "
        yield string(pattern)


SYNONYMS: Mapping[str, tuple[str, Callable[[Node], Segments]]] = {
    "every": ("fetch", _every),
    "at": ("fetch", _at),
    "css": ("select", _css),
    "xpath": ("select", _xpath),
    "jsonpath": ("select", _jsonpath),
    "ignore": ("exclude", _ignore),
    "until": ("to", _as_written),
    "tag": ("tags", join),
}
"""Synonyms of clause keys: the clause word, and the reader of its value."""

BODIES: Mapping[str, Callable[[Node], Segments]] = {
    "scope": _scope,
    "depth": _as_written,
    "budget": _as_written,
    "monitor": _monitor,
    "then": _then,
    "select": _selector,
    "exclude": _exclude,
    "transform": _transform,
    "fetch": _fetch,
    "during": _during,
    "from": _as_written,
    "to": _as_written,
    "for": _duration,
    "zone": _as_written,
    "notify": _notify,
    "errors": _errors,
    "compare": _as_written,
    "history": _as_written,
    "presentation": _as_written,
    "method": _text,
    "header": _header,
    "body": _value,
    "login": _login,
    "frames": _as_written,
    "render": _render,
    "timeout": _duration,
    "trust": _text,
    "proxy": _proxy,
    "robots": _robots,
    "importance": _as_written,
    "urgency": _worth,
    "life": _life,
    "watch": _watch,
    "class": _as_written,
    "tags": join,
}
"""The reader of each clause's value."""

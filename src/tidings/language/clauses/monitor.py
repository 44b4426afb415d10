"""The Monitor clause: change types joined by AND, OR and NOT."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, cast

from lark import Token, Tree

from tidings.language.clauses.asking import check_header_name
from tidings.language.clauses.clause import (
    Clause,
    Node,
    check_page_name,
    first,
    last,
    read_count,
    read_list,
    read_positive_duration,
    word_types,
)
from tidings.language.clauses.conditions import read_conditions
from tidings.language.clauses.patterns import read_pattern, read_selector
from tidings.model.interval import Duration
from tidings.model.observed.outcome import SECRET_HEADERS
from tidings.model.watch.collection import LISTING
from tidings.model.watch.interest import FORMS, AllOf, AnyOf, Expression, Interest, Not
from tidings.model.watch.sentinel import Lasting

DEEPEST = 50
"""The deepest nesting of parts."""

_NEVER_UPDATED = frozenset({"links", "images", "keywords", "regex"})
_ONLY_UPDATED = frozenset({"price", "availability"})
_AT_EACH_LOOK = frozenset(
    {"age", "date", "expires", "x-request-id", "x-amz-request-id", "cf-ray", "x-timer", "x-runtime", "server-timing"}
)
"""Headers that differ in every answer, independent of the page."""


Meaning = tuple[Expression, Duration | None, Lasting | None]
"""The value of a Monitor clause: its expression, its window, and how long a change must last."""


def read_monitor(node: Node, sentinel: Token, clause: Clause) -> Meaning:
    """Return the value of a Monitor clause; E26 refers to `sentinel`, the name.

    Raises `FaultFoundError`.
    """
    word, expression, *rest = cast("list[Any]", node.children)
    meaning = _expression(expression, clause, 0)
    if never_fires(meaning):
        message = "a sentinel that consists only of NOT can never report anything"
        raise clause.fail(sentinel.start_pos, "E26", message, hint="Monitor any change AND NOT images")
    within = None
    if isinstance(rest[0] if rest else None, Token):
        clause.note("within", rest[0].start_pos)
        within = read_positive_duration(rest[1], clause)
    lasting = _lasting(rest[-1], clause) if rest and rest[-1].data == "lasting" else None
    if joins_plain_types(meaning):
        hint = "to be notified of either, write OR or a comma"
        clause.warn(word.start_pos, "W8", "reported only when both change", hint=hint)
    return meaning, within, lasting


def _lasting(node: Node, clause: Clause) -> Lasting:
    clause.note("lasting", first(node).start_pos)
    if "NUMBER" not in word_types(node):
        return Lasting(duration=read_positive_duration(cast("Node", node.children[1]), clause))
    number = next(token for token in node.children if isinstance(token, Token) and token.type == "NUMBER")
    return Lasting(checks=read_count(number, clause, "a number of checks"))


def never_fires(expression: Expression) -> bool:
    """Return whether an expression has a NOT that stands alone: at the top, in an OR, or in an AND
    without a positive part.
    """
    match expression:
        case Interest():
            return False
        case Not():
            return True
        case AnyOf(parts):
            return any(never_fires(part) for part in parts)
        case AllOf(parts):
            negated = [part.part for part in parts if isinstance(part, Not)]
            positive = [part for part in parts if not isinstance(part, Not)]
            return not positive or any(never_fires(part) for part in (*positive, *negated))


def joins_plain_types(expression: Expression) -> bool:
    """Return whether an AND asks for two changes of one page at once, without a condition that
    makes that plausible (W8).
    """
    match expression:
        case Interest():
            return False
        case Not(part):
            return joins_plain_types(part)
        case AnyOf(parts):
            return any(joins_plain_types(part) for part in parts)
        case AllOf(parts):
            positive = [part for part in parts if not isinstance(part, Not)]
            return sum(map(_is_plain, positive)) > 1 or any(joins_plain_types(part) for part in parts)


def _is_plain(expression: Expression) -> bool:
    match expression:
        case Interest():
            return expression.of is None and not expression.where
        case Not():
            return False
        case AnyOf(parts) | AllOf(parts):
            return all(_is_plain(part) for part in parts)


def _expression(node: Node, clause: Clause, depth: int) -> Expression:
    if depth > DEEPEST:
        raise clause.fail(
            first(node).start_pos, "E12", "parts are nested too deeply", expected=f"at most {DEEPEST} levels"
        )
    if node.data == "change":
        return _change(node, clause)
    parts = tuple(_expression(child, clause, depth + 1) for child in node.children if isinstance(child, Tree))
    if node.data == "not":
        return parts[0].part if isinstance(parts[0], Not) else Not(parts[0])
    return AnyOf(parts) if node.data == "any_of" else AllOf(parts)


def _change(node: Node, clause: Clause) -> Interest:
    kind, *details = cast("list[Node]", node.children)
    if kind.data == "direction":  # new links
        kind, details = details[0], [kind, *details[1:]]
    given: dict[str, Any] = {}
    if kind.data == "pages":
        kind, given["of"] = Tree("links", kind.children), _listing(first(kind), clause)
    if kind.data == "selector":  # any change in this part
        given["selector"] = read_selector(kind, clause)
        kind = Tree("any", kind.children)
    elif kind.data != "header":  # which is also a clause
        clause.note(str(kind.data), first(kind).start_pos)
    if kind.data in _ARGUMENTS:
        given = dict(_ARGUMENTS[kind.data](kind, clause))
    for detail in details:
        part = str(detail.data)
        clause.note(part, first(detail).start_pos)
        match part:
            case "form":
                given["form"] = _form(str(kind.data), cast("Token", detail.children[0]), clause)
            case "direction":
                given["direction"] = cast("Token", detail.children[0]).type.lower()
            case "in":
                given["selector"] = read_selector(cast("Node", detail.children[1]), clause)
            case "of":
                given["of"] = check_page_name(cast("Token", detail.children[1]), clause)
            case _:
                given["where"] = read_conditions(str(kind.data), detail, clause)
    if given.get("direction") == "updated" and kind.data in _NEVER_UPDATED:
        message = f"{kind.data} are inserted or deleted, never updated: this condition never holds"
        hint = "write inserted or deleted, or neither to be notified of both"
        clause.warn(first(kind).start_pos, "W13", message, hint=hint)
    if kind.data in _ONLY_UPDATED and given.get("direction") in {"inserted", "deleted"}:
        message = f"{kind.data} is updated, never {given['direction']}: this condition never holds"
        hint = "write updated, or nothing; a page that stops giving one is reported"
        clause.warn(first(kind).start_pos, "W13", message, hint=hint)
    return Interest(str(kind.data), **given)


def _listing(word: Token, clause: Clause) -> str:
    """Return the name of a collection's list of pages; raises `FaultFoundError` (E27) where there
    is none.
    """
    if clause.names is not None and LISTING not in clause.names:
        message = "only a collection has pages that appear and disappear"
        hint = "Create Collection NAME Using URL, or Monitor links"
        raise clause.fail(word.start_pos, "E27", message, hint=hint)
    return LISTING


def _form(kind: str, word: Token, clause: Clause) -> str:
    """Return the form in which things are compared; E28 for one that the change type lacks."""
    form = word.lower()
    if form not in FORMS.get(kind, ()):
        fitting = " or ".join(name for name, forms in FORMS.items() if form in forms)
        raise clause.fail(word.start_pos, "E28", f'"{word}" is a form of {fitting}', hint=f"leave out {form}")
    return form


def _terms(node: Node, clause: Clause) -> Mapping[str, Any]:
    """Return the keywords or phrases, without duplicates, in order; W3 for suspicious ones."""
    items, value = read_list(node), last(node)
    if not all(items):
        noun = "keyword" if node.data == "keywords" else "phrase"
        raise clause.fail(value.start_pos, "E07", f"empty {noun} in the list", hint="remove the extra comma")
    terms = tuple(dict.fromkeys(items))
    if not clause.is_stored:
        for term in terms:
            _doubt(term, value.start_pos, clause)
    return {"terms": terms}


def _doubt(term: str, offset: int | None, clause: Clause) -> None:
    from tidings.document.text.words import tokens_of  # stored texts are read without it

    words = tokens_of(term)
    if not words:
        message = f'"{term}" has no letter or digit and can never be found'
        clause.warn(offset, "W3", message, hint="write a word of the page")
    elif len(words) == 1 and words[0] != unicodedata.normalize("NFC", term):
        message = f'"{term}" is searched for as the word "{words[0]}"'
        clause.warn(offset, "W3", message, hint="punctuation separates words and is not compared")


def _ordinal(node: Node, clause: Clause) -> Mapping[str, Any]:
    number = last(node)
    return {"ordinal": read_count(number, clause, str(node.data))} if number.type == "NUMBER" else {}


def _pattern(node: Node, clause: Clause) -> Mapping[str, Any]:
    return {"pattern": read_pattern(last(node), clause)}


def _header(node: Node, clause: Clause) -> Mapping[str, Any]:
    token = last(node)
    name = check_header_name(token, clause)
    if name.lower() in SECRET_HEADERS:
        message = f"{name} may contain a secret, and is never stored"
        raise clause.fail(token.start_pos, "E41", message, hint='for example header "Last-Modified"')
    if name.lower() in _AT_EACH_LOOK and not clause.is_stored:
        clause.warn(token.start_pos, "W13", f"{name} differs at each check: this reports the checks, not the page")
    return {"header": name}


_ARGUMENTS: Mapping[str, Callable[[Node, Clause], Mapping[str, Any]]] = {
    "keywords": _terms,
    "phrases": _terms,
    "table": _ordinal,
    "list": _ordinal,
    "regex": _pattern,
    "header": _header,
}

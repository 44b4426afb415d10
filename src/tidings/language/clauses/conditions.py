"""The conditions of `where`: on numbers, on shares and counts, on texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from lark import Token, Tree

from tidings.language.clauses.clause import (
    Clause,
    Node,
    first,
    last,
    parts_of,
    read_positive_duration,
    unquote,
    word_types,
)
from tidings.language.clauses.patterns import read_pattern
from tidings.model.watch.interest import Condition, Measure, Relation

LARGEST = 1e15
"""Above it numbers of a page could not be distinguished."""

_YIELDS: Mapping[str, str] = {
    "any": "any change yields text",
    "words": "words yields text",
    "links": "links yields addresses",
    "images": "images yields addresses",
    "keywords": "keywords yields text",
    "phrases": "phrase yields text",
    "table": "table yields cells",
    "list": "list yields entries",
    "regex": "regex yields text",
    "number": "number yields a number",
    "items": "items yields entries",
    "status": "status yields the state of the page",
    "header": "header yields the value of a header",
    "price": "price yields a number",
    "availability": "availability yields a state",
}
_NUMBERS = frozenset({"number", "price"})
"""Change types with a number."""
_STATES = frozenset({"status", "header", "availability"})
"""Change types with one text."""
_OF_NUMBERS = frozenset({"VALUE", "BECOMES", "IS", "LOWEST", "HIGHEST", "CHANGES", "RISES", "DROPS"})
_EXTREMES = frozenset({"LOWEST", "HIGHEST"})
_KNOWN_AGAIN = frozenset({"words", "links", "images", "table", "list", "regex", "items"})
"""Change types whose things can be recognized if an earlier version had them."""
_ANSWERS = frozenset({"status", "header"})
"""Change types on the answer to a request."""
_BARE = frozenset({"BELOW", "ABOVE", "RELATION", "BETWEEN"})
"""Words that begin a comparison."""
_RELATIONS: Mapping[str, str] = {"==": "=", "equals": "=", "exactly": "=", "at least": ">=", "at most": "<="}
_MEASURES: Mapping[str, Measure] = {
    "VALUE": "value",
    "BECOMES": "becomes",
    "IS": "is",
    "LOWEST": "lowest",
    "HIGHEST": "highest",
    "SHARE": "share",
    "INSERTED": "inserted",
    "DELETED": "deleted",
    "CHANGED": "changed",
    "CHANGES": "changes",
    "RISES": "rises",
    "DROPS": "drops",
}
_OF_COUNTS = frozenset({"SHARE", "INSERTED", "DELETED", "CHANGED"})


def read_conditions(kind: str, where: Node, clause: Clause) -> tuple[Condition, ...]:
    """Return the conditions on a change of this type. Raise `FaultFoundError` (E28) for one that
    does not apply to it.
    """
    return tuple(_condition(kind, node, clause) for node in where.children if isinstance(node, Tree))


def _condition(kind: str, node: Node, clause: Clause) -> Condition:
    word, parts, types = first(node), parts_of(node), word_types(node)
    if "PAGE" in types:
        if kind in _ANSWERS:
            message = f"{kind} is not text of the page, and is checked without reading the page"
            raise clause.fail(word.start_pos, "E28", message, hint=f"leave out page …, or monitor {kind} by itself")
        return Condition("page lacks" if "LACKS" in types else "page has", text=_read_search_text(node, clause))
    if "NEVER_SEEN" in types:
        return _never_seen(kind, word, clause)
    if extreme := _EXTREMES.intersection(types):
        return _extreme(next(iter(extreme)), kind, node, clause)
    said = "VALUE" if word.type in _BARE else word.type
    if "STRING" in types and word.type in {"BECOMES", "IS"}:
        if kind == "availability" and word.type == "IS":
            return Condition("is", text=_read_search_text(node, clause))
        said = "CONTAINS"
    _check_fits(said, word, kind, clause)
    if said == "CONTAINS":
        return Condition("contains", text=_read_search_text(node, clause))
    if said == "MATCHES":
        return Condition("matches", text=read_pattern(last(node), clause))
    if said in {"CHANGES", "RISES", "DROPS"} and "NUMBER" in types:
        number = _number(said, node, clause)
        return Condition(_MEASURES[said], ">" if "MORE" in types else ">=", number, "PERCENT" in types)
    measure = "becomes" if said in {"RISES", "DROPS"} else _MEASURES[said]
    return _compare(measure, parts.get("comparison", node), clause)


def _never_seen(kind: str, word: Token, clause: Clause) -> Condition:
    if kind not in _KNOWN_AGAIN:
        message = f"{kind} has no entries that can be recognised"
        if kind == "any":
            message = "any change covers words, links and images"
        hint = "Monitor all words never seen before, or links, images, items, table, list, regex"
        raise clause.fail(word.start_pos, "E28", message, hint=hint)
    return Condition("never seen")


def _extreme(said: str, kind: str, node: Node, clause: Clause) -> Condition:
    """Return the condition that a number is the lowest or highest of a page's stored ones."""
    word = first(node)
    if kind == "header":
        message = f'"{word}" needs earlier values, and a header has none'
        raise clause.fail(word.start_pos, "E28", message, hint="header … where value < 100")
    _check_fits(said, word, kind, clause)
    duration = parts_of(node).get("duration")
    return Condition(_MEASURES[said], span=0 if duration is None else read_positive_duration(duration, clause))


def _compare(measure: Measure, node: Node, clause: Clause) -> Condition:
    """Return a condition with numbers in a comparison."""
    amounts = [child for child in node.children if isinstance(child, Tree) and child.data == "amount"]
    numbers = [_number(measure.upper(), amount, clause) for amount in amounts]
    is_percent = any("PERCENT" in word_types(amount) for amount in amounts)
    if len(numbers) > 1:
        low, high = sorted(numbers)
        return Condition(measure, "between", low, is_percent, upper=high)
    said = next((child for child in node.children if isinstance(child, Token) and child.type in _BARE), None)
    relation = "=" if said is None else _RELATIONS.get(" ".join(said.lower().split()), str(said))
    relation = {"BELOW": "<", "ABOVE": ">"}.get("" if said is None else said.type, relation)
    return Condition(measure, cast("Relation", relation), numbers[0], is_percent)


def _number(measure: str, node: Node, clause: Clause) -> float:
    """Return the signed number of a node. Raise `FaultFoundError` for one that the measure cannot
    have.
    """
    tokens = {token.type: token for token in node.children if isinstance(token, Token)}
    number = float(tokens["NUMBER"]) * (-1 if tokens.get("SIGN") == "-" else 1)
    _check_number(measure, tokens["NUMBER"], number, clause, is_percent="PERCENT" in tokens)
    return number


def _check_fits(said: str, word: Token, name: str, clause: Clause) -> None:
    if said in _OF_NUMBERS:
        if name not in _NUMBERS | {"header"}:
            hint = 'Monitor number in css ".price" where value < 100'
            if name == "any":  # only a part was named
                hint = f"write number in before the part, e.g. {hint}"
            raise clause.fail(word.start_pos, "E28", f'"{word}" needs a number, but {_YIELDS[name]}', hint=hint)
    elif said in _OF_COUNTS:
        if name in _NUMBERS | _STATES:
            hint = "write value, becomes, or changes by" if name in _NUMBERS else "write matches or contains"
            raise clause.fail(word.start_pos, "E28", f'"{word}" counts, but {_YIELDS[name]}', hint=hint)
    elif name in _NUMBERS:
        hint = "write value = 5, or Monitor all words"
        raise clause.fail(word.start_pos, "E28", f'"{word}" needs text, but {_YIELDS[name]}', hint=hint)


def _check_number(measure: str, token: Token, number: float, clause: Clause, *, is_percent: bool) -> None:
    if abs(number) > LARGEST:
        raise clause.fail(token.start_pos, "E16", f"{token[:20]}… is too large", expected="a number up to 1e15")
    if measure in {"VALUE", "BECOMES", "IS"} and is_percent:
        message = f'"{measure.lower()}" is compared with the number as the page writes it'
        raise clause.fail(token.start_pos, "E28", message, hint=f"leave % out: {measure.lower()} … {token}")
    if measure in _OF_COUNTS and number < 0:
        raise clause.fail(token.start_pos, "E16", f'"{measure.lower()}" is never below 0', expected="a number from 0")
    if measure == "SHARE" and not 0 <= number <= (100 if is_percent else 1):
        hint = "" if is_percent else f"write {token}%"
        message = f"a share of {token}{'%' if is_percent else ''} makes no sense"
        expected = "0% to 100%" if is_percent else "0 to 1, or a percentage"
        raise clause.fail(token.start_pos, "E16", message, expected=expected, hint=hint)


def _read_search_text(node: Node, clause: Clause) -> str:
    text = " ".join(unquote(last(node)).split())
    if not text:
        raise clause.fail(last(node).start_pos, "E07", "there is nothing to search for", hint='contains "oil"')
    return text

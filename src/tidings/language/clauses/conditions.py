"""What `where` asks of a change: conditions on numbers, on shares and counts, on texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from lark import Token, Tree

from tidings.language.clauses.clause import Clause, Node, first, last, unquoted, word_types
from tidings.language.clauses.patterns import read_pattern
from tidings.model.watch.interest import Condition, Measure, Relation

LARGEST = 1e15
"""Above it numbers of a page could not be told apart."""

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
"""Change types that yield a number."""
_STATES = frozenset({"status", "header", "availability"})
"""Change types that yield one text."""
_OF_NUMBERS = frozenset({"VALUE", "BECOMES", "CHANGES", "RISES", "DROPS"})
_OF_COUNTS = frozenset({"SHARE", "INSERTED", "DELETED", "CHANGED"})


def read_conditions(kind: Node, where: Node, clause: Clause) -> tuple[Condition, ...]:
    """Return the conditions that a change of this type must meet; raises `FaultFoundError` (E28) for one that it cannot."""
    return tuple(_condition(kind, node, clause) for node in where.children if isinstance(node, Tree))


def read_short_condition(kind: Node, node: Node, clause: Clause) -> Condition:
    """Return what `below 100`, `< 100` or `containing "oil"` asks of a change: `where value < 100`, `where contains "oil"`."""
    word = first(node)
    measure = "contains" if word.type == "CONTAINING" else "value"
    _check_fits(Token(measure.upper(), word, start_pos=word.start_pos), kind, clause)
    if measure == "contains":
        return Condition("contains", text=_searched(node, clause))
    tokens = {token.type: token for token in node.children if isinstance(token, Token)}
    number = float(tokens["NUMBER"]) * (-1 if tokens.get("SIGN") == "-" else 1)
    _check_number(Token("VALUE", word), tokens["NUMBER"], number, clause, is_percent=False)
    relation = {"BELOW": "<", "ABOVE": ">"}.get(word.type, str(word))
    return Condition("value", cast("Relation", relation), number)


def _condition(kind: Node, node: Node, clause: Clause) -> Condition:
    word = first(node)
    _check_fits(word, kind, clause)
    measure = cast("Measure", word.lower())
    types = word_types(node)
    if word.type == "CONTAINS":
        return Condition(measure, text=_searched(node, clause))
    if word.type == "MATCHES":
        return Condition(measure, text=read_pattern(last(node), clause))
    is_percent = "PERCENT" in types
    tokens = {token.type: token for token in node.children if isinstance(token, Token)}
    number = float(tokens["NUMBER"]) * (-1 if tokens.get("SIGN") == "-" else 1)
    _check_number(word, tokens["NUMBER"], number, clause, is_percent=is_percent)
    relation = tokens.get("RELATION", ">" if "MORE" in types else ">=")
    return Condition(measure, cast("Relation", str(relation)), number, is_percent)


def _check_fits(word: Token, kind: Node, clause: Clause) -> None:
    name = str(kind.data)
    if word.type in _OF_NUMBERS:
        if name not in _NUMBERS | {"header"}:
            hint = 'Monitor number in css ".price" where value < 100'
            raise clause.fail(word.start_pos, "E28", f'"{word}" needs a number, but {_YIELDS[name]}', hint=hint)
    elif word.type in _OF_COUNTS:
        if name in _NUMBERS | _STATES:
            hint = "write value, becomes, or changes by" if name in _NUMBERS else "write matches or contains"
            raise clause.fail(word.start_pos, "E28", f'"{word}" counts, but {_YIELDS[name]}', hint=hint)
    elif name in _NUMBERS:
        hint = "write value = 5, or Monitor all words"
        raise clause.fail(word.start_pos, "E28", f'"{word}" needs text, but {_YIELDS[name]}', hint=hint)


def _check_number(word: Token, token: Token, number: float, clause: Clause, *, is_percent: bool) -> None:
    if abs(number) > LARGEST:
        raise clause.fail(token.start_pos, "E16", f"{token[:20]}… is too large", expected="a number up to 1e15")
    if word.type in {"VALUE", "BECOMES"} and is_percent:
        message = f'"{word}" is compared with the number as the page writes it'
        raise clause.fail(token.start_pos, "E28", message, hint=f"leave % out: {word} … {token}")
    if word.type in _OF_COUNTS and number < 0:
        raise clause.fail(token.start_pos, "E16", f'"{word}" is never below 0', expected="a number from 0")
    if word.type == "SHARE" and not 0 <= number <= (100 if is_percent else 1):
        hint = "" if is_percent else f"write {token}%"
        message = f"a share of {token}{'%' if is_percent else ''} makes no sense"
        expected = "0% to 100%" if is_percent else "0 to 1, or a percentage"
        raise clause.fail(token.start_pos, "E16", message, expected=expected, hint=hint)


def _searched(node: Node, clause: Clause) -> str:
    text = " ".join(unquoted(last(node)).split())
    if not text:
        raise clause.fail(last(node).start_pos, "E07", "there is nothing to look for", hint='contains "oil"')
    return text

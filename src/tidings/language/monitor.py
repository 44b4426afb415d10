"""What the Monitor clause means: change types joined by AND, OR and NOT."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from lark import Token, Tree

from tidings.document.words import tokens_of
from tidings.language.later import LATER
from tidings.language.problems import Report
from tidings.model.sentinel import AllOf, AnyOf, Direction, Expression, Interest, Not

Node = Tree[Token]

DEEPEST = 50
"""Parts may be nested this deep."""
LONGEST_PATTERN = 10_000

_KINDS = frozenset({"any", "words", "links", "images", "keywords", "phrases"})
_NEVER_UPDATED = frozenset({"links", "images", "keywords"})
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
    "items": "items yields entries",
    "status": "status yields text",
}
_OF_NUMBERS = frozenset({"VALUE", "BECOMES", "CHANGES", "RISES", "DROPS"})


class FaultFoundError(Exception):
    """The clause has a fault; it is in the report already. Never leaves the language."""


@dataclass(frozen=True, slots=True)
class Clause:
    """What a clause needs to be read: where faults go, and the names of the sentinel's pages."""

    report: Report
    names: tuple[str, ...]

    def fail(
        self, offset: int | None, code: str, message: str, *, expected: str = "", hint: str = ""
    ) -> FaultFoundError:
        """Note a fault and return the exception that ends the clause."""
        self.report.fault(offset or 0, code, message, expected=expected, hint=hint)
        return FaultFoundError(code)

    def later(self, offset: int | None, what: str) -> FaultFoundError:
        """Note that a part, called as its row says, is understood but not supported yet (E40)."""
        row = LATER[what]
        return self.fail(offset, "E40", f'"{row.word}" is understood but not supported yet', hint=row.hint)


def read_monitor(node: Node, sentinel: Token, clause: Clause) -> Expression:
    """Return the expression of a Monitor clause; `sentinel` is the name that E26 points at. Raises `FaultFoundError`."""
    word, expression, *window = node.children
    meaning = _expression(cast("Node", expression), clause, 0)
    if never_fires(meaning):
        message = "a sentinel that is only NOT can never be triggered"
        raise clause.fail(sentinel.start_pos, "E26", message, hint="Monitor any change AND NOT images")
    if window:
        raise clause.later(cast("Token", window[0]).start_pos, "within")
    if joins_positives(meaning):
        offset = cast("Token", word).start_pos or 0
        message = "reported only when both change"
        clause.report.warn(offset, "W8", message, hint="write OR, or a comma, to hear of either")
    return meaning


def never_fires(expression: Expression) -> bool:
    """Say whether an expression has a NOT that stands alone: at the top, in an OR, or in an AND without a positive part."""
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


def joins_positives(expression: Expression) -> bool:
    """Say whether an AND asks for two changes at once (W8)."""
    match expression:
        case Interest():
            return False
        case Not(part):
            return joins_positives(part)
        case AnyOf(parts):
            return any(joins_positives(part) for part in parts)
        case AllOf(parts):
            positive = [part for part in parts if not isinstance(part, Not)]
            return len(positive) > 1 or any(joins_positives(part) for part in parts)


def _expression(node: Node, clause: Clause, depth: int) -> Expression:
    if depth > DEEPEST:
        raise clause.fail(_offset(node), "E12", "parts are nested too deeply", expected=f"at most {DEEPEST} levels")
    if node.data == "change":
        return _change(node, clause)
    parts = tuple(_expression(child, clause, depth + 1) for child in node.children if isinstance(child, Tree))
    if node.data == "not":
        return parts[0].part if isinstance(parts[0], Not) else Not(parts[0])
    return AnyOf(parts) if node.data == "any_of" else AllOf(parts)


def _change(node: Node, clause: Clause) -> Interest:
    kind, *details = cast("list[Node]", node.children)
    if check := _CHECKS.get(kind.data):
        check(kind, clause)
    direction: Direction | None = None
    for detail in details:
        if detail.data == "direction":
            direction = cast("Direction", str(detail.children[0]).lower())
        elif detail.data == "of":
            check_page_name(cast("Token", detail.children[1]), clause)
        elif detail.data == "where":
            _check_conditions(kind, detail, clause)
    if kind.data not in _KINDS:
        raise clause.later(_offset(kind), kind.data)
    for detail in details:
        if detail.data != "direction":
            raise clause.later(_offset(detail), detail.data)
    if direction == "updated" and kind.data in _NEVER_UPDATED:
        message = f"{kind.data} are inserted or deleted, never updated: this is never told"
        clause.report.warn(
            _offset(kind) or 0, "W13", message, hint="write inserted or deleted, or nothing to hear of both"
        )
    return Interest(kind.data, terms=_terms(kind, clause), direction=direction)


def _check_list(node: Node, clause: Clause) -> None:
    noun = "keyword" if node.data == "keywords" else "phrase"
    if not all(_listed(node)):
        value = cast("Token", node.children[-1])
        raise clause.fail(value.start_pos, "E07", f"empty {noun} in the list", hint="remove the extra comma")


def _listed(node: Node) -> list[str]:
    """Return what stands in a list, white space collapsed."""
    value = cast("Token", node.children[-1])
    items = value[1:-1].split(",") if value.type == "ANGLE" else [unquoted(value)]
    return [" ".join(item.split()) for item in items]


def _terms(node: Node, clause: Clause) -> tuple[str, ...]:
    """Return the keywords or phrases, each once, in the order given; those that are not what they look like are doubted (W3)."""
    if node.data not in {"keywords", "phrases"}:
        return ()
    terms = tuple(dict.fromkeys(_listed(node)))
    offset = cast("Token", node.children[-1]).start_pos or 0
    for term in terms:
        words = tokens_of(term)
        if not words:
            message = f'"{term}" has no letter or digit and will never be found'
            clause.report.warn(offset, "W3", message, hint="write a word of the page")
        elif len(words) == 1 and words[0] != unicodedata.normalize("NFC", term):
            message = f'"{term}" is looked for as the word "{words[0]}"'
            clause.report.warn(offset, "W3", message, hint="punctuation separates words and is not compared")
    return terms


def _check_pattern(node: Node, clause: Clause) -> None:
    value = cast("Token", node.children[-1])
    pattern = unquoted(value) if value.type == "STRING" else value[1:-1]
    if len(pattern) > LONGEST_PATTERN:
        raise clause.fail(value.start_pos, "E11", f"bad pattern: longer than {LONGEST_PATTERN} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise clause.fail(value.start_pos, "E11", f"bad pattern: {error}") from error


_CHECKS: Mapping[str, Callable[[Node, Clause], None]] = {
    "keywords": _check_list,
    "phrases": _check_list,
    "regex": _check_pattern,
}


def check_page_name(name: Token, clause: Clause) -> None:
    """Raise `FaultFoundError` (E27) unless the sentinel has a page of that name."""
    if name not in clause.names:
        known = f"pages: {', '.join(clause.names)}" if clause.names else f"name a page: Using https://… As {name}"
        raise clause.fail(name.start_pos, "E27", f'no page is called "{name}" here', hint=known)


def _check_conditions(kind: Node, where: Node, clause: Clause) -> None:
    for condition in where.children:
        if not isinstance(condition, Tree):
            continue
        word = cast("Token", condition.children[0])
        if word.type in _OF_NUMBERS and kind.data != "number":
            message = f'"{word}" needs a number, but {_YIELDS[kind.data]}'
            raise clause.fail(word.start_pos, "E28", message, hint='Monitor number in css ".price" where value < 100')


def unquoted(text: str) -> str:
    r"""Return what a STRING says: only `\"` and `\\` are escapes."""
    return re.sub(r'\\(["\\])', r"\1", text[1:-1])


def _offset(node: Node) -> int | None:
    first: Node | Token = node
    while isinstance(first, Tree):
        first = first.children[0]
    return first.start_pos

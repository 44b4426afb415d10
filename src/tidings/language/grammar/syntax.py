"""From text to trees: the grammar, and recovery from syntax faults."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import islice
from typing import Any, cast

from lark import Lark, Token, Tree, UnexpectedInput
from lark.utils import TextSlice

from tidings.language.grammar.faults import Fault, explain
from tidings.language.grammar.pieces import Piece, lexemes, split_text
from tidings.language.grammar.tables import grammar
from tidings.language.problems import MOST, ProblemReport, closest, either
from tidings.language.words import STATEMENTS
from tidings.record import dataclass

FEWEST = 8
"""The least number of statements for which this pays off."""
_STATEMENT = re.compile(
    r"""\s* (?P<whole> Create \s+ Sentinel \s+ (?P<name> [A-Za-z_](?:\w|-(?!-))* ) \s+ Using \s+ (?P<url> https?://[^\s"<>,;]+ )
        (?P<clauses> (?: \s (?: (?! \bCreate\s+(?:Sentinel|Collection)\b | -- ) [^;"<] )* )? ) )
        (?: (?: ; (?=\s|\Z) )+ \s* | \Z | (?=Create\s) )""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Span:
    """A raw statement, from `start` to `end`: its name, its address, and its clauses, which begin
    at `clauses_start`.
    """

    name: Token
    url: Token
    clauses: str
    start: int
    clauses_start: int
    end: int


def spans(text: str) -> list[Span] | None:
    """Return the raw statements of a text; None if it is not of that form, or if fewer than half of
    them share clauses.
    """
    found: list[Span] = []
    at = 0
    while at < len(text):
        match = _STATEMENT.match(text, at)
        if match is None:
            return None
        name = Token("NAME", match["name"], start_pos=match.start("name"))
        url = Token("URL", match["url"], start_pos=match.start("url"))
        clauses = match["clauses"].rstrip()
        found.append(Span(name, url, clauses, match.start("whole"), match.start("clauses"), match.end("whole")))
        at = match.end()
    return found if len(found) >= FEWEST and 2 * len({span.clauses for span in found}) <= len(found) else None


Node = Tree[Token]


@dataclass(frozen=True, slots=True)
class Compound:
    """A statement with clauses: Create, Alter or Defaults, by `head`; `whole` is False if a part
    could not be read.
    """

    head: Node
    clauses: tuple[Node, ...]
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Order:
    """Enable, Disable, Drop or Confirm of a name."""

    word: Token
    name: Token
    further: Token | Node | None = None
    """`fresh`, or how long a sentinel is disabled"""


@dataclass(frozen=True, slots=True)
class Unclear:
    """A Create statement of this name with an unreadable head."""

    name: str


@dataclass(frozen=True, slots=True)
class EventPart:
    """A Create Event or Drop Event statement."""

    node: Node


@dataclass(frozen=True, slots=True)
class Alike:
    """A Create statement with the clauses of `model` for another page, `shift` further on in the
    text. `read` parses it by itself.
    """

    span: Span
    model: Compound
    shift: int
    read: Callable[[], Compound]


Part = Compound | Order | Unclear | EventPart | Alike

_HEADS = {"create": "head", "alter": "alter_head", "defaults": "defaults_head"}
"""Words that begin a statement with clauses, and the rule of its head; the others begin an
order.
"""
_ORDERS = frozenset({"enable", "disable", "drop", "confirm"})
_WHOLE = frozenset({"command", "event", "drop_event"})
"""Rules of whole statements, without clauses."""


def read_syntax(text: str, report: ProblemReport) -> Iterator[Part]:
    """Yield the statements of a text in order; unreadable parts go to the report, one fault per
    clause.
    """
    if (alike := _alike(text)) is not None:
        yield from alike
        return
    try:
        tree = _grammar().parse(text, start="document")
    except UnexpectedInput:
        yield from _by_statement(text, report)
    else:
        yield from _statements(tree)


@cache
def _grammar() -> Lark:
    """Return the parser, made once, on first use."""
    return grammar()


def read_part(text: str, piece: Piece, rule: str, report: ProblemReport) -> Any:
    """Return the tree of a piece: a clause, the head of a statement, or with `command` an `Order`;
    None if it has a fault.

    Args:
        text: The whole text.
        piece: The piece.
        rule: The rule of the grammar that it must follow.
        report: Takes the fault.
    """
    node = _piece(text, piece, rule, report)
    if rule != "command" or node is None:
        return node
    return Order(*cast("list[Token]", node.children))


def _statements(tree: Node) -> Iterator[Part]:
    for child in tree.children:
        if not isinstance(child, Tree):
            continue
        if child.data in {"event", "drop_event"}:
            yield EventPart(child)
        elif child.data == "command":
            yield Order(*cast("list[Token]", child.children))
        else:
            head, *clauses = cast("list[Node]", child.children)
            yield Compound(head, tuple(clauses))


def _alike(text: str) -> list[Compound | Alike] | None:
    """Return the statements of a text that repeats clauses for many pages; None for any other text,
    or if it cannot be read.
    """
    found: list[Compound | Alike] = []
    models: dict[str, tuple[Compound, int]] = {}
    for span in spans(text) or ():
        if span.clauses in models:
            model, start = models[span.clauses]
            found.append(Alike(span, model, span.clauses_start - start, partial(_one, text, span)))
            continue
        try:
            parts = list(_statements(_grammar().parse(TextSlice(text, span.start, span.end), start="document")))
        except UnexpectedInput:
            return None
        if len(parts) != 1 or not isinstance(parts[0], Compound):
            return None
        models[span.clauses] = parts[0], span.clauses_start
        found.append(parts[0])
    return found or None


def _one(text: str, span: Span) -> Compound:
    """Return a statement with readable clauses."""
    tree = _grammar().parse(TextSlice(text, span.start, span.end), start="document")
    return cast("Compound", next(_statements(tree)))


def _by_statement(text: str, report: ProblemReport) -> Iterator[Part]:
    for pieces in split_text(text):
        if report.faults >= MOST:
            return
        start, end = pieces[0].start, pieces[-1].end
        try:
            tree = _grammar().parse(TextSlice(text, start, end), start="document")
        except UnexpectedInput:
            yield from _by_clause(text, pieces, report)
        else:
            yield from _statements(tree)


def _by_clause(text: str, pieces: tuple[Piece, ...], report: ProblemReport) -> Iterator[Part]:
    first, *rest = pieces
    rule = _rule(text, first)
    head = _piece(text, first, rule, report)
    if rule in _WHOLE:
        if rest and head is not None:
            _refuse_clause(text, rest[0], first, report)
        elif head is not None:
            yield from _statements(Tree("document", [head]))
        return
    clauses: list[Node] = []
    for piece in rest:
        clause = _piece(text, piece, "clause", report)
        if clause is not None:
            clauses.append(clause)
        elif report.faults >= MOST:
            break
    if first.word == "alter" and head is not None and not rest and rule == "alter_head":
        _refuse_empty(text, first, report)
    elif head is not None:
        yield Compound(head, tuple(clauses), whole=len(clauses) == len(rest))
    elif name := _name(text, first):
        yield Unclear(name)


def _rule(text: str, head: Piece) -> str:
    """Return the rule that a statement or its head should follow."""
    words = [lexeme.text for lexeme in islice(lexemes(text, head.start, head.end), 3)]
    if head.word in {"create", "drop"} and len(words) > (1 if head.word == "create" else 2):
        meant = (
            closest(words[1], ("Sentinel", "Event", "Collection")) if head.word == "create" else words[1].capitalize()
        )
        if meant == "Event":
            return "event" if head.word == "create" else "drop_event"
    if head.word == "alter" and words[2:] and words[2].lower() == "using":
        return "moved"
    return "command" if head.word in _ORDERS else _HEADS.get(head.word, "head")


def _name(text: str, head: Piece) -> str:
    words = [lexeme.text for lexeme in lexemes(text, head.start, head.end)]
    return words[2] if len(words) > 2 and words[1].lower() in {"sentinel", "collection"} else ""


def _piece(text: str, piece: Piece, rule: str, report: ProblemReport) -> Node | None:
    try:
        return _grammar().parse(TextSlice(text, piece.start, piece.end), start=rule)
    except UnexpectedInput as error:
        report.origin = piece.start
        explain(text, piece, _fault(text, piece, error), report)
        report.origin = None
    return None


def follows(text: str, rule: str) -> bool:
    """Return whether a text follows a rule of the grammar."""
    try:
        _grammar().parse(text, start=rule)
    except UnexpectedInput:
        return False
    return True


def _fault(text: str, piece: Piece, error: UnexpectedInput) -> Fault:
    """Return the place of a fault in a piece and what could stand there; at its end, the place
    where the text continues.
    """
    state: Any = error.interactive_parser
    expected: frozenset[str] = frozenset(state.accepts())
    offset = error.pos_in_stream
    if getattr(getattr(error, "token", None), "type", "") == "$END" or offset is None:
        following = next(lexemes(text, piece.end), None)
        return Fault(following.start if following else len(text.rstrip()), expected, at_end=True)
    return Fault(offset, expected, at_end=False)


def _refuse_empty(text: str, order: Piece, report: ProblemReport) -> None:
    following = next(lexemes(text, order.end), None)
    offset = following.start if following else len(text.rstrip())
    shown = f'found "{following.text}"' if following else "found the end of the text"
    report.fault(offset, "E03", shown, expected="a clause", hint="Alter NAME Fetch 1 hour")


def _refuse_clause(text: str, clause: Piece, order: Piece, report: ProblemReport) -> None:
    word = next(lexemes(text, clause.start)).text
    verb = order.word.capitalize()
    expected = either([f'"{statement}"' for statement in STATEMENTS])
    takes = "an event takes no clauses" if verb == "Create" else f"{verb} takes a name and nothing else"
    hint = takes + (": Alter NAME changes clauses" if order.word == "enable" else "")
    report.fault(clause.start, "E03", f'found "{word}"', expected=expected, hint=hint)

"""Shared by all readers of clauses: the report of faults, the context of the text, and the readers
of names, numbers and durations.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import field
from datetime import tzinfo
from typing import Final, cast

from lark import Token, Tree

from tidings.language.event_names import EventNames
from tidings.language.grammar.faults import write_reserved_message
from tidings.language.problems import ProblemReport
from tidings.language.times import LONGEST, measure
from tidings.language.words import is_reserved
from tidings.model.interval import Duration
from tidings.record import dataclass

Node = Tree[Token]

_NAME = re.compile(r"[A-Za-z_](?:\w|-(?!-))*")
MOST = 1_000_000
"""The largest count of the language."""


class FaultFoundError(Exception):
    """The clause has a fault, which is in the report already. Never leaves the language."""


@dataclass(frozen=True, slots=True)
class Clause:
    """The context of reading a clause.

    `names` are those of the sentinel's pages (None: unknown and not checked), `zone` is that of its
    dates. `secrets` are the names of secrets that are set (None: unknown), `files` says whether
    file: addresses may be watched, `is_stored` that the text was accepted before, so that patterns
    and selectors are not checked again. `places` gets the first place of each part. `events` are
    outside events (None: unknown).
    """

    report: ProblemReport
    names: tuple[str, ...] | None
    zone: tzinfo
    secrets: Container[str] | None = None
    files: bool = False
    is_stored: bool = False
    places: dict[str, int] = field(default_factory=dict)
    events: EventNames | None = None

    def fail(
        self, offset: int | None, code: str, message: str, *, expected: str = "", hint: str = ""
    ) -> FaultFoundError:
        """Record a fault and return the exception that ends the clause.

        Args:
            offset: The place in the text; None for the clause's own.
            code: E01 and so on.
            message: What is wrong.
            expected: What could stand there, empty if that does not help.
            hint: What to write instead, empty for none.
        """
        self.report.fault(offset or 0, code, message, expected=expected, hint=hint)
        return FaultFoundError(code)

    def warn(self, offset: int | None, code: str, message: str, *, hint: str = "") -> None:
        """Record a warning.

        Args:
            offset: The place in the text; None for the clause's own.
            code: W1 and so on.
            message: The warning.
            hint: What to write instead, empty for none.
        """
        self.report.warn(offset or 0, code, message, hint=hint)

    def note(self, part: str, offset: int | None) -> None:
        """Record the first place of a part of the statement."""
        self.places.setdefault(part, offset or 0)


def unquote(text: str) -> str:
    r"""Return the value of a STRING: only `\"` and `\\` are escapes."""
    return re.sub(r'\\(["\\])', r"\1", text[1:-1])


def bare(name: Token) -> Token:
    """Return a name without its quotes, if any."""
    return Token("NAME", unquote(name), start_pos=name.start_pos) if name.type == "STRING" else name


def read_list(node: Node) -> list[str]:
    """Return the items of a list, white space collapsed."""
    value = last(node)
    items = [item.strip() for item in _LISTED.findall(value[1:-1])] if value.type == "ANGLE" else [value]
    return [" ".join((unquote(item) if item.startswith('"') else item).split()) for item in items]


_LISTED: Final = re.compile(r'(?:^|,)([ \t]*"(?:[^"\\]|\\.)*"[ \t]*|[^,"]*)')
"""The items of a list between angle brackets."""


def last(node: Node) -> Token:
    """Return the last part of a node."""
    return cast("Token", node.children[-1])


def first(node: Node) -> Token:
    """Return the first word of a node."""
    begin: Node | Token = node
    while isinstance(begin, Tree):
        begin = begin.children[0]
    return begin


def word_types(node: Node) -> set[str]:
    """Return the names of the words that are direct children of a node."""
    return {child.type for child in node.children if isinstance(child, Token)}


def parts_of(node: Node) -> dict[str, Node]:
    """Return the parts of a node by their rule."""
    return {str(child.data): child for child in node.children if isinstance(child, Tree)}


def check_name(name: Token, clause: Clause) -> str:
    """Return a name. Raise `FaultFoundError` (E04) if it is a reserved word."""
    if is_reserved(name):
        raise clause.fail(name.start_pos, "E04", write_reserved_message(name), hint=f"try {name}_1")
    return str(name)


def read_new_name(name: Token, clause: Clause, what: str) -> str:
    """Return a name that may be quoted. Raise `FaultFoundError` (E04), which suggests a similar
    valid name, for an invalid one.
    """
    if name.type != "STRING":
        return check_name(name, clause)
    text = unquote(name)
    if not _NAME.fullmatch(text):
        near = re.sub(r"\W+", "-", text.strip()).strip("-")
        hint = f"write {near}" if _NAME.fullmatch(near) else "begin with a letter from A to Z"
        message = f'"{text[:60]}" cannot be the name of {what}: a name has letters, digits, - and _, and no spaces'
        raise clause.fail(name.start_pos, "E04", message, hint=hint)
    return check_name(bare(name), clause)


def check_page_name(name: Token, clause: Clause) -> str:
    """Return the name of a page. Raise `FaultFoundError` (E27) unless the sentinel has one of that
    name.
    """
    name = bare(name)
    if clause.names is not None and name not in clause.names:
        known = f"pages: {', '.join(clause.names)}" if clause.names else f"name a page: Using https://… As {name}"
        raise clause.fail(name.start_pos, "E27", f'no page is called "{name}" here', hint=known)
    return str(name)


def read_count(number: Token, clause: Clause, what: str, *, least: int = 1, hint: str = "") -> int:
    """Return a whole number. Raise `FaultFoundError` (E16) for a fraction, and for less than
    `least`.

    Args:
        number: The number as written.
        clause: Takes the fault.
        what: What is counted, for the message.
        least: The least valid number.
        hint: What to write instead, empty for none.
    """
    if not number.isdecimal() or not least <= int(number[:20]) <= MOST:
        message, expected = f"{what} {number[:20]} makes no sense", f"a whole number from {least}"
        raise clause.fail(number.start_pos, "E16", message, expected=expected, hint=hint)
    return int(number)


def read_duration(node: Node, clause: Clause) -> Duration:
    """Return a duration in µs. Raise `FaultFoundError` (E05) if it is missing or above a hundred
    years.
    """
    number, unit = cast("list[Token]", node.children)
    duration = measure(number, unit) if len(number) <= 20 else LONGEST + 1
    if duration > LONGEST:
        raise clause.fail(number.start_pos, "E05", f'"{number[:20]} {unit}" is too long', expected="at most 100 years")
    return duration


def read_positive_duration(node: Node, clause: Clause) -> Duration:
    """Return a duration above zero."""
    duration = read_duration(node, clause)
    if duration <= 0:
        number, unit = cast("list[Token]", node.children)
        raise clause.fail(number.start_pos, "E05", f'"{number} {unit}" has no length', expected="more than 0 s")
    return duration

"""What the language says but Tidings does not do yet, in one table over what was said: who builds it deletes its row.

The verbs that take statements (add, apply, test) read them with `understood`: each such part is refused by name and place (E40), never
ignored. The language itself gives all of them their meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tidings.language.parser import Parsed
from tidings.language.problems import MOST, Problem
from tidings.model.sentinel import (
    Alter,
    Sentinel,
    Statement,
)


@dataclass(frozen=True, slots=True)
class Later:
    """A part that nobody does yet: how it is written, what to write instead, whether a statement says it."""

    word: str
    hint: str
    is_said: Callable[[Statement], bool]


def understood(parsed: Parsed) -> Parsed:
    """Return what was read without the statements that say what Tidings does not do yet; each such part is a problem (E40)."""
    late: list[Problem] = []
    kept: list[int] = []
    for number, (statement, places) in enumerate(zip(parsed.statements, parsed.places, strict=True)):
        refused = {part: row for part, row in LATER.items() if row.is_said(statement)}
        for part, row in refused.items():
            message = f'"{row.word}" is understood but not supported yet'
            offset = places.get(part, places.get("name", 0))
            late.append(parsed.report.problem(offset, "E40", message, hint=row.hint))
        if not refused:
            kept.append(number)
    if not late:
        return parsed
    problems = sorted((*parsed.problems, *late), key=lambda problem: (problem.line, problem.column))
    return replace(
        parsed,
        statements=tuple(parsed.statements[number] for number in kept),
        places=tuple(parsed.places[number] for number in kept),
        problems=tuple(problems[:MOST]),
    )


def _sentinel(statement: Statement) -> Sentinel | None:
    """Return what a statement makes of a sentinel, None if it makes nothing of one."""
    match statement:
        case Sentinel():
            return statement
        case Alter():
            return statement.sentinel
    return None


def _of_sentinel(is_said: Callable[[Sentinel], bool]) -> Callable[[Statement], bool]:
    return lambda statement: (sentinel := _sentinel(statement)) is not None and is_said(sentinel)


LATER: dict[str, Later] = {
    # statements
    # what
}
"""By the part of the statement that the problem points at."""

"""Patterns of the user: RE2, so that none can run away (H-069). Compiled here only to be judged."""

from __future__ import annotations

import re
from typing import Any, Final

from lark import Token

from tidings.language.clauses.clause import Clause, unquote

LONGEST_PATTERN = 10_000
LARGE_PROGRAM = 10_000
"""Instructions of RE2 above which a pattern is slow on a large page (W4)."""

_NOT_IN_RE2: Final = re.compile(
    r"(?P<around>\(\?<?[=!])|(?P<back>\\[1-9]|\(\?P=)|(?P<atomic>\(\?>|[*+?}]\+)|(?P<condition>\(\?\()"
)
_NOT_IN_RE2_NAMES: Final = {
    "around": "a look-around",
    "back": "a reference to a group",
    "atomic": "a group or repetition that gives nothing back",
    "condition": "a condition",
}


def read_pattern(token: Token, clause: Clause) -> str:
    """Return the pattern that a STRING or ANGLE holds.

    Raises `FaultFoundError` (E11, with RE2's words) if it is none; W4 for one that is slow, W16 for one that finds nothing everywhere.
    """
    pattern = unquote(token) if token.type == "STRING" else token[1:-1]
    if clause.is_stored:
        return pattern
    if len(pattern) > LONGEST_PATTERN:
        raise clause.fail(token.start_pos, "E11", f"bad pattern: longer than {LONGEST_PATTERN} characters")
    program = _compile(token, pattern, clause)
    if program.programsize > LARGE_PROGRAM:
        message = f"the pattern is large ({program.programsize} steps) and slow on a long page (run under a time limit)"
        clause.warn(token.start_pos, "W4", message, hint="fewer or smaller repetitions {n}")
    if program.fullmatch("") is not None:
        message = "the pattern matches the empty text too, which is everywhere"
        clause.warn(token.start_pos, "W16", message, hint="write + instead of *, or name what must be there")
    return pattern


def _compile(token: Token, pattern: str, clause: Clause) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options=options)
    except (re2.error, UnicodeError) as error:
        raise clause.fail(token.start_pos, "E11", f"bad pattern: {_reason(error, pattern)}") from error


def _reason(error: Exception, pattern: str) -> str:
    """Return what RE2 says without the pattern at its end; it speaks in bytes."""
    said = error.args[0] if error.args else ""
    if not isinstance(said, bytes):
        return "it cannot be written in UTF-8"
    text = said.decode("utf-8", "replace")
    if found := _NOT_IN_RE2.search(pattern):
        kind = _NOT_IN_RE2_NAMES[found.lastgroup or ""]
        return f'"{found[0]}" is {kind}, which patterns here do not have (they are RE2: none of them can run away)'
    return text.removesuffix(f": {pattern}")

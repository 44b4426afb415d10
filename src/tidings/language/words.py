"""The words of the language: reserved words, the beginnings of clauses, and suggestions for
typos.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

STATEMENTS: tuple[str, ...] = ("Create", "Enable", "Disable", "Drop", "Alter", "Confirm", "Defaults")
"""Words that begin a statement."""

CLAUSES: tuple[str, ...] = (
    "Monitor",
    "Then",
    "Select",
    "Exclude",
    "Transform",
    "Fetch",
    "During",
    "From",
    "To",
    "For",
    "Zone",
    "Notify",
    "Errors",
    "Compare",
    "ChangeHistory",
    "Presentation",
    "Method",
    "Header",
    "Body",
    "Frames",
    "Render",
    "Timeout",
    "Trust",
    "Proxy",
    "Robots",
    "Importance",
    "Urgency",
    "Life",
    "Watch",
    "Class",
    "Tags",
)
"""Words that begin a clause; a faulty text is split at them (sentinels §1.7)."""

SYNONYMS: tuple[str, ...] = ("Ignore", "Until", "Login", "Scope", "Depth", "Budget")
"""Synonyms that begin a clause too (Exclude, To, those of collections), and may be names."""

JOINTS: tuple[str, ...] = (
    "Sentinel",
    "Using",
    "As",
    "AND",
    "OR",
    "NOT",
    "of",
    "in",
    "where",
    "but",
    "within",
    "by",
    "none",
)
"""Words that join parts of a statement."""

RESERVED: frozenset[str] = frozenset(word.lower() for word in (*STATEMENTS, *CLAUSES, *JOINTS))
"""No sentinel, page, tag or class may have these names, in any case (E04). Other words of the
language may be names.
"""

TYPES: tuple[str, ...] = (
    "any change",
    "words",
    "links",
    "images",
    "keywords",
    "phrase",
    "table",
    "list",
    "regex",
    "number",
    "items",
    "status",
    "header",
    "price",
    "availability",
    "pages",
)
"""Change types, as suggested for an unknown one (E10)."""

UNITS: tuple[str, ...] = ("s", "sec", "second", "min", "minute", "h", "hour", "d", "day", "w", "week")
"""Units of a duration; each may end in `s`."""

_LONGEST_TYPO = 40


def is_reserved(name: str) -> bool:
    """Return whether a word cannot be a name."""
    return name.lower() in RESERVED


def closest(word: str, choices: Iterable[str]) -> str | None:
    """Return the most similar of `choices`, as written there, or None."""
    if len(word) > _LONGEST_TYPO:
        return None
    spelled = {choice.lower(): choice for choice in choices}
    found = get_close_matches(word.lower(), spelled, n=1, cutoff=0.7)
    return spelled[found[0]] if found else None


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return the hint `did you mean "X"?`, or an empty text."""
    meant = closest(word, choices)
    return f'did you mean "{meant}"?' if meant else ""


def either(choices: Sequence[str], *, joint: str = "or") -> str:
    """Return choices for a sentence: `a, b or c`."""
    if len(choices) < 2:
        return "".join(choices)
    return f"{', '.join(choices[:-1])} {joint} {choices[-1]}"

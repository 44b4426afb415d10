"""Suggestions for typos: the closest word, `did you mean "X"?`, and a choice for a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

_LONGEST_TYPO = 40


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

"""Marks: by what the entries of a feed are known again that were there in older versions (detection §5: "entries that fall off the end")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MOST_MARKS: Final = 3_000
"""Most marks that are kept of a feed (some 750 entries); the oldest go first, but never one of an entry that is there."""


def remember(seen: Sequence[str], marks: Sequence[str]) -> tuple[str, ...]:
    """Return the marks to be kept of a feed: those of before, then those of the entries that are there now."""
    here = set(marks)
    older = [mark for mark in seen if mark not in here]
    room = max(0, MOST_MARKS - len(marks))
    return (*older[len(older) - min(room, len(older)) :], *marks)

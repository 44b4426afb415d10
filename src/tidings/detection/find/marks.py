"""Marks: hashes that identify the entries of older versions of a feed (detection §5: "entries that
fall off the end").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MOST_MARKS: Final = 3_000
"""The most marks stored per feed (some 750 entries); the oldest are dropped first, but never those
of current entries.
"""


def remember(seen: Sequence[str], marks: Sequence[str]) -> tuple[str, ...]:
    """Return the marks to be stored for a feed: the earlier ones, then those of the current
    entries.
    """
    here = set(marks)
    older = [mark for mark in seen if mark not in here]
    room = max(0, MOST_MARKS - len(marks))
    return (*older[len(older) - min(room, len(older)) :], *marks)

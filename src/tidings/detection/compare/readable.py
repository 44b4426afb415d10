"""Edits for people: among equally long alignments, the most readable one (detection §3.3).

A longest alignment may place an edit anywhere among equal words, and keeps stray words of a
rewritten passage. The adjustment never adds an insert or a delete, so that a sentinel on only one
of them is notified equally.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tidings.model.observed.change import Edit

FARTHEST = 200
"""The most tokens by which an edit is moved."""

Borders = Callable[[], frozenset[int]]
"""Returns the places between tokens where a line begins or ends; called only if some edit can be
moved.
"""


class Side(NamedTuple):
    """The tokens of one version and their borders."""

    tokens: Sequence[str]
    borders: Borders


def readable(edits: Sequence[Edit], old: Side, new: Side) -> tuple[Edit, ...]:
    """Return readable edits that turn `old` into `new` as the given ones do.

    Words between two replaces that are both longer are absorbed into one replace. An insert or a
    delete that could also begin some tokens earlier or later is aligned with line borders, if
    possible.
    """
    joined = _join(edits)
    for place, edit in enumerate(joined):
        if edit.op == "replace":
            continue
        before = joined[place - 1] if place else None
        after = joined[place + 1] if place + 1 < len(joined) else None
        joined[place] = _move(edit, before, after, old, new)
    return tuple(joined)


def _join(edits: Sequence[Edit]) -> list[Edit]:
    joined: list[Edit] = []
    for edit in edits:
        if joined and _is_island(joined[-1], edit):
            last = joined[-1]
            joined[-1] = Edit("replace", last.old_start, edit.old_end, last.new_start, edit.new_end)
        else:
            joined.append(edit)
    return joined


def _is_island(before: Edit, after: Edit) -> bool:
    """Return whether the text between two edits is shorter than both sides of both."""
    if before.op != "replace" or after.op != "replace":
        return False
    kept = after.old_start - before.old_end
    return kept < min(_shorter_side(before), _shorter_side(after))


def _shorter_side(edit: Edit) -> int:
    return min(edit.old_end - edit.old_start, edit.new_end - edit.new_start)


def _move(edit: Edit, before: Edit | None, after: Edit | None, old: Side, new: Side) -> Edit:
    """Return an insert or a delete, moved to the nearest place aligned with line borders; unchanged
    if there is none.
    """
    is_insert = edit.op == "insert"
    side = new if is_insert else old
    start, end = (edit.new_start, edit.new_end) if is_insert else (edit.old_start, edit.old_end)
    first = 0 if before is None else (before.new_end if is_insert else before.old_end) + 1
    last = len(side.tokens) if after is None else (after.new_start if is_insert else after.old_start) - 1
    earlier = later = 0
    while earlier < min(FARTHEST, start - first) and side.tokens[start - earlier - 1] == side.tokens[end - earlier - 1]:
        earlier += 1
    while later < min(FARTHEST, last - end) and side.tokens[start + later] == side.tokens[end + later]:
        later += 1
    if not earlier and not later:
        return edit
    borders = side.borders()
    shifts = sorted(range(-earlier, later + 1), key=abs)
    shift = max(shifts, key=lambda by: (start + by in borders) + (end + by in borders))
    return Edit(edit.op, *(place + shift for place in (edit.old_start, edit.old_end, edit.new_start, edit.new_end)))

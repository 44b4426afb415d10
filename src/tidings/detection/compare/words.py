"""Sequences: the words of two versions aligned within bounds, and edits made readable (004 §5.4;
detection §2.5, §3.3).

Within the budget of cells the alignment is a longest common subsequence, found bit-parallel. Beyond
it words that occur once on both sides are anchors (patience), then runs of four words, and the rest
is cut into proportional chunks. Time and memory are bounded for any input; only the length of the
common part suffers, never that the edits turn old into new.

Of equally long alignments the most readable one is chosen: one may place an edit anywhere among
equal words, and keeps stray words of a rewritten passage. The adjustment never adds an insert or a
delete, so that a sentinel on only one of them is notified equally.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tidings.detection.compare.runs import Block, Runs, as_text, longest_alignment
from tidings.document.text.excerpts import common_ends
from tidings.model.observed.change import Edit

CELLS = 256_000_000
"""The most cells of the alignment matrix: 32 MB of bits, some 60 ms."""

MOST_RUNS = 20_000
"""The most equal runs that are kept, the longest ones; an alignment within `CELLS` never has so
many.
"""


def compare_sequences(
    old: Sequence[str], new: Sequence[str], *, ends: tuple[int, int] | None = None, cells: int = CELLS
) -> tuple[Edit, ...]:
    """Return the edits that turn `old` into `new`: inserts, deletes and replaces, in order, never
    adjacent.

    Empty exactly when the sequences are equal.

    Args:
        old: The old sequence.
        new: The new sequence.
        ends: The lengths of their common start and end, if known.
        cells: The most cells of the alignment.
    """
    head, tail = common_ends(old, new) if ends is None else ends
    blocks: list[Block] = [(0, 0, head)] if head else []
    if head + tail < min(len(old), len(new)):
        aligned = _align(old[head : len(old) - tail], new[head : len(new) - tail], cells)
        blocks += [(i + head, j + head, size) for i, j, size in aligned]
    if tail:
        blocks.append((len(old) - tail, len(new) - tail, tail))
    return tuple(_edits(blocks, len(old), len(new)))


def common_length(edits: Sequence[Edit], old_length: int) -> int:
    """Return how many tokens the two sequences keep in common."""
    return old_length - sum(edit.old_end - edit.old_start for edit in edits)


def _align(old: Sequence[str], new: Sequence[str], cells: int) -> list[Block]:
    """Return equal runs: a longest alignment within the budget, else one by anchors."""
    number = _numbers(old, new).__getitem__
    a, b = list(map(number, old)), list(map(number, new))
    if len(old) * len(new) <= cells:
        first, second = as_text(a, b)
        return longest_alignment(first, second) if not set(first).isdisjoint(second) else []
    shared = set(a) & set(b)
    if not shared:
        return []
    if sum(map(shared.__contains__, a)) * sum(map(shared.__contains__, b)) > cells:
        from tidings.detection.compare.anchored import align  # loads numpy, which few pages need

        return _longest(align(a, b, cells))
    runs = Runs(a, b)
    runs.align(*([place for place, number in enumerate(side) if number in shared] for side in (a, b)))
    return runs.blocks


def _numbers(old: Sequence[str], new: Sequence[str]) -> dict[str, int]:
    """Return a number for each token, counted from 0."""
    tokens = dict.fromkeys((*old, *new))
    return dict(zip(tokens, range(len(tokens)), strict=True))


def _longest(blocks: list[Block]) -> list[Block]:
    """Return the `MOST_RUNS` longest runs, in order: more are noise that nobody reads edit by
    edit.
    """
    if len(blocks) <= MOST_RUNS:
        return blocks
    return sorted(sorted(blocks, key=lambda block: -block[2])[:MOST_RUNS])


def _edits(blocks: list[Block], old_length: int, new_length: int) -> Iterator[Edit]:
    at_old = at_new = 0
    for i, j, size in (*blocks, (old_length, new_length, 0)):
        if at_old < i and at_new < j:
            yield Edit("replace", at_old, i, at_new, j)
        elif at_old < i:
            yield Edit("delete", at_old, i, at_new, at_new)
        elif at_new < j:
            yield Edit("insert", at_old, at_old, at_new, j)
        at_old, at_new = i + size, j + size


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
    island = after.old_start - before.old_end
    return island < min(_shorter_side(before), _shorter_side(after))


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

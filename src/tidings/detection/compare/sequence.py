"""Sequences: the words of two versions aligned by a longest common subsequence, within bounds (004
§5.4; detection §2.5).

Within the budget of cells the alignment is a longest one, found bit-parallel. Beyond it words that
occur once on both sides are anchors (patience), then runs of four words, and the rest is cut into
proportional chunks. Time and memory are bounded for any input; only the length of the common part
suffers, never that the edits turn old into new.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidings.detection.compare.runs import Block, Runs, as_text, longest_alignment
from tidings.model.observed.change import Edit

CELLS = 256_000_000
"""The most cells of the alignment matrix: 32 MB of bits, some 60 ms."""

MOST_RUNS = 20_000
"""The most equal runs that are kept, the longest ones; an alignment within `CELLS` never has so
many.
"""


def compare_sequences(old: Sequence[str], new: Sequence[str], *, cells: int = CELLS) -> tuple[Edit, ...]:
    """Return the edits that turn `old` into `new`: inserts, deletes and replaces, in order, never
    adjacent.

    Empty exactly when the sequences are equal.
    """
    head = common_start(old, new)
    tail = common_end(old, new, head)
    blocks: list[Block] = [(0, 0, head)] if head else []
    if head + tail < min(len(old), len(new)):
        aligned = _align(old[head : len(old) - tail], new[head : len(new) - tail], cells)
        blocks += [(i + head, j + head, size) for i, j, size in aligned]
    if tail:
        blocks.append((len(old) - tail, len(new) - tail, tail))
    return tuple(_edits(blocks, len(old), len(new)))


def apply_edits(edits: Sequence[Edit], old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return `old` with the edits applied; tokens of inserts and replaces come from `new`. Equal to
    `new` for its own edits.
    """
    made: list[str] = []
    at = 0
    for edit in edits:
        made.extend(old[at : edit.old_start])
        made.extend(new[edit.new_start : edit.new_end])
        at = edit.old_end
    made.extend(old[at:])
    return made


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


def common_start(old: Sequence[str], new: Sequence[str]) -> int:
    """Return the length of the common start, by comparing slices instead of single tokens."""
    equal, left, step = 0, min(len(old), len(new)), 64
    while left:
        size = min(step, left)
        if old[equal : equal + size] == new[equal : equal + size]:
            equal, left, step = equal + size, left - size, step * 2
        elif size == 1:
            break
        else:
            left, step = size, size // 2
    return equal


def common_end(old: Sequence[str], new: Sequence[str], head: int) -> int:
    """Return the length of the common end outside the common start."""
    end_old, end_new = len(old), len(new)
    equal, left, step = 0, min(end_old, end_new) - head, 64
    while left:
        size = min(step, left)
        if old[end_old - equal - size : end_old - equal] == new[end_new - equal - size : end_new - equal]:
            equal, left, step = equal + size, left - size, step * 2
        elif size == 1:
            break
        else:
            left, step = size, size // 2
    return equal


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

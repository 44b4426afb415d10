"""Moves: a run of words that was deleted here and inserted there.

A move stays a delete and an insert (004 §5.3.1); it is told as one thing because people read it as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tidings.model.change import Edit

SHORTEST = 8
"""Words of the shortest run that counts as moved."""


@dataclass(frozen=True, slots=True)
class Move:
    """Tokens `old_start : old_start + length` stand now at `new_start`."""

    old_start: int
    new_start: int
    length: int


def moves_of(edits: Sequence[Edit], old: Sequence[str], new: Sequence[str]) -> tuple[Move, ...]:
    """Return runs of at least `SHORTEST` tokens that one edit takes out and another puts in; no token is in two of them.

    Linear in the tokens of the edits: only the first place of each window of `SHORTEST` tokens is looked at.
    """
    places: dict[tuple[str, ...], tuple[int, int, int]] = {}
    for number, edit in enumerate(edits):
        for at in range(edit.new_start, edit.new_end - SHORTEST + 1):
            places.setdefault(tuple(new[at : at + SHORTEST]), (at, edit.new_end, number))
    if not places:
        return ()
    return tuple(_found(edits, old, new, places))


def _found(
    edits: Sequence[Edit],
    old: Sequence[str],
    new: Sequence[str],
    places: dict[tuple[str, ...], tuple[int, int, int]],
) -> Iterator[Move]:
    taken: set[int] = set()
    for number, edit in enumerate(edits):
        at = edit.old_start
        while at <= edit.old_end - SHORTEST:
            there, there_end, other = places.get(tuple(old[at : at + SHORTEST]), (0, 0, number))
            most = min(edit.old_end - at, there_end - there)
            length = (
                0 if other == number else _free_equal_run(old[at : at + most], new[there : there + most], there, taken)
            )
            if length < SHORTEST:
                at += 1
                continue
            taken.update(range(there, there + length))
            yield Move(at, there, length)
            at += length


def _free_equal_run(first: Sequence[str], second: Sequence[str], place: int, taken: set[int]) -> int:
    """Return how many tokens are equal from the start on, up to one (of those at `place` and after) that is taken."""
    for length, (one, other) in enumerate(zip(first, second, strict=True)):
        if one != other or place + length in taken:
            return length
    return len(first)


def without(start: int, end: int, gaps: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return what is left of start:end when the (start, end) gaps, in order, are taken out."""
    left = []
    for gap_start, gap_end in gaps:
        if gap_end <= start or gap_start >= end:
            continue
        if start < gap_start:
            left.append((start, gap_start))
        start = gap_end
    if start < end:
        left.append((start, end))
    return left

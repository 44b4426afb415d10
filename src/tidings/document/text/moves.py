"""Moves: a run of words that was deleted in one place and inserted in another.

A move stays a delete and an insert (004 §5.3.1); it is displayed as one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from tidings.model.observed.change import Edit
from tidings.record import dataclass

SHORTEST = 8
"""The shortest run that counts as moved, in words."""

MOST_TOKENS = 200_000
"""In edits of more tokens moves are not searched: the page was rewritten."""


@dataclass(frozen=True, slots=True)
class Move:
    """Tokens `old_start : old_start + length` are now at `new_start`."""

    old_start: int
    new_start: int
    length: int


def moves_of(edits: Sequence[Edit], old: Sequence[str], new: Sequence[str]) -> tuple[Move, ...]:
    """Return runs of at least `SHORTEST` tokens that one edit deletes and another inserts, without
    overlaps.

    Linear in the tokens of the edits: only the first place of each window of `SHORTEST` tokens is
    stored.
    """
    if sum(edit.new_end - edit.new_start + edit.old_end - edit.old_start for edit in edits) > MOST_TOKENS:
        return ()
    places: dict[tuple[str, ...], tuple[int, int, int]] = {}
    for number, edit in enumerate(edits):
        for at in range(edit.new_start, edit.new_end - SHORTEST + 1):
            places.setdefault(tuple(new[at : at + SHORTEST]), (at, edit.new_end, number))
    if not places:
        return ()
    return tuple(_find(edits, old, new, places))


def _find(
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
            most = 0 if other == number else min(edit.old_end - at, there_end - there)
            length = 0
            while length < most and old[at + length] == new[there + length] and there + length not in taken:
                length += 1
            if length < SHORTEST:
                at += 1
                continue
            taken.update(range(there, there + length))
            yield Move(at, there, length)
            at += length


def without(start: int, end: int, gaps: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the rest of start:end without the (start, end) gaps, which are in order and do not
    overlap.
    """
    left = []
    for number in range(max(0, bisect_right(gaps, (start, start)) - 1), len(gaps)):
        gap_start, gap_end = gaps[number]
        if gap_start >= end:
            break
        if gap_end <= start:
            continue
        if start < gap_start:
            left.append((start, gap_start))
        start = gap_end
    if start < end:
        left.append((start, end))
    return left

"""Sequences: the words of two versions aligned by a longest common subsequence, within bounds (004 §5.4; detection.md §2.5).

Within the budget of cells the alignment is a longest one, found bit-parallel. Beyond it words that occur once on both sides anchor
the alignment (patience), then runs of four words that do, and what is left without anchors is cut into chunks in proportion. Time
and memory are bounded for any input; what is lost is only how long the common part is, never that the edits turn old into new.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from tidings.model.change import Edit

CELLS = 16_000_000
"""Cells of the alignment matrix at most: 2 MB of bits."""

DEEPEST = 6
CHUNK = 4_000

MOST_RUNS = 30_000
"""Most equal runs that are kept, the longest ones; an alignment within `CELLS` never has so many."""

_SHINGLES = (1, 4)
_TIMES_SEEN = 16
_LAST_CHARACTER = 0x10FFFF

Block = tuple[int, int, int]
"""(start in old, start in new, length) of an equal run."""


def compare_sequences(old: Sequence[str], new: Sequence[str], *, cells: int = CELLS) -> tuple[Edit, ...]:
    """Return the edits that turn `old` into `new`: inserts, deletes and replaces, in order, none touching the next.

    Empty exactly when the sequences are equal.
    """
    head = _common_start(old, new, _Gap(0, len(old), 0, len(new)))
    tail = _common_end(old, new, _Gap(head, len(old), head, len(new)))
    middle = _Gap(0, len(old) - head - tail, 0, len(new) - head - tail)
    blocks: list[Block] = [(0, 0, head)] if head else []
    if middle.a1 and middle.b1:
        a, b = _interned(old[head : len(old) - tail], new[head : len(new) - tail])
        alignment = _Alignment(a, b, cells)
        alignment.align(middle, 0)
        blocks += [(i + head, j + head, size) for i, j, size in _longest(alignment.blocks)]
    if tail:
        blocks.append((len(old) - tail, len(new) - tail, tail))
    return tuple(_edits(blocks, len(old), len(new)))


def apply_edits(edits: Sequence[Edit], old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return `old` with the edits made; tokens of inserts and replaces are taken from `new`. Equal to `new` for its own edits."""
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


class _Gap(NamedTuple):
    """Tokens a0:a1 of the old sequence over against b0:b1 of the new one."""

    a0: int
    a1: int
    b0: int
    b1: int


class _Alignment:
    """Equal runs of two sequences of numbers, gathered in order in `blocks`."""

    def __init__(self, a: list[int], b: list[int], cells: int) -> None:
        self.a = a
        self.b = b
        self.cells = cells
        self.chunk = max(1, min(CHUNK, int(cells**0.5)))
        self.blocks: list[Block] = []

    def align(self, gap: _Gap, depth: int) -> None:
        """Gather the equal runs of a gap."""
        a0, a1, b0, b1 = gap
        head = _common_start(self.a, self.b, gap)
        if head:
            self._take(a0, b0, head)
        a0, b0 = a0 + head, b0 + head
        tail = _common_end(self.a, self.b, _Gap(a0, a1, b0, b1))
        a1, b1 = a1 - tail, b1 - tail
        if a0 < a1 and b0 < b1:
            self._align_inside(_Gap(a0, a1, b0, b1), depth)
        if tail:
            self._take(a1, b1, tail)

    def _take(self, i: int, j: int, size: int) -> None:
        if self.blocks:
            last_i, last_j, last_size = self.blocks[-1]
            if last_i + last_size == i and last_j + last_size == j:
                self.blocks[-1] = (last_i, last_j, last_size + size)
                return
        self.blocks.append((i, j, size))

    def _align_inside(self, gap: _Gap, depth: int) -> None:
        part_a, part_b = self.a[gap.a0 : gap.a1], self.b[gap.b0 : gap.b1]
        words_a, words_b = set(part_a), set(part_b)
        shared = words_a & words_b
        if not shared:
            return
        kept_a = range(gap.a0, gap.a1) if shared == words_a else _kept(part_a, gap.a0, shared)
        kept_b = range(gap.b0, gap.b1) if shared == words_b else _kept(part_b, gap.b0, shared)
        if len(kept_a) * len(kept_b) <= self.cells:
            self._align_exactly(kept_a, kept_b)
        elif anchors := self._anchors(gap, len(shared)) if depth < DEEPEST else []:
            self._align_between(anchors, gap, depth)
        else:
            self._align_chunks(kept_a, kept_b)

    def _align_exactly(self, kept_a: Sequence[int], kept_b: Sequence[int]) -> None:
        """Gather a longest alignment of tokens that stand on both sides."""
        if len(self.blocks) > MOST_RUNS:
            return
        first, second = _as_text([self.a[i] for i in kept_a], [self.b[j] for j in kept_b])
        for match in LCSseq.opcodes(first, second):
            if match.tag != "equal":
                continue
            start, end, other, other_end = match.src_start, match.src_end, match.dest_start, match.dest_end
            i, j, size = kept_a[start], kept_b[other], end - start
            if kept_a[end - 1] - i == size - 1 and kept_b[other_end - 1] - j == size - 1:
                self._take(i, j, size)
                continue
            for shift in range(size):
                self._take(kept_a[start + shift], kept_b[other + shift], 1)

    def _align_chunks(self, kept_a: Sequence[int], kept_b: Sequence[int]) -> None:
        count = -(-max(len(kept_a), len(kept_b)) // self.chunk)
        for number in range(count):
            part_a = kept_a[len(kept_a) * number // count : len(kept_a) * (number + 1) // count]
            part_b = kept_b[len(kept_b) * number // count : len(kept_b) * (number + 1) // count]
            if part_a and part_b:
                self._align_exactly(part_a, part_b)

    def _anchors(self, gap: _Gap, vocabulary: int) -> list[Block]:
        for size in _SHINGLES:
            if vocabulary**size < (gap.a1 - gap.a0) // _TIMES_SEEN:
                continue  # too few different shingles for any to be a landmark
            once_a = _unique(self.a, gap.a0, gap.a1, size)
            once_b = _unique(self.b, gap.b0, gap.b1, size)
            pairs = [(i, once_b[shingle]) for shingle, i in once_a.items() if shingle in once_b]
            if pairs:
                return [(i, j, size) for i, j in _longest_increasing(pairs)]
        return []

    def _align_between(self, anchors: list[Block], gap: _Gap, depth: int) -> None:
        a0, a1, b0, b1 = gap
        for i, j, size in anchors:
            if i < a0 or j < b0:  # overlaps the anchor before
                continue
            if i > a0 and j > b0:
                self.align(_Gap(a0, i, b0, j), depth + 1)
            self._take(i, j, size)
            a0, b0 = i + size, j + size
        if a1 > a0 and b1 > b0:
            self.align(_Gap(a0, a1, b0, b1), depth + 1)


def _interned(old: Sequence[str], new: Sequence[str]) -> tuple[list[int], list[int]]:
    number = {token: place for place, token in enumerate(dict.fromkeys((*old, *new)))}.__getitem__
    return list(map(number, old)), list(map(number, new))


def _kept(tokens: list[int], start: int, shared: set[int]) -> array[int]:
    """Return the places of the tokens that are shared; `tokens` begins at `start`."""
    return array("L", compress(range(start, start + len(tokens)), map(shared.__contains__, tokens)))


def _longest(blocks: list[Block]) -> list[Block]:
    """Return the `MOST_RUNS` longest runs, in order: what has more is noise that nobody reads edit by edit."""
    if len(blocks) <= MOST_RUNS:
        return blocks
    return sorted(sorted(blocks, key=lambda block: -block[2])[:MOST_RUNS])


def _as_text(a: list[int], b: list[int]) -> tuple[Sequence[object], Sequence[object]]:
    """Return both as strings of one character a token, which rapidfuzz compares fastest."""
    if max(*a, *b) > _LAST_CHARACTER:
        return a, b
    return "".join(map(chr, a)), "".join(map(chr, b))


def _common_start(a: Sequence[object], b: Sequence[object], gap: _Gap) -> int:
    """Return the length of the common start, by comparing slices: equal parts are never looked at token by token."""
    a0, a1, b0, b1 = gap
    equal, left, step = 0, min(a1 - a0, b1 - b0), 64
    while left:
        size = min(step, left)
        if a[a0 + equal : a0 + equal + size] == b[b0 + equal : b0 + equal + size]:
            equal, left, step = equal + size, left - size, step * 2
        elif size == 1:
            break
        else:
            left, step = size, size // 2
    return equal


def _common_end(a: Sequence[object], b: Sequence[object], gap: _Gap) -> int:
    a0, a1, b0, b1 = gap
    equal, left, step = 0, min(a1 - a0, b1 - b0), 64
    while left:
        size = min(step, left)
        if a[a1 - equal - size : a1 - equal] == b[b1 - equal - size : b1 - equal]:
            equal, left, step = equal + size, left - size, step * 2
        elif size == 1:
            break
        else:
            left, step = size, size // 2
    return equal


def _unique(tokens: list[int], start: int, end: int, size: int) -> dict[object, int]:
    """Return the shingles that occur once in tokens[start:end], with their place, in order."""
    shingles: list[object]
    if size == 1:
        shingles = list(tokens[start:end])
    else:
        shingles = list(zip(*(tokens[start + shift : end] for shift in range(size)), strict=False))
    last = dict(zip(shingles, range(start, end), strict=False))
    if len(last) == len(shingles):
        return last
    shingles.reverse()
    first = dict(zip(shingles, range(start + len(shingles) - 1, start - 1, -1), strict=True))
    return {shingle: place for shingle, place in last.items() if first[shingle] == place}


def _longest_increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest run of pairs in which both places grow; the first of each pair grows already."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        slot = bisect_left(tails, place)
        before.append(ends[slot - 1] if slot else -1)
        if slot == len(tails):
            tails.append(place)
            ends.append(index)
        else:
            tails[slot] = place
            ends[slot] = index
    chain = []
    at = ends[-1]
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]


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

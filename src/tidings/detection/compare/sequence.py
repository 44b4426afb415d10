"""Sequences: the words of two versions aligned by a longest common subsequence, within bounds (004 §5.4; detection.md §2.5).

Within the budget of cells the alignment is a longest one, found bit-parallel. Beyond it words that occur once on both sides anchor
the alignment (patience), then runs of four words that do, and what is left without anchors is cut into chunks in proportion. Time
and memory are bounded for any input; what is lost is only how long the common part is, never that the edits turn old into new.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from tidings.model.change import Edit

CELLS = 16_000_000
"""Cells of the alignment matrix at most: 2 MB of bits."""

DEEPEST = 6
CHUNK = 4_000

_SHINGLES = (1, 4)
_LAST_CHARACTER = 0x10FFFF

Block = tuple[int, int, int]
"""(start in old, start in new, length) of an equal run."""


def compare_sequences(old: Sequence[str], new: Sequence[str], *, cells: int = CELLS) -> tuple[Edit, ...]:
    """Return the edits that turn `old` into `new`: inserts, deletes and replaces, in order, none touching the next.

    Empty exactly when the sequences are equal.
    """
    a, b = _interned(old, new)
    blocks = _merged(_Alignment(a, b, cells).blocks(_Gap(0, len(a), 0, len(b)), 0))
    return tuple(_edits(blocks, len(a), len(b)))


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
    def __init__(self, a: list[int], b: list[int], cells: int) -> None:
        self.a = a
        self.b = b
        self.cells = cells
        self.chunk = max(1, min(CHUNK, int(cells**0.5)))

    def blocks(self, gap: _Gap, depth: int) -> Iterator[Block]:
        """Yield the equal runs of a gap, in order."""
        a0, a1, b0, b1 = gap
        head = _common_start(self.a, self.b, gap)
        if head:
            yield a0, b0, head
        a0, b0 = a0 + head, b0 + head
        tail = _common_end(self.a, self.b, _Gap(a0, a1, b0, b1))
        a1, b1 = a1 - tail, b1 - tail
        if a0 < a1 and b0 < b1:
            yield from self._inner(_Gap(a0, a1, b0, b1), depth)
        if tail:
            yield a1, b1, tail

    def _inner(self, gap: _Gap, depth: int) -> Iterator[Block]:
        shared = set(self.a[gap.a0 : gap.a1]).intersection(self.b[gap.b0 : gap.b1])
        if not shared:
            return
        kept_a = [i for i in range(gap.a0, gap.a1) if self.a[i] in shared]
        kept_b = [j for j in range(gap.b0, gap.b1) if self.b[j] in shared]
        if len(kept_a) * len(kept_b) <= self.cells:
            yield from self._exact(kept_a, kept_b)
        elif anchors := self._anchors(gap) if depth < DEEPEST else []:
            yield from self._between(anchors, gap, depth)
        else:
            yield from self._chunks(kept_a, kept_b)

    def _exact(self, kept_a: list[int], kept_b: list[int]) -> Iterator[Block]:
        """Yield a longest alignment of the tokens that stand on both sides."""
        first, second = _as_text([self.a[i] for i in kept_a], [self.b[j] for j in kept_b])
        for i, j, size in LCSseq.opcodes(first, second).as_matching_blocks():
            for step in range(size):
                yield kept_a[i + step], kept_b[j + step], 1

    def _chunks(self, kept_a: list[int], kept_b: list[int]) -> Iterator[Block]:
        count = -(-max(len(kept_a), len(kept_b)) // self.chunk)
        for number in range(count):
            part_a = kept_a[len(kept_a) * number // count : len(kept_a) * (number + 1) // count]
            part_b = kept_b[len(kept_b) * number // count : len(kept_b) * (number + 1) // count]
            if part_a and part_b:
                yield from self._exact(part_a, part_b)

    def _anchors(self, gap: _Gap) -> list[Block]:
        for size in _SHINGLES:
            once_a = _unique(self.a, gap.a0, gap.a1, size)
            once_b = _unique(self.b, gap.b0, gap.b1, size)
            pairs = [(i, once_b[shingle]) for shingle, i in once_a.items() if shingle in once_b]
            if pairs:
                return [(i, j, size) for i, j in _longest_increasing(pairs)]
        return []

    def _between(self, anchors: list[Block], gap: _Gap, depth: int) -> Iterator[Block]:
        a0, a1, b0, b1 = gap
        for i, j, size in anchors:
            if i < a0 or j < b0:  # overlaps the anchor before
                continue
            yield from self.blocks(_Gap(a0, i, b0, j), depth + 1)
            yield i, j, size
            a0, b0 = i + size, j + size
        yield from self.blocks(_Gap(a0, a1, b0, b1), depth + 1)


def _interned(old: Sequence[str], new: Sequence[str]) -> tuple[list[int], list[int]]:
    numbers: dict[str, int] = {}
    a = [numbers.setdefault(token, len(numbers)) for token in old]
    b = [numbers.setdefault(token, len(numbers)) for token in new]
    return a, b


def _as_text(a: list[int], b: list[int]) -> tuple[Sequence[object], Sequence[object]]:
    """Return both as strings of one character a token, which rapidfuzz compares fastest."""
    numbers: dict[int, int] = {}
    first = [numbers.setdefault(token, len(numbers)) for token in a]
    second = [numbers[token] if token in numbers else numbers.setdefault(token, len(numbers)) for token in b]
    if len(numbers) > _LAST_CHARACTER:
        return first, second
    return "".join(map(chr, first)), "".join(map(chr, second))


def _common_start(a: list[int], b: list[int], gap: _Gap) -> int:
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


def _common_end(a: list[int], b: list[int], gap: _Gap) -> int:
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
    """Return the shingles that occur once in tokens[start:end], with their place."""
    seen: dict[object, int] = {}
    shingles: Iterator[object]
    if size == 1:
        shingles = iter(tokens[start:end])
    else:
        shingles = zip(*(tokens[start + shift : end] for shift in range(size)), strict=False)
    for place, shingle in enumerate(shingles, start):
        seen[shingle] = -1 if shingle in seen else place
    return {shingle: place for shingle, place in seen.items() if place >= 0}


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


def _merged(blocks: Iterator[Block]) -> Iterator[Block]:
    current: Block | None = None
    for i, j, size in blocks:
        if current is not None and current[0] + current[2] == i and current[1] + current[2] == j:
            current = (current[0], current[1], current[2] + size)
            continue
        if current is not None:
            yield current
        current = (i, j, size)
    if current is not None:
        yield current


def _edits(blocks: Iterator[Block], old_length: int, new_length: int) -> Iterator[Edit]:
    at_old = at_new = 0
    for i, j, size in (*blocks, (old_length, new_length, 0)):
        if at_old < i and at_new < j:
            yield Edit("replace", at_old, i, at_new, j)
        elif at_old < i:
            yield Edit("delete", at_old, i, at_new, at_new)
        elif at_new < j:
            yield Edit("insert", at_old, at_old, at_new, j)
        at_old, at_new = i + size, j + size

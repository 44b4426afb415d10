"""The alignment of sequences that are too long for an exact one (detection §2.5).

Numbers that occur once on both sides are anchors, if they are in the longest common subsequence of
such numbers (patience); where there are none, runs of four numbers are used. What lies between
anchors is aligned in the same way, exactly once it is small enough; the rest is cut into
proportional chunks. Time and memory are bounded for any input; only the length of the common part
suffers, never that the edits turn old into new.

Unrelated texts share unique words too, by chance and in any order. A common subsequence of k such
words is about 2√k long; anchors are accepted only if theirs is longer than chance, since a wrong
one separates what belongs together.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tidings.detection.compare.runs import Block, Runs

DEEPEST = 6
CHUNK = 4_000

MOST_RUNS = 20_000
"""After so many equal runs no further gap is aligned: nobody reads them edit by edit."""

MOST_PAIRS = 100_000
"""The most landmarks in the search for a common subsequence: each takes a step in Python."""

PART = 16
"""An exact alignment of at most 1/16 of the cells is always made; larger ones until `SPARE` times
the cells are used.
"""
SPARE = 2

CHANCE = 4
"""Anchors among k landmarks are accepted from this many times √k on."""

_SHINGLES = (1, 4)
_TIMES_SEEN = 16
_SMALL = 32
"""A gap of at most so many numbers on each side is handled without numpy, whose calls would cost
more than they save.
"""

_FACTOR = np.uint64(0x9E37_79B9_7F4A_7C15)

Places = NDArray[np.int64]
Numbers = NDArray[np.uint32]


class Gap(NamedTuple):
    """Numbers a0:a1 of the old sequence against b0:b1 of the new one."""

    a0: int
    a1: int
    b0: int
    b1: int


def align(a: list[int], b: list[int], cells: int) -> list[Block]:
    """Return equal runs of two sequences of small numbers, in order; no exact alignment takes more
    than `cells` cells, nor do all together take more than a few times that plus a linear part.
    """
    alignment = _Anchored(a, b, cells)
    alignment.align(Gap(0, len(a), 0, len(b)), 0)
    return alignment.runs.blocks


class _Anchored:
    """The state of one alignment. `seen` is a reusable bit array, all false between uses."""

    def __init__(self, a: list[int], b: list[int], cells: int) -> None:
        self.runs = Runs(a, b)
        self.a: Numbers = np.array(a, np.uint32)
        self.b: Numbers = np.array(b, np.uint32)
        self.seen = np.zeros(int(max(self.a.max(), self.b.max())) + 1, np.bool_)
        self.cells = cells
        self.spare = SPARE * cells
        self.chunk = max(1, min(CHUNK, int(cells**0.5)))

    def align(self, gap: Gap, depth: int) -> None:
        """Collect the equal runs of a gap."""
        if max(gap.a1 - gap.a0, gap.b1 - gap.b0) <= _SMALL:
            self._align_small(gap)
            return
        a0, a1, b0, b1 = gap
        head = _common_start(self.a[a0:a1], self.b[b0:b1])
        if head:
            self.runs.take(a0, b0, head)
        a0, b0 = a0 + head, b0 + head
        tail = _common_start(self.a[a0:a1][::-1], self.b[b0:b1][::-1])
        a1, b1 = a1 - tail, b1 - tail
        if a0 < a1 and b0 < b1:
            self._align_inside(Gap(a0, a1, b0, b1), depth)
        if tail:
            self.runs.take(a1, b1, tail)

    def _align_small(self, gap: Gap) -> None:
        a0, a1, b0, b1 = gap
        shared = set(self.runs.a[a0:a1]) & set(self.runs.b[b0:b1])
        if shared and len(self.runs.blocks) <= MOST_RUNS:
            common_a = [i for i in range(a0, a1) if self.runs.a[i] in shared]
            common_b = [j for j in range(b0, b1) if self.runs.b[j] in shared]
            self._align_common(common_a, common_b)

    def _align_inside(self, gap: Gap, depth: int) -> None:
        a0, a1, b0, b1 = gap
        part_a, part_b = self.a[a0:a1], self.b[b0:b1]
        common_a = np.flatnonzero(self._stand_in(part_b, part_a)) + a0
        common_b = np.flatnonzero(self._stand_in(part_a, part_b)) + b0
        if not len(common_a):
            return
        if not self._is_affordable(common_a, common_b) and depth < DEEPEST:
            anchors = self._anchors(gap, common_a)
            if anchors:
                self._align_between(anchors, gap, depth)
                return
        if len(self.runs.blocks) <= MOST_RUNS:
            self._align_common(common_a.tolist(), common_b.tolist())

    def _stand_in(self, other: Numbers, part: Numbers) -> NDArray[np.bool_]:
        """Return which numbers of `part` occur in `other` too."""
        self.seen[other] = True
        found: NDArray[np.bool_] = self.seen[part]
        self.seen[other] = False
        return found

    def _is_affordable(self, common_a: Sequence[int] | Places, common_b: Sequence[int] | Places) -> bool:
        """Return whether an exact alignment of these places is within the budget."""
        size = len(common_a) * len(common_b)
        return size * PART <= self.cells or size <= min(self.cells, self.spare)

    def _align_common(self, common_a: list[int], common_b: list[int]) -> None:
        """Collect a longest alignment of numbers that occur on both sides; in chunks, if that would
        take too many cells.
        """
        if self._is_affordable(common_a, common_b):
            size = len(common_a) * len(common_b)
            self.spare -= size if size * PART > self.cells else 0
            self.runs.align(common_a, common_b)
            return
        count = -(-max(len(common_a), len(common_b)) // self.chunk)
        for number in range(count):
            part_a = common_a[len(common_a) * number // count : len(common_a) * (number + 1) // count]
            part_b = common_b[len(common_b) * number // count : len(common_b) * (number + 1) // count]
            if part_a and part_b and len(self.runs.blocks) <= MOST_RUNS:
                self.runs.align(part_a, part_b)

    def _anchors(self, gap: Gap, common_a: Places) -> list[Block]:
        part_a, part_b = self.a[gap.a0 : gap.a1], self.b[gap.b0 : gap.b1]
        vocabulary = len(np.unique(self.a[common_a]))
        for size in _SHINGLES:
            if vocabulary**size < len(part_a) // _TIMES_SEEN:
                continue  # too few different shingles for landmarks
            first, second = _landmarks(part_a, part_b, size)
            if len(first):
                number = len(first)
                first, second = _in_one_order(first, second)
                if 2 * number < len(common_a) and len(first) < min(number, CHANCE * number**0.5):
                    continue  # no better than chance, and more numbers remain than landmarks
                return _as_runs(first + gap.a0, second + gap.b0, size)
        return []

    def _align_between(self, anchors: list[Block], gap: Gap, depth: int) -> None:
        a0, a1, b0, b1 = gap
        for start, other, length in anchors:
            overlap = max(0, a0 - start, b0 - other)
            if overlap >= length:
                continue
            i, j, size = start + overlap, other + overlap, length - overlap
            is_one_for_another = i - a0 == j - b0 == 1 and self.runs.a[a0] != self.runs.b[b0]
            if i > a0 and j > b0 and not is_one_for_another:
                self.align(Gap(a0, i, b0, j), depth + 1)
            self.runs.take(i, j, size)
            a0, b0 = i + size, j + size
        if a1 > a0 and b1 > b0:
            self.align(Gap(a0, a1, b0, b1), depth + 1)


def _common_start(a: Numbers, b: Numbers) -> int:
    """Return the length of the common start, in growing steps, so that early differences are
    cheap.
    """
    length, at, step = min(len(a), len(b)), 0, 64
    while at < length:
        end = min(length, at + step)
        differs = a[at:end] != b[at:end]
        first = int(differs.argmax())
        if differs[first]:
            return at + first
        at, step = end, step * 4
    return length


def _landmarks(a: Numbers, b: Numbers, size: int) -> tuple[Places, Places]:
    """Return the starts of the shingles that occur once on both sides, in the order of `a`."""
    places_a, places_b = _once(a, size), _once(b, size)
    codes_a, codes_b = _codes(a, size)[places_a], _codes(b, size)[places_b]
    _, index_a, index_b = np.intersect1d(codes_a, codes_b, assume_unique=True, return_indices=True)
    order = np.argsort(index_a)
    first, second = places_a[index_a[order]], places_b[index_b[order]]
    equal = np.ones(len(first), np.bool_)
    for shift in range(size if size > 1 else 0):  # the code of a shingle may collide
        equal &= a[first + shift] == b[second + shift]
    return first[equal], second[equal]


def _once(numbers: Numbers, size: int) -> Places:
    """Return the starts of the shingles that occur once, in order."""
    _, index, counts = np.unique(_codes(numbers, size), return_index=True, return_counts=True)
    return np.sort(index[counts == 1])


def _codes(numbers: Numbers, size: int) -> NDArray[np.uint64]:
    """Return one number for each run of `size` numbers; equal for equal runs and hardly ever for
    others.
    """
    count = max(0, len(numbers) - size + 1)
    codes = np.zeros(count, np.uint64)
    for shift in range(size):
        codes = codes * _FACTOR + numbers[shift : shift + count]
    return codes


def _in_one_order(first: Places, second: Places) -> tuple[Places, Places]:
    """Return the longest sequence of pairs in which both places increase; those of `first` do
    already.
    """
    if (np.diff(second) > 0).all():
        return first, second
    step = -(-len(first) // MOST_PAIRS)  # the others are found again in the gaps
    first, second = first[::step], second[::step]
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, place in enumerate(second.tolist()):
        slot = bisect_left(tails, place)
        before.append(ends[slot - 1] if slot else -1)
        if slot == len(tails):
            tails.append(place)
            ends.append(index)
        else:
            tails[slot] = place
            ends[slot] = index
    row = []
    at = ends[-1]
    while at >= 0:
        row.append(at)
        at = before[at]
    chosen = np.array(row[::-1])
    return first[chosen], second[chosen]


def _as_runs(first: Places, second: Places, size: int) -> list[Block]:
    """Return the runs of shingles of this size; consecutive ones on both sides are merged."""
    begins = np.flatnonzero((np.diff(first, prepend=-2) != 1) | (np.diff(second, prepend=-2) != 1))
    lengths = np.diff(begins, append=len(first)) + (size - 1)
    return list(zip(first[begins].tolist(), second[begins].tolist(), lengths.tolist(), strict=True))

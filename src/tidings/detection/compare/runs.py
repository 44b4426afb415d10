"""Equal runs of two sequences of numbers, and a longest alignment of a part of them.

Apart from `anchored`, which loads numpy: few pages need that.
"""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz.distance import LCSseq

Block = tuple[int, int, int]
"""(start in old, start in new, length) of an equal run."""

_LAST_CHARACTER = 0x10FFFF


class Runs:
    """Equal runs of `a` and `b`, collected in order in `blocks`; adjacent runs are merged."""

    def __init__(self, a: Sequence[int], b: Sequence[int]) -> None:
        self.a = a
        self.b = b
        self.blocks: list[Block] = []

    def take(self, i: int, j: int, size: int) -> None:
        """Add a run that begins where no run before it has ended."""
        if self.blocks:
            last_i, last_j, last_size = self.blocks[-1]
            if last_i + last_size == i and last_j + last_size == j:
                self.blocks[-1] = (last_i, last_j, last_size + size)
                return
        self.blocks.append((i, j, size))

    def align(self, common_a: Sequence[int], common_b: Sequence[int]) -> None:
        """Add a longest alignment of the numbers at these places, bit-parallel in `len(kept_a) *
        len(kept_b)` cells.
        """
        first, second = as_text([self.a[i] for i in common_a], [self.b[j] for j in common_b])
        for start, other, size in longest_alignment(first, second):
            i, j = common_a[start], common_b[other]
            if common_a[start + size - 1] - i == size - 1 and common_b[other + size - 1] - j == size - 1:
                self.take(i, j, size)
                continue
            for shift in range(size):
                self.take(common_a[start + shift], common_b[other + shift], 1)


def longest_alignment(first: Sequence[object], second: Sequence[object]) -> list[Block]:
    """Return the equal runs of a longest common subsequence, in order; memory is a bit per pair of
    elements.
    """
    return [
        (match.src_start, match.dest_start, match.src_end - match.src_start)
        for match in LCSseq.opcodes(first, second)
        if match.tag == "equal"
    ]


def as_text(a: list[int], b: list[int]) -> tuple[Sequence[object], Sequence[object]]:
    """Return both as strings of one character per number, which rapidfuzz compares fastest;
    unchanged if there are too few characters.
    """
    if any(max(side) > _LAST_CHARACTER for side in (a, b)):
        return a, b
    return "".join(map(chr, a)), "".join(map(chr, b))

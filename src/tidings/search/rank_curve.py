"""The scores of a query's results by rank, and sums of the viewing curve over ranks (002 §5.1)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from operator import neg
from typing import Final

from tidings.record import dataclass

EXACT: Final = 256
"""The number of best results with exact scores: 1 KB a query."""
PIECES: Final = 3
"""Pieces, of equal length on a logarithmic scale, that approximate the scores beyond them."""
FEW: Final = 32
"""The number of terms up to which sums are exact; beyond that an integral is used, unless the first
ranks are included.
"""
FIRST: Final = 8


@dataclass(frozen=True, slots=True)
class CurvePiece:
    """Ranks from `first` to `last`, whose scores follow a power law: `high * (rank / start) **
    -slope`.
    """

    first: int
    last: int
    start: int
    high: float
    slope: float


@dataclass(frozen=True, slots=True)
class RankCurve:
    """The scores of a query's results by rank, best first: exact for the first ranks, then in
    pieces.

    `exponent` is that of the viewing curve. `ups` sums, over the first ranks from the second on,
    the gain of each score one rank higher; `downs`, from the first on, the loss one rank lower.
    """

    top: tuple[float, ...]
    exponent: float
    ups: tuple[float, ...]
    downs: tuple[float, ...]
    pieces: tuple[CurvePiece, ...] = ()

    @property
    def last(self) -> int:
        """Return the rank of the last result, 0 if there is none."""
        return self.pieces[-1].last if self.pieces else len(self.top)

    def score_at(self, rank: int) -> float:
        """Return the score at a rank from 1 on, 0 beyond the last."""
        if rank <= len(self.top):
            return self.top[rank - 1]
        for piece in self.pieces:
            if rank <= piece.last:
                return float(piece.high * (rank / piece.start) ** -piece.slope)
        return 0.0

    def count_above(self, score: float) -> int:
        """Return how many results have a greater score."""
        if not self.pieces or score >= self.top[-1]:
            return bisect_left(self.top, -score, key=neg)
        low, high = len(self.top), self.last
        while low < high:
            middle = (low + high) // 2
            if self.score_at(middle + 1) > score:
                low = middle + 1
            else:
                high = middle
        return low


def curve_of(scores: Iterable[float], exponent: float, *, exact: int = EXACT, pieces: int = PIECES) -> RankCurve:
    """Return the curve of a query's results.

    Args:
        scores: The scores of all results, in any order; zeros are dropped.
        exponent: That of the viewing curve.
        exact: How many of the best are exact.
        pieces: The number of pieces for the others.
    """
    ordered = sorted((score for score in scores if score > 0), reverse=True)
    top, count = tuple(ordered[:exact]), len(ordered)
    ups = (0.0, *accumulate(_steps(top, exponent, -1)))
    downs = (0.0, *accumulate(_steps(top, exponent, 1)))
    if count <= exact:
        return RankCurve(top, exponent, ups, downs)
    start = max(1, exact)
    ends = sorted({round(start * (count / start) ** (n / pieces)) for n in range(pieces + 1)})
    made = []
    for first, last in pairwise(ends):
        high, low = ordered[first - 1], ordered[last - 1]
        slope = math.log(high / low) / math.log(last / first)
        made.append(CurvePiece(first if first > len(top) else len(top) + 1, last, first, high, slope))
    return RankCurve(top, exponent, ups, downs, tuple(made))


def _steps(top: tuple[float, ...], exponent: float, step: int) -> Iterator[float]:
    """Yield for each of the first ranks its score times the change of the viewing curve one rank
    higher, or lower.
    """
    for rank, score in enumerate(top, 1):
        yield score * abs(read(rank + step, exponent) - read(rank, exponent)) if rank + step else 0.0


def sum_of_powers(first: int, last: int, exponent: float, shift: float = 0.0, scale: float = 1.0) -> float:
    """Return the sum of `((k + shift) / scale) ** -exponent` over k from `first` to `last`.

    It is exact for few terms, or if it begins early; else it is the integral between the midpoints.

    Args:
        first: The first k, 1 at least.
        last: The last k; below `first` the sum is 0.
        exponent: The exponent, above 1.
        shift: Added to each k.
        scale: The divisor after that, so that steep powers stay within range.
    """
    if last < first:
        return 0.0
    if first > FIRST and last - first > FEW:
        low, high = (first - 0.5 + shift) / scale, (last + 0.5 + shift) / scale
        return float(scale * (low ** (1 - exponent) - high ** (1 - exponent)) / (exponent - 1))
    exact = last if last - first <= FEW else max(first + FEW, FIRST)
    head = math.fsum(((k + shift) / scale) ** -exponent for k in range(first, exact + 1))
    return head + (sum_of_powers(exact + 1, last, exponent, shift, scale) if exact < last else 0.0)


def read(rank: int, exponent: float) -> float:
    """Return the viewing curve at a rank; 0 for no rank (0)."""
    return float(rank**-exponent) if rank > 0 else 0.0


def weigh_steps(curve: RankCurve, first: int, last: int, step: int) -> float:
    """Return the sum of the scores at ranks `first` to `last`, each times the change of the viewing
    curve one rank higher (`step` -1) or lower (1).

    Args:
        curve: The scores.
        first: The first rank.
        last: The last rank; beyond the last result scores are 0.
        step: Where each of these results moves: -1 up, 1 down.
    """
    sums, exact, exponent = curve.ups if step < 0 else curve.downs, min(last, len(curve.top)), curve.exponent
    total = sums[exact] - sums[first - 1] if first <= exact else 0.0
    for piece in curve.pieces:
        low, high = max(first, piece.first), min(last, piece.last)
        whole = exponent + piece.slope + 1  # |I'(r + step / 2)| times the score at r, as one power
        shift = step / 2 * (exponent + 1) / whole
        within = sum_of_powers(low, high, whole, shift, piece.start)
        total += exponent * piece.high * piece.start ** -(exponent + 1) * within
    return total

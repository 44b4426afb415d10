"""Ranks: the score of a text, the scores of a query's results by rank, sums of the viewing curve
over ranks (002 §5.1), and what changed texts are worth by them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from operator import neg
from typing import Final

from tidings.model.interval import Duration
from tidings.record import dataclass
from tidings.search.query import Query

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
        pieces: How many pieces approximate the others.
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


def value_of_move(curve: RankCurve, before: float, after: float) -> float:
    """Return the gain of a page's move for one search.

    Args:
        curve: The results before, including the page if it had a score.
        before: The score of the replaced copy, 0 for none.
        after: The score of the new copy, 0 for none.
    """
    if before == after:
        return 0.0
    above_before, above_after = curve.count_above(before), curve.count_above(after)
    if after < before:
        r1, r2 = above_before + 1, above_after if after > 0 else 0
        if r1 == r2:
            return 0.0
        moved = weigh_steps(curve, r1 + 1, r2 or curve.last, -1)
    else:
        r1, r2 = above_before + 1 if before > 0 else 0, above_after + 1
        if r1 == r2:
            return 0.0
        moved = -weigh_steps(curve, r2, r1 - 1 if r1 else curve.last, 1)
    return (read(r2, curve.exponent) - read(r1, curve.exponent)) * after + moved


def value_of_refresh(
    old: Mapping[str, float],
    new: Mapping[str, float],
    curves: Mapping[str, RankCurve],
    frequencies: Mapping[str, float],
) -> float:
    """Return the gain of a refresh for all searches of a workload: of single terms, or of whole
    queries.

    No move counts below zero: where one seems to, the curve is older than the page's rank.

    Args:
        old: The scores of the replaced copy, for each term or query that finds it.
        new: Those of the new copy.
        curves: The results of each term or query.
        frequencies: How often each is searched.
    """
    total = 0.0
    for term in old.keys() | new.keys():
        curve = curves.get(term)
        if curve is not None:
            move = value_of_move(curve, old.get(term, 0.0), new.get(term, 0.0))
            total += frequencies[term] * max(0.0, move)
    return total


def single_terms(workload: Iterable[tuple[Query, float]]) -> dict[str, float]:
    """Return how often each term is searched: a search for several counts for each of them (002
    §5.1).
    """
    found: Counter[str] = Counter()
    for query, frequency in workload:
        for term in query.terms:
            found[term] += frequency  # type: ignore[assignment]
    return dict(found)


def rate(gained: float, time: float, *, usual: float, weight: float) -> float:
    """Return a page's gain per unit of time: the ratio of its sums, shrunk to the usual one while
    little is known.

    The mean of the ratios of single refreshes, which the paper takes, has a larger variance; and a
    page without a gain so far would never be refreshed again.

    Args:
        gained: The total gain of its refreshes.
        time: The total time between them.
        usual: The mean gain of pages.
        weight: The weight of the usual gain, as time.
    """
    return (gained + usual * weight) / (time + weight) if time + weight > 0 else 0.0


K1: Final = 1.2
B: Final = 0.75
LEAST_IDF: Final = 1e-6
"""The weight of a term that occurs in half of all texts or more."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Statistics of all texts: their number, their average number of terms, and the number of texts
    with each term.
    """

    documents: int
    mean_length: float
    frequency: Mapping[str, int]


def bm25(counts: Mapping[str, float], length: int, known: Statistics) -> float:
    """Return the BM25 score of a text; greater is better.

    Args:
        counts: The count of each term or phrase in the text, possibly weighted by place.
        length: The number of terms of the text.
        known: The statistics of all texts.
    """
    norm = norm_of(length, known)
    return sum(
        idf(known.documents, known.frequency.get(term, 0)) * count * (K1 + 1) / (count + norm)
        for term, count in counts.items()
        if count
    )


def is_as_long(length: float, other: float) -> bool:
    """Return whether two copies differ so little in length, by a quarter, that the difference may
    be left out of their scores: the scores of terms that are in both as often are equal then.
    Lucene, with which 002 measured, stored a length as coarsely.

    Args:
        length: That of one copy, in characters or in terms.
        other: That of the other.
    """
    return abs(length - other) * 4 <= max(length, other)


def norm_of(length: int, known: Statistics) -> float:
    """Return BM25's length normalisation."""
    return K1 * (1 - B + B * length / known.mean_length) if known.mean_length else K1


def idf(documents: int, having: int) -> float:
    """Return the weight of a term that occurs in `having` of all texts."""
    weight = math.log((documents - having + 0.5) / (having + 0.5)) if having <= documents else 0.0
    return weight if weight > 0 else LEAST_IDF


HALF_LIFE: Final[Duration] = 30 * 86_400_000_000
"""The half-life of a search's weight (µs)."""
LEAST_WEIGHT: Final = 1 / 1_024
"""A query of less weight is deleted: one search, ten half-lives ago."""
USUAL_EXPONENT: Final = 1.5
LEAST_CLICKS: Final = 1_000
RANKS: Final = 20
"""The ranks of the fit: those of the first screen, which everybody was shown."""
_STEEPEST: Final = 6.0


def fade(weight: float, age: Duration) -> float:
    """Return the decayed weight after a time (µs)."""
    return weight * math.exp2(-max(0, age) / HALF_LIFE)


def viewing_exponent(clicks: Mapping[int, int]) -> float:
    """Return the maximum likelihood exponent of clicks by rank, the default one for fewer than
    `LEAST_CLICKS`.

    For a power law over the first ranks, the mean logarithm of the rank equals that of the clicks.
    """
    counted = {rank: many for rank, many in clicks.items() if 1 <= rank <= RANKS and many > 0}
    total = sum(counted.values())
    if total < LEAST_CLICKS:
        return USUAL_EXPONENT
    mean = sum(many * math.log(rank) for rank, many in counted.items()) / total
    low, high = 0.0, _STEEPEST
    for _ in range(60):
        middle = (low + high) / 2
        if _mean_logarithm(middle) > mean:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _mean_logarithm(exponent: float) -> float:
    weights = [math.pow(rank, -exponent) for rank in range(1, RANKS + 1)]
    return sum(w * math.log(rank) for rank, w in enumerate(weights, 1)) / sum(weights)


def knee(sums: Sequence[float]) -> float:
    """Return the least sum of TF-IDF scores of a relevant query: at the knee of the sums.

    They are plotted in descending order, log-log (002 §5.2 says that there is a knee, not how it
    was found): the knee is the point farthest above the line between the ends. With fewer than ten
    queries, or without such a point, all with results are relevant.
    """
    ordered = sorted((one for one in sums if one > 0), reverse=True)
    if len(ordered) < 10:
        return 0.0
    xs = [math.log(place) for place in range(1, len(ordered) + 1)]
    ys = [math.log(one) for one in ordered]
    slope = (ys[-1] - ys[0]) / xs[-1]
    above = [y - (ys[0] + slope * x) for x, y in zip(xs, ys, strict=True)]
    farthest = max(range(len(ordered)), key=lambda place: above[place])
    return ordered[farthest] if above[farthest] > 1e-9 else 0.0

"""What people search for, as numbers: how it fades, which ranks are read, which queries are of
these pages at all.

The viewing curve says how much is read of what stands at a rank: `rank ** -exponent`. It is fitted
from clicks once there are enough of them; until then it is the one that was measured on a large
search engine (002 §3.1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from tidings.model.interval import Duration

HALF_LIFE: Final[Duration] = 30 * 86_400_000_000
"""After so long a search counts half (µs)."""
LEAST_WEIGHT: Final = 1 / 1_024
"""A query that counts less is forgotten: one search, ten half lives ago."""
USUAL_EXPONENT: Final = 1.5
LEAST_CLICKS: Final = 1_000
RANKS: Final = 20
"""Ranks that are fitted: those of the first screen, which everybody was shown."""
_STEEPEST: Final = 6.0


def fade(weight: float, age: Duration) -> float:
    """Return what is left of a weight after a time (µs)."""
    return weight * math.exp2(-max(0, age) / HALF_LIFE)


def viewing_exponent(clicks: Mapping[int, int]) -> float:
    """Return the exponent under which clicks by rank are most likely, the usual one for fewer than
    `LEAST_CLICKS`.

    Of a power law over the first ranks, the mean logarithm of the rank is that of the clicks.
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
    """Return the least sum of TF-IDF scores by which a query is of these pages: at the knee of the
    sums.

    These are drawn by their order, largest first, both as logarithms (002 §5.2 says that there is a
    knee, not how it was found): the knee is the point that lies farthest above the line between the
    ends. With fewer than ten queries, or where no point does, all that find anything are kept.
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

"""Statistics of queries: their decay, the viewing curve, and which queries are relevant to these
pages.

The viewing curve is the share of readers at a rank: `rank ** -exponent`. It is fitted from clicks
once there are enough of them; until then it is the one measured on a large search engine (002
§3.1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from tidings.model.interval import Duration

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

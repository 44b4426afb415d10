"""The value of a refresh of a page for searchers (002 §5.1).

Results are ranked by the score of the stored copy of each page, and rank `r` is read with
probability `I(r) = r ** -a`. The quality for searchers is the sum over all results of that
probability times the score of the current page. A refresh moves one page from rank `r1` to `r2`,
and each between them by one:

    (I(r2) - I(r1)) s2 + sum of (change of I) x score over the pages that moved

That is never below zero if all scores are known. The signs of the paper's short form are lost in
print; the sum itself is computed here. A new page had no rank, and a removed one has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from tidings.search.query import Query
from tidings.search.rank_curve import RankCurve, read, weigh_steps


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
    """Return the gain of a refresh for all searches of a workload of single terms.

    No move counts below zero: where one seems to, the curve is older than the page's rank.

    Args:
        old: The scores of the replaced copy, for each of its terms.
        new: Those of the new copy.
        curves: The results of each term.
        frequencies: How often each term is searched.
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

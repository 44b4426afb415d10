"""What a refresh of a page improved for those who search: the change of what they read (002 §5.1).

Results are shown by the score of the stored copy of each page, and what stands at rank `r` is read
with likelihood `I(r) = r ** -a`. What searchers get is the sum over all results of that likelihood
times the score of the page as it is. A refresh moves one page from rank `r1` to `r2`, and each
between them by one:

    (I(r2) - I(r1)) s2 + sum of (change of I) x score over the pages that moved

That is never below zero where all scores are known. The signs of the paper's short form are lost in
print; here the sum itself is taken. A page that comes had no rank, and one that goes has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from tidings.search.query import Query
from tidings.search.rank_curve import RankCurve, read, weigh_steps


def value_of_move(curve: RankCurve, before: float, after: float) -> float:
    """Return what a page's move improved for one search.

    Args:
        curve: The results before, the page among them if it had a score.
        before: The score of the copy that was replaced, 0 for none.
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
    """Return what a refresh improved for all searches of a workload of single terms.

    No move counts below zero: where one seems to, the curve is older than the page's rank.

    Args:
        old: The scores of the copy that was replaced, of each term that it has.
        new: Those of the copy that replaced it.
        curves: The results of each term.
        frequencies: How often each term is searched for.
    """
    total = 0.0
    for term in old.keys() | new.keys():
        curve = curves.get(term)
        if curve is not None:
            move = value_of_move(curve, old.get(term, 0.0), new.get(term, 0.0))
            total += frequencies[term] * max(0.0, move)
    return total


def single_terms(workload: Iterable[tuple[Query, float]]) -> dict[str, float]:
    """Return how often each term is searched for: a search for several counts for each of them (002
    §5.1).
    """
    found: Counter[str] = Counter()
    for query, frequency in workload:
        for term in query.terms:
            found[term] += frequency  # type: ignore[assignment]
    return dict(found)


def rate(gained: float, time: float, *, usual: float, weight: float) -> float:
    """Return what a page gains a unit of time: the ratio of its sums, drawn towards what is usual
    while little is known.

    The mean of the ratios of each refresh, which the paper takes, has the larger variance; and a
    page of which nothing was gained yet would never have its turn again.

    Args:
        gained: What its refreshes improved in all.
        time: The time that lay between them in all.
        usual: What pages gain on average.
        weight: How much time the usual counts for.
    """
    return (gained + usual * weight) / (time + weight) if time + weight > 0 else 0.0

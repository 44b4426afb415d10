"""The quality of results, compared with sorting each query's results."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.lab.quality import RankedResults
from tidings.search.ranking import curve_of, value_of_move

SCORES = st.tuples(st.integers(0, 6), st.integers(0, 6))


def sort_and_sum(pairs, exponent):
    """Return what searchers get of one query: (shown, true) pairs, best shown first."""
    found = sorted((pair for pair in pairs if pair[0] > 0), key=lambda pair: -pair[0])
    return math.fsum(rank**-exponent * true for rank, (_, true) in enumerate(found, 1))


@given(
    st.lists(st.tuples(st.lists(SCORES, max_size=8), st.integers(0, 5)), min_size=1, max_size=5),
    st.sampled_from([0.5, 1.5, 3.0]),
)
def test_quality_is_that_of_sorted_results(queries, exponent: float):
    """There are queries without results, equal scores, and results that are not found."""
    query = np.repeat(np.arange(len(queries)), [len(pairs) for pairs, _ in queries])
    shown, true = np.array([pair for pairs, _ in queries for pair in pairs], dtype=float).reshape(-1, 2).T
    results = RankedResults(query, np.array([weight for _, weight in queries], dtype=float), exponent)

    assert [weight * sort_and_sum(pairs, exponent) for pairs, weight in queries] == pytest.approx(
        results.quality(shown, true).tolist()
    )


@given(st.lists(st.integers(1, 10**6), min_size=2, max_size=30, unique=True), st.integers(0, 29), st.integers(0, 10**6))
def test_value_of_a_move_is_the_gain_of_quality(scores, page: int, after: int):
    """It is the difference that ranking everything again makes, if the other pages are fresh."""
    before = np.array(scores, dtype=float)
    now = before.copy()
    now[page % len(now)] = after + 0.5
    results = RankedResults(np.zeros(len(now), dtype=np.int64), np.ones(1), 1.5)

    gained = results.quality(now, now) - results.quality(before, now)

    assert gained[0] == pytest.approx(
        value_of_move(curve_of(scores, 1.5), before[page % len(now)], after + 0.5), abs=1e-6 * now.max()
    )

"""Polls of EBR in slots, compared with all assignments and with the staleness that they cause."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.lab.refresh import allot_polls, ideal_instants, schedule, staler


@given(st.floats(0.01, 3), st.floats(0.2, 5), st.floats(-1, 1))
def test_cost_of_a_move_is_the_staleness_of_both_gaps(rate: float, gap: float, part: float):
    """Each gap g is stale for g − (1 − e^{−λg})/λ; a poll that is not moved costs nothing."""

    def stale(long: float) -> float:
        return long + float(np.expm1(-rate * long)) / rate

    moved = part * gap
    known = staler(np.array([rate]), np.array([gap]), np.array([moved]))

    assert stale(gap + moved) + stale(gap - moved) - 2 * stale(gap) == pytest.approx(known[0], abs=1e-9)


@given(
    st.lists(st.tuples(st.floats(0.1, 3), st.floats(0.1, 3)), min_size=1, max_size=3),
    st.integers(1, 4),
    st.lists(st.floats(0, 10), min_size=4, max_size=5),
)
def test_no_assignment_is_less_stale(pages: list[tuple[float, float]], polls: int, slots: list[float]):
    """Weights count: an important page that changes often keeps its instants."""
    changes, weights = (np.array(column) for column in zip(*pages, strict=True))
    shared = allot_polls(changes, weights, polls, 10.0)
    ideal = ideal_instants(shared, 10.0)

    def cost(instants: list[float]) -> float:
        total = 0.0
        for at, (wished, page) in zip(instants, ideal, strict=True):
            gap = 10.0 / shared[page]
            moved = abs(at - wished)
            more = staler(changes[page : page + 1], np.array([gap]), np.array([moved]))[0]
            total += weights[page] * (more + max(moved - gap, 0.0))
        return total

    found = schedule(changes, weights, shared, 10.0, slots)
    best = min(cost(list(chosen)) for chosen in itertools.permutations(slots, polls))
    mine = min(
        cost(list(chosen))
        for chosen in itertools.permutations([at for at, _ in found], polls)
        if sorted(zip(chosen, (page for _, page in ideal), strict=True)) == found
    )

    assert shared.tolist() == np.bincount([page for _, page in found], minlength=len(pages)).tolist()
    assert mine == pytest.approx(best, abs=1e-9)


def test_polls_that_do_not_fit_are_refused():
    """There are fewer slots than polls."""
    with pytest.raises(ValueError, match="2 polls do not fit into 1 slots"):
        schedule(np.ones(1), np.ones(1), np.array([2]), 10.0, [1.0])


def test_cost_of_a_move_is_exact_for_slow_pages():
    """It is λ·moved² while λ·g is small, where sums of numbers near 1 would lose it; without
    changes a move costs nothing.
    """
    rates = np.array([1e-9, 1e-13, 0.0])

    assert (rates * 50.0**2).tolist() == pytest.approx(
        staler(rates, np.full(3, 100.0), np.full(3, 50.0)).tolist(), rel=1e-6, abs=0
    )

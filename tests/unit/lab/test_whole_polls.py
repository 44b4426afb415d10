"""Whole numbers of polls, compared with all ways to distribute them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tidings.lab.refresh import cam, ebr, ebr_polls, first_come, ideal_instants, staleness, transport

CHANGES, WEIGHTS = np.array([0.05, 0.2, 0.6, 2.0]), np.array([1.0, 2.0, 1.0, 3.0])


def test_embarrassment_of_the_worked_pages_is_the_least():
    """It is the least of all ways to distribute twelve polls in ten days."""
    given = ebr(CHANGES, WEIGHTS, 12, 10.0)
    cost = float((WEIGHTS * staleness(CHANGES, given.astype(float), 10.0)).sum())
    best = min(
        float((WEIGHTS * staleness(CHANGES, np.array([*x, 12 - sum(x)], dtype=float), 10.0)).sum())
        for x in itertools.product(range(13), repeat=3)
        if sum(x) <= 12
    )

    assert [1, 3, 2, 6] == given.tolist()
    assert 3.5686817 == pytest.approx(cost, abs=1e-7)
    assert best == pytest.approx(cost)


@given(
    st.lists(st.tuples(st.floats(0.01, 5), st.floats(0.1, 3)), min_size=1, max_size=6),
    st.integers(1, 25),
    st.floats(1, 20),
)
def test_price_of_the_last_poll_gives_the_same_polls(pages, polls: int, period: float):
    """Each page by itself gets the number that Fox's method gives it."""
    changes, weights = (np.array(column) for column in zip(*pages, strict=True))
    shared = ebr(changes, weights, polls, period)

    def brings(number: np.ndarray) -> np.ndarray:
        return weights * (staleness(changes, number - 1.0, period) - staleness(changes, number * 1.0, period))

    last, next_one = brings(shared)[shared > 0].min(), brings(shared + 1).max()
    assume(next_one < last * (1 - 1e-9))

    assert shared.tolist() == ebr_polls(changes, weights, last * (1 - 1e-12), period, 100).tolist()


@given(
    st.lists(st.floats(0, 10), min_size=1, max_size=4).map(sorted), st.lists(st.floats(0, 10), min_size=4, max_size=6)
)
def test_polls_are_moved_as_little_as_possible(ideal: list[float], slots: list[float]):
    """All assignments are compared."""
    found = transport(ideal, slots)
    cost = sum(abs(slots[slot] - at) for slot, at in zip(found.tolist(), ideal, strict=True))
    best = min(
        sum(abs(slots[slot] - at) for slot, at in zip(chosen, ideal, strict=True))
        for chosen in itertools.permutations(range(len(slots)), len(ideal))
    )

    assert len(set(found.tolist())) == len(ideal)
    assert best == pytest.approx(cost)


def test_polls_that_do_not_fit_are_refused():
    """There are fewer slots than polls."""
    with pytest.raises(ValueError, match="2 polls do not fit into 1 slots"):
        transport([1.0, 2.0], [1.0])


def test_polls_are_evenly_spaced():
    """The first is after half a gap."""
    assert [(1.25, 1), (2.5, 0), (3.75, 1), (6.25, 1), (7.5, 0), (8.75, 1)] == ideal_instants(np.array([2, 4]), 10.0)


def test_cam_buys_the_most_probable_updates_and_queues_them():
    """There are polls for two servers; those released together wait."""
    chances = np.array([[0.9, 0.0, 0.2], [0.8, 0.0, 0.7], [0.1, 0.5, 0.6]])
    bought = cam(chances, np.ones(3), 5)

    assert [(0, 0), (0, 1), (1, 2), (2, 1), (2, 2)] == bought
    assert [[0], [1], [2]] == first_come(bought, 1, 3)
    assert [[0, 1], [2], [1, 2]] == first_come(bought, 2, 3)


def test_page_that_never_changes_gets_no_polls():
    """It is never stale, and takes no poll from others, at any place among them."""
    assert [0, 0] == staleness(np.zeros(2), np.array([0.0, 3.0]), 10.0).tolist()
    assert [0, 1, 0, 3, 2, 6, 0] == ebr(
        np.array([0, *CHANGES[:1], 0, *CHANGES[1:], 0]), np.array([9, 1, 9, 2, 1, 3, 9.0]), 12, 10.0
    ).tolist()


def test_page_that_changes_far_too_often_is_given_up():
    """With a thousand changes and more for each poll, e^{λT} overflows; no warning appears."""
    assert [0, 1] == ebr_polls(np.array([1e4, 1e-3]), np.ones(2), 4e-4, 1.0, 10).tolist()

"""Whole numbers of polls, compared with all ways to distribute them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tidings.lab.refresh import (
    allot_polls,
    cam,
    ebr_polls,
    first_come,
    ideal_instants,
    mean_age,
    staleness,
    transport,
)

CHANGES, WEIGHTS = np.array([0.05, 0.2, 0.6, 2.0]), np.array([1.0, 2.0, 1.0, 3.0])


def test_embarrassment_of_the_worked_pages_is_known():
    """Twelve polls in ten days are spread as the study computed it."""
    given = allot_polls(CHANGES, WEIGHTS, 12, 10.0)

    assert [1, 3, 2, 6] == given.tolist()
    assert 3.5686817 == pytest.approx(float((WEIGHTS * staleness(CHANGES, given.astype(float), 10.0)).sum()), abs=1e-7)


@pytest.mark.parametrize("loss", [staleness, mean_age])
@given(
    pages=st.lists(st.tuples(st.floats(0, 20), st.floats(0.1, 3)), min_size=1, max_size=4),
    polls=st.integers(0, 7),
    period=st.floats(0.5, 20),
    most=st.integers(1, 4),
)
def test_no_way_to_spread_polls_loses_less(loss, pages, polls: int, period: float, most: int):
    """All ways to spread them are compared, with at most so many for a page."""
    changes, weights = (np.array(column) for column in zip(*pages, strict=True))
    ways = [way for way in itertools.product(range(most + 1), repeat=len(pages)) if sum(way) <= polls]

    found = allot_polls(changes, weights, polls, period, loss=loss, most=most)

    assert tuple(found.tolist()) in ways
    lost = [float((weights * loss(changes, np.array(way, dtype=float), period)).sum()) for way in (found, *ways)]
    assert min(lost) == pytest.approx(lost[0], rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("rate", [1e-4, 0.02, 0.7, 30.0])
@pytest.mark.parametrize("polls", [0, 1, 5])
def test_mean_age_is_the_time_since_the_first_change_that_a_copy_lacks(rate: float, polls: int):
    """It is summed over the instants of the period: the chance of an age above a grows with e."""
    gap = 12.0 / (polls + 1)
    at = (np.arange(20_000) + 0.5) * gap / 20_000
    expected = np.mean(at + np.expm1(-rate * at) / rate)

    found = mean_age(np.array([rate]), np.array([float(polls)]), 12.0)[0]

    assert expected == pytest.approx(found, rel=1e-4)


def test_mean_age_is_that_of_drawn_changes():
    """Ten thousand copies get a first change after an exponential time."""
    first = np.random.default_rng(3).exponential(1 / 0.3, 10_000)
    at = np.linspace(0, 4, 401)

    assert np.maximum(at - first[:, None], 0).mean() == pytest.approx(
        mean_age(np.array([0.3]), np.array([2.0]), 12.0)[0], rel=0.03
    )
    assert 0 == mean_age(np.zeros(1), np.zeros(1), 12.0)[0]


def test_page_that_changes_too_often_is_abandoned_for_staleness_but_not_for_age():
    """Its copy is stale at once, but it can be less old."""
    changes, equal = np.array([0.3, 0.4, 50.0]), np.ones(3)

    assert [3, 3, 0] == allot_polls(changes, equal, 6, 10.0).tolist()
    assert [2, 2, 2] == allot_polls(changes, equal, 6, 10.0, loss=mean_age).tolist()


@given(
    st.lists(st.tuples(st.floats(0.01, 5), st.floats(0.1, 3)), min_size=1, max_size=6),
    st.integers(1, 25),
    st.floats(1, 20),
)
def test_price_of_the_last_poll_gives_the_same_polls(pages, polls: int, period: float):
    """Each page by itself gets the number that Fox's method gives it."""
    changes, weights = (np.array(column) for column in zip(*pages, strict=True))
    shared = allot_polls(changes, weights, polls, period)

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
    assert [0, 1, 0, 3, 2, 6, 0] == allot_polls(
        np.array([0, *CHANGES[:1], 0, *CHANGES[1:], 0]), np.array([9, 1, 9, 2, 1, 3, 9.0]), 12, 10.0
    ).tolist()


def test_page_that_changes_far_too_often_is_given_up():
    """With a thousand changes and more for each poll, e^{λT} overflows; no warning appears."""
    assert [0, 1] == ebr_polls(np.array([1e4, 1e-3]), np.ones(2), 4e-4, 1.0, 10).tolist()

"""The worked numbers and theorems of WIC, compared with its definition and with all schedules."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidings.lab import wic as law
from tidings.lab.wic import WicLife, WicPage, WicUrgency, best, top, utility, wic

CHANCES = (np.full(6, 0.5), np.array([0.9, 0, 0, 0.9, 0, 0]), np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))
URGENCIES = (
    law.uniform(),
    law.exponential(0.5),
    law.exponential(0.9),
    law.sliding_window(0),
    law.sliding_window(1),
)
every_urgency = st.one_of(
    st.sampled_from(URGENCIES),
    st.builds(law.sliding_window, st.integers(0, 6)),
    st.builds(law.chordal, st.integers(1, 6)),
    st.builds(law.erlang, st.floats(0.2, 0.99), st.integers(1, 3)),
    st.just(law.exponential(0.0)),
    st.lists(st.floats(0, 1), max_size=5).map(lambda falls: law.table([1.0, *sorted(falls, reverse=True)])),
)
every_life = st.builds(WicLife, st.none() | st.integers(0, 6), st.none() | st.integers(1, 4))


@pytest.mark.parametrize(
    ("page", "life", "expected"),
    [
        (0, law.forever(), (1.5, 0.875, 1.355, 0.5, 1.0)),
        (0, law.time_window(1), (1.0, 0.75, 0.95, 0.5, 1.0)),
        (0, law.change_window(2), (1.375, 0.84375, 1.25375, 0.5, 1.0)),
        (0, law.overwrite(), (0.875, 0.65625, 0.82625, 0.5, 0.75)),
        (2, law.forever(), (0.9, 0.6, 0.832, 0.4, 0.7)),
        (2, law.change_window(2), (0.876, 0.594, 0.81256, 0.4, 0.7)),
        (2, law.overwrite(), (0.664, 0.511, 0.63004, 0.4, 0.58)),
    ],
)
def test_utility_agrees_with_values_by_hand(page: int, life: WicLife, expected: tuple[float, ...]):
    """They are from instant 1 to 4: uniform, exponential .5 and .9, sliding windows 0 and 1."""
    assert expected == pytest.approx([utility(CHANCES[page], life, urgency, 1, 4) for urgency in URGENCIES])


def test_change_window_counts_the_instants_since_the_change():
    """The printed exponent depends on the end of the epoch; the correct one on j − k (scheduling
    §1.1).
    """
    chances = np.full(10, 0.3)

    assert 0.6517 == pytest.approx(law.change_window(2).at(chances, 2, 6))
    assert law.overwrite().at(chances, 2, 6) == pytest.approx(law.change_window(1).at(chances, 2, 6))
    assert 1.0 == pytest.approx(law.change_window(9).at(chances, 2, 6))


@pytest.mark.parametrize(
    ("life", "urgency", "earned", "optimum", "polls"),
    [
        (law.forever(), law.uniform(), 5.9, 6.4, (2, 1, 3, 1, 2, 3)),
        (law.forever(), law.exponential(0.5), 4.73125, 4.803125, (2, 1, 1, 2, 3, 1)),
        (law.forever(), law.exponential(0.9), 5.171, 6.04, (2, 1, 3, 1, 3, 1)),
        (law.forever(), law.sliding_window(0), 3.9, 3.9, (2, 1, 1, 2, 1, 3)),
        (law.overwrite(), law.sliding_window(0), 3.9, 3.9, (2, 1, 1, 2, 1, 3)),
        (law.change_window(2), law.uniform(), 5.774, 6.155, None),
        (law.overwrite(), law.uniform(), 4.7738, 4.801, (2, 1, 1, 2, 3, 1)),
        (law.overwrite(), law.exponential(0.5), 4.21005, 4.27576, None),
    ],
)
def test_worked_epoch_agrees_with_the_paper(
    life: WicLife, urgency: WicUrgency, earned: float, optimum: float, polls: tuple[int, ...] | None
):
    """It has three pages, six instants and one poll an instant."""
    pages = [WicPage(chances, life, urgency) for chances in CHANCES]
    schedule = wic(pages, top(1))

    assert earned == pytest.approx(schedule.utility)
    assert optimum == pytest.approx(best(pages, 1).utility, abs=1e-5)
    assert polls is None or tuple((number - 1,) for number in polls) == schedule.polls


@given(every_life, every_urgency, st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_no_schedule_earns_more_than_1_plus_a_times_as_much(life: WicLife, urgency: WicUrgency, seed: int):
    """The paper's theorem holds for all schedules of three pages in five instants; with a sliding
    window of 0 WIC is the best.
    """
    rng = np.random.default_rng(seed)
    pages = [WicPage(rng.uniform(0, 1, 5), life, urgency, rng.uniform(0.2, 1)) for _ in range(3)]
    earned = wic(pages, top(1)).utility
    optimum = best(pages, 1).utility

    assert optimum <= (1 + law.steepness(urgency, 5)) * earned + 1e-9
    assert urgency.window != 0 or optimum == pytest.approx(earned)


@pytest.mark.parametrize(("ratio", "most"), [(1.0, 2.0), (0.9, 1.9), (0.5, 1.5)])
def test_bound_is_tight(ratio: float, most: float):
    """Two pages and two instants reach 1 + a."""
    urgency = law.exponential(ratio)
    chances = np.array([1.0, 0.0])
    pages = [WicPage(chances, law.forever(), urgency), WicPage(chances, law.time_window(0), urgency)]

    assert 1.0 == pytest.approx(wic(pages, top(1)).utility)
    assert most == pytest.approx(best(pages, 1).utility)


def test_bound_holds_for_every_feasible_family():
    """With costs under a knapsack and one page a host, the best feasible set of each instant earns
    at least 1/(1 + a) (scheduling §1.4).
    """
    rng = np.random.default_rng(5)
    for _ in range(12):
        costs, hosts = rng.integers(1, 4, 4), np.array([0, 0, 1, 2])
        urgency = URGENCIES[int(rng.integers(0, 5))]
        pages = [WicPage(rng.uniform(0, 1, 4), law.forever(), urgency) for _ in range(4)]
        sets = [s for n in range(4) for s in itertools.combinations(range(4), n) if _is_feasible(s, costs, hosts)]

        choose = partial(_best_set, sets)
        optimum = best(pages, 3, is_feasible=partial(_is_feasible, costs=costs, hosts=hosts)).utility

        assert optimum <= (1 + law.steepness(urgency, 4)) * wic(pages, choose).utility + 1e-9


def _best_set(sets: list[tuple[int, ...]], gains: np.ndarray, _: int) -> np.ndarray:
    return np.array(max(sets, key=lambda chosen: gains[list(chosen)].sum()), dtype=np.intp)


def _is_feasible(chosen: tuple[int, ...], costs: np.ndarray, hosts: np.ndarray) -> bool:
    return costs[list(chosen)].sum() <= 3 and len(set(hosts[list(chosen)].tolist())) == len(chosen)


@pytest.mark.parametrize(
    "make",
    [
        lambda: law.exponential(1.1),
        lambda: law.sliding_window(-1),
        lambda: law.chordal(0),
        lambda: law.erlang(0.0, 1),
        lambda: law.table([0.5]),
        lambda: law.table([1, 0.2, 0.3]),
        lambda: WicLife(window=-1),
        lambda: WicLife(changes=0),
    ],
    ids=[
        "steeper than 1",
        "window",
        "chord",
        "erlang",
        "below 1 at 0",
        "rising",
        "no window",
        "no changes",
    ],
)
def test_invalid_urgency_or_life_is_refused(make: object):
    """The message says why."""
    with pytest.raises(ValueError, match=r"."):
        make()  # type: ignore[operator]


@given(every_urgency)
def test_urgency_begins_with_1_and_never_rises(urgency: WicUrgency):
    """This is true of every form."""
    worth = urgency.at(np.arange(30))

    assert 1.0 == pytest.approx(worth[0])
    assert (np.diff(worth) <= 1e-12).all()
    assert (worth >= -1e-12).all()

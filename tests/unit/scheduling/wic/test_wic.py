"""The paper's worked numbers and theorems, against the definition and against every schedule there is."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidings.scheduling.wic import urgency as lives
from tidings.scheduling.wic import urgency as urgencies
from tidings.scheduling.wic.accrual import EXACT_EVERY, Accrual
from tidings.scheduling.wic.greedy import DenseWic, Page, best, earn, top, utility, wic
from tidings.scheduling.wic.urgency import WicLife, WicUrgency

CHANCES = (np.full(6, 0.5), np.array([0.9, 0, 0, 0.9, 0, 0]), np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))
URGENCIES = (
    urgencies.uniform(),
    urgencies.exponential(0.5),
    urgencies.exponential(0.9),
    urgencies.sliding_window(0),
    urgencies.sliding_window(1),
)
every_urgency = st.one_of(
    st.sampled_from(URGENCIES),
    st.builds(urgencies.sliding_window, st.integers(0, 6)),
    st.builds(urgencies.chordal, st.integers(1, 6)),
    st.builds(urgencies.erlang, st.floats(0.2, 0.99), st.integers(1, 3)),
    st.just(urgencies.exponential(0.0)),
    st.lists(st.floats(0, 1), max_size=5).map(lambda falls: urgencies.table([1.0, *sorted(falls, reverse=True)])),
)
every_life = st.builds(WicLife, st.none() | st.integers(0, 6), st.none() | st.integers(1, 4))


@pytest.mark.parametrize(
    ("page", "life", "expected"),
    [
        (0, lives.forever(), (1.5, 0.875, 1.355, 0.5, 1.0)),
        (0, lives.time_window(1), (1.0, 0.75, 0.95, 0.5, 1.0)),
        (0, lives.change_window(2), (1.375, 0.84375, 1.25375, 0.5, 1.0)),
        (0, lives.overwrite(), (0.875, 0.65625, 0.82625, 0.5, 0.75)),
        (2, lives.forever(), (0.9, 0.6, 0.832, 0.4, 0.7)),
        (2, lives.change_window(2), (0.876, 0.594, 0.81256, 0.4, 0.7)),
        (2, lives.overwrite(), (0.664, 0.511, 0.63004, 0.4, 0.58)),
    ],
)
def test_utility_from_instant_1_to_4(page: int, life: WicLife, expected: tuple[float, ...]):
    """Worked by hand: uniform, exponential .5 and .9, sliding windows 0 and 1."""
    assert expected == pytest.approx([utility(CHANCES[page], life, urgency, 1, 4) for urgency in URGENCIES])


def test_the_change_window_counts_the_instants_since_the_change():
    """The exponent as printed depends on the end of the epoch; the right one on j − k (scheduling §1.1)."""
    chances = np.full(10, 0.3)

    assert 0.6517 == pytest.approx(lives.change_window(2).at(chances, 2, 6))
    assert lives.overwrite().at(chances, 2, 6) == pytest.approx(lives.change_window(1).at(chances, 2, 6))
    assert 1.0 == pytest.approx(lives.change_window(9).at(chances, 2, 6))


@pytest.mark.parametrize(
    ("life", "urgency", "earned", "optimum", "polls"),
    [
        (lives.forever(), urgencies.uniform(), 5.9, 6.4, (2, 1, 3, 1, 2, 3)),
        (lives.forever(), urgencies.exponential(0.5), 4.73125, 4.803125, (2, 1, 1, 2, 3, 1)),
        (lives.forever(), urgencies.exponential(0.9), 5.171, 6.04, (2, 1, 3, 1, 3, 1)),
        (lives.forever(), urgencies.sliding_window(0), 3.9, 3.9, (2, 1, 1, 2, 1, 3)),
        (lives.overwrite(), urgencies.sliding_window(0), 3.9, 3.9, (2, 1, 1, 2, 1, 3)),
        (lives.change_window(2), urgencies.uniform(), 5.774, 6.155, None),
        (lives.overwrite(), urgencies.uniform(), 4.7738, 4.801, (2, 1, 1, 2, 3, 1)),
        (lives.overwrite(), urgencies.exponential(0.5), 4.21005, 4.27576, None),
    ],
)
def test_the_worked_epoch(
    life: WicLife, urgency: WicUrgency, earned: float, optimum: float, polls: tuple[int, ...] | None
):
    """Three pages, six instants, one poll an instant."""
    pages = [Page(chances, life, urgency) for chances in CHANCES]
    schedule = wic(pages, top(1))

    assert earned == pytest.approx(schedule.utility)
    assert earned == pytest.approx(earn(pages, schedule.polls))
    assert optimum == pytest.approx(best(pages, 1).utility, abs=1e-5)
    assert polls is None or tuple((number - 1,) for number in polls) == schedule.polls


@given(every_life, every_urgency, st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_what_gathers_is_what_is_defined(life: WicLife, urgency: WicUrgency, seed: int):
    """Every life with every urgency, chances of 0 and 1 among them, polled at random: to 1e-9 at every instant."""
    rng = np.random.default_rng(seed)
    instants = 14
    chances = rng.uniform(0, 1, (3, instants)) * rng.integers(0, 2, (3, instants))
    chances[rng.uniform(size=chances.shape) < 0.1] = 1.0
    weights = rng.uniform(0.1, 2, 3)
    accrual = Accrual(weights, life, urgency)
    last = [0, 0, 0]
    for instant in range(1, instants + 1):
        accrual.step(chances[:, instant - 1])
        expected = [
            utility(chances[page], life, urgency, last[page], instant, weight=weights[page]) for page in range(3)
        ]
        assert expected == pytest.approx(accrual.gains.tolist(), abs=1e-9)
        polled = np.flatnonzero(rng.uniform(size=3) < 0.2)
        accrual.poll(polled)
        for page in polled.tolist():
            last[page] = instant


def test_differences_do_not_drift():
    """Sums with windows are made anew now and then, so that thousands of instants later they are exact."""
    rng = np.random.default_rng(0)
    instants = EXACT_EVERY + 30
    chances = rng.uniform(0, 1, (1, instants))
    life, urgency = lives.change_window(3), urgencies.chordal(7)
    accrual = Accrual(np.ones(1), life, urgency)
    for instant in range(instants):
        accrual.step(chances[:, instant])
        if instant + 1 >= EXACT_EVERY - 2:
            assert utility(chances[0], life, urgency, 0, instant + 1) == pytest.approx(accrual.gains[0], abs=1e-9)


@given(every_life, every_urgency, st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_no_schedule_earns_1_plus_a_times_as_much(life: WicLife, urgency: WicUrgency, seed: int):
    """The paper's theorem, against every schedule of three pages in five instants; with a sliding window of 0 WIC is the best."""
    rng = np.random.default_rng(seed)
    pages = [Page(rng.uniform(0, 1, 5), life, urgency, rng.uniform(0.2, 1)) for _ in range(3)]
    earned = wic(pages, top(1)).utility
    optimum = best(pages, 1).utility

    assert optimum <= (1 + urgencies.steepness(urgency, 5)) * earned + 1e-9
    assert urgency.window != 0 or optimum == pytest.approx(earned)


@pytest.mark.parametrize(("ratio", "most"), [(1.0, 2.0), (0.9, 1.9), (0.5, 1.5)])
def test_the_bound_is_tight(ratio: float, most: float):
    """Two pages and two instants reach 1 + a."""
    urgency = urgencies.exponential(ratio)
    chances = np.array([1.0, 0.0])
    pages = [Page(chances, lives.forever(), urgency), Page(chances, lives.time_window(0), urgency)]

    assert 1.0 == pytest.approx(wic(pages, top(1)).utility)
    assert most == pytest.approx(best(pages, 1).utility)


def test_the_bound_holds_over_any_feasible_family():
    """Costs under a knapsack and one page a host: the best feasible set of each instant earns 1/(1 + a) and more (scheduling §1.4)."""
    rng = np.random.default_rng(5)
    for _ in range(12):
        costs, hosts = rng.integers(1, 4, 4), np.array([0, 0, 1, 2])
        urgency = URGENCIES[int(rng.integers(0, 5))]
        pages = [Page(rng.uniform(0, 1, 4), lives.forever(), urgency) for _ in range(4)]
        sets = [s for n in range(4) for s in itertools.combinations(range(4), n) if _is_feasible(s, costs, hosts)]

        choose = partial(_best_set, sets)
        optimum = best(pages, 3, is_feasible=partial(_is_feasible, costs=costs, hosts=hosts)).utility

        assert optimum <= (1 + urgencies.steepness(urgency, 4)) * wic(pages, choose).utility + 1e-9


def _best_set(sets: list[tuple[int, ...]], gains: np.ndarray, _: int) -> np.ndarray:
    return np.array(max(sets, key=lambda chosen: gains[list(chosen)].sum()), dtype=np.intp)


def _is_feasible(chosen: tuple[int, ...], costs: np.ndarray, hosts: np.ndarray) -> bool:
    return costs[list(chosen)].sum() <= 3 and len(set(hosts[list(chosen)].tolist())) == len(chosen)


@pytest.mark.parametrize("decay", [0.0, 0.8, 1.0])
def test_a_million_pages_are_chosen_as_a_few(decay: float):
    """The dense form chooses what the definition chooses, with its floor and without."""
    rng = np.random.default_rng(7)
    chances = rng.uniform(0, 0.3, (50, 40)).astype(np.float32)
    dense = DenseWic(50, 4)
    polls = [dense.step(np.float32(decay), chances[:, instant]) for instant in range(40)]
    pages = [Page(row.astype(np.float64), lives.forever(), urgencies.exponential(decay)) for row in chances]

    assert wic(pages, top(4)).polls == tuple(tuple(sorted(polled.tolist())) for polled in polls)


@pytest.mark.parametrize(
    "make",
    [
        lambda: urgencies.exponential(1.1),
        lambda: urgencies.sliding_window(-1),
        lambda: urgencies.chordal(0),
        lambda: urgencies.erlang(0.0, 1),
        lambda: urgencies.table([0.5]),
        lambda: urgencies.table([1, 0.2, 0.3]),
        lambda: WicLife(window=-1),
        lambda: WicLife(changes=0),
        lambda: DenseWic(3, 4),
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
        "capacity",
    ],
)
def test_what_is_no_urgency_and_no_life(make: object):
    """It is refused."""
    with pytest.raises(ValueError, match=r"."):
        make()  # type: ignore[operator]


@given(every_urgency)
def test_an_urgency_begins_with_1_and_never_rises(urgency: WicUrgency):
    """Whatever its form."""
    worth = urgency.at(np.arange(30))

    assert 1.0 == pytest.approx(worth[0])
    assert (np.diff(worth) <= 1e-12).all()
    assert (worth >= -1e-12).all()

"""Exact schedules, against brute force and against what is known of pinwheels.

Schedules that repeat.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tidings.lab.gardener.garden import Capacity, Garden, measure
from tidings.lab.gardener.medd import edd, tend
from tidings.lab.gardener.pinwheel import UndecidedError, extract, is_pinwheel_guaranteed, schedule_exactly


@pytest.mark.parametrize(
    "windows", [w for n in (2, 3) for w in itertools.combinations_with_replacement(range(2, 8), n)]
)
def test_up_to_five_sixths_every_pinwheel_turns(windows: tuple[int, ...]):
    """A schedule is found wherever density promises one, and none where the density is over 1."""
    garden = Garden.of([1.0] * len(windows), windows)
    cycle = schedule_exactly(garden, 1.0)

    assert cycle is None or cycle.keeps(garden)
    assert cycle is not None or not is_pinwheel_guaranteed(garden)
    assert cycle is None or garden.density <= 1 + 1e-9


@pytest.mark.parametrize("third", [6, 7, 50, 400])
def test_two_three_and_anything_never_turn(third: int):
    """The pinwheel {2, 3, n} has no schedule for any n, although its density comes down to 5/6."""
    assert schedule_exactly(Garden.of([1, 1, 1], [2, 3, third]), 1.0) is None


def test_costs_and_capacities():
    """Bin packing in time: three plants of 0.6 need three days of capacity 1, two that fit together need one."""
    assert schedule_exactly(Garden.of([0.6, 0.6, 0.6], [2, 2, 2]), 1.0) is None
    assert schedule_exactly(Garden.of([0.6, 0.6, 0.6], [3, 3, 3]), 1.0) is not None
    assert schedule_exactly(Garden.of([0.5, 0.5], [1, 1]), 1.0) is not None


def test_a_search_that_is_given_up_says_so():
    """It never says that there is none."""
    with pytest.raises(UndecidedError, match="first 50 states"):
        schedule_exactly(Garden.of([1] * 8, [7, 8, 9, 10, 11, 12, 13, 14]), 1.0, most=50)


@given(st.lists(st.tuples(st.sampled_from([0.5, 1.0]), st.integers(2, 6)), min_size=1, max_size=5))
@settings(max_examples=30)
def test_any_schedule_in_time_holds_one_that_repeats(plants: list[tuple[float, int]]):
    """Properties 2 and 3: it keeps every window, its peak is no higher, and it is no dearer than the whole."""
    garden = Garden.of(*zip(*plants, strict=True))
    schedule = tend(garden, edd, Capacity(max(2 * garden.density, 1.0)), 400)
    whole = measure(garden, schedule)
    assume(not whole.peak_tardiness)
    cycle = extract(garden, schedule)

    assert cycle is not None
    assert cycle.keeps(garden)
    assert max(garden.workload(day) for day in cycle) <= whole.peak_workload + 1e-9
    assert sum(garden.workload(day) for day in cycle) / cycle.period <= whole.average_workload + 0.2
    assert garden.density <= sum(garden.workload(day) for day in cycle) / cycle.period + 1e-9


def test_a_schedule_that_never_repeats_proves_nothing():
    """Without two equal stretches there is no period."""
    garden = Garden.of([1], [3])

    assert extract(garden, [[0], [], [0]]) is None


def test_the_density_is_the_least_workload():
    """Property 1, on schedules of every small garden of two plants that is in time."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        garden = Garden.of([1, 1], rng.integers(2, 6, 2))
        cycle = extract(garden, tend(garden, edd, Capacity(2), 100))

        assert cycle is not None
        assert garden.density <= sum(len(day) for day in cycle) / cycle.period

"""Schedules that repeat."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tidings.lab.gardener.demand import Capacity
from tidings.lab.gardener.garden import Garden, measure
from tidings.lab.gardener.medd import edd, tend
from tidings.lab.gardener.periodic import extract


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

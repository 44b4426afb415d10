"""The 4-approximation of the garden: every window is kept, and no day costs over 4Ω + 2."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidings.lab.gardener.garden import Cycle, Garden, compute_bound, construct, measure, prune, refine

FIVE = Garden.of([1, 0.5, 0.5, 0.3, 1], [2, 3, 5, 7, 8])
gardens = st.lists(st.tuples(st.floats(0.01, 3), st.integers(1, 40)), min_size=1, max_size=12).map(
    lambda plants: Garden.of(*zip(*plants, strict=True))
)


def test_garden_of_the_worked_example():
    """It has five plants with period 8."""
    cycle = construct(FIVE)
    found = measure(FIVE, cycle.first(800))

    assert ((0, 1), (4,), (0, 1), (2, 3), (0, 1), (), (0, 1), (2, 3)) == cycle.days
    assert 0.934524 == pytest.approx(FIVE.density, abs=1e-6)
    assert 5.7381 == pytest.approx(compute_bound(FIVE), abs=1e-4)
    assert (1.075, 1.5, 0.0, 0) == pytest.approx(found.values())


@given(gardens)
@settings(max_examples=60)
def test_every_window_is_kept_within_the_bound(garden: Garden):
    """Theorem 3.3 holds; a choice by true costs is not worse."""
    cycle = construct(garden)
    better = refine(garden)

    assert cycle.keeps(garden)
    assert better.keeps(garden)
    assert max(garden.workload(day) for day in cycle) <= compute_bound(garden) + 1e-9
    assert _average(garden, better) <= _average(garden, cycle) + 1e-9
    assert garden.density <= _average(garden, better) + 1e-9


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=12))
def test_rounding_to_powers_of_two_costs_at_most_two_more(plants: list[tuple[int, int]]):
    """Lemma 3.1 holds."""
    garden = Garden.of([2.0**-c for c, _ in plants], [2**w for _, w in plants])

    assert max(garden.workload(day) for day in construct(garden)) <= garden.density + 2 + 1e-9


def test_unneeded_visits_are_pruned():
    """Pruning keeps every window."""
    garden = Garden.of([1, 1], [2, 4])
    every_day = Cycle(((0, 1),) * 4)

    pruned = prune(garden, every_day)

    assert pruned.keeps(garden)
    assert 3 == sum(len(day) for day in pruned)


@pytest.mark.parametrize(
    ("costs", "windows"), [([], []), ([1], [0]), ([0], [1]), ([np.inf], [1]), ([1, 1], [1]), ([1], [1.5])]
)
def test_invalid_garden_is_refused(costs: list[float], windows: list[float]):
    """The message says why."""
    with pytest.raises(ValueError, match=r"garden needs|costs must|windows must"):
        Garden.of(costs, windows)


def _average(garden: Garden, cycle: Cycle) -> float:
    return sum(garden.workload(day) for day in cycle) / cycle.period

"""Bounds, compared with brute force."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.lab.test_profiles import RANKINGS, instance, overlaps_within_resources
from tidings.lab.bounds import local_ratio, optimum, relaxation
from tidings.lab.generate import poisson_updates, profiles, watch
from tidings.lab.profiles import Cei, Online, best, cei


@pytest.mark.parametrize("seed", range(12))
def test_integer_optimum_is_the_best_of_all_schedules(seed: int):
    """No relaxation is below it, and no policy above it."""
    ceis = instance(np.random.default_rng(seed), apart=False)
    exact = optimum(ceis, 6, 1)

    assert exact.is_exact
    assert best(ceis, 6, 1) == pytest.approx(exact.value)
    assert relaxation(ceis, 6, 1).bound >= exact.value - 1e-6
    for ranking in RANKINGS.values():
        assert Online(ranking).run(ceis, 6, 1).worth <= exact.value + 1e-6


def test_other_forms_of_worth_are_bounded_too():
    """They are any m of n, and shares."""
    ceis = [
        Cei(one.intervals, weight=1.0 + number, needed=1 if number % 2 else None, additive=number == 2)
        for number, one in enumerate(instance(np.random.default_rng(4), apart=False))
    ]

    assert best(ceis, 6, 1) == pytest.approx(optimum(ceis, 6, 1).value)


@pytest.mark.parametrize("seed", range(8))
def test_local_ratio_earns_at_least_a_kth_of_the_best(seed: int):
    """Its choice is feasible, for single chronons and separate resources (scheduling §2.3)."""
    ceis = instance(np.random.default_rng(seed), apart=True, width=1, ceis=5)
    taken = local_ratio(ceis, 6)
    most = max(len(one.intervals) for one in ceis)
    chosen = [ceis[number] for number in taken]

    assert not overlaps_within_resources(ceis)
    assert len(chosen) == pytest.approx(optimum(chosen, 6, 1).value) if chosen else True
    assert best(ceis, 6, 1) <= most * len(taken)


def test_local_ratio_refuses_wide_intervals():
    """The integer program solves those."""
    with pytest.raises(ValueError, match="`optimum`"):
        local_ratio([cei((1, 1, 2))], 2)


def test_profile_of_several_resources_needs_the_qth_update_of_each():
    """AuctionWatch(2) has windows, or lasts until the next update."""
    updates = {1: [2, 9], 2: [3, 5, 8]}

    assert [cei((1, 2, 4), (2, 3, 5), rank=2), cei((1, 9, 10), (2, 5, 7), rank=2)] == watch(
        updates, [1, 2], window=2, instants=10, rank=2
    )
    assert [cei((1, 2, 8), (2, 3, 4)), cei((1, 9, 10), (2, 5, 7))] == watch(updates, [1, 2], window=None, instants=10)


def test_profiles_are_the_same_for_the_same_seed():
    """The generator is an argument."""
    made = [
        profiles(
            poisson_updates(20, 100, 5.0, np.random.default_rng(1)),
            10,
            most=3,
            window=0,
            instants=100,
            rng=np.random.default_rng(2),
            skew=1.0,
        )
        for _ in range(2)
    ]

    assert made[0] == made[1]
    assert all(interval.length == 1 for one in made[0] for interval in one.intervals)

"""The rules of the Gardener's paper, day by day."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.lab.gardener.garden import Capacity, Garden, measure
from tidings.lab.gardener.medd import edd, medd, medd_dbf, mmedd, tend

FOUR = Garden.of([1, 1, 1, 2], [2, 3, 6, 6])


def _spell(schedule: list[list[int]]) -> list[set[int]]:
    return [{plant + 1 for plant in day} for day in schedule]


def test_edd_works_every_day_of_the_year_and_medd_one():
    """Two plants with a year each: the paper's example of what EDD wastes."""
    garden = Garden.of([1, 1], [365, 365])

    restless = measure(garden, tend(garden, edd, Capacity(2), 730))
    patient = measure(garden, tend(garden, medd, Capacity(2), 730))

    assert 2.0 == restless.average_workload
    assert 2 / 365 == pytest.approx(patient.average_workload)
    assert 0 == patient.average_tardiness == restless.average_tardiness


@pytest.mark.parametrize(
    ("capacity", "expected"),
    [
        (2, [set(), {1}, {2}, {1}, set(), {2, 3}, {1}, {4}, {1, 2}, set(), {1}, {2, 3}]),
        (3, [set(), {1}, {2}, {1}, set(), {1, 2, 3}, {4}, {1}, {2}, {1}, set(), {1, 2, 3}]),
    ],
)
def test_medd_on_four_plants(capacity: int, expected: list[set[int]]):
    """Ties go to the smallest cost, then to the longest window (003 §4, line 2)."""
    assert expected == _spell(tend(FOUR, medd, Capacity(capacity), 12))


def test_the_demand_of_every_horizon_is_less_late_than_that_of_the_longest():
    """MEDD asks for one horizon and is surprised by peaks; asked for every one, tardiness falls to less than half."""
    rng = np.random.default_rng(3)
    plain = aware = 0.0
    for _ in range(4):
        garden = Garden.of(rng.uniform(0.1, 1, 30), rng.integers(2, 16, 30))
        capacity = Capacity(max(garden.density * 1.15, 1.0))
        plain += measure(garden, tend(garden, medd, capacity, 150)).average_tardiness
        aware += measure(garden, tend(garden, medd_dbf, capacity, 150)).average_tardiness

    assert plain > 2 * aware


def test_a_day_is_never_over_its_peak_nor_the_year_over_its_average():
    """Both capacities of 003 §1 hold, whatever the rule."""
    garden = Garden.of([1, 0.5, 0.7, 0.3], [2, 3, 4, 9])
    capacity = Capacity(peak=1.5, average=1.0)
    for rule in (edd, medd, medd_dbf):
        loads = [garden.workload(day) for day in tend(garden, rule, capacity, 200)]

        assert max(loads) <= 1.5 + 1e-9
        assert np.all(np.cumsum(loads) <= np.arange(1, 201) * 1.0 + 1e-9)


def test_alternatives_dominate_each_other_in_nothing():
    """MMEDD offers trades: less work for more tardiness, and no schedule that another beats in everything."""
    garden = Garden.of([1, 0.5, 0.5, 0.8, 0.2, 1], [2, 3, 5, 7, 8, 11])
    offered = mmedd(garden, 2.0, 120)
    found = [alternative.measures for alternative in offered]

    assert len(found) > 2
    assert not any(a.dominates(b) for a in found for b in found)
    assert all(1.0 <= alternative.capacity <= 2.0 for alternative in offered)

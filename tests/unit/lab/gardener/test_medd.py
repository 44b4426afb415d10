"""The rules of the Gardener's paper, day by day."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.lab.gardener.garden import Capacity, Garden, excess, measure, overload
from tidings.lab.gardener.medd import Medd, edd, medd, medd_dbf, mmedd, tend
from tidings.lab.simulator import DenseScan, DueQueue, World, simulate
from tidings.model.interval import DAY, HOUR, MINUTE, SECOND
from tidings.scheduling.budget import TokenBucket
from tidings.scheduling.ledger import make_trace
from tidings.scheduling.paced.turns import RoundRobin
from tidings.scheduling.policy import UNPOLLED, Observation, Population

FOUR = Garden.of([1, 1, 1, 2], [2, 3, 6, 6])


def _spell(schedule: list[list[int]]) -> list[set[int]]:
    return [{plant + 1 for plant in day} for day in schedule]


def test_edd_works_every_day_and_medd_one_day_a_year():
    """Two plants need a visit a year: the paper's example of wasted work by EDD."""
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
def test_medd_chooses_by_cost_and_window(capacity: int, expected: list[set[int]]):
    """Ties go to the smallest cost, then to the longest window (003 §4, line 2)."""
    assert expected == _spell(tend(FOUR, medd, Capacity(capacity), 12))


def test_demand_over_all_horizons_reduces_tardiness():
    """MEDD uses one horizon and misses peaks; with all horizons, tardiness falls to less than half."""
    rng = np.random.default_rng(3)
    plain = aware = 0.0
    for _ in range(4):
        garden = Garden.of(rng.uniform(0.1, 1, 30), rng.integers(2, 16, 30))
        capacity = Capacity(max(garden.density * 1.15, 1.0))
        plain += measure(garden, tend(garden, medd, capacity, 150)).average_tardiness
        aware += measure(garden, tend(garden, medd_dbf, capacity, 150)).average_tardiness

    assert plain > 2 * aware


def test_both_capacities_are_kept():
    """No day is over the peak, and no year over the average, for every rule (003 §1)."""
    garden = Garden.of([1, 0.5, 0.7, 0.3], [2, 3, 4, 9])
    capacity = Capacity(peak=1.5, average=1.0)
    for rule in (edd, medd, medd_dbf):
        loads = [garden.workload(day) for day in tend(garden, rule, capacity, 200)]

        assert max(loads) <= 1.5 + 1e-9
        assert np.all(np.cumsum(loads) <= np.arange(1, 201) * 1.0 + 1e-9)


def test_alternatives_do_not_dominate_each_other():
    """MMEDD offers less work for more tardiness; no schedule is better in everything."""
    garden = Garden.of([1, 0.5, 0.5, 0.8, 0.2, 1], [2, 3, 5, 7, 8, 11])
    offered = mmedd(garden, 2.0, 120)
    found = [alternative.measures for alternative in offered]

    assert len(found) > 2
    assert not any(a.dominates(b) for a in found for b in found)
    assert all(1.0 <= alternative.capacity <= 2.0 for alternative in offered)


A_DAY = SECOND
"""Days of the garden are seconds here: what is late by days differs by ties of cost and window."""


def live(garden: Garden, capacity: float, days: int) -> list[list[int]]:
    """Return the plants that the policy's bids choose on each day, in their order as long as they
    fit, with a new market price each day.
    """
    policy = Medd(pace=100 * A_DAY, step=A_DAY)
    columns = {
        "cost": garden.costs,
        "longest": garden.windows * A_DAY,
        "last_polled": np.zeros(garden.size, dtype=np.int64),
    }
    state = policy.begin(Population({"id": np.arange(garden.size), **columns}), np.random.default_rng(0))
    schedule = []
    for today in range(1, days + 1):
        state = policy.advance(state, A_DAY)
        price = policy.market(state, capacity / A_DAY).price
        bids = policy.bid(state, today * A_DAY, price)
        chosen: list[int] = []
        for plant in np.argsort(-bids, kind="stable").tolist():
            if bids[plant] > 0 and garden.workload([*chosen, plant]) <= capacity + 1e-9:
                chosen.append(plant)
        state = policy.on_poll(state, chosen, Observation.of([today * A_DAY] * len(chosen), [False] * len(chosen)))
        schedule.append(sorted(chosen))
    return schedule


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ratio", [1.0, 1.05, 1.3])
def test_bids_choose_as_algorithm_1_with_the_demand_bound(seed: int, ratio: float):
    """Late plants come first, with ties by cost and window, then the least wasteful as far as a
    horizon is overloaded.
    """
    rng = np.random.default_rng(seed)
    garden = Garden.of(rng.uniform(0.1, 1, 15), rng.integers(2, 16, 15))
    capacity = max(ratio * garden.density, 1.0)
    chosen = [sorted(day) for day in tend(garden, medd_dbf, Capacity(capacity), 60)]

    assert chosen == live(garden, capacity, 60)
    assert measure(garden, chosen).average_workload < 1.01 * ratio * garden.density


def test_sufficient_budget_keeps_each_interval():
    """Two pages with a year each are never polled early, as EDD would, and the bids are those of
    turns.
    """
    policy, turns = Medd(pace=365 * DAY), RoundRobin(pace=365 * DAY)
    population = Population({"id": [0, 1], "last_polled": [0, 3 * DAY]})
    state = policy.begin(population, np.random.default_rng(0))
    other = turns.begin(population, np.random.default_rng(0))

    assert 0 == policy.market(state, 2 / DAY).price
    assert policy.next_due(state, [0, 1], 0, 0.0).tolist() == turns.next_due(other, [0, 1], 0, 0.0).tolist()


def test_pages_are_polled_early_before_a_peak():
    """Ten pages are due at once, and the budget pays for one an hour: the first is due nine hours
    before; the page that wastes least comes first, expensive pages with long windows last.
    """
    policy = Medd(pace=100 * HOUR)
    cost = np.linspace(1, 1.9, 10)
    state = policy.begin(
        Population({"id": np.arange(10), "last_polled": [0] * 10, "cost": cost}), np.random.default_rng(0)
    )
    begins = 100 * HOUR - int(cost.sum() * HOUR)
    before, at_last = (policy.advance(state, begins + late) for late in (-MINUTE, MINUTE))
    price = policy.market(at_last, 1 / HOUR).price
    bids = policy.bid(at_last, at_last.now, price)

    assert 0 == policy.market(before, 1 / HOUR).price < price
    assert [True, *[False] * 9] == (bids > 0).tolist()
    assert (policy.bid(at_last, 100 * HOUR, price) > 1).all()
    assert 0 == policy.market(at_last, 0.0).price


def test_page_is_polled_early_once_a_step():
    """A new page is due at once for every price."""
    policy = Medd(pace=HOUR)
    population = Population({"id": [0, 1], "last_polled": [5 * HOUR, UNPOLLED], "cost": [0.1, 10.0]})
    state = policy.begin(population, np.random.default_rng(0))

    assert [5 * HOUR + policy.step, 0] == policy.next_due(state, [0, 1], 0, 5.0).tolist()
    assert [6 * HOUR, 0] == policy.next_due(state, [0, 1], 0, 0.0).tolist()


def test_queue_and_scan_agree_on_early_polls():
    """Both find what is due early at a price."""
    population = Population({"id": np.arange(30), "cost": np.linspace(0.5, 2, 30), "last_polled": [0] * 30})
    world = World(
        population=population,
        trace=make_trace({}, start=0, end=5 * HOUR),
        bucket=TokenBucket(rate=0.01, burst=5.0, level=2.0, at=0),
        tick=MINUTE,
        price=0.4,
    )
    dense, due = (
        simulate(Medd(pace=HOUR), world, rng=np.random.default_rng(0), make_driver=driver)
        for driver in (DenseScan, DueQueue)
    )

    assert dense.polls.at[0] < 40 * MINUTE
    assert dense.polls.at.tolist() == due.polls.at.tolist()
    assert dense.polls.page.tolist() == due.polls.page.tolist()


@given(
    st.lists(st.tuples(st.floats(0.1, 1), st.integers(1, 12), st.integers(-3, 12)), min_size=1, max_size=8),
    st.floats(0.1, 3),
)
def test_excess_is_the_overload_of_each_day(plants: list[tuple[float, int, int]], rate: float):
    """The most is asked for on days when something falls due."""
    costs, windows, due = (list(column) for column in zip(*plants, strict=True))
    garden, dues = Garden.of(costs, windows), np.minimum(np.array(due), np.array(windows)) + 20
    days = np.arange(1, max(windows) + 1)

    assert overload(garden, dues, 20, Capacity(rate), np.inf, days) == pytest.approx(
        excess(garden, dues, 21, 20, rate), abs=1e-9
    )

"""Freshness at memoryless instants and by whole numbers of looks: the worked numbers of their papers, as policies under one price."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.lab.policies.freshness import PACES, Azar, Ebr
from tidings.lab.refresh.whole import ideal_instants, transport
from tidings.model.interval import DAY, HOUR
from tidings.scheduling.policy import Observation, Population
from tidings.scheduling.price.policy import Price, PriceState

START = 10_000 * DAY


def begin(policy: Price, rates: list[float], **columns: list[float] | list[int]) -> PriceState:
    population = Population({"id": np.arange(len(rates)), "rate": rates, **columns})
    return policy.begin(population, np.random.default_rng(0))


def test_memoryless_rates_of_a_budget():
    """Three looks a day for three pages; without a budget the pace."""
    policy = Azar(pace=HOUR, longest=10**6 * DAY, shortest=1)
    state = begin(policy, [0.1, 1.0, 5.0], importance=[1.0] * 3)
    gaps = policy.gaps(state, policy.price(state, 3 / DAY))

    assert [0.710088, 1.561724, 0.728188] == pytest.approx((DAY / gaps).tolist(), rel=1e-4)
    assert HOUR == pytest.approx(policy.gaps(begin(policy, [1.0], importance=[0.5]), 0.0)[0], rel=1e-6)


def test_what_changes_too_quickly_is_given_up():
    """Freshness is lost there: the page waits its longest, here a day."""
    policy = Azar(pace=HOUR)
    state = begin(policy, [1.0, 1e4], importance=[0.5] * 2)

    assert [True, False] == (policy.gaps(state, 0.0) < DAY).tolist()


def test_whole_looks_of_a_budget():
    """The worked pages: twelve looks in a cycle of ten days."""
    policy = Ebr(pace=10 * DAY // PACES, longest=10**6 * DAY, shortest=DAY // 24)
    state = begin(policy, [0.05, 0.2, 0.6, 2.0], importance=[1.0, 2.0, 1.0, 3.0])
    gaps = Price.gaps(policy, state, policy.price(state, 12 / (10 * DAY)))

    assert [1, 3, 2, 6] == np.round(10 * DAY / gaps).tolist()


@pytest.mark.parametrize("pace", [HOUR // 6, HOUR, 3 * HOUR, 5 * DAY])
def test_the_pace_is_what_a_page_waits_that_changes_once_a_day(pace: int):
    """As many looks in a cycle as it has paces."""
    policy = Ebr(pace=pace, longest=100 * DAY)

    assert pace == Price.gaps(policy, begin(policy, [1.0], importance=[0.5]), 0.0)[0]


def test_what_comes_late_moves_nothing_after_it():
    """A page's ideal instants are fixed; a look serves the nearest of them."""
    policy = Ebr(pace=HOUR)
    state = begin(policy, [1.0], importance=[0.5], last_polled=[START])
    first = int(policy.next_due(state, [0], START, 0.0)[0])
    found = []
    for late in (0, HOUR // 3, -HOUR // 3):
        after = policy.on_poll(state, [0], Observation.of(first + late, changed=False))
        found.append(int(policy.next_due(after, [0], 0, 0.0)[0]) - first)

    assert [HOUR] * 3 == found


def test_ideal_instants_leave_little_to_transport():
    """Six looks of forty pages and one for each slot: all in step they would be moved by twenty slots on average, as they are by less than one."""
    policy = Ebr(pace=HOUR, shortest=1)
    state = begin(policy, [1.0] * 40, importance=[0.5] * 40, last_polled=[START] * 40)
    gap = HOUR
    ideal: list[float] = []
    for _ in range(6):
        due = policy.next_due(state, state.population.ids, 0, 0.0)
        ideal += (due - START).tolist()
        state = policy.on_poll(state, state.population.ids, Observation.of(due, np.zeros(40, dtype=bool)))
    ideal = sorted(at for at in ideal if at < 6 * gap)
    in_step = [at for at, _ in ideal_instants(np.full(40, 6), 6.0 * gap)]
    slots = (np.arange(240) * gap / 40).tolist()

    def move(instants: list[float]) -> float:
        taken = transport(instants, slots)
        return float(
            np.mean([abs(slots[slot] - at) for slot, at in zip(taken.tolist(), instants, strict=True)]) / (gap / 40)
        )

    assert move(in_step) == pytest.approx(10, abs=0.5)
    assert move(ideal) < 1

"""Olston and Pandey's threshold, and how it learns."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.lab.policies.index_and_rates import Sbr
from tidings.lab.policies.longevity import LongevityState, OlstonPandey
from tidings.lab.refresh.rates import divergence
from tidings.model.interval import DAY, HOUR
from tidings.scheduling.policy import Observation, Population

POLICY = OlstonPandey(pace=HOUR)
RATES = np.array([0.02, 1.0, 20.0])


def make_state(times: int) -> LongevityState:
    """Return the state after so many checks, the last at instant 0."""
    state = POLICY.begin(
        Population({"id": [0, 1, 2], "rate": RATES, "importance": [0.5, 0.5, 1.0]}), np.random.default_rng(0)
    )
    for turn in range(times):
        state = POLICY.on_poll(state, [0, 1, 2], Observation.of([turn * DAY] * 3, [False] * 3))
    return state


def test_a_look_is_due_when_divergence_reaches_the_threshold():
    """W·U(t) is the price at the end of each wait, and the waits are those of the best freshness (their appendix)."""
    state = make_state(100)
    gaps = POLICY.gaps(state, 0.0)
    sbr = Sbr(pace=HOUR)
    due = gaps < DAY
    reached = state.population["importance"] * divergence(RATES / DAY, gaps.astype(float))

    assert gaps.tolist() == sbr.gaps(sbr.begin(state.population, np.random.default_rng(0)), 0.0).tolist()
    assert [POLICY.floor] * due.sum() == pytest.approx(reached[due].tolist(), rel=1e-6)
    assert 3 == due.sum()


@pytest.mark.parametrize("looks", [1, 2, 4])
def test_a_new_page_waits_so_many_paces_as_it_was_looked_at(looks: int):
    """The learning phase grows with each look; what waits less anyway waits less."""
    gaps = POLICY.gaps(make_state(looks), 0.0)

    assert looks * HOUR == gaps[0]
    assert (gaps <= POLICY.gaps(make_state(100), 0.0)).all()


def test_looks_are_remembered():
    """Over a restart, and where pages come and go; a memory without them is passed over."""
    state = make_state(3)
    fresh = POLICY.begin(state.population, np.random.default_rng(0))
    again = POLICY.recall(fresh, {0: POLICY.remember(state, 0), 1: {**POLICY.remember(state, 1), "looks": -1}})
    moved = POLICY.on_update(POLICY.on_update(state, [0], {"present": False}), [9], {})

    assert [3, 0, 0] == POLICY.on_update(again, [0], {}).looks.tolist()
    assert [3, 3, 0] == moved.looks.tolist()


def test_the_price_is_that_of_pages_that_are_known():
    """However little is known of them now; what they are asked meanwhile is more."""
    sbr = Sbr(pace=HOUR)
    state = make_state(1)
    price = POLICY.market(state, 20 / DAY).price

    assert sbr.market(sbr.begin(state.population, np.random.default_rng(0)), 20 / DAY).price == price
    assert (DAY / POLICY.gaps(state, price)).sum() > 20
    assert HOUR == POLICY.gaps(make_state(0), price)[0]

"""Users are told which clauses of theirs have no effect under a policy: what each row says that it reads is so, no less and no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tidings.errors import UsageError
from tidings.model.interval import HOUR, MINUTE
from tidings.scheduling.policies import POLICIES, reads_of
from tidings.scheduling.policy import UNPOLLED, HeedsHosts, LifeKind, Observation, Population, Prices, UrgencyKind
from tidings.scheduling.population import KNOWN

START = 500_000 * HOUR
OTHERWISE: dict[str, Any] = {
    "host": 3,
    "cost": 2.5,
    "importance": 0.9,
    "rate": 7.0,
    "urgency_kind": UrgencyKind.WINDOW,
    "urgency_scale": MINUTE,
    "life_kind": LifeKind.OVERWRITE,
    "life_scale": 1,
    "added": START - 2 * MINUTE,
    "last_polled": START - 3 * MINUTE,
    "not_before": START + 9 * MINUTE,
    "shortest": 90 * MINUTE,
    "longest": 5 * MINUTE,
    "hinted": 10 * MINUTE,
    "unheard": 0.5,
}


def answers(name: str, column: str | None = None) -> list[list[float]]:
    """Return bids and dues of 30 pages, some new, half of whose changes are overwritten by the third; with another value of a column."""
    rows = np.arange(30)
    population = Population(
        {
            "id": rows,
            "cost": 1.0 + rows % 3,
            "importance": rows / 30,
            "last_polled": np.where(rows % 5, START - rows * MINUTE, UNPOLLED),
            "life_kind": np.where(rows % 2, LifeKind.CHANGES, LifeKind.FOREVER),
            "life_scale": np.where(rows % 2, 3, 0),
        }
    )
    if column is not None:
        population = population.set(rows, {column: OTHERWISE[column]})
    policy = POLICIES[name](HOUR)
    before = policy.begin(population, np.random.default_rng(0))
    if isinstance(policy, HeedsHosts):
        before = policy.on_hosts(before, {3: 20 * MINUTE})
    after = policy.on_poll(before, rows, Observation.of(np.full(30, START + MINUTE), rows % 4 == 0))
    return [
        answer.tolist()
        for state in (before, after)
        for at in (START, START + 10 * HOUR)
        for answer in (policy.bid(state, at, 0.0), policy.next_due(state, rows, at, 0.0))
    ]


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_what_is_read_and_nothing_else_changes_bids_or_dues(name: str):
    """Column by column; hosts count where the policy is told what they take."""
    plain = answers(name)

    assert set(OTHERWISE) == set(KNOWN) - {"id"}
    assert {column for column in OTHERWISE if answers(name, column) != plain} == reads_of(name)


@pytest.mark.parametrize("name", sorted(name for name in POLICIES if "importance" in reads_of(name)))
def test_what_matters_more_waits_no_longer(name: str):
    """And somewhere less: mean wait of 40 pages alike, for a ladder of importance, at the floor and at a price four times as high."""
    policy, ids = POLICIES[name](HOUR), np.arange(40)
    assert isinstance(policy, Prices)
    floor = policy.market(policy.begin(Population({"id": [0]}), np.random.default_rng(0)), 1.0).floor
    for price in (floor, 4 * floor):
        waits = []
        for importance in (0.0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0):
            columns = {"id": ids, "importance": np.full(40, importance), "rate": np.full(40, 5.0)}
            population = Population({**columns, "last_polled": np.full(40, START)})
            state = policy.begin(population, np.random.default_rng(0))
            for _ in range(24):
                state = policy.on_poll(state, ids, Observation.of(np.full(40, START), np.zeros(40, dtype=bool)))
            waits.append(float((policy.next_due(state, ids, START, price) - START).mean()))

        assert np.diff(waits).max() <= 0.02 * HOUR
        assert waits[-1] < waits[0]


def test_a_name_that_is_not_there():
    """Says which are."""
    with pytest.raises(UsageError, match='there is no policy "edf"; there are: azar, best_effort'):
        reads_of("edf")

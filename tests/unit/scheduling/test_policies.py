"""What all policies share that read the worth of pages; tests/contract has what every policy
promises.
"""

from __future__ import annotations

import numpy as np
import pytest

from tidings.errors import UsageError
from tidings.lab import compare
from tidings.lab.compare import ALL
from tidings.model.interval import HOUR
from tidings.scheduling.policies import POLICIES, TO_COMPARE, reads_of
from tidings.scheduling.policy import Observation, Population, Prices

START = 500_000 * HOUR


@pytest.mark.parametrize("name", sorted(name for name, make in ALL.items() if "importance" in make(HOUR).reads))
def test_important_page_waits_no_longer(name: str):
    """Some wait less: mean wait of 40 equal pages, for a ladder of importance, at the floor and at
    a price four times as high.
    """
    policy, ids = ALL[name](HOUR), np.arange(40)
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


def test_unknown_policy_lists_the_known_ones():
    """The message has their names."""
    with pytest.raises(
        UsageError, match='there is no policy "edf"; there are: best_effort, best_effort_weighted, price'
    ):
        reads_of("edf")


def test_policy_of_the_laboratory_is_refused_by_name():
    """The service has none of them, and says of each where it is: earlier versions accepted them as
    `schedule.policy`.
    """
    assert set(TO_COMPARE) == set(compare.TO_COMPARE)
    assert not set(TO_COMPARE) & set(POLICIES)
    for name in TO_COMPARE:
        with pytest.raises(
            UsageError, match=f'the policy "{name}" is one of the laboratory.*lab.policies.*there are: best_effort'
        ):
            reads_of(name)

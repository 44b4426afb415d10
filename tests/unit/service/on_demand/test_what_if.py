"""Which budgets are tried, and of how many pages a result speaks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tidings.clock import DAY, HOUR
from tidings.service.on_demand.simulation import make_history
from tidings.service.on_demand.what_if import BudgetPoint, BudgetTrial, choose_budgets, try_budget
from tidings.settings import Settings

NOON = 1_790_000_000_000_000


@pytest.mark.parametrize(
    ("planned", "budget", "wanted", "expected"),
    [
        (0, 50_000, [], [50_000]),
        (317, 50_000, [], [40, 79, 160, 50_000]),
        (317, 50_000, [2_000], [40, 79, 160, 2_000, 50_000]),
        (1_950, 2_000, [], [240, 490, 980, 2_000, 3_900, 7_800]),
        (9_000, 2_000, [], [250, 500, 1_000, 2_000, 4_000, 8_000]),
        (3, 50_000, [], [1.5, 50_000]),
        (3, 0, [1e9], []),
    ],
)
def test_more_is_tried_only_where_the_budget_binds(planned, budget, wanted, expected):
    """Numbers have two digits; what is less than one check a day, or out of bounds, is left out."""
    assert expected == choose_budgets(planned, budget, wanted)


def test_result_of_some_pages_is_that_of_all_in_proportion():
    """Twice as many checks are reported where half of the pages were simulated."""
    history = make_history({"https://a.example/": [NOON + n * DAY for n in range(8)]}, end=NOON + 8 * DAY)
    settings = replace(Settings(), schedule=replace(Settings().schedule, pace_seconds=float(HOUR // 1_000_000)))
    whole, half = (try_budget(BudgetTrial(24.0 / share, history, share, settings)) for share in (1.0, 0.5))

    assert (whole.captured, whole.changes, whole.delay, whole.soon) == (
        half.captured,
        half.changes,
        half.delay,
        half.soon,
    )
    assert 2 * whole.made == half.made
    assert [0.5, 1.0] == [BudgetPoint(1, 1, *counts, None, 0.0).found for counts in ((1, 2), (0, 0))]

"""Purses: what budgets can pay for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidings.model.watch.weight import WHOLE
from tidings.service.explain.budget_report import render_cost
from tidings.settings import load


@pytest.mark.parametrize(
    ("burst", "budget", "cost"), [("500", WHOLE, 8.0), ("5", WHOLE, 5.0), ("500", "gentle", 2.0), ("500", "gone", 8.0)]
)
def test_a_rendered_poll_costs_never_more_than_a_budget_can_save_up(
    tmp_path: Path, burst: str, budget: str, cost: float
):
    """Else no page of a small budget, or of a small class of it, could ever be rendered."""
    flags = {"fetch.browser_cost": "8", "budget.burst": burst, "budget.classes": "gentle: 48 per day"}

    assert cost == render_cost(load(tmp_path, environment={}, flags=flags), budget)

"""Traces that people bring, and what the planner makes of them."""

from __future__ import annotations

import pytest

from tidings.clock import DAY, HOUR
from tidings.errors import UsageError
from tidings.service.on_demand.simulation import make_history, other_settings, read_trace, simulate
from tidings.settings import ScheduleSettings, Settings

BEGIN = 1_767_225_600_000_000
"""2026-01-01T00:00Z"""


def test_a_trace_is_read_line_by_line() -> None:
    """Commas or white space, remarks and empty lines, any zone."""
    text = "# mine\nhttps://a.example/,2026-01-01T00:00:00Z\n\nhttps://a.example/ 2026-01-01T02:00:00+01:00\nhttps://b.example/\t2026-01-01\n"

    assert {"https://a.example/": [BEGIN, BEGIN + HOUR], "https://b.example/": [BEGIN]} == read_trace(text)


@pytest.mark.parametrize("text", ["https://a.example/\n", "\nhttps://a.example/ yesterday\n", "2026-01-01T00:00:00Z\n"])
def test_a_line_that_is_no_change_is_named(text: str) -> None:
    """With what to write."""
    with pytest.raises(UsageError, match=r"line [12] of the trace is no change; write an address and a time"):
        read_trace(text)


def test_a_trace_needs_some_time_between_its_changes() -> None:
    """One instant is no time in which anything could be checked."""
    with pytest.raises(UsageError, match="two instants"):
        make_history({"https://a.example/": [BEGIN, BEGIN]})


def test_more_checks_find_more_and_sooner_and_no_budget_is_overdrawn() -> None:
    """On a page that changes every two hours, whatever the policy."""
    history = make_history({"https://a.example/": [BEGIN + k * 2 * HOUR for k in range(37)]})
    settings = Settings(schedule=ScheduleSettings(policy="round_robin", pace_seconds=600))
    settings = other_settings(settings, budget=24, policy="round_robin")
    few = simulate(history, settings)
    many = simulate(history, other_settings(settings, budget=96))

    assert 36 == few.changes == many.changes
    assert few.ledger.spent <= 24 * 3 + settings.budget.burst
    assert many.ledger.delay_quantile(0.5) <= few.ledger.delay_quantile(0.5) <= HOUR
    assert many.within(HOUR) >= few.within(HOUR)
    assert 1 == simulate(history.part(5)[0], settings).within(DAY)

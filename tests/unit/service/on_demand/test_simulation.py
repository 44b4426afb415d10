"""Traces of users, and their simulation with the planner."""

from __future__ import annotations

import random

import pytest

from tidings.clock import DAY, HOUR
from tidings.errors import UsageError
from tidings.service.on_demand import simulation
from tidings.service.on_demand.simulation import make_history, other_settings, read_trace, simulate
from tidings.settings import ScheduleSettings, Settings

BEGIN = 1_767_225_600_000_000
"""2026-01-01T00:00Z"""


def test_trace_is_read_line_by_line() -> None:
    """Commas or white space, comments, empty lines and time zones are allowed."""
    text = "# mine\nhttps://a.example/,2026-01-01T00:00:00Z\n\nhttps://a.example/ 2026-01-01T02:00:00+01:00\nhttps://b.example/\t2026-01-01\n"

    assert {"https://a.example/": [BEGIN, BEGIN + HOUR], "https://b.example/": [BEGIN]} == read_trace(text)


@pytest.mark.parametrize("text", ["https://a.example/\n", "\nhttps://a.example/ yesterday\n", "2026-01-01T00:00:00Z\n"])
def test_invalid_line_is_named(text: str) -> None:
    """The error says how to write it."""
    with pytest.raises(UsageError, match=r"line [12] of the trace is not a change; write an address and a time"):
        read_trace(text)


def test_trace_needs_two_instants() -> None:
    """One instant leaves no time for checks."""
    with pytest.raises(UsageError, match="two instants"):
        make_history({"https://a.example/": [BEGIN, BEGIN]})


def test_more_checks_find_more_changes_sooner_within_the_budget() -> None:
    """The page changes every two hours; the policy is round-robin."""
    history = make_history({"https://a.example/": [BEGIN + k * 2 * HOUR for k in range(37)]})
    settings = Settings(schedule=ScheduleSettings(policy="round_robin", pace_seconds=600))
    settings = other_settings(settings, budget=24, policy="round_robin")
    few = simulate(history, settings)
    many = simulate(history, other_settings(settings, budget=96))

    assert 36 == few.changes == many.changes
    assert few.ledger.spent <= 24 * 3 + settings.budget.capacity
    assert many.ledger.delay_quantile(0.5) <= few.ledger.delay_quantile(0.5) <= HOUR
    assert many.within(HOUR) >= few.within(HOUR)
    assert 1 == simulate(history.part(5)[0], settings).within(DAY)


@pytest.mark.parametrize("budget", [30, 20_000])
def test_polls_made_together_equal_single_polls(budget: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The difference is below 2 % with any budget, and each poll has its own instant."""
    chance = random.Random(1)
    changes = {
        f"https://h{n % 4}.example/{n}": sorted(BEGIN + chance.randrange(2 * DAY) for _ in range(2 + n * 4))
        for n in range(6)
    }
    history = make_history(changes, end=BEGIN + 2 * DAY)
    settings = other_settings(Settings(schedule=ScheduleSettings(pace_seconds=28_800)), budget=budget)
    together = simulate(history, settings)
    monkeypatch.setattr(simulation, "AHEAD", 0)
    one_by_one = simulate(history, settings)

    assert len(set(together.ledger.polls.at.tolist())) >= 0.98 * len(set(one_by_one.ledger.polls.at.tolist()))
    assert abs(together.checks_a_day / one_by_one.checks_a_day - 1) <= 0.02
    assert abs(together.captured - one_by_one.captured) <= max(1, 0.02 * one_by_one.captured)
    assert together.ledger.spent <= budget * 2 + settings.budget.capacity * budget / settings.budget.polls_per_day + 1

"""The number of checks a day, the limit by pace or budget, and what budgets can pay."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidings.clock import DAY, HOUR
from tidings.model.observed.unit import Event
from tidings.model.watch.sentinel import WHOLE
from tidings.service.explain.explain_sentinel import Prospect
from tidings.service.explain.plan_summary import FRESH, PRICED, ComingPoll, findings, render_cost, summarize_plan
from tidings.settings import BudgetSettings, ScheduleSettings, Settings, load
from tidings.storage.watches import events

SETTINGS = Settings(schedule=ScheduleSettings(policy="price"), budget=BudgetSettings(polls_per_day=2_000))


def coming(page_id: int, every: int | None, at: int | None = 0) -> ComingPoll:
    """Return a repeated poll."""
    return ComingPoll("s", page_id, Prospect("look", at, "why", page_id=page_id, every=every), {})


def price(world, *, wished: float = 4_000.0, stretch: float = 1.0) -> None:
    """Store the event in which the service reports the effect of the budget."""
    event = Event(type=PRICED, at=world.at, data={"asked": 2_000.0, "wished": wished, "stretch": stretch})
    world.write(lambda c: events.append(c, [event]))


def test_pace_as_the_limit_is_shown_with_the_count_of_checks(world):
    """Each page counts at the rate of its most frequent sentinel. Paused pages and those without a
    time do not count.
    """
    polls = [coming(1, HOUR), coming(1, DAY), coming(2, DAY), coming(3, None), coming(4, HOUR, None)]
    found = world.read(summarize_plan, SETTINGS, polls, now=world.at)
    first_only = Settings(schedule=ScheduleSettings(policy="best_effort"))

    assert 25 == found.asked == found.wished
    assert [
        "about 25 checks a day (the budget allows 2,000); schedule.pace_seconds = 7200 halves them, 1800 doubles them"
    ] == found.lines()
    assert ["about 25 checks a day (the budget allows 50,000)"] == world.read(
        summarize_plan, first_only, polls, now=world.at
    ).lines()


def test_budget_as_the_limit_is_shown_with_its_effect(world):
    """The pace from which it is no limit is named. An old event is not used."""
    price(world)
    found = world.read(summarize_plan, SETTINGS, [coming(1, HOUR)], now=world.at + HOUR)
    later = world.read(summarize_plan, SETTINGS, [coming(1, HOUR)], now=world.at + FRESH + 1)

    assert [
        "about 2,000 checks a day, which is the budget (2,000); the pace of 1 hour asks for 4,000, so pages wait about 2 times as long",
        "for more checks, raise budget.polls_per_day; from schedule.pace_seconds = 7200 on, the pace is the limit",
    ] == found.lines()
    assert {"record": "plan", "kind": "outline", "looks_a_day": 2000.0, "wished_a_day": 4000.0} == {
        name: value
        for name, value in found.record().items()
        if name in {"record", "kind", "looks_a_day", "wished_a_day"}
    }
    assert not later.binds


def test_budget_that_is_too_small_is_reported_in_plan_and_doctor(world):
    """The line has its fix. Otherwise doctor names which of the two is the limit."""
    (before,) = world.read(lambda c: list(findings(c, now=world.at)))
    price(world)
    (binds,) = world.read(lambda c: list(findings(c, now=world.at)))
    price(world, stretch=4.0)
    (small,) = world.read(lambda c: list(findings(c, now=world.at)))
    found = world.read(summarize_plan, SETTINGS, [coming(1, HOUR)], now=world.at)

    assert ("ok", "the pace limits the checks, not the budget") == (before.status, before.detail)
    assert ("ok", "it allows 50% of the checks that the pace asks for (tidings plan)") == (binds.status, binds.detail)
    assert ("warn", found.lines()[-1]) == (small.status, small.detail)
    assert "wait up to 4 times as long" in small.detail
    assert "budget.polls_per_day" in small.mend


@pytest.mark.parametrize(
    ("burst", "budget", "cost"), [("500", WHOLE, 8.0), ("5", WHOLE, 5.0), ("500", "gentle", 2.0), ("500", "gone", 8.0)]
)
def test_rendered_poll_costs_at_most_the_burst_of_its_budget(tmp_path: Path, burst: str, budget: str, cost: float):
    """Otherwise no page of a small budget or class could ever be rendered."""
    flags = {"fetch.browser_cost": "8", "budget.burst": burst, "budget.classes": "gentle: 48 per day"}

    assert cost == render_cost(load(tmp_path, environment={}, flags=flags), budget)

"""What is opened is what the settings say."""

import pytest

from tidings.clock import SECOND
from tidings.record import replace
from tidings.scheduling.learned import Learned
from tidings.scheduling.policies import POLICIES
from tidings.scheduling.timetable import RATE
from tidings.service.run.from_settings import budgets, open_policy
from tidings.settings import BudgetSettings, ScheduleSettings, Settings


def test_budget_is_the_whole_with_each_class_in_it():
    """Per second, with what can be saved."""
    settings = replace(
        Settings(),
        budget=BudgetSettings(polls_per_day=8640, burst=7, classes=("gentle: 240 per day", "fast: 48 per hour")),
    )
    found = budgets(settings)

    assert (0.1, 7) == found.pop("default")
    assert {"gentle", "fast"} == found.keys()
    assert (231 / 86400, 10) == pytest.approx(found["gentle"])
    assert (47 / 3600, 2) == pytest.approx(found["fast"])


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_policy_learns_the_rates_that_it_reads(name):
    """One that reads none is the policy itself, with the pace of the settings."""
    settings = replace(Settings(), schedule=ScheduleSettings(policy=name, pace_seconds=90.0))
    made = open_policy(settings)
    own = made.policy if isinstance(made, Learned) else made

    assert type(POLICIES[name](90 * SECOND)) is type(own)
    assert (RATE in own.reads) is isinstance(made, Learned)

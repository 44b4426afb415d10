"""Each policy in the planner, with learned rates and hours: pages that change, and a short budget."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.planner import Service, make_watched, steady
from tidings.clock import HOUR, MINUTE
from tidings.errors import UsageError
from tidings.lab.compare import ALL
from tidings.service.run import from_settings
from tidings.service.run.from_settings import open_policy
from tidings.settings import Settings

RATES = [0.2, 1.0, 4.0, 20.0]
A_DAY = 60.0
EIGHT = 8 * HOUR


@pytest.mark.parametrize("name", sorted(ALL))
def test_every_policy_drives_the_planner(name: str, monkeypatch: pytest.MonkeyPatch):
    """All pages are polled, the budget is kept, and the memory is plain JSON. The laboratory's
    policies do it too.
    """
    monkeypatch.setattr(from_settings, "POLICIES", ALL)
    settings = Settings()
    settings = replace(settings, schedule=replace(settings.schedule, policy=name, pace_seconds=600.0))
    pages = [make_watched(n, "Fetch on change", host="one" if n < 3 else "") for n in range(1, len(RATES) + 1)]
    service = Service(pages, A_DAY, policy=open_policy(settings), burst=10.0)
    service.changes = steady(RATES, EIGHT, service.clock.now())
    service.run(EIGHT, tick=10 * MINUTE)

    assert all(service.of(page) for page in service.pages)
    assert 10 <= len(service.polls) <= A_DAY / 3 + 5
    assert json.loads(json.dumps(service.planner.memories())) is not None


def test_unknown_policy_is_refused_at_the_start():
    """The error lists the policies."""
    schedule = replace(Settings().schedule, policy="edf")
    settings = replace(Settings(), schedule=schedule)

    with pytest.raises(UsageError, match='there is no policy "edf"; there are: best_effort'):
        open_policy(settings)

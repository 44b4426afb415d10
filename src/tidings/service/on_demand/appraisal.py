"""The expert appraisal of the plan, computed from stored data by a planner that polls nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.service.explain.plan_expert import appraise
from tidings.service.run.from_settings import open_planner
from tidings.service.watch.page_schedule import Needs
from tidings.service.watch.watchlist import load_pages

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.service.explain.plan_expert import Appraisal
    from tidings.service.plan.planner import Planner
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection


def find_appraisal(connection: Connection, settings: Settings, now: Instant) -> Appraisal | None:
    """Return the expert appraisal, None if the policy has no price."""
    planner, needs = open_idle_planner(connection, settings)
    budget, policy = settings.budget.polls_per_day, settings.schedule.policy
    return appraise(connection, planner, needs, policy=policy, budget=budget, now=now)


def open_idle_planner(connection: Connection, settings: Settings) -> tuple[Planner, Needs]:
    """Return a planner with all watched pages, and its needs."""
    pages, needs = load_pages(connection, zone=settings.serve.zone), Needs()
    planner = open_planner(settings, pages, needs)
    planner.touch(pages)
    return planner, needs

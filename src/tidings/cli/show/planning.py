"""What only the planner can compute, for commands that show the next polls. It is opened only where
that is asked for, since that takes time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.service.explain.explain_sentinel import BY_TURNS

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.service.explain.plan_expert import Appraisal
    from tidings.service.plan.planner import Planner
    from tidings.service.watch.needs import Needs
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection


def find_turns(connection: Connection, settings: Settings, now: Instant) -> dict[int, Instant]:
    """Return when a turn-based policy would poll each page; empty under any other, which stores
    what it learns.
    """
    policy = settings.schedule.policy
    if policy not in BY_TURNS:
        return {}
    from tidings.service.explain import plan_expert

    planner, _ = _open(connection, settings)
    return plan_expert.turns(connection, planner, policy=policy, now=now)


def find_appraisal(connection: Connection, settings: Settings, now: Instant) -> Appraisal | None:
    """Return the expert appraisal, None if the policy has no price."""
    from tidings.service.explain.plan_expert import appraise

    planner, needs = _open(connection, settings)
    budget, policy = settings.budget.polls_per_day, settings.schedule.policy
    return appraise(connection, planner, needs, policy=policy, budget=budget, now=now)


def _open(connection: Connection, settings: Settings) -> tuple[Planner, Needs]:
    """Return a planner with all watched pages, and its needs."""
    from tidings.service.run.from_settings import open_planner
    from tidings.service.watch.needs import Needs
    from tidings.service.watch.watchlist import load_pages

    pages, needs = load_pages(connection, zone=settings.serve.zone), Needs()
    planner = open_planner(settings, pages, needs)
    planner.touch(pages)
    return planner, needs

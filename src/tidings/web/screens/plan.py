"""The plan: what the budget buys, the next checks and their reasons, the limits of hosts."""

from __future__ import annotations

import math
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import DAY, HOUR
from tidings.model.url import split_url
from tidings.record import dataclass
from tidings.service.explain.plan_summary import list_budgets, list_coming_polls, summarize_plan
from tidings.service.on_demand.simulation import other_settings, read_history
from tidings.storage.observed import polls
from tidings.web.markup.translations import say

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from tidings.model.interval import Instant
    from tidings.service.explain.plan_expert import Appraisal
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.web.screens.desk import Desk

SOON: Final = 20
HOSTS: Final = 15


DAYS: Final = 7
"""Days of recorded changes that are simulated."""
PAGES: Final = 40
"""Most pages simulated, evenly chosen."""


@dataclass(frozen=True, slots=True)
class BudgetPoint:
    """The simulated result of a budget (checks a day).

    Checks made per day, changes captured of all, the median delay (µs), the share seen within an
    hour.
    """

    budget: float
    made: float
    captured: int
    changes: int
    delay: int | None
    soon: float
    is_now: bool


async def show(request: Request, desk: Desk) -> Response:
    """Return the plan."""
    now = desk.clock.wall()
    found = await desk.store.read(_read, desk.settings, now, request.state.asker.viewer)
    given = request.query_params.get("budget", "").replace(",", "").strip()[:12]
    wanted = int(given) if given.isascii() and given.isdecimal() else 0
    curve, share, problem = await _curve(desk, wanted, now) if wanted else ([], 1.0, "")
    is_certified = request.query_params.get("certificate") == "1"
    return await desk.page(
        request,
        "plan.html",
        is_certified=is_certified,
        appraisal=await _appraise(desk, now) if is_certified else None,
        title=say("Plan and budget"),
        here="plan",
        wanted=given,
        curve=curve,
        curve_share=share,
        curve_days=DAYS,
        curve_problem=problem or ("" if wanted or not given else say("Write a whole number of checks a day.")),
        **found,
    )


async def _appraise(desk: Desk, now: Instant) -> Appraisal | None:
    """Return how good the plan was; None if the policy has no price."""
    from tidings.service.on_demand.appraisal import find_appraisal  # numpy, which no other screen needs

    return await desk.store.read(find_appraisal, desk.settings, now)


async def _curve(desk: Desk, wanted: int, now: Instant) -> tuple[list[BudgetPoint], float, str]:
    """Return the results of two other budgets, the share of pages simulated, and the error,
    if any.
    """
    history, share = (await desk.store.read(read_history, desk.settings, begin=now - DAYS * DAY, end=now)).part(PAGES)
    if not history.made:
        return [], share, say("Nothing was recorded yet. Come back in a day.")
    budget = desk.settings.budget.polls_per_day
    points = []
    for a_day in sorted({budget, float(wanted)}):
        found = await desk.simulate(history, other_settings(desk.settings, budget=max(1.0, a_day * share)))
        delay = found.ledger.delay_quantile(0.5)
        points.append(
            BudgetPoint(
                a_day,
                found.checks_a_day / share,
                found.captured,
                found.changes,
                None if math.isnan(delay) else round(delay),
                found.within(HOUR),
                a_day == budget,
            )
        )
    return points, share, ""


@lru_cache(maxsize=1024)
def _host_of(origin: str) -> str | None:
    return split_url(origin).hostname


def _read(c: Connection, settings: Settings, now: Instant, viewer: int | None) -> dict[str, Any]:
    coming = list_coming_polls(c, settings, names=(), now=now, viewer=viewer)
    whole = summarize_plan(c, settings, coming, now=now)
    hosts: dict[str, list[float]] = defaultdict(list)
    every: dict[int, tuple[float, bool]] = {}
    for poll in coming:
        if poll.prospect.every is None or poll.prospect.at is None:
            continue
        a_day = DAY / poll.prospect.every
        if a_day > every.get(poll.page_id, (0.0, False))[0]:
            every[poll.page_id] = (a_day, poll.prospect.is_fixed)
    urls = {poll.page_id: poll.prospect.url for poll in coming}
    for page_id, (a_day, _) in every.items():
        if host := _host_of("/".join(urls[page_id].split("/", 3)[:3])):
            hosts[host].append(a_day)
    on_schedule = sum(a_day for a_day, is_fixed in every.values() if is_fixed)
    chosen = sum(a_day for a_day, is_fixed in every.values() if not is_fixed)
    budget = settings.budget.polls_per_day
    gap = settings.fetch.host_gap_seconds
    return {
        "lines": whole.lines() if whole.binds else [],
        "budget": budget,
        "fixed": on_schedule,
        "chosen": chosen,
        "spare": max(0.0, budget - on_schedule - chosen),
        "spent": polls.sum_costs(c, now - DAY),
        "last_hour": polls.sum_costs(c, now - HOUR),
        "soon": coming[:SOON],
        "many": len(coming),
        "hosts": [
            (host, len(paces), sum(paces), min(1.0, sum(paces) * gap / 86_400))
            for host, paces in sorted(hosts.items(), key=lambda one: -sum(one[1]))[:HOSTS]
        ],
        "gap": gap,
        "budgets": [f"{one.name}: {one}" for one in list_budgets(c, settings, now=now)],
        "policy": settings.schedule.policy,
        "pace": settings.schedule.pace_seconds,
    }

"""The plan: what the budget buys, the next checks and their reasons, the limits of hosts."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import DAY
from tidings.model.url import split_url
from tidings.service.explain.plan_summary import list_budgets, list_coming_polls, summarize_plan
from tidings.service.on_demand.what_if import DAYS, choose_budgets
from tidings.storage.observed import polls
from tidings.web.markup import charts
from tidings.web.markup.translations import translate

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from tidings.model.interval import Instant
    from tidings.service.explain.plan_expert import Appraisal
    from tidings.service.explain.plan_summary import ComingPoll
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.web.screens.desk import Desk

SOON: Final = 20
HOSTS: Final = 15


async def show(request: Request, desk: Desk) -> Response:
    """Return the plan."""
    now = desk.clock.wall()
    viewer = request.state.asker.viewer
    found = await desk.recent(("plan", viewer), _read, desk.settings, now, viewer)
    given = request.query_params.get("budget", "").replace(",", "").strip()[:12]
    wanted = float(given) if given.isascii() and given.isdecimal() else 0.0
    if wanted or request.query_params.get("curve") == "1":
        planned = found["fixed"] + found["chosen"]
        desk.what_if.ask(choose_budgets(planned, desk.settings.budget.polls_per_day, [wanted] if wanted else []), now)
    is_certified = request.query_params.get("certificate") == "1"
    return await desk.page(
        request,
        "plan.html",
        is_certified=is_certified,
        appraisal=await _appraise(desk, now) if is_certified else None,
        title=translate("Plan and budget"),
        here="plan",
        wanted=given,
        curve=desk.what_if,
        curve_days=DAYS,
        plots=charts.draw_curve(desk.what_if.points, desk.settings.budget.polls_per_day),
        is_no_number=bool(given) and not wanted,
        **found,
    )


async def _appraise(desk: Desk, now: Instant) -> Appraisal | None:
    """Return how good the plan was; None if the policy has no price."""
    from tidings.service.on_demand.appraisal import find_appraisal  # numpy, which no other screen needs

    return await desk.store.read(find_appraisal, desk.settings, now)


def _origin_of(url: str) -> str:
    """Return scheme and host of an address, as written."""
    return "/".join(url.split("/", 3)[:3])


def _read(c: Connection, settings: Settings, now: Instant, viewer: int | None) -> dict[str, Any]:
    coming = list_coming_polls(c, settings, names=(), now=now, viewer=viewer)
    whole = summarize_plan(c, settings, (), now=now)  # only what the budget limits is shown of it
    often: dict[int, ComingPoll] = {}
    for poll in coming:
        every = poll.prospect.every
        if every is not None and poll.prospect.at is not None:
            known = often.get(poll.page_id)
            if known is None or every < (known.prospect.every or 0):
                often[poll.page_id] = poll
    hosts: dict[str, list[float]] = defaultdict(list)
    a_day = {False: 0.0, True: 0.0}
    for poll in often.values():
        _, _, _, url, _, every, is_fixed = poll.prospect
        pace = DAY / (every or DAY)
        a_day[is_fixed] += pace
        hosts[_origin_of(url)].append(pace)
    by_host: dict[str, list[float]] = defaultdict(list)
    for origin, paces in hosts.items():
        if host := split_url(origin).hostname:
            by_host[host] += paces
    on_schedule, chosen = a_day[True], a_day[False]
    budget = settings.budget.polls_per_day
    gap = settings.fetch.host_gap_seconds
    return {
        "lines": whole.lines() if whole.binds else [],
        "budget": budget,
        "fixed": on_schedule,
        "chosen": chosen,
        "spare": max(0.0, budget - on_schedule - chosen),
        "spent": polls.sum_costs(c, now - DAY),
        "soon": coming[:SOON],
        "many": len(coming),
        "hosts": [
            (host, len(paces), sum(paces), min(1.0, sum(paces) * gap / 86_400))
            for host, paces in sorted(by_host.items(), key=lambda one: -sum(one[1]))[:HOSTS]
        ],
        "gap": gap,
        "budgets": [f"{one.name}: {one}" for one in list_budgets(c, settings, now=now, viewer=viewer)],
        "policy": settings.schedule.policy,
        "pace": settings.schedule.pace_seconds,
    }

"""The plan: what the budget buys, which checks come next and why, what hosts allow."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from tidings.clock import DAY, HOUR
from tidings.model.watch.sentinel import FetchEvery
from tidings.service.explain.budget_report import purses
from tidings.service.explain.plan_list import agenda
from tidings.service.explain.plan_summary import outline
from tidings.service.watch.watchlist import meaning
from tidings.storage.observed import polls
from tidings.storage.watches import sentinels

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from tidings.model.interval import Instant
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.web.screens.desk import Desk

SOON: Final = 20
HOSTS: Final = 15


async def show(request: Request, desk: Desk) -> Response:
    """Return the plan."""
    found = await desk.store.read(_read, desk.settings, desk.clock.wall())
    return await desk.page(request, "plan.html", title="Plan and budget", here="plan", **found)


def _read(c: Connection, settings: Settings, now: Instant) -> dict[str, Any]:
    looks = agenda(c, settings, names=(), now=now)
    whole = outline(c, settings, looks, now=now)
    fixed = {row.name for row in sentinels.listing(c) if isinstance(meaning(row.text).fetch, FetchEvery)}
    hosts: dict[str, list[float]] = defaultdict(list)
    every: dict[int, tuple[float, bool]] = {}
    for look in looks:
        if look.prospect.every is None or look.prospect.at is None:
            continue
        a_day = DAY / look.prospect.every
        if a_day > every.get(look.page_id, (0.0, False))[0]:
            every[look.page_id] = (a_day, look.sentinel in fixed)
    urls = {look.page_id: look.prospect.url for look in looks}
    for page_id, (a_day, _) in every.items():
        hosts[urlsplit(urls[page_id]).hostname or urls[page_id]].append(a_day)
    on_schedule = sum(a_day for a_day, is_fixed in every.values() if is_fixed)
    chosen = sum(a_day for a_day, is_fixed in every.values() if not is_fixed)
    budget = settings.budget.polls_per_day
    gap = settings.fetch.host_gap_seconds
    return {
        "lines": whole.lines(),
        "budget": budget,
        "fixed": on_schedule,
        "chosen": chosen,
        "spare": max(0.0, budget - on_schedule - chosen),
        "spent": polls.spent(c, now - DAY),
        "last_hour": polls.spent(c, now - HOUR),
        "soon": looks[:SOON],
        "many": len(looks),
        "hosts": [
            (host, len(paces), sum(paces), min(1.0, sum(paces) * gap / 86_400))
            for host, paces in sorted(hosts.items(), key=lambda one: -sum(one[1]))[:HOSTS]
        ],
        "gap": gap,
        "purses": [str(one) for one in purses(c, settings, now=now)],
        "policy": settings.schedule.policy,
        "pace": settings.schedule.pace_seconds,
    }

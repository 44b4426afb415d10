"""The installation: the asker, the plan and the budget, health, settings without their secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidings import __version__
from tidings.clock import DAY
from tidings.service.explain.plan_summary import list_coming_polls, summarize_plan
from tidings.service.health.trouble import Health
from tidings.settings import table
from tidings.storage.observed import polls
from tidings.storage.watches import sentinels
from tidings.web.access import check_objects

if TYPE_CHECKING:
    from tidings.storage.db.connection import Connection
    from tidings.web.resources.operation import Call


async def me(call: Call) -> Any:
    """Return the asker."""
    asker = call.asker
    return {"name": asker.name, "role": asker.role, "sees_all": asker.sees_all, "version": __version__}


async def plan(call: Call) -> Any:
    """Return the next checks, the soonest first."""
    query, now, settings = call.query, call.desk.clock.wall(), call.desk.settings

    def read(c: Connection) -> dict[str, Any]:
        names = [query.sentinel] if query.sentinel else []
        for name in names:
            check_objects(c, call.asker, {"name": name}, alters=False)
        coming = list_coming_polls(c, settings, names=names, now=now, viewer=call.asker.viewer)
        words = summarize_plan(c, settings, coming, now=now).lines() if call.asker.sees_all else []
        return {
            "items": [poll.record(expert=False) for poll in coming[: query.limit]],
            "polls_per_day": float(settings.budget.polls_per_day),
            "spent_today": float(polls.sum_costs(c, now - DAY)),
            "words": list(words),
        }

    return await call.read(read)


async def health(call: Call) -> Any:
    """Return what needs attention."""
    found = await call.desk.health()
    if call.asker.viewer is not None:
        rows = await call.read(sentinels.listing, viewer=call.asker.viewer)
        names = {row.name for row in rows}
        found = Health(tuple(one for one in found.troubles if names.intersection(one.sentinels)))
    return {"status": found.status, "items": [one.record() for one in found.troubles]}


async def settings(call: Call) -> Any:
    """Return all settings; of secret ones only whether they are set, and that only to the
    operator.
    """

    def value(name: str) -> Any:
        found = call.desk.settings.value(name)
        return list(map(str, found)) if isinstance(found, tuple) else found

    rows = [
        {
            "name": row.name,
            "value": None if row.secret else value(row.name),
            "help": row.help,
            "is_secret": row.secret,
        }
        for row in table()
    ]
    return {"items": rows}

"""The installation: what needs attention, each with its fix, undelivered messages, this machine;
and the settings, of which secrets are never shown.
"""

from __future__ import annotations

import asyncio
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from tidings.errors import TidingsError
from tidings.notification.channels import sendable
from tidings.service.health import doctor
from tidings.service.health.receivers import name_receiver
from tidings.service.notify.rehearse import UNTESTED
from tidings.settings import table
from tidings.storage.db.database import open_database
from tidings.storage.watches import deliveries
from tidings.web import request_body
from tidings.web.access import check_objects
from tidings.web.markup.translations import translate
from tidings.web.problems import ProblemError
from tidings.web.screens.desk import back, report_refused

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from tidings.service.notify.rehearse import Rehearsed
    from tidings.service.show.finding import Finding
    from tidings.settings import SettingRow
    from tidings.storage.db.connection import Connection
    from tidings.web.screens.desk import Desk

DEAD: Final = 100
MOST_RECEIVERS: Final = 100
_RANKS: Final = {"off": 0, "failing": 1, "on": 2}
"""The order of receivers by their states: the worst first."""


async def show_health(request: Request, desk: Desk, tested: Rehearsed | None = None) -> Response:
    """Return what needs attention, with the result of a test message that was just sent; with
    `machine=1` also `tidings doctor`'s findings, which read the whole database.
    """
    asker = request.state.asker
    health = await desk.health_for(asker)
    found = await desk.store.read(_read, asker.viewer)
    findings = (
        await asyncio.to_thread(_examine, desk) if request.query_params.get("machine") and asker.sees_all else None
    )
    return await desk.page(
        request,
        "health.html",
        title=translate("Health"),
        here="health",
        troubles=[one for one in health.troubles if one.severity != "note"],
        notes=[one for one in health.troubles if one.severity == "note"],
        findings=findings,
        tested=tested,
        name_receiver=name_receiver,
        receivers=sorted(await desk.receivers_for(asker), key=lambda one: _RANKS[one.state]),
        most=MOST_RECEIVERS,
        may_test=lambda one: asker.may("editors") and any(asker.may_alter(row.owner_id) for row in one.users),
        testable=sendable(desk.settings.notify) - UNTESTED,
        **found,
    )


async def act(request: Request, desk: Desk) -> Response:
    """Send dead letters again, or a test message to a receiver."""
    form = await request_body.read_form(request)
    if receiver := form.one("test"):
        await desk.store.read(check_objects, request.state.asker, {"receiver": receiver}, alters=True)
        return await show_health(request, desk, await desk.test_receiver(receiver, request.state.asker))
    refused: list[str] = []
    for one in form.every("d"):
        try:
            await desk.store.read(check_objects, request.state.asker, {"delivery": one}, alters=True)
            await desk.store.write(deliveries.replay, one, desk.clock.wall())
        except (TidingsError, ProblemError) as error:
            refused.append(str(error))
    desk.forget_recent()
    report_refused(refused, len(form.every("d")))
    return back(request, "/health")


def _read(c: Connection, viewer: int | None) -> dict[str, Any]:
    return {"dead": deliveries.listing(c, dead=True, limit=DEAD, viewer=viewer)}


def _examine(desk: Desk) -> list[Finding]:
    database = open_database(desk.settings, create=False)
    try:
        return list(
            doctor.examine(
                desk.settings,
                database,
                refusal=None,
                now=desk.clock.wall(),
                installed=doctor.get_installed(),
                restore=None,
            )
        )
    finally:
        database.close()


async def show_settings(request: Request, desk: Desk) -> Response:
    """Return all settings by section."""
    rows = [(row, _spell(row, desk.settings.value(row.name)), _spell(row, row.default)) for row in table()]
    sections = [(name, list(of_one)) for name, of_one in groupby(rows, lambda one: one[0].name.partition(".")[0])]
    return await desk.page(
        request,
        "settings.html",
        title=translate("Settings"),
        here="settings",
        sections=sections,
        data=str(desk.settings.data),
    )


def _spell(row: SettingRow, value: Any) -> str:
    if row.secret:
        return translate("set, not shown") if value else translate("not set")
    match value:
        case tuple():
            return ", ".join(map(str, value)) or translate("none")
        case bool():
            return translate("on") if value else translate("off")
        case int() | float():
            return f"{value:,}".removesuffix(".0")
    return str(value) if value != "" else translate("not set")

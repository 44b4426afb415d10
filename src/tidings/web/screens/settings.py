"""Settings: present values, descriptions, and where each can be set. Secrets are never shown."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from tidings.settings import table
from tidings.web.markup.catalogue import say

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from tidings.settings import SettingRow
    from tidings.web.screens.desk import Desk


async def show(request: Request, desk: Desk) -> Response:
    """Return all settings by section."""
    rows = [(row, _value(row, desk.settings.value(row.name))) for row in table()]
    sections = [(name, list(of_one)) for name, of_one in groupby(rows, lambda one: one[0].name.partition(".")[0])]
    return await desk.page(
        request,
        "settings.html",
        title=say("Settings"),
        here="settings",
        sections=sections,
        data=str(desk.settings.data),
    )


def _value(row: SettingRow, value: Any) -> str:
    if row.secret:
        return say("set, not shown") if value else say("not set")
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or say("none")
    if isinstance(value, bool):
        return say("on") if value else say("off")
    return str(value) if value != "" else say("not set")

"""Settings: what holds, what each means, and where it can be set. Secrets are never shown."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from tidings.settings import table

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
        request, "settings.html", title="Settings", here="settings", sections=sections, data=str(desk.settings.data)
    )


def _value(row: SettingRow, value: Any) -> str:
    if row.secret:
        return "set, not shown" if value else "not set"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value) if value != "" else "not set"

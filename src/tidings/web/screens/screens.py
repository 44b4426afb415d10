"""The table of screens: path, method, and what answers. All are for readers; those that change something are POST."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, Literal

from tidings.web.screens import change, health, inbox, live, make, plan, sentinel, sentinels, settings

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from tidings.web.screens.desk import Desk

SCREENS: Final[tuple[tuple[str, Literal["GET", "POST"], Callable[[Request, Desk], Awaitable[Response]]], ...]] = (
    ("/", "GET", inbox.show),
    ("/inbox", "POST", inbox.act),
    ("/inbox/all-read", "POST", inbox.all_read),
    ("/changes/{id}", "GET", change.show),
    ("/changes/{id}", "POST", change.act),
    ("/changes/{id}/rendered", "GET", change.rendered),
    ("/sentinels", "GET", sentinels.show),
    ("/sentinels", "POST", sentinels.act),
    ("/sentinels/{name}", "GET", sentinel.show),
    ("/sentinels/{name}", "POST", sentinel.act),
    ("/new", "GET", make.show),
    ("/new", "POST", make.act),
    ("/plan", "GET", plan.show),
    ("/health", "GET", health.show),
    ("/health", "POST", health.act),
    ("/settings", "GET", settings.show),
    ("/live", "GET", live.show),
)

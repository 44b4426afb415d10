"""The table of screens: path, method, role and handler. Whatever changes something, or fetches a
page, requires an editor.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, Literal

from tidings.web.screens import (
    change,
    collections,
    fewer,
    inbox,
    installation,
    make,
    people,
    plan,
    search,
    sentinel,
    sentinels,
)

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from tidings.web.screens.desk import Desk

    Row = tuple[
        str,
        Literal["GET", "POST"],
        Literal["anybody", "readers", "markers", "editors", "admins"],
        Callable[[Request, Desk], Awaitable[Response]],
    ]

SCREENS: Final[tuple[Row, ...]] = (
    ("/", "GET", "readers", inbox.show),
    ("/inbox", "POST", "markers", inbox.act),
    ("/inbox/all-read", "POST", "markers", inbox.all_read),
    ("/changes/{id}", "GET", "readers", change.show),
    ("/changes/{id}", "POST", "markers", change.act),
    ("/changes/{id}/rendered", "GET", "readers", change.render),
    ("/changes/{id}/picture", "GET", "readers", change.share),
    ("/changes/{id}/text", "GET", "readers", change.tell_as_text),
    ("/changes/{id}/screenshot", "GET", "readers", change.screenshot),
    ("/changes/{id}/screenshots", "GET", "readers", change.differing),
    ("/changes/{id}/fewer", "GET", "readers", fewer.show),
    ("/changes/{id}/fewer", "POST", "editors", fewer.act),
    ("/sentinels", "GET", "readers", sentinels.show),
    ("/sentinels", "POST", "editors", sentinels.act),
    ("/sentinels/{name}", "GET", "readers", sentinel.show),
    ("/sentinels/{name}", "POST", "editors", sentinel.act),
    ("/new", "GET", "editors", make.show),
    ("/new", "POST", "editors", make.act),
    ("/new/page", "GET", "editors", make.pick),
    ("/search", "GET", "readers", search.show),
    ("/search/{page}/open", "GET", "readers", search.open_page),
    ("/collections", "GET", "readers", collections.show),
    ("/collections/{name}", "GET", "readers", collections.show_one),
    ("/plan", "GET", "readers", plan.show),
    ("/health", "GET", "readers", installation.show_health),
    ("/health", "POST", "editors", installation.act),
    ("/settings", "GET", "readers", installation.show_settings),
    ("/live", "GET", "readers", inbox.follow),
    ("/login", "GET", "anybody", people.show),
    ("/login", "POST", "anybody", people.act),
    ("/logout", "POST", "readers", people.leave),
    ("/account", "GET", "readers", people.show_account),
    ("/account", "POST", "readers", people.act_on_account),
    ("/users", "GET", "admins", people.users),
    ("/users", "POST", "admins", people.act_on_users),
)

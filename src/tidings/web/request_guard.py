"""Request guard, before any route is matched (R-12, H-087; DNS rebinding).

A page in a user's browser must not reach what listens on loopback. A name that an attacker points
here is refused by its Host header, a page of another site by the browser's `Origin` and
`Sec-Fetch-Site`; no answer allows another origin to read it. Nor is anything fetched ahead of a
click: a search is logged, a result counts as opened, a new address is fetched.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
from email.utils import formatdate
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from tidings.clock import SECOND
from tidings.record import dataclass
from tidings.web.problems import NO_TEXT, ProblemError, answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from tidings.clock import Clock
    from tidings.settings import ServeSettings

SECURITY: Final = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}
OWN_SITE: Final = frozenset({"same-origin", "none"})
READING: Final = frozenset({"GET", "HEAD"})
AHEAD: Final = ("sec-purpose", "purpose", "x-moz")
"""Headers by which browsers mark a prefetch or prerender (Fetch Standard, and before it)."""
REALM: Final = {"www-authenticate": 'Basic realm="tidings", charset="UTF-8"'}


def _refuse(problem: ProblemError, path: str, headers: Headers) -> Response:
    del headers
    return answer(problem, where=path)


@dataclass(frozen=True, slots=True)
class RequestGuard:
    """Wraps an application. `names` are its accepted host names, besides localhost and addresses;
    `refuse` answers what it refuses, given the path and the headers.
    """

    application: ASGIApp
    clock: Clock
    names: frozenset[str] = frozenset()
    refuse: Callable[[ProblemError, str, Headers], Response] = _refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it; every answer gets the security headers."""
        if scope["type"] != "http":
            return

        async def careful(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name for name, _ in message["headers"]}
                own = {
                    **{n: v for n, v in SECURITY.items() if n.encode() not in names},
                    "date": formatdate(self.clock.wall() / SECOND, usegmt=True),
                }
                message["headers"] = [*message["headers"], *((n.encode(), v.encode()) for n, v in own.items())]
            await send(message)

        try:
            self._check(scope["method"], Headers(scope=scope))
            if "\0" in scope["path"] or b"%00" in scope.get("query_string", b""):
                raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, NO_TEXT)
        except ProblemError as problem:
            await self.refuse(problem, scope["path"], Headers(scope=scope))(scope, receive, careful)
            return
        await self.application(scope, receive, careful)

    def _check(self, method: str, headers: Headers) -> None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self.is_own(hosts[0]):
            message = "this service is not known under the name by which it was asked"
            hint = "ask it by its address or as localhost, or add the name to serve.names"
            raise ProblemError(HTTPStatus.MISDIRECTED_REQUEST, message, hint=hint)
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        is_own_page = origin is None or origin.partition("://")[2].lower() == hosts[0].lower()
        is_visit = method in READING and headers.get("sec-fetch-mode") == "navigate"
        if not is_own_page or (site is not None and site not in OWN_SITE and not is_visit):
            message = "pages of other sites may not ask this service"
            raise ProblemError(HTTPStatus.FORBIDDEN, message)
        if any(headers.get(name, "").strip().lower().startswith("prefetch") for name in AHEAD):
            message = "this service does not answer requests that a browser makes before somebody opens the page"
            raise ProblemError(HTTPStatus.FORBIDDEN, message)

    def is_own(self, host: str) -> bool:
        """Return whether a Host header names this service: by an address, which nobody can
        redirect, or by one of its names.
        """
        name, port = _split(host.strip().lower())
        if port and not port.isdecimal():
            return False
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return name.removesuffix(".") in {"localhost", *self.names}
        return True


def _split(host: str) -> tuple[str, str]:
    if host.startswith("["):
        name, _, port = host.partition("]")
        return f"{name}]", port.removeprefix(":")
    name, _, port = host.partition(":")
    return name, port


def own_address(headers: Headers, serve: ServeSettings) -> str:
    """Return the address of this service as the asker knows it: `serve.public_url` if it names the
    host that was asked, without a slash at its end.
    """
    host, public = headers["host"], serve.public_url.rstrip("/")
    return public if urlsplit(public).netloc.lower() == host.lower() else f"http://{host}"


def find_token(headers: Headers) -> str:
    """Return the token of a request: a bearer token, or the password of a login; empty if none.

    Only this header is read: in a URL a token would end up in logs and histories (H-095).
    """
    scheme, _, value = headers.get("authorization", "").strip().partition(" ")
    value = value.strip()
    if scheme.lower() == "bearer":
        return value
    if scheme.lower() != "basic":
        return ""
    try:
        return base64.b64decode(value, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""

"""The callback of WebSub: hubs verify here that they were asked, and tell here that there is something new (W3C WebSub §5, §7).

Each subscription has an address of its own that nobody guesses; what comes there counts only if it is signed with the subscription's secret,
and then as a hint: its body is never taken for a version.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from starlette.responses import Response

from tidings.clock import SECOND
from tidings.errors import StoreError
from tidings.web.pace import Pace
from tidings.web.parameters import body_of
from tidings.web.problems import ProblemError

if TYPE_CHECKING:
    from starlette.requests import Request

    from tidings.web.inside import Inside

PER_SECOND: Final = 1.0
BURST: Final = 60
"""What one hub tells at once; after that one a second."""
MOST_BYTES: Final = 5_000_000
"""A hub sends the whole feed; it is read for its signature and forgotten."""
_SIGNATURE: Final = "x-hub-signature"


def pace() -> Pace:
    """Return what counts what each hub tells."""
    return Pace(per_second=PER_SECOND, burst=BURST)


async def verify(request: Request, inside: Inside) -> Response:
    """Answer a hub that asks whether it was asked: with its challenge, or 404."""
    try:
        challenge = await inside.hubs.verify(str(request.path_params["token"]), dict(request.query_params))
    except StoreError as error:
        message = "what was asked could not be kept; ask again"
        raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, message, headers={"retry-after": "5"}) from error
    if challenge is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, "nobody here has asked for that")
    return Response(challenge, HTTPStatus.OK, {"cache-control": "no-store"}, "text/plain")


async def deliver(request: Request, inside: Inside, counted: Pace) -> Response:
    """Take what a hub tells as a hint. Who does not sign as agreed is answered like all others, and nothing comes of it."""
    token = str(request.path_params["token"])
    if not inside.hubs.knows(token):
        message = "nobody here wants to hear of that any more"
        raise ProblemError(HTTPStatus.GONE, message, headers={"connection": "close"})
    if wait := counted.wait(token, inside.clock.now()):
        message = f"more than {BURST} at once, or {PER_SECOND:g} a second"
        raise ProblemError(HTTPStatus.TOO_MANY_REQUESTS, message, headers={"retry-after": str(-(-wait // SECOND))})
    body = await body_of(request, most=MOST_BYTES)
    try:
        await inside.hubs.deliver(token, body, request.headers.get(_SIGNATURE, ""))
    except StoreError as error:
        message = "the hint could not be stored; send it again"
        raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, message, headers={"retry-after": "5"}) from error
    return Response(b"", HTTPStatus.ACCEPTED, {"cache-control": "no-store"})

"""The callback of WebSub: hubs verify subscriptions here and send notifications here (W3C WebSub
§5, §7).

Each subscription has its own unguessable address; a notification counts only if signed with the
subscription's secret, and only as a hint: its body never becomes a version.
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
"""Notifications of one hub accepted at once; then one per second."""
MOST_BYTES: Final = 5_000_000
"""A hub sends the whole feed, which is read for its signature and dropped."""
_SIGNATURE: Final = "x-hub-signature"


def pace() -> Pace:
    """Return the rate limit of hubs."""
    return Pace(per_second=PER_SECOND, burst=BURST)


async def verify(request: Request, inside: Inside) -> Response:
    """Answer a hub's verification: with its challenge, or 404."""
    try:
        challenge = await inside.hubs.verify(str(request.path_params["token"]), dict(request.query_params))
    except StoreError as error:
        message = "the answer could not be stored; send the request again"
        raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, message, headers={"retry-after": "5"}) from error
    if challenge is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, "this service did not ask for this subscription")
    return Response(challenge, HTTPStatus.OK, {"cache-control": "no-store"}, "text/plain")


async def deliver(request: Request, inside: Inside, counted: Pace) -> Response:
    """Record a notification as a hint. One with a wrong signature gets the same answer and is
    ignored.
    """
    token = str(request.path_params["token"])
    if not await inside.hubs.knows(token):
        message = "this service has no subscription with this address any more"
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

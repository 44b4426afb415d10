"""Webhooks: an incoming webhook raises the event of its name (W-5), once per key, and is answered
when that is durable.

Its sender proves itself with the webhook's token, or a signature as in Standard Webhooks. Others
learn nothing, not even whether the webhook exists.
"""

from __future__ import annotations

import hmac
import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from starlette.responses import Response

from tidings.clock import SECOND
from tidings.errors import SecretError, StoreError, UnknownNameError, UsageError
from tidings.notification.webhook import is_genuine, read_secrets
from tidings.web.guard import REALM, find_token
from tidings.web.pace import Pace
from tidings.web.parameters import body_of, read
from tidings.web.problems import ProblemError

if TYPE_CHECKING:
    from starlette.requests import Request

    from tidings.model.interval import Instant
    from tidings.model.secret import Secret
    from tidings.web.inside import Inside

PER_SECOND: Final = 2.0
BURST: Final = 120
"""Events of one webhook accepted at once; then two per second. A webhook is a notification, not a
log.
"""
_SIGNATURE: Final = "webhook-signature"


def pace() -> Pace:
    """Return the rate limit of webhooks."""
    return Pace(per_second=PER_SECOND, burst=BURST)


async def answer(request: Request, inside: Inside, counted: Pace) -> Response:
    """Accept the event and answer 202, or refuse it with the reason."""
    name = str(request.path_params["name"])
    if not find_token(request.headers) and _SIGNATURE not in request.headers:
        message = "a hook needs its token"
        hint = (
            f"send it as `Authorization: Bearer TOKEN`; `tidings show {name}` shows it to the operator of this service"
        )
        raise ProblemError(HTTPStatus.UNAUTHORIZED, message, hint=hint, headers=REALM)
    body = await body_of(request)
    try:
        await inside.hooks.admit(name, lambda token: _proves(request, token, body, inside.clock.wall()))
        _count(name, inside, counted)
        taken = await inside.hooks.take(name, read(body, request.headers.get("content-type", "")), key=key_of(request))
    except UnknownNameError as error:
        raise ProblemError(HTTPStatus.NOT_FOUND, str(error)) from error
    except UsageError as error:
        raise ProblemError(HTTPStatus.BAD_REQUEST, str(error)) from error
    except SecretError as error:
        message = (
            "the token of this hook cannot be read here; `tidings doctor` shows details to the operator of this service"
        )
        raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, message) from error
    except StoreError as error:
        message = "the event could not be stored; send it again"
        raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, message, headers={"retry-after": "5"}) from error
    record = {"record": "event", "id": str(taken.seq), "name": name, "new": taken.is_new}
    return Response(json.dumps(record), HTTPStatus.ACCEPTED, {"cache-control": "no-store"}, "application/json")


def _proves(request: Request, token: Secret, body: bytes, now: Instant) -> bool:
    """Return whether a request has the token, or is signed with it."""
    headers = request.headers
    shown, held = find_token(headers), token.reveal()
    if hmac.compare_digest(shown.encode(errors="surrogatepass"), held.encode()):
        return True
    given = (headers.get(f"webhook-{part}", "") for part in ("id", "timestamp", "signature"))
    return is_genuine(*given, body=body, keys=read_secrets(held), now=now)


def key_of(request: Request) -> str:
    """Return the idempotency key of an event; the id of a webhook comes first, since the signature
    covers it.
    """
    return request.headers.get("webhook-id") or request.headers.get("idempotency-key", "")


def _count(name: str, inside: Inside, counted: Pace) -> None:
    """Raise `ProblemError` above the rate limit; only authenticated senders count."""
    wait = counted.wait(name, inside.clock.now())
    if wait:
        message = f"more than {BURST} events at once, or {PER_SECOND:g} a second"
        seconds = {"retry-after": str(-(-wait // SECOND))}
        raise ProblemError(HTTPStatus.TOO_MANY_REQUESTS, message, hint="send it again later", headers=seconds)

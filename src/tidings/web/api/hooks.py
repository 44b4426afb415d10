"""What other programs send: webhooks, signals, and notifications of WebSub hubs. Each is answered
when it is durable.

An incoming webhook raises the event of its name (W-5), once per key. Its sender proves itself with
the token of the webhook, or a signature as in Standard Webhooks. Others learn nothing, not even
whether the webhook exists. A signal is a hint that pages may have changed. A hub verifies
subscriptions and sends notifications (W3C WebSub §5, §7). Each subscription has its own unguessable
address; a notification counts only if it is signed with the secret of the subscription, and only as
a hint: its body never becomes a version.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import Response

from tidings.clock import SECOND
from tidings.errors import SecretError, StoreError, UnknownNameError, UsageError
from tidings.notification.webhook import is_genuine, read_secrets
from tidings.record import dataclass
from tidings.web.problems import ProblemError
from tidings.web.rate_limits import Pace
from tidings.web.request_body import body_of, read_parameters
from tidings.web.request_guard import REALM, find_token

if TYPE_CHECKING:
    from starlette.requests import Request

    from tidings.model.interval import Instant
    from tidings.model.secret import Secret
    from tidings.web.inside import Inside

EVENTS_PER_SECOND: Final = 2.0
EVENTS_BURST: Final = 120
"""Events of one webhook accepted at once; then two per second. A webhook is a notification, not a
log.
"""
_SIGNATURE: Final = "webhook-signature"


def event_pace() -> Pace:
    """Return the rate limit of webhooks."""
    return Pace(per_second=EVENTS_PER_SECOND, burst=EVENTS_BURST)


async def receive_event(request: Request, inside: Inside, counted: Pace) -> Response:
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
        taken = await inside.hooks.take(
            name, read_parameters(body, request.headers.get("content-type", "")), key=key_of(request)
        )
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
    shown, expected = find_token(headers), token.reveal()
    if hmac.compare_digest(shown.encode(errors="surrogatepass"), expected.encode()):
        return True
    given = (headers.get(f"webhook-{part}", "") for part in ("id", "timestamp", "signature"))
    return is_genuine(*given, body=body, keys=read_secrets(expected), now=now)


def key_of(request: Request) -> str:
    """Return the idempotency key of an event; the id of a webhook comes first, since the signature
    covers it.
    """
    return request.headers.get("webhook-id") or request.headers.get("idempotency-key", "")


def _limit(counted: Pace, name: str, inside: Inside, message: str, *, hint: str = "") -> None:
    """Raise `ProblemError` with this message and hint above a rate limit."""
    if wait := counted.wait(name, inside.clock.now()):
        seconds = {"retry-after": str(-(-wait // SECOND))}
        raise ProblemError(HTTPStatus.TOO_MANY_REQUESTS, message, hint=hint, headers=seconds)


def _count(name: str, inside: Inside, counted: Pace) -> None:
    """Raise `ProblemError` above the rate limit; only authenticated senders count."""
    message = f"more than {EVENTS_BURST} events at once, or {EVENTS_PER_SECOND:g} a second"
    _limit(counted, name, inside, message, hint="send it again later")


SIGNALS_PER_SECOND: Final = 10.0
SIGNALS_BURST: Final = 300
"""Signals accepted at once; then ten per second."""
MOST_URLS: Final = 1_000
"""Most addresses in one signal."""
LONGEST_URL: Final = 8_192
RESERVED: Final = frozenset({"websub", "sitemap", "dates", "updated"})
"""Kinds that Tidings creates itself."""
_KIND: Final = re.compile(r"[a-z][a-z0-9_.-]{0,39}")
_FIELDS: Final = frozenset({"url", "urls", "page", "at", "kind"})
_EXAMPLE: Final = 'such as {"url": "https://shop.example/prices"}'


@dataclass(frozen=True, slots=True)
class SignalContent:
    """The content of a signal: addresses, page numbers, the instant of the change (None: now), and
    its kind.
    """

    urls: tuple[str, ...]
    pages: tuple[int, ...]
    at: Instant | None
    kind: str


def signal_pace() -> Pace:
    """Return the rate limit of signals."""
    return Pace(per_second=SIGNALS_PER_SECOND, burst=SIGNALS_BURST)


async def receive_signal(request: Request, inside: Inside, counted: Pace) -> Response:
    """Accept the signal and answer 202, or refuse it with the reason."""
    message = f"more than {SIGNALS_BURST} signals at once, or {SIGNALS_PER_SECOND:g} a second"
    _limit(counted, "", inside, message, hint=f"name several pages in one signal, up to {MOST_URLS:,}")
    signal = read_params(read_parameters(await body_of(request), request.headers.get("content-type", "")))
    signals = inside.signals
    found = await signals.find(signal.urls, signal.pages)
    unknown = [url for url, page_ids in found.by_url.items() if not page_ids]
    unknown += [str(page_id) for page_id in signal.pages if page_id not in found.watched]
    if not found.watched:
        message = "none of these pages is watched"
        raise ProblemError(HTTPStatus.NOT_FOUND, message, hint="`tidings list --json` shows what is")
    try:
        taken = await signals.take(found.watched, kind=signal.kind, at=signal.at, key=key_of(request))
    except UsageError as error:
        raise ProblemError(HTTPStatus.BAD_REQUEST, str(error)) from error
    except StoreError as error:
        message = "the signal could not be stored; send it again"
        raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, message, headers={"retry-after": "5"}) from error
    record = {
        "record": "signal",
        "pages": taken.pages,
        "weighed": len(found.weighed),
        "new": taken.is_new,
        "unknown": unknown,
    }
    return Response(json.dumps(record), HTTPStatus.ACCEPTED, {"cache-control": "no-store"}, "application/json")


def read_params(params: Mapping[str, Any]) -> SignalContent:
    """Parse the params of a signal. Raises `ProblemError` with the reason."""
    if extra := set(params) - _FIELDS:
        message = f"a signal has no field {min(extra)[:40]!r}; it has {', '.join(sorted(_FIELDS))}"
        raise ProblemError(HTTPStatus.BAD_REQUEST, message)
    listed = params.get("urls", [])
    urls = [listed] if isinstance(listed, str) else listed  # a form has one or several
    urls = [*([params["url"]] if "url" in params else []), *(urls if isinstance(urls, list) else [None])]
    if not all(isinstance(url, str) and len(url) <= LONGEST_URL for url in urls) or len(urls) > MOST_URLS:
        message = f"`url` is an address, `urls` a list of at most {MOST_URLS:,} of them"
        raise ProblemError(HTTPStatus.BAD_REQUEST, message, hint=_EXAMPLE)
    pages = (_page(params["page"]),) if "page" in params else ()
    if not urls and not pages:
        message = "a signal says which pages it speaks of"
        raise ProblemError(HTTPStatus.BAD_REQUEST, message, hint=_EXAMPLE)
    return SignalContent(tuple(dict.fromkeys(urls)), pages, _at(params.get("at")), _kind(params.get("kind")))


def _page(value: Any) -> int:
    text = str(value)
    if isinstance(value, bool) or not text.isascii() or not text.isdecimal() or len(text) > 18:
        message = "`page` is the number of a page"
        raise ProblemError(HTTPStatus.BAD_REQUEST, message)
    return int(text)


def _at(value: Any) -> Instant | None:
    if value is None:
        return None
    try:
        at = datetime.fromisoformat(value)
        return round(at.timestamp() * SECOND) if at.tzinfo is not None else _refuse_date()
    except (TypeError, ValueError, OverflowError):
        return _refuse_date()


def _refuse_date() -> Instant:
    message = "`at` is a date and time with its zone (RFC 3339)"
    raise ProblemError(HTTPStatus.BAD_REQUEST, message, hint="such as 2026-05-01T12:00:00Z")


def _kind(value: Any) -> str:
    if value is None:
        return "api"
    if not isinstance(value, str) or not _KIND.fullmatch(value) or value in RESERVED:
        message = "`kind` is a name of at most 40 small letters, digits, dots, hyphens and underscores that Tidings does not use itself"
        raise ProblemError(HTTPStatus.BAD_REQUEST, message, hint="such as cms; leave it out if you are not sure")
    return value


NOTIFICATIONS_PER_SECOND: Final = 1.0
NOTIFICATIONS_BURST: Final = 60
"""Notifications of one hub accepted at once; then one per second."""
MOST_NOTIFICATION_BYTES: Final = 5_000_000
"""A hub sends the whole feed, which is read for its signature and dropped."""
_HUB_SIGNATURE: Final = "x-hub-signature"


def hub_pace() -> Pace:
    """Return the rate limit of hubs."""
    return Pace(per_second=NOTIFICATIONS_PER_SECOND, burst=NOTIFICATIONS_BURST)


async def verify_hub(request: Request, inside: Inside) -> Response:
    """Answer a hub's verification: with its challenge, or 404."""
    try:
        challenge = await inside.hubs.verify(str(request.path_params["token"]), dict(request.query_params))
    except StoreError as error:
        message = "the answer could not be stored; send the request again"
        raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, message, headers={"retry-after": "5"}) from error
    if challenge is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, "this service did not ask for this subscription")
    return Response(challenge, HTTPStatus.OK, {"cache-control": "no-store"}, "text/plain")


async def receive_notification(request: Request, inside: Inside, counted: Pace) -> Response:
    """Record a notification as a hint. One with a wrong signature gets the same answer and is
    ignored.
    """
    token = str(request.path_params["token"])
    if not await inside.hubs.knows(token):
        message = "this service has no subscription with this address any more"
        raise ProblemError(HTTPStatus.GONE, message, headers={"connection": "close"})
    _limit(counted, token, inside, f"more than {NOTIFICATIONS_BURST} at once, or {NOTIFICATIONS_PER_SECOND:g} a second")
    body = await body_of(request, most=MOST_NOTIFICATION_BYTES)
    try:
        await inside.hubs.deliver(token, body, request.headers.get(_HUB_SIGNATURE, ""))
    except StoreError as error:
        message = "the hint could not be stored; send it again"
        raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, message, headers={"retry-after": "5"}) from error
    return Response(b"", HTTPStatus.ACCEPTED, {"cache-control": "no-store"})

"""Signals: hints that pages may have changed, weighed and answered when durable.

Read access suffices, since a hint costs nothing and breaks no limit: false ones are soon ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import Response

from tidings.clock import SECOND
from tidings.errors import StoreError, UsageError
from tidings.record import dataclass
from tidings.web.api.hooks import key_of
from tidings.web.pace import Pace
from tidings.web.parameters import body_of, read
from tidings.web.problems import ProblemError

if TYPE_CHECKING:
    from starlette.requests import Request

    from tidings.model.interval import Instant
    from tidings.web.inside import Inside

PER_SECOND: Final = 10.0
BURST: Final = 300
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
class Said:
    """The content of a signal: addresses, page numbers, the instant of the change (None: now), and
    its kind.
    """

    urls: tuple[str, ...]
    pages: tuple[int, ...]
    at: Instant | None
    kind: str


def pace() -> Pace:
    """Return the rate limit of signals."""
    return Pace(per_second=PER_SECOND, burst=BURST)


async def answer(request: Request, inside: Inside, counted: Pace) -> Response:
    """Accept the signal and answer 202, or refuse it with the reason."""
    wait = counted.wait("", inside.clock.now())
    if wait:
        message = f"more than {BURST} signals at once, or {PER_SECOND:g} a second"
        hint = f"say several pages in one, up to {MOST_URLS:,}"
        seconds = {"retry-after": str(-(-wait // SECOND))}
        raise ProblemError(HTTPStatus.TOO_MANY_REQUESTS, message, hint=hint, headers=seconds)
    said = read_params(read(await body_of(request), request.headers.get("content-type", "")))
    signals = inside.signals
    found = await signals.find(said.urls, said.pages)
    unknown = [url for url, page_ids in found.by_url.items() if not page_ids]
    unknown += [str(page_id) for page_id in said.pages if page_id not in found.watched]
    if not found.watched:
        message = "none of these pages is watched"
        raise ProblemError(HTTPStatus.NOT_FOUND, message, hint="`tidings list --json` shows what is")
    try:
        taken = await signals.take(found.watched, kind=said.kind, at=said.at, key=key_of(request))
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


def read_params(params: Mapping[str, Any]) -> Said:
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
    return Said(tuple(dict.fromkeys(urls)), pages, _at(params.get("at")), _kind(params.get("kind")))


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
        message = "`kind` is a name of small letters, digits, dots, dashes and lines below, of at most 40, that Tidings does not use itself"
        raise ProblemError(HTTPStatus.BAD_REQUEST, message, hint="such as cms; leave it out if you are not sure")
    return value

"""Interpret an answer: the meaning of its status, the soundness of its framing, its validators."""

from __future__ import annotations

import email.utils
import math
import re
from collections.abc import Mapping
from datetime import UTC

from multidict import CIMultiDict, CIMultiDictProxy

from tidings.clock import DAY, MINUTE, SECOND, Instant
from tidings.fetching.fetcher import FetchError
from tidings.model.interval import Duration
from tidings.model.observed.outcome import ErrorKind, Framing, Validators

Headers = CIMultiDictProxy[str]

REDIRECTS = frozenset({301, 302, 303, 307, 308})
WHOLE = frozenset({200, 203})
"""Statuses whose body is a version of the page (sentinels §5.3)."""

OF_CONDITIONS = frozenset({400, 403, 405, 406, 409, 411, 412, 415, 416, 417, 422, 428, 431, 500, 501, 505, 520})
"""Statuses with which servers refuse conditional requests, though they answer the same request
without conditions.
"""

SHORTEST_PAUSE: Duration = MINUTE
LONGEST_PAUSE: Duration = DAY

CLOCKS_APART: Duration = MINUTE
"""how far the date of a page may be ahead of its server's clock and still count as now"""
LONGEST_FRESHNESS: Duration = DAY
"""The longest freshness that is accepted (P-6)."""

_BUSY = frozenset({408, 425, 429, 503})
_DENIED = frozenset({401, 403, 407, 451})
_MAX_VALIDATOR_LENGTH = 1_024


def failure_of(status: int, headers: Headers, *, now: Instant) -> FetchError:
    """Return the failure of a status without a version. `now` is wall time, for Retry-After as a
    date.
    """
    kind, meaning = _meaning(status)
    pause = None
    if status >= 400:
        limit = rate_limit(headers, now=now, is_used_up=status == 429)
        pause = retry_after(headers.get("Retry-After"), now=now) or (max(limit, SHORTEST_PAUSE) if limit else None)
        if limit and kind in {"denied", "request"}:
            kind, meaning = "busy", "too many requests were made"
    return FetchError(kind, f"the server answered {status}: {meaning}", status=status, retry_after=pause)


def _meaning(status: int) -> tuple[ErrorKind, str]:
    if status in _BUSY:
        return "busy", "it is busy"
    if status == 401:
        return "denied", "it asks for a user name and a password (docs/howto/logins.md)"
    if status in _DENIED:
        return "denied", "it refuses access to the page"
    if status == 404:
        return "404", "there is no such page"
    if status == 410:
        return "410", "the page is gone permanently"
    if 500 <= status < 600:
        return "5xx", "it has an internal error"
    if status == 304:
        return "request", "not modified, although the request named no older version"
    if 300 <= status < 400:
        return "redirect", "it redirects without an address"
    if 200 <= status < 300:
        return "request", "this is not a complete page"
    return "request", "it does not accept the request"


def retry_after(value: str | None, *, now: Instant) -> Duration | None:
    """Return the Retry-After, clamped to [1 min, 24 h] (contracts §11); None if missing, invalid,
    or past.
    """
    if not value:
        return None
    value = value.strip()
    if value.isascii() and value.isdigit():
        pause = int(value[:12]) * SECOND
    else:
        at = read_date(value)
        if at is None:
            return None
        pause = at - now
    return min(max(pause, SHORTEST_PAUSE), LONGEST_PAUSE) if pause > 0 else None


def rate_limit(headers: Headers, *, now: Instant, is_used_up: bool = False) -> Duration | None:
    """Return how long a host must be left alone by its rate limit headers, at most 24 h; None while
    requests are left. `now` is wall time.

    `RateLimit-Remaining` and `RateLimit-Reset` with or without `X-`, `RateLimit` in the forms of
    draft-ietf-httpapi-ratelimit-headers (07 and 10). A reset is in seconds, or an instant in
    seconds or milliseconds since 1970. With `is_used_up` the answer itself says that nothing is
    left.
    """
    if not any("rate" in name.lower() for name in headers):
        return None
    waits = []
    for family in ("RateLimit-", "X-RateLimit-", "X-Rate-Limit-"):
        left = _amount(headers.get(f"{family}Remaining"))
        after = _until(headers.get(f"{family}Reset-After") or headers.get(f"{family}Reset"), now)
        waits.append(after if (left is not None and left < 1) or (left is None and is_used_up) else 0)
    header = ",".join(headers.getall("RateLimit", ()))
    given = {key.strip(): value for key, _, value in (part.partition("=") for part in re.split("[,;]", header))}
    if "remaining" in given:
        waits.append(_until(given.get("reset"), now) if _amount(given["remaining"]) == 0 else 0)
    for item in header.split(","):
        given = {key.strip(): value for key, _, value in (part.partition("=") for part in item.split(";"))}
        waits.append(_until(given.get("t"), now) if _amount(given.get("r")) == 0 else 0)
    return min(max(waits), LONGEST_PAUSE) or None


def _amount(value: str | None) -> float | None:
    try:
        amount = float(value or "")
    except ValueError:
        return None
    return amount if math.isfinite(amount) else None


def _until(value: str | None, now: Instant) -> Duration:
    """Return the time until a limit resets, 0 if it cannot be read."""
    seconds = _amount(value)
    if seconds is None:
        at = read_date(value or "")
        return 0 if at is None else max(0, at - now)
    if seconds > _MILLISECONDS:
        seconds /= 1_000
    wait = seconds * SECOND - now if seconds > _SINCE_1970 else seconds * SECOND
    return round(min(max(wait, 0), LONGEST_PAUSE))


_SINCE_1970 = 1_000_000_000
_MILLISECONDS = 100_000_000_000


def freshness(headers: Headers, *, now: Instant) -> Duration | None:
    """Return the freshness lifetime of an answer (RFC 9111 §4.2), clamped to [0, 24 h]; None if it
    gives none.

    max-age, else s-maxage, else Expires − Date (by default `now`, which is wall time); less Age.
    `no-store` and `no-cache` mean 0, and so does an invalid value.
    """
    directives = _directives(headers)
    if directives.keys() & {"no-store", "no-cache"}:
        return 0
    for name in ("max-age", "s-maxage"):
        if name in directives:
            lifetime = _seconds(directives[name])
            break
    else:
        expires = headers.get("Expires")
        if expires is None:
            return None
        until, since = read_date(expires), read_date(headers.get("Date", ""))
        lifetime = 0 if until is None else until - (now if since is None else since)
    return min(max(lifetime - _seconds(headers.get("Age", "0")), 0), LONGEST_FRESHNESS)


def _directives(headers: Headers) -> dict[str, str]:
    """Return the directives of Cache-Control in lower case; of duplicates the first."""
    directives: dict[str, str] = {}
    for part in ",".join(headers.getall("Cache-Control", ())).split(","):
        name, _, value = part.partition("=")
        directives.setdefault(name.strip().lower(), value.strip().strip('"'))
    return directives


def _seconds(value: str) -> Duration:
    value = value.strip()
    return int(value[:12]) * SECOND if value.isascii() and value.isdigit() else 0


def read_date(value: str) -> Instant | None:
    """Return the instant of a date in a header, in whole seconds; one without a zone is in UTC.
    None if it cannot be read, or lies outside the calendar.
    """
    if not value:
        return None
    try:
        date = email.utils.parsedate_to_datetime(value)
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        return round(date.timestamp()) * SECOND
    except (ValueError, OverflowError):
        return None


def framing_of(headers: Headers, *, encoded: bool) -> Framing:
    """Return how the body's end is known. Raise `FetchError` of kind `framing` if the headers
    contradict each other.
    """
    lengths = headers.getall("Content-Length", ())
    transfer = headers.getall("Transfer-Encoding", ())
    if len(lengths) > 1 or (lengths and transfer):
        raise FetchError("framing", "the answer gives the length of its body in more than one way")
    if transfer:
        if len(transfer) > 1 or transfer[0].strip().lower() != "chunked":
            raise FetchError("framing", f"the answer has an unknown Transfer-Encoding {transfer[0][:40]!r}")
        return "chunked"
    if lengths:
        return "length"
    return "encoded" if encoded else "unframed"


def content_encoding(headers: Headers) -> str:
    """Return the value of Content-Encoding, several lines joined."""
    values = headers.getall("Content-Encoding", ())
    return ", ".join(values) if values else ""


def validators_of(headers: Headers, old: Validators | None = None, *, now: Instant) -> Validators:
    """Return ETag and Last-Modified byte for byte, those of `old` if a 304 does not repeat them.
    `now` is wall time.

    A date in the very second of the answer is dropped: a later write in that second has the same
    (RFC 9110 §8.8.2.2). So is an ETag that is derived from the date, as nginx makes it.
    """
    etag, modified = _validator(headers.get("ETag")), _validator(headers.get("Last-Modified"))
    if modified is not None and (young := _too_young(modified, headers, now)) is not None:
        modified = None
        etag = None if etag is not None and f"{young // SECOND:x}" in etag.lower() else etag
    return Validators(etag or (old.etag if old else None), modified or (old.last_modified if old else None))


def _too_young(modified: str, headers: Headers, now: Instant) -> Instant | None:
    """Return the date if the page may be rewritten with the same one, by the server's clock, else
    None. A server's clocks may differ slightly.
    """
    date, written = read_date(headers.get("Date", "")), read_date(modified)
    if written is None or not -CLOCKS_APART < (now if date is None else date) - written < SECOND:
        return None
    return written


def _validator(value: str | None) -> str | None:
    """Return a validator that can be stored and sent back, else None: the page is then always
    fetched whole.
    """
    if not value or len(value) > _MAX_VALIDATOR_LENGTH or not (value.isascii() and value.isprintable()):
        return None
    return value


def plain_headers(headers: Headers) -> dict[str, str]:
    """Return headers with lower-case names and storable values, lines of one name joined, without
    cookies.
    """
    plain: dict[str, str] = {}
    for name, value in headers.items():
        key = readable(name).lower()
        if key == "set-cookie":
            continue
        text = readable(value)
        plain[key] = f"{plain[key]}, {text}" if key in plain else text
    return plain


def multi(headers: Mapping[str, str]) -> Headers:
    """Return plain headers as a multi-dict."""
    return CIMultiDictProxy(CIMultiDict(headers))


def readable(text: str) -> str:
    """Return a header text without lone surrogates: bytes that are not UTF-8 are read as
    Latin-1.
    """
    if text.isascii():
        return text
    data = text.encode("utf-8", "surrogateescape")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")

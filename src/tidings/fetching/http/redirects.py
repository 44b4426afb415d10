"""Redirects are followed here, hop by hop, never by the library (R-04)."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Sequence

from tidings.errors import AddressError
from tidings.fetching import address
from tidings.fetching.failure import FetchError
from tidings.fetching.http.answers import Headers, readable
from tidings.model.secret import Secret

RequestHeaders = tuple[tuple[str, str | Secret], ...]

HARMLESS = frozenset({"accept", "accept-language", "cache-control", "dnt", "pragma", "user-agent"})
"""Request headers that do not identify the sender, unless a secret holds their value; all others go
to the first origin only.
"""
OF_A_BODY = frozenset({"content-language", "content-location", "content-type"})
"""Request headers that belong to a body."""


_READ_SECONDS = 1
_REFRESH = re.compile(
    r"\s*(?P<seconds>[0-9]{1,9})[0-9.]*\s*[;,\s]\s*(?:url\s*=\s*)?(?P<place>\S.*)", re.IGNORECASE | re.DOTALL
)


def target(url: str, locations: Sequence[str]) -> str:
    """Return the rebuilt target URL of a redirect of `url`. Raise `FetchError` of kind
    `redirect`.
    """
    if len(locations) != 1 or not locations[0].strip():
        count = "no" if not locations or not locations[0].strip() else "more than one"
        raise FetchError("redirect", f"the page points elsewhere, but gives {count} address")
    location = _quote(locations[0].strip(" \t"))
    if not location.isprintable():  # the library would remove control characters silently
        raise FetchError("redirect", "the page points to an address with control characters")
    try:
        return address.rebuild(urllib.parse.urljoin(url, location))
    except AddressError as error:
        raise FetchError("redirect", f"the page points to an address that is not followed: {error}") from None
    except ValueError:
        raise FetchError("redirect", "the page points to something that is no address") from None


def refresh(url: str, headers: Headers, *, body: bytes) -> str:
    """Return the target of the header Refresh of a whole answer of `url`, as written; empty if
    there is none.

    Browsers go there after so many seconds. It counts as a redirect if the body is empty, or
    unreadable in that time: after at most a second, and to another address.
    """
    match = _REFRESH.match(headers.get("Refresh", ""))
    if match is None:
        return ""
    place = match["place"].strip()
    if place[:1] in {"'", '"'}:
        place = place[1:].partition(place[0])[0]
    if body.strip() and (int(match["seconds"]) > _READ_SECONDS or _leads_back(url, place)):
        return ""
    return place


def _leads_back(url: str, place: str) -> bool:
    try:
        return target(url, (place,)) == url
    except FetchError:
        return True


def headers_for(url: str, *, first: str, headers: RequestHeaders) -> RequestHeaders:
    """Return the request headers that may go to `url` in a fetch that began at `first`: all to its
    origin, else the harmless.
    """
    if not headers or is_at_home(url, first=first):
        return headers
    return tuple(header for header in headers if is_harmless(*header))


def is_at_home(url: str, *, first: str) -> bool:
    """Return whether `url` is on the origin at which a fetch began: only there go its headers, its
    cookies and its body.
    """
    return url == first or address.parse(url).origin == address.parse(first).origin


def is_harmless(name: str, value: str | Secret) -> bool:
    """Return whether a header may go to other origins."""
    return name.lower() in HARMLESS and not isinstance(value, Secret)


def refuse_downgrade(source: str, destination: str, headers: RequestHeaders, *, private: bool = False) -> None:
    """Raise `FetchError` if a fetch with credentials would go from https to http (H-034).

    Args:
        source: The address that redirects.
        destination: The target.
        headers: The headers of the request.
        private: Whether it carries cookies or a body.
    """
    leaves = source.startswith("https:") and destination.startswith("http:")
    if leaves and (private or not all(is_harmless(*header) for header in headers)):
        raise FetchError(
            "redirect", "the page points from https to http, where what is sent with it could be read by anybody"
        )


def refuse_unnamed(destination: str, origins: frozenset[str] | None) -> None:
    """Raise `FetchError` if a fetch would leave its allowed origins (None: any)."""
    if origins is not None and (origin := address.parse(destination).origin) not in origins:
        raise FetchError("redirect", f"it leads on to {origin}, which the sentinel does not name")


def refuse_to_carry(destination: str, *, first: str) -> None:
    """Raise `FetchError` if a request other than a plain GET would be repeated at another origin
    (307, 308).
    """
    if not is_at_home(destination, first=first):
        raise FetchError("redirect", "the page points to another site, to which its method and body are not carried")


def _quote(location: str) -> str:
    """Return a Location with blanks and non-ASCII bytes percent-encoded, as browsers send them."""
    if location.isascii():
        return location.replace(" ", "%20")
    try:
        location.encode("utf-8")
    except UnicodeEncodeError:
        # Bytes that are not UTF-8 arrive as lone surrogates and are sent on unchanged.
        return urllib.parse.quote_from_bytes(location.encode("utf-8", "surrogateescape"), safe=address.ASCII)
    return readable(location).replace(" ", "%20")

"""Redirects are followed here, hop by hop, never by the library (trust.md R-04)."""

from __future__ import annotations

import urllib.parse
from collections.abc import Sequence

from tidings.errors import AddressError
from tidings.fetching import address
from tidings.fetching.answers import readable
from tidings.fetching.failure import FetchError

RequestHeaders = tuple[tuple[str, str], ...]

HARMLESS = frozenset({"accept", "accept-language", "cache-control", "dnt", "pragma", "user-agent"})
"""Request headers that say nothing of who asks; all others go to the first origin only."""


def target(url: str, locations: Sequence[str]) -> str:
    """Return the rebuilt URL that an answer of `url` points to. Raises `FetchError` of kind `redirect`."""
    if len(locations) != 1 or not locations[0].strip():
        count = "no" if not locations or not locations[0].strip() else "more than one"
        raise FetchError("redirect", f"the page points elsewhere, but gives {count} address")
    location = _quoted(locations[0].strip(" \t"))
    if not location.isprintable():  # the library below would take control characters out without a word
        raise FetchError("redirect", "the page points to an address with control characters")
    try:
        return address.rebuild(urllib.parse.urljoin(url, location))
    except AddressError as error:
        raise FetchError("redirect", f"the page points to an address that is not followed: {error}") from None
    except ValueError:
        raise FetchError("redirect", "the page points to something that is no address") from None


def headers_for(url: str, *, first: str, headers: RequestHeaders) -> RequestHeaders:
    """Return the request headers that may go to `url` in a fetch that began at `first`: all to its origin, else the harmless."""
    if not headers or url == first or address.parse(url).origin == address.parse(first).origin:
        return headers
    return tuple(header for header in headers if header[0].lower() in HARMLESS)


def refuse_downgrade(source: str, destination: str, headers: RequestHeaders) -> None:
    """Raise `FetchError` if a fetch that carries credentials would leave https for http (trust.md H-034)."""
    leaves = source.startswith("https:") and destination.startswith("http:")
    if leaves and any(name.lower() not in HARMLESS for name, _ in headers):
        raise FetchError("redirect", "the page points from https to http, where its headers could be read by anybody")


def _quoted(location: str) -> str:
    """Return a Location with blanks and bytes beyond ASCII percent-encoded, as browsers send them."""
    if location.isascii():
        return location.replace(" ", "%20")
    try:
        location.encode("utf-8")
    except UnicodeEncodeError:
        # Bytes that were no UTF-8 arrive as lone surrogates; they are sent on as the bytes they were.
        return urllib.parse.quote_from_bytes(location.encode("utf-8", "surrogateescape"), safe=address.ASCII)
    return readable(location).replace(" ", "%20")

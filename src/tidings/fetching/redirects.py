"""Redirects are followed here, hop by hop, never by the library (trust.md R-04)."""

from __future__ import annotations

import urllib.parse
from collections.abc import Sequence

from tidings.errors import AddressError
from tidings.fetching import address
from tidings.fetching.answers import readable
from tidings.fetching.failure import FetchError
from tidings.model.secret import Secret

RequestHeaders = tuple[tuple[str, str | Secret], ...]

HARMLESS = frozenset({"accept", "accept-language", "cache-control", "dnt", "pragma", "user-agent"})
"""Request headers that say nothing of who asks, unless a secret holds their value; all others go to the first origin only."""
OF_A_BODY = frozenset({"content-language", "content-location", "content-type"})
"""Request headers that go with a body and end with it."""


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
    if not headers or is_at_home(url, first=first):
        return headers
    return tuple(header for header in headers if is_harmless(*header))


def is_at_home(url: str, *, first: str) -> bool:
    """Return whether `url` is of the origin at which a fetch began: there alone go its headers, its cookies and its body."""
    return url == first or address.parse(url).origin == address.parse(first).origin


def is_harmless(name: str, value: str | Secret) -> bool:
    """Return whether a header may go to other origins."""
    return name.lower() in HARMLESS and not isinstance(value, Secret)


def refuse_downgrade(source: str, destination: str, headers: RequestHeaders, *, private: bool = False) -> None:
    """Raise `FetchError` if a fetch that carries credentials would leave https for http (trust.md H-034).

    `private` says that it carries cookies or a body.
    """
    leaves = source.startswith("https:") and destination.startswith("http:")
    if leaves and (private or not all(is_harmless(*header) for header in headers)):
        raise FetchError(
            "redirect", "the page points from https to http, where what is sent with it could be read by anybody"
        )


def refuse_to_carry(destination: str, *, first: str) -> None:
    """Raise `FetchError` if a request that is no plain GET would be repeated at another origin (307, 308)."""
    if not is_at_home(destination, first=first):
        raise FetchError("redirect", "the page points to another site, to which its method and body are not carried")


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

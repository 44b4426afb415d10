"""The state of a fetch: its address, its remaining limits, its headers, and its redirects.

Redirects are followed here, hop by hop, never by the library (R-04).
"""

from __future__ import annotations

import functools
import re
import urllib.parse
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Final, NamedTuple

from yarl import URL

from tidings.clock import Instant
from tidings.errors import AddressError
from tidings.fetching import address
from tidings.fetching.fetcher import FetchError, Permit
from tidings.fetching.http import cookies
from tidings.fetching.http.answers import Headers, readable
from tidings.fetching.http.connector import Dial
from tidings.fetching.http.routes import DIRECT, Route
from tidings.model.observed.outcome import Validators
from tidings.model.secret import Cookie, Secret, reveal
from tidings.record import dataclass

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


def resolve_redirect(url: str, locations: Sequence[str]) -> str:
    """Return the rebuilt target URL of a redirect of `url`. Raise `FetchError` of kind
    `redirect`.
    """
    if len(locations) != 1 or not locations[0].strip():
        count = "no" if not locations or not locations[0].strip() else "more than one"
        raise FetchError("redirect", f"the page redirects, but gives {count} address")
    location = _quote(locations[0].strip(" \t"))
    if not location.isprintable():  # the library would remove control characters silently
        raise FetchError("redirect", "the page redirects to an address with control characters")
    try:
        return address.rebuild(urllib.parse.urljoin(url, location))
    except AddressError as error:
        raise FetchError(
            "redirect", f"the page redirects to an address that Tidings does not follow: {error}"
        ) from None
    except ValueError:
        raise FetchError("redirect", "the page redirects to something that is not an address") from None


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
        return resolve_redirect(url, (place,)) == url
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
        raise FetchError("redirect", "the page redirects from https to http, where anybody could read the request")


def refuse_unnamed(destination: str, origins: frozenset[str] | None) -> None:
    """Raise `FetchError` if a fetch would leave its allowed origins (None: any)."""
    if origins is not None and (origin := address.parse(destination).origin) not in origins:
        raise FetchError("redirect", f"it redirects to {origin}, which the sentinel does not name")


def refuse_to_carry(destination: str, *, first: str) -> None:
    """Raise `FetchError` if a request other than a plain GET would be repeated at another origin
    (307, 308).
    """
    if not is_at_home(destination, first=first):
        raise FetchError(
            "redirect", "the page redirects to another site; Tidings does not send its method and body there"
        )


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


MOST_REDIRECTS: Final = 10
"""How many redirects one fetch follows."""
REPEATABLE: Final = frozenset({"GET", "HEAD"})


class DialTarget(NamedTuple):
    """A rebuilt URL in the library's form; `literal` is its IP address, if it is one."""

    url: URL
    host: str
    name: str
    literal: str


@dataclass(slots=True)
class Journey:
    """The state of one fetch."""

    url: str
    method: str
    headers: RequestHeaders
    validators: Validators
    validated_url: str
    permit: Permit
    seconds: float
    seconds_left: float
    max_redirects: int
    first: str
    route: Route = DIRECT
    body: str | Secret | None = None
    cookies: tuple[Cookie, ...] = ()
    jar: tuple[Cookie, ...] = ()
    """cookies that servers set on the way; dropped at its end"""
    keeps_cookies: bool = False
    """whether those of the last answer are taken too"""
    origins: frozenset[str] | None = None
    """where redirects may lead; None: anywhere"""
    visited: set[tuple[str, frozenset[tuple[str, str, str, str]]]] = field(default_factory=set)
    hops: list[str] = field(default_factory=list)
    moved: str = ""
    is_moving: bool = True
    requests: int = 0
    wire_bytes: int = 0
    conditional: bool = False
    is_refused: bool = False
    """whether its conditions were refused once"""
    repeated: bool = False
    dial: Dial = field(default_factory=Dial)

    def turn(self, destination: str, status: int) -> None:
        """Continue at the target of a redirect; `moved` is the target of the leading permanent
        redirects.
        """
        self.hops.append(self.url)
        self.is_moving = self.is_moving and status in {301, 308}
        if self.is_moving:
            self.moved = destination
        self.url = destination

    def become_get(self) -> None:
        """Continue without body, as a redirect asks (RFC 9110 §15.4)."""
        if self.method != "HEAD":
            self.method = "GET"
        self.body = None
        self.headers = tuple(header for header in self.headers if header[0].lower() not in OF_A_BODY)

    def leaving(self, now: Instant) -> list[tuple[str, str | Secret]]:
        """Return the headers of the next request: the sentinel's own stay at the origin where the
        fetch began.
        """
        headers = list(headers_for(self.url, first=self.first, headers=self.headers))
        if fitting := self._fitting(now):
            written = [reveal(value) for name, value in headers if name.lower() == "cookie"]
            together = "; ".join([*written, cookies.header(fitting).reveal()])
            headers = [header for header in headers if header[0].lower() != "cookie"]
            headers.append(("cookie", Secret(together)))
        return headers

    def take_cookies(self, lines: Iterable[str], now: Instant) -> None:
        """Store the cookies of an answer on the way, for the hosts that it may set them for."""
        self.jar = cookies.merge(self.jar, lines, self.url, now=now)

    def visit(self, now: Instant) -> bool:
        """Record the next request with its cookies; return whether it is the first of its kind."""
        sent = frozenset((c.name, c.domain, c.path, c.value.reveal()) for c in self._fitting(now))
        here = (self.url, sent)
        is_new = here not in self.visited
        self.visited.add(here)
        return is_new

    def _fitting(self, now: Instant) -> tuple[Cookie, ...]:
        """Return the cookies of the next request: stored ones at home only, those of the way where
        they were set.
        """
        if not self.cookies and not self.jar:
            return ()
        candidates = self.cookies if is_at_home(self.url, first=self.first) else ()
        known = {(cookie.name, cookie.domain, cookie.path): cookie for cookie in (*candidates, *self.jar)}
        return cookies.fitting(known.values(), self.url, now=now)


@functools.lru_cache(maxsize=16_384)
def target_of(url: str) -> DialTarget:
    """Return the target of a URL. Raise `FetchError` of kind `address` for one that must not be
    asked.
    """
    try:
        parts = address.parse(url)
    except AddressError as error:
        raise FetchError("address", str(error)) from None
    built = URL(parts.url, encoded=True)
    bare = parts.host.strip("[]")
    if built.raw_host != bare or built.port != parts.port:
        raise FetchError("address", f"programs read different hosts from {parts.origin}")
    literal = bare if parts.host[0] == "[" or address.is_ipv4(bare) else ""
    return DialTarget(built, address.host_of(parts.url), bare, literal)

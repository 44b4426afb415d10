"""The state of a fetch: its address, its remaining limits, and which headers of the sentinel its
next request carries.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import field
from typing import Final, NamedTuple

from yarl import URL

from tidings.clock import Instant
from tidings.errors import AddressError
from tidings.fetching import address
from tidings.fetching.failure import FetchError
from tidings.fetching.fetcher import Permit
from tidings.fetching.http import cookies, redirects
from tidings.fetching.http.connector import Dial
from tidings.fetching.http.redirects import RequestHeaders
from tidings.fetching.http.routes import DIRECT, Route
from tidings.model.observed.outcome import Validators
from tidings.model.secret import Cookie, Secret, reveal
from tidings.record import dataclass

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
        self.headers = tuple(header for header in self.headers if header[0].lower() not in redirects.OF_A_BODY)

    def leaving(self, now: Instant) -> list[tuple[str, str | Secret]]:
        """Return the headers of the next request: the sentinel's own stay at the origin where the
        fetch began.
        """
        headers = list(redirects.headers_for(self.url, first=self.first, headers=self.headers))
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
        kept = self.cookies if redirects.is_at_home(self.url, first=self.first) else ()
        known = {(cookie.name, cookie.domain, cookie.path): cookie for cookie in (*kept, *self.jar)}
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
        raise FetchError("address", f"programs do not agree on what the host of {parts.origin} is")
    literal = bare if parts.host[0] == "[" or address.is_ipv4(bare) else ""
    return DialTarget(built, address.host_of(parts.url), bare, literal)

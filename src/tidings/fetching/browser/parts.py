"""The subresources of a page in the browser, fetched by our own client, as one visit with their
page (decision 0018).

Each is a request like any other: robots.txt of its host, address check at the dial, own redirects,
bounded decoders, counted and charged. A page's own host is reached as the page itself was; any
other host at public addresses only, so that no page reaches through a browser into a network that
`fetch.allow_networks` opens for others.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Final

from tidings.errors import AddressError, UsageError
from tidings.fetching import address
from tidings.fetching.fetcher import FetchError
from tidings.fetching.http import answers, cookies
from tidings.fetching.http.decoders import Decoder
from tidings.fetching.http.redirects import (
    MOST_REDIRECTS,
    OF_A_BODY,
    REPEATABLE,
    DialTarget,
    Journey,
    resolve_redirect,
    target_of,
)
from tidings.fetching.http.routes import DIRECT, Route
from tidings.fetching.robots import MAX_REDIRECTS as MAX_ROBOTS_REDIRECTS
from tidings.model.observed.outcome import FetchRequest, Validators
from tidings.model.secret import Cookie
from tidings.record import dataclass, replace
from tidings.settings import FetchSettings

if TYPE_CHECKING:
    import aiohttp

    from tidings.fetching.fetcher import Permit
    from tidings.fetching.http.client import Client

HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
"""Types that a browser renders as a page; all others are used as the client fetched them."""
METHODS: Final = frozenset({"GET", "HEAD", "POST"})
MOST_BODY_BYTES: Final = 1_000_000
"""The largest body that a page's script may send."""
BYTES_A_PAGE: Final = 5
"""A page and its parts together may have so many times `fetch.max_body_bytes`, before and after
decoding.
"""
_OURS: Final = address.OWN_HEADERS | {
    "accept-language",
    "cookie",
    "dnt",
    "priority",
    "purpose",
    "user-agent",
    "x-client-data",
}


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """An answer to a part: `url` is its final address."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    hops: tuple[str, ...] = ()


@dataclass(slots=True)
class Load:
    """One page load: its remaining limits, and what it has used.

    `request` is the page's; `home` are the page's own hosts, which `inner`, the client that fetched
    the page, may ask for parts. It has `seconds` in total, until `ends_at` on the loop's clock.
    `loading` is the page's text that only says that it is loading. `requests`, `wire_bytes` and
    `decoded_bytes` count the parts only.

    If steps are performed on the page, `jar` has the cookies set on the way (None: cookies are
    dropped), and once a secret was typed only the origin `locked` is asked; `doing` is the current
    step.
    """

    request: FetchRequest
    permit: Permit
    home: frozenset[str]
    inner: Client
    most_requests: int
    most_bytes: int
    seconds: float
    ends_at: float = 0.0
    loading: str = ""
    route: Route = DIRECT
    requests: int = 0
    wire_bytes: int = 0
    decoded_bytes: int = 0
    jar: tuple[Cookie, ...] | None = None
    locked: str = ""
    doing: str = ""
    _origins: dict[str, asyncio.Lock] = field(default_factory=dict)

    def count(self) -> None:
        """Count a request that is about to leave. Raise `FetchError` of kind `size` if there were
        too many.
        """
        if self.requests >= self.most_requests:
            message = f"the page makes more than {self.most_requests} requests (fetch.browser_requests)"
            raise FetchError("size", message)
        self.requests += 1

    def weigh(self, wire: int, decoded: int) -> None:
        """Count bytes of a part. Raise `FetchError` of kind `size` if there were too many."""
        self.wire_bytes += wire
        self.decoded_bytes += decoded
        if max(self.wire_bytes, self.decoded_bytes) > self.most_bytes:
            raise FetchError("size", f"the page and its parts are larger than {self.most_bytes:,} bytes")

    def origin(self, url: str) -> asyncio.Lock:
        """Return the lock for fetching the robots.txt of a URL's origin once."""
        return self._origins.setdefault(address.parse(url).origin, asyncio.Lock())


class _Passed:
    """The permit of a request that already holds its place."""

    async def hop(self, host: str) -> None:
        """Return at once."""

    @contextlib.asynccontextmanager
    async def beside(self, host: str) -> AsyncIterator[None]:  # noqa: ARG002 - it already holds its place
        """Return at once."""
        yield


_PASSED: Final = _Passed()


class PartFetcher:
    """Fetches parts. `outer` is the client that reaches public addresses only."""

    def __init__(self, settings: FetchSettings, outer: Client) -> None:
        self._settings = settings
        self._outer = outer

    async def ask(
        self,
        load: Load,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: str | None = None,
    ) -> PartAnswer:
        """Fetch a part, following redirects; any status is an answer.

        Raises `FetchError`, and `BudgetError` if the permit refuses.

        Args:
            load: The page load, which limits its parts.
            url: The address of the part.
            method: Its method.
            headers: The browser's headers; those that it may not set are left out.
            body: The request body, None for nothing.
        """
        if method not in METHODS or len(body or "") > MOST_BODY_BYTES:
            raise FetchError("request", f"no {method[:10]} with {len(body or ''):,} characters is sent for a page")
        hops: list[str] = []
        try:
            url = address.rebuild(url)
        except AddressError as error:
            raise FetchError("address", str(error)) from None
        while True:
            if load.locked and address.parse(url).origin != load.locked:
                raise FetchError("address", f"after a secret was typed, requests go only to {load.locked}")
            target = target_of(url)
            await self._obey_robots(load, url, target)
            answer = await self._once(load, url, target, method, headers or {}, body)
            if isinstance(answer, PartAnswer):
                return replace(answer, hops=tuple(hops))
            hops.append(url)
            if len(hops) > MOST_REDIRECTS:
                raise FetchError("redirect", f"a part redirects more than {MOST_REDIRECTS} times")
            status, url = answer
            if status == 303 or (method not in REPEATABLE and status in {301, 302}):
                method, body = "GET" if method != "HEAD" else method, None

    def _client_for(self, load: Load, target: DialTarget) -> Client:
        """Return the client for this host: with a proxy everything uses it, and the proxy resolves
        names.
        """
        return load.inner if target.host in load.home or load.route.proxy is not None else self._outer

    async def _obey_robots(self, load: Load, url: str, target: DialTarget) -> None:
        if not self._settings.robots:
            return
        async with load.origin(url):
            is_ignored = load.request.robots_ignored and target.host in load.home
            await self._outer.robots.check(url, functools.partial(self._robots, load), is_ignored=is_ignored)

    async def _robots(self, load: Load, url: str) -> bytes:
        """Return the body of a robots.txt."""
        for _ in range(MAX_ROBOTS_REDIRECTS + 1):
            target = target_of(url)
            answer = await self._once(load, url, target, "GET", {}, None)
            if isinstance(answer, PartAnswer):
                if answer.status != 200:
                    raise FetchError("request", f"robots.txt: {answer.status}", status=answer.status)
                return answer.body
            _, url = answer
        raise FetchError("redirect", "robots.txt redirects too often")

    async def _once(
        self,
        load: Load,
        url: str,
        target: DialTarget,
        method: str,
        headers: Mapping[str, str],
        body: str | None,
    ) -> PartAnswer | tuple[int, str]:
        """Send one request; return the answer, or status and address of a redirect."""
        client = self._client_for(load, target)
        client.refuse_literal(target, load.route)
        own = [h for h in load.request.headers if h[0].lower() not in OF_A_BODY]
        theirs = pick_forwarded(headers)
        async with load.permit.beside(target.host):
            load.count()
            journey = Journey(
                url=url,
                method=method,
                headers=tuple(h for h in own if h[0].lower() not in theirs),
                validators=Validators(),
                validated_url="",
                permit=_PASSED,
                seconds=load.seconds,
                seconds_left=max(0.01, load.ends_at - asyncio.get_running_loop().time()),
                max_redirects=0,
                first=load.request.url,
                route=load.route,
                body=body,
                cookies=load.request.cookies,
                jar=load.jar or (),
            )
            return await client.exchange(journey, target, theirs, functools.partial(self._read, load))

    async def _read(
        self, load: Load, journey: Journey, response: aiohttp.ClientResponse
    ) -> PartAnswer | tuple[int, str]:
        if load.jar is not None:
            lines = response.headers.getall("Set-Cookie", ())
            load.jar = cookies.merge(load.jar, lines, journey.url, now=self._outer.clock.wall())
        if response.status in answers.REDIRECTS:
            return response.status, resolve_redirect(journey.url, response.headers.getall("Location", ()))
        encoding = answers.content_encoding(response.headers)
        decoder = Decoder(encoding, max_bytes=self._settings.max_body_bytes)
        answers.framing_of(response.headers, encoded=bool(decoder.encoding))
        before = 0
        async for chunk in response.content.iter_any():
            decoder.feed(chunk)
            load.weigh(len(chunk), decoder.decoded_bytes - before)
            before = decoder.decoded_bytes
        return PartAnswer(journey.url, response.status, answers.plain_headers(response.headers), decoder.finish())


def pick_forwarded(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a browser's request that are forwarded: identity and framing are
    ours.
    """
    forwarded: dict[str, str] = {}
    for name, value in headers.items():
        if name.lower() in _OURS or name.lower().startswith(("sec-", "proxy-")):
            continue
        try:
            forwarded.update([address.check_header(name, value)])
        except UsageError:
            continue
    return forwarded

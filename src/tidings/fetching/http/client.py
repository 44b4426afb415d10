"""The plain HTTP fetcher: guarded addresses, own redirects, bounded decoders, one deadline
(contracts §6).

A fetch is a journey of requests: robots.txt if it is unknown, the page, its redirects, at most one
repetition after a kept-alive connection turned out to be closed. Each passes `permit.hop` first.
"""

from __future__ import annotations

import asyncio
import functools
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from yarl import URL

import tidings
from tidings.clock import SECOND, Clock, SystemClock
from tidings.errors import AddressError, UsageError
from tidings.fetching import address
from tidings.fetching.fetcher import FetchError, Permit, PostAnswer
from tidings.fetching.http import answers
from tidings.fetching.http.connector import (
    DIAL,
    MAX_FIELD_BYTES,
    MAX_HEADERS,
    WIRE_ERRORS,
    Dial,
    GuardedConnector,
    fault_of,
)
from tidings.fetching.http.decoders import Decoder
from tidings.fetching.http.plain_get import OpenAnswer, PlainGets
from tidings.fetching.http.redirects import (
    MOST_REDIRECTS,
    REPEATABLE,
    DialTarget,
    Journey,
    RequestHeaders,
    refresh,
    refuse_downgrade,
    refuse_to_carry,
    refuse_unnamed,
    resolve_redirect,
    target_of,
)
from tidings.fetching.http.routes import DIRECT, Route, Routes, aiohttp, content_type_for
from tidings.fetching.network_guard import Guard
from tidings.fetching.robots import MAX_REDIRECTS as MAX_ROBOTS_REDIRECTS
from tidings.fetching.robots import MAX_ROBOTS_BYTES, Robots
from tidings.model.observed.outcome import Failed, Fetched, FetchRequest, Outcome, Unchanged, Validators
from tidings.model.secret import Secret, reveal
from tidings.settings import FetchSettings

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
ACCEPT_ENCODING = "gzip, deflate, br, zstd"
CONNECT_SECONDS = 10.0
"""Time limit for connecting, including TLS."""

T = TypeVar("T")


class Client:
    """Fetches pages by aiohttp (`fetcher.Fetcher`) and posts to receivers (`fetcher.Poster`).

    Nothing is opened before the first request, so that it may be made outside an event loop.
    `on_crawl_delay(host, seconds)` is called with the delay in robots.txt (`HostGate.widen`).
    `resolver` and `tls` replace the system's resolver and certificates, `guard` the one of the
    settings.
    """

    def __init__(
        self,
        settings: FetchSettings,
        *,
        clock: Clock | None = None,
        on_crawl_delay: Callable[[str, float], None] | None = None,
        resolver: aiohttp.abc.AbstractResolver | None = None,
        tls: ssl.SSLContext | None = None,
        guard: Guard | None = None,
    ) -> None:
        self._settings = settings
        self.clock = clock or SystemClock()
        self._guard = guard or Guard(settings.allow_networks)
        self._routes = Routes(self._guard)
        self._resolver = resolver
        self._tls = tls
        self._session: aiohttp.ClientSession | None = None
        self._plain: PlainGets
        self._closed = False
        self.user_agent = user_agent(settings)
        self.robots = Robots(
            agent=product_token(self.user_agent),
            clock=self.clock,
            on_crawl_delay=on_crawl_delay,
        )

    async def fetch(self, request: FetchRequest, permit: Permit) -> Outcome:
        """Fetch a page; see `fetcher.Fetcher.fetch`."""
        journey = Journey(
            url=request.url,
            method=request.method,
            headers=request.headers,
            validators=request.validators,
            validated_url=request.final_url or request.url,
            permit=permit,
            seconds=self._seconds_for(request),
            seconds_left=self._seconds_for(request),
            max_redirects=MOST_REDIRECTS,
            first=request.url,
            body=request.body,
            cookies=request.cookies,
            keeps_cookies=request.login is not None or bool(request.steps),
            origins=request.origins,
        )
        try:
            if request.headers:
                _check_headers(request.headers)
            if request.body is not None and not any(name.lower() == "content-type" for name, _ in request.headers):
                journey.headers = (*journey.headers, ("content-type", content_type_for(reveal(request.body))))
            journey.route = self.route_for(request)
            while True:
                outcome = await self._visit(journey, request)
                if outcome is not None:
                    return outcome
        except FetchError as error:
            return Failed(
                kind=error.kind,
                reason=str(error),
                status=error.status,
                retry_after=error.retry_after,
                final_url=journey.url,
                hops=tuple(journey.hops),
                reached=error.reached,
                requests=journey.requests,
                wire_bytes=journey.wire_bytes,
            )

    async def post(self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_seconds: float) -> PostAnswer:
        """POST once, under the guard and one deadline; see `fetcher.Poster.post`.

        Args:
            url: The address; it is rebuilt by the address parser first.
            headers: Sent as they are.
            body: Sent as it is.
            timeout_seconds: For the whole attempt (> 0); after it the answer is an error.
        """
        dial = Dial()
        name = "the receiver"
        try:
            target = target_of(address.rebuild(url))
            name = target.name
            self.refuse_literal(target)
            DIAL.set(dial)
            async with (
                asyncio.timeout(timeout_seconds),
                self._open().post(target.url, data=body, headers=dict(headers), allow_redirects=False) as response,
            ):
                status = response.status
                pause = answers.retry_after(response.headers.get("Retry-After"), now=self.clock.wall())
        except (AddressError, FetchError) as error:
            return PostAnswer(error=str(error))
        except TimeoutError:
            return PostAnswer(error=f"no answer from {name} within {timeout_seconds:g} s")
        except WIRE_ERRORS as error:
            return PostAnswer(error=str(fault_of(error, name, dial)))
        except ValueError as error:
            return PostAnswer(error=f"the request to {name} cannot be sent: {error}")
        if 200 <= status < 300:
            return PostAnswer(status)
        moved = "; redirects are not followed" if 300 <= status < 400 else ""
        return PostAnswer(status, pause, f"{name} answered {status}{moved}")

    async def close(self) -> None:
        """Close all connections."""
        self._closed = True
        if self._session is not None:
            await self._session.close()

    async def _visit(self, journey: Journey, request: FetchRequest) -> Outcome | None:
        """Make the next request of a journey. Return None if it continues elsewhere."""
        target = target_of(journey.url)
        self.refuse_literal(target, journey.route)
        if self._settings.robots:
            await self._heed_robots(journey, request, target)
        conditions = self._conditions(journey)
        return await self.exchange(journey, target, conditions, self._read_page)

    async def _heed_robots(self, journey: Journey, request: FetchRequest, target: DialTarget) -> None:
        """Raise `FetchError` unless robots.txt allows the next request or is ignored; its
        Crawl-delay holds in any case.
        """
        is_ignored = request.robots_ignored and target.host == address.host_of(journey.first)
        get = functools.partial(self._fetch_robots, journey)
        await self.robots.check(journey.url, get, is_ignored=is_ignored)

    async def _read_page(self, journey: Journey, response: OpenAnswer) -> Outcome | None:
        status = response.status
        if journey.keeps_cookies and status not in answers.REDIRECTS:
            journey.take_cookies(response.headers.getall("Set-Cookie", ()), self.clock.wall())
        if status == 304 and journey.conditional:
            return Unchanged(
                final_url=journey.url,
                hops=tuple(journey.hops),
                requests=journey.requests,
                wire_bytes=journey.wire_bytes,
                validators=answers.validators_of(response.headers, journey.validators, now=self.clock.wall()),
                moved=journey.moved,
                fresh=answers.freshness(response.headers, now=self.clock.wall()),
                pause=answers.rate_limit(response.headers, now=self.clock.wall()),
                headers=answers.plain_headers(response.headers),
                cookies=journey.jar if journey.keeps_cookies else (),
            )
        if status in answers.REDIRECTS:
            self._go_on(journey, response, response.headers.getall("Location", ()))
            return None
        if journey.conditional and status in answers.OF_CONDITIONS:
            journey.validators = Validators()  # it may be the conditions that are refused: ask once without them
            journey.is_refused = True
            return None
        if status not in answers.WHOLE or "Content-Range" in response.headers:
            raise answers.failure_of(status, response.headers, now=self.clock.wall())
        fetched = await self._body(journey, response)
        if journey.method == "GET" and (place := refresh(journey.url, response.headers, body=fetched.body)):
            self._go_on(journey, response, (place,))
            return None
        return fetched

    def _conditions(self, journey: Journey) -> dict[str, str]:
        conditions: dict[str, str] = {}
        if journey.url == journey.validated_url and journey.method in REPEATABLE:
            if journey.validators.etag:
                conditions["If-None-Match"] = journey.validators.etag
            if journey.validators.last_modified:
                conditions["If-Modified-Since"] = journey.validators.last_modified
        journey.conditional = bool(conditions)
        return conditions

    def _go_on(self, journey: Journey, response: OpenAnswer, places: Sequence[str]) -> None:
        """Continue a journey at the target of a redirect. Raise `FetchError` of kind `redirect` if
        it may not go there.
        """
        now, status = self.clock.wall(), response.status
        try:
            destination = resolve_redirect(journey.url, places)
            private = journey.body is not None or bool(journey.cookies)
            refuse_downgrade(journey.url, destination, journey.headers, private=private)
            refuse_unnamed(destination, journey.origins)
            journey.visit(now)
            if status == 303 or (journey.method not in REPEATABLE and status in {301, 302}):
                journey.become_get()
            elif journey.body is not None or journey.method not in REPEATABLE:
                refuse_to_carry(destination, first=journey.first)
            journey.take_cookies(response.headers.getall("Set-Cookie", ()), now)
            journey.turn(destination, status)
            if journey.method in REPEATABLE and not journey.visit(now):
                raise FetchError("redirect", "the page redirects to itself in a circle")
            if len(journey.hops) > journey.max_redirects:
                raise FetchError("redirect", f"the page redirects more than {journey.max_redirects} times")
        except FetchError as error:
            error.status = status
            raise

    async def _body(self, journey: Journey, response: OpenAnswer) -> Fetched:
        encoding = answers.content_encoding(response.headers)
        decoder = Decoder(encoding, max_bytes=self._settings.max_body_bytes)
        framing = answers.framing_of(response.headers, encoded=bool(decoder.encoding))
        already = journey.wire_bytes
        async for chunk in response.content.iter_any():
            journey.wire_bytes += len(chunk)
            decoder.feed(chunk)
        return Fetched(
            body=decoder.finish(),
            final_url=journey.url,
            status=response.status,
            headers=answers.plain_headers(response.headers),
            content_type=response.headers.get("Content-Type"),
            hops=tuple(journey.hops),
            requests=journey.requests,
            wire_bytes=already + decoder.wire_bytes,
            framing=framing,
            encoding=decoder.encoding,
            validators=answers.validators_of(response.headers, now=self.clock.wall()),
            moved=journey.moved,
            fresh=answers.freshness(response.headers, now=self.clock.wall()),
            pause=answers.rate_limit(response.headers, now=self.clock.wall()),
            cookies=journey.jar if journey.keeps_cookies else (),
            conditions="refused" if journey.is_refused else "answered" if journey.conditional else "",
        )

    async def _fetch_robots(self, page: Journey, url: str) -> bytes:
        """Return the body of a robots.txt, at most 500 KiB, fetched during another journey."""
        journey = Journey(
            url=url,
            method="GET",
            headers=(),
            validators=Validators(),
            validated_url="",
            permit=page.permit,
            seconds=page.seconds,
            seconds_left=page.seconds_left,
            max_redirects=MAX_ROBOTS_REDIRECTS,
            first=url,
            route=page.route,
        )
        try:
            while True:
                target = target_of(journey.url)
                self.refuse_literal(target, journey.route)
                body = await self.exchange(journey, target, {}, self._read_robots)
                if body is not None:
                    return body
        except FetchError as error:
            if (
                journey.hops and error.kind == "address"
            ):  # its target may not be asked, so it is unavailable (RFC 9309 §2.3.1.3)
                error.kind = "redirect"
            raise
        finally:
            page.requests += journey.requests
            page.wire_bytes += journey.wire_bytes
            page.seconds_left = journey.seconds_left

    async def _read_robots(self, journey: Journey, response: OpenAnswer) -> bytes | None:
        if response.status in answers.REDIRECTS:
            self._go_on(journey, response, response.headers.getall("Location", ()))
            return None
        if response.status != 200:
            raise answers.failure_of(response.status, response.headers, now=self.clock.wall())
        encoding = answers.content_encoding(response.headers)
        decoder = Decoder(encoding, max_bytes=10 * MAX_ROBOTS_BYTES)
        async for chunk in response.content.iter_any():
            journey.wire_bytes += len(chunk)
            decoder.feed(chunk)
            if decoder.decoded_bytes > MAX_ROBOTS_BYTES:
                return decoder.cut_short()
        return decoder.finish()

    async def exchange(
        self,
        journey: Journey,
        target: DialTarget,
        conditions: dict[str, str],
        read: Callable[[Journey, OpenAnswer], Awaitable[T]],
    ) -> T:
        """Send one request and return the result of `read` on its answer. Any error is a
        `FetchError`.

        Args:
            journey: The state of the fetch: its address and headers.
            target: The address in the library's form.
            conditions: Headers in addition to those of the journey.
            read: Processes the open answer.
        """
        loop = asyncio.get_running_loop()
        response: OpenAnswer | None
        own = journey.leaving(self.clock.wall())
        is_plain = not own and journey.method == "GET" and journey.body is None and journey.route.proxy is None
        DIAL.set(journey.dial)
        while True:
            await journey.permit.hop(target.host)
            journey.requests += 1
            journey.dial.dialled = False
            response = None
            began = loop.time()
            try:
                async with asyncio.timeout(journey.seconds_left):
                    if is_plain:
                        response = await self._get(journey, target.url, conditions)
                    else:
                        response = await self._send(journey, target.url, [*own, *conditions.items()])
                    try:
                        return await read(journey, response)
                    finally:
                        response.release()
            except TimeoutError as error:
                raise self._late(error, target, journey) from None
            except WIRE_ERRORS as error:
                if response is not None or not self._may_repeat(error, journey):
                    raise fault_of(error, target.name, journey.dial, proxy=journey.route.proxy_name) from None
                journey.repeated = True
            finally:
                journey.seconds_left -= loop.time() - began

    async def _get(self, journey: Journey, url: URL, conditions: Mapping[str, str]) -> OpenAnswer:
        """Send a request without headers of its own."""
        self._open()
        try:
            return await self._plain.get(url, conditions, journey.route.tls)
        except WIRE_ERRORS:
            raise
        except ValueError:
            raise _odd_bytes() from None

    async def _send(
        self, journey: Journey, url: URL, headers: list[tuple[str, str | Secret]]
    ) -> aiohttp.ClientResponse:
        """Send a request. Only here secrets become text."""
        route, body = journey.route, journey.body
        login = [("Proxy-Authorization", route.login.reveal())] if route.login is not None else []
        is_tunnel = url.scheme == "https"  # then the proxy sees CONNECT, else the request itself
        try:
            return await self._open().request(
                journey.method,
                url,
                headers=[*((name, reveal(value)) for name, value in headers), *([] if is_tunnel else login)],
                data=None if body is None else reveal(body).encode("utf-8", "surrogatepass"),
                allow_redirects=False,
                ssl=route.tls or True,
                proxy=route.proxy,
                proxy_headers=login if is_tunnel else None,
            )
        except WIRE_ERRORS:  # some of them are ValueErrors too
            raise
        except ValueError:  # odd bytes in a header or a host that passed our own checks; its text may hold them
            raise _odd_bytes() from None

    def _seconds_for(self, request: FetchRequest) -> float:
        return self._settings.total_seconds if request.timeout is None else request.timeout / SECOND

    def _late(self, error: TimeoutError, target: DialTarget, journey: Journey) -> FetchError:
        name = journey.route.proxy_name or target.name
        if isinstance(error, aiohttp.ServerTimeoutError):
            return FetchError("net", f"no connection to {name} within {CONNECT_SECONDS:g} s")
        return FetchError("net", f"no complete answer from {target.name} within {journey.seconds:g} s")

    @staticmethod
    def _may_repeat(error: Exception, journey: Journey) -> bool:
        """Return whether a kept-alive connection was closed during a request, so that it may be
        sent once more (RFC 9112 §9.3.1).
        """
        dropped = isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientOSError)
        connected = not isinstance(error, aiohttp.ClientConnectorError)
        return (
            dropped and connected and not journey.dial.dialled and not journey.repeated and journey.method in REPEATABLE
        )

    def route_for(self, request: FetchRequest) -> Route:
        """Return the route of a request. Raise `FetchError` for a certificate file or a proxy that
        cannot be used.
        """
        return self._routes.find(request)

    def refuse_literal(self, target: DialTarget, route: Route = DIRECT) -> None:
        """Raise `FetchError` for an IP literal that must not be asked; aiohttp would ask no
        resolver for it.
        """
        self._routes.refuse_local(route, target.name)
        if target.literal and (fault := self._guard.fault(target.literal)):
            reason = f"requests to {target.name} are refused: {fault}; fetch.allow_networks can allow it"
            raise FetchError("address", reason)

    def _open(self) -> aiohttp.ClientSession:
        if self._closed:
            raise FetchError("net", "the fetcher is closed")
        if self._session is None:
            connector = GuardedConnector(self._guard, resolver=self._resolver, tls=self._tls)
            self._session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
                headers={"User-Agent": self.user_agent, "Accept": ACCEPT, "Accept-Encoding": ACCEPT_ENCODING},
                max_headers=MAX_HEADERS,
                max_field_size=MAX_FIELD_BYTES,
            )
            # Our own repetition is charged and spaced; the library's would not be.
            self._session._retry_connection = False  # noqa: SLF001 - there is no public switch
            self._plain = PlainGets(self._session, connector)
        return self._session


def _odd_bytes() -> FetchError:
    return FetchError("request", "the request cannot be sent: a header or the address has odd bytes")


def user_agent(settings: FetchSettings) -> str:
    """Return the honest User-Agent: as set, else `Tidings/<version> (+contact)` (P-8)."""
    if settings.user_agent:
        return settings.user_agent
    contact = f" (+{settings.contact})" if settings.contact else ""
    return f"Tidings/{tidings.__version__}{contact}"


def product_token(agent: str) -> str:
    """Return our name in robots.txt rules: the first word of the User-Agent, before any `/`."""
    words = agent.split("/", 1)[0].split()
    return words[0] if words else "Tidings"


def _check_headers(headers: RequestHeaders) -> None:
    try:
        for name, value in headers:
            address.check_header(name, reveal(value))
    except UsageError as error:
        raise FetchError("request", str(error)) from None

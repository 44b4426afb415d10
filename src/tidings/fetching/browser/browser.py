"""The fetcher of scripted pages: the page as a browser renders it, under the same guard as all
others (decision 0018).

The client fetches the page itself, so that robots.txt, redirects, limits and kinds of failure are
those of every fetch; only a complete HTML answer is passed to the browser. Validators do not cover
the results of scripts: they are not used.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from tidings.clock import SECOND
from tidings.errors import AddressError
from tidings.fetching import address
from tidings.fetching.browser.chromium import Chromium, lack
from tidings.fetching.browser.parts import BYTES_A_PAGE, HTML, Load, PartFetcher
from tidings.fetching.fetcher import FetchError
from tidings.fetching.http import answers
from tidings.fetching.http.client import Client
from tidings.fetching.http.redirects import MOST_REDIRECTS
from tidings.fetching.network_guard import Guard, HomeGuard
from tidings.model.observed.outcome import Failed, Fetched, FetchRequest, Outcome, Validators
from tidings.model.secret import reveal
from tidings.record import replace

if TYPE_CHECKING:
    from aiohttp.abc import AbstractResolver

    from tidings.fetching.browser.visit import MainAnswer, VisitResult
    from tidings.fetching.fetcher import Permit
    from tidings.settings import FetchSettings


class Browser:
    """Fetches rendered pages with a browser, and all others with `client` (`fetcher.Fetcher`).
    Closes the client too.

    If `fetch.allow_networks` opens private networks, a page is either public or private, with all
    its redirects, so that no name that resolves to both lets a foreign page read there; `resolver`
    replaces the system's resolver for these two.
    """

    def __init__(self, settings: FetchSettings, client: Client, *, resolver: AbstractResolver | None = None) -> None:
        self._settings = settings
        self._client = client
        self._outer, self._inner = client, None
        if settings.allow_networks:
            self._outer = Client(settings, clock=client.clock, resolver=resolver, guard=Guard())
            self._inner = Client(
                settings, clock=client.clock, resolver=resolver, guard=HomeGuard(settings.allow_networks)
            )
            self._outer.robots = self._inner.robots = client.robots
        self._parts = PartFetcher(settings, self._outer)
        self._chromium = Chromium(settings)
        self._closed = False

    async def fetch(self, request: FetchRequest, permit: Permit) -> Outcome:
        """Fetch a page; see `fetcher.Fetcher.fetch`."""
        if not request.render:
            return await self._client.fetch(request, permit)
        if self._closed:
            return Failed(kind="net", reason="the fetcher is closed", requests=0)
        if fault := lack(self._settings):
            return Failed(kind="request", reason=f"this page needs a browser, but {fault}", requests=0)
        async with self._chromium.place():
            return await self._render(request, _Timed(permit))

    async def close(self) -> None:
        """Stop the browser and close all connections."""
        self._closed = True
        await self._chromium.close()
        for client in (self._client, self._outer, self._inner):
            if client is not None:
                await client.close()

    async def _render(self, request: FetchRequest, permit: _Timed) -> Outcome:
        began = time.monotonic()
        plain = replace(request, validators=Validators(), final_url="", render="", screenshot=False)
        by, outcome = self._outer, await self._outer.fetch(plain, permit)
        if self._inner is not None and isinstance(outcome, Failed) and outcome.kind == "address":
            inside = await self._inner.fetch(plain, permit)
            if not (isinstance(inside, Failed) and inside.kind == "address"):
                by, outcome = self._inner, inside
        if not isinstance(outcome, Fetched):
            return outcome
        if not is_page(outcome.content_type, outcome.body):
            return replace(outcome, validators=Validators())
        seconds = self._settings.total_seconds if request.timeout is None else request.timeout / SECOND
        left = max(
            0.1, seconds - (time.monotonic() - began - permit.waited)
        )  # starting the browser is not the page's fault
        load = Load(
            request=request,
            permit=permit,
            home=frozenset(address.host_of(url) for url in (request.url, *outcome.hops, outcome.final_url)),
            inner=by,
            most_requests=self._settings.browser_requests,
            most_bytes=BYTES_A_PAGE * self._settings.max_body_bytes,
            seconds=seconds,
            jar=outcome.cookies if request.steps else None,
        )
        try:
            load.route = by.route_for(request)
            await self._chromium.ready()
            load.ends_at = asyncio.get_running_loop().time() + left
            async with asyncio.timeout(left):
                seen, document, hops = await self._follow(request, load, outcome)
        except TimeoutError:
            error = FetchError("net", f"{load.doing}the page did not come to rest in the browser within {seconds:g} s")
            if load.loading:
                error = FetchError("busy", f"the page still shows {load.loading!r} after {seconds:g} s in the browser")
            return _make_failure(error, outcome, load)
        except FetchError as error:
            return _make_failure(error, outcome, load)
        return replace(
            outcome,
            body=seen.html,
            screenshot=seen.picture,
            final_url=document.url,
            status=document.status,
            headers=document.headers,
            content_type="text/html; charset=utf-8",
            hops=(*outcome.hops, *hops),
            requests=outcome.requests + load.requests,
            wire_bytes=outcome.wire_bytes + load.wire_bytes,
            validators=Validators(),
            fresh=None,
        )

    async def _follow(
        self, request: FetchRequest, load: Load, fetched: Fetched
    ) -> tuple[VisitResult, MainAnswer, list[str]]:
        """Visit the page, and the pages to which its scripts navigate."""
        from tidings.fetching.browser.visit import MainAnswer, Visit  # playwright may be absent

        document = MainAnswer(fetched.final_url, fetched.status, dict(fetched.headers), fetched.body)
        hops: list[str] = []
        while True:
            visit = Visit(
                self._parts,
                load,
                document,
                pictures=request.screenshot,
                max_bytes=self._settings.max_body_bytes,
                now=self._client.clock.wall(),
            )
            async with self._chromium.context(**self._options(request)) as context:
                seen = await visit.see(context)
            if not seen.moved_to:
                return seen, seen.document or document, hops
            hops.append(document.url)
            if len(hops) > MOST_REDIRECTS or _rebuilt(seen.moved_to) in hops:
                raise FetchError("redirect", "the page's scripts redirect without end")
            document = await self._follow_move(load, seen.moved_to)

    async def _follow_move(self, load: Load, url: str) -> MainAnswer:
        """Return the page to which a script has navigated, fetched like a part: as a foreign one
        unless it is on a home host.
        """
        from tidings.fetching.browser.visit import MainAnswer  # as above

        part = await self._parts.ask(load, url, headers={"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
        if part.status not in answers.WHOLE:
            raise answers.failure_of(part.status, answers.multi(part.headers), now=self._client.clock.wall())
        if not is_page(part.headers.get("content-type"), part.body):
            raise FetchError("redirect", "the page's scripts redirect to something that is not a page")
        return MainAnswer(part.url, part.status, dict(part.headers), part.body)

    def _options(self, request: FetchRequest) -> dict[str, Any]:
        """Return the options of a context, the same for every poll, so that the same page renders
        the same.
        """
        from tidings.fetching.browser.visit import VIEW_HEIGHT, VIEW_WIDTH  # as above

        headers = {name.lower(): reveal(value) for name, value in request.headers}
        return {
            "user_agent": headers.get("user-agent", self._client.user_agent),
            "locale": headers.get("accept-language", "en-US").partition(",")[0].partition(";")[0].strip() or "en-US",
            "timezone_id": "UTC",
            "viewport": {"width": VIEW_WIDTH, "height": VIEW_HEIGHT},
            "color_scheme": "light",
            "reduced_motion": "reduce",
            "service_workers": "block",
            "accept_downloads": False,
        }


class _Timed:
    """A permit that measures the waiting time, which is our own and counts against no deadline."""

    def __init__(self, permit: Permit) -> None:
        self._permit = permit
        self.waited = 0.0

    async def hop(self, host: str) -> None:
        """Wait for the permit."""
        began = time.monotonic()
        try:
            await self._permit.hop(host)
        finally:
            self.waited += time.monotonic() - began

    def beside(self, host: str) -> AbstractAsyncContextManager[None]:
        """Wait for the permit."""
        return self._permit.beside(host)


def is_page(content_type: str | None, body: bytes) -> bool:
    """Return whether an answer is HTML; an undeclared one counts if it begins like it."""
    media = (content_type or "").partition(";")[0].strip().lower()
    return media in HTML or (not media and body.lstrip()[:1] == b"<")


def _make_failure(error: FetchError, fetched: Fetched, load: Load) -> Failed:
    return Failed(
        kind=error.kind,
        reason=str(error),
        status=error.status,
        retry_after=error.retry_after,
        final_url=fetched.final_url,
        hops=fetched.hops,
        requests=fetched.requests + load.requests,
        wire_bytes=fetched.wire_bytes + load.wire_bytes,
    )


def _rebuilt(url: str) -> str:
    with contextlib.suppress(AddressError):
        return address.rebuild(url)
    return url

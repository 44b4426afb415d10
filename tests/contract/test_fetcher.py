"""The contract of fetchers (contracts §6).

The service chains them: files, then browser, then client.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from tests.browsers import need_chromium
from tests.buses import InProcessBus
from tests.fakes import FreePermit, Page, SocketRecorder, WebServer
from tidings.clock import SystemClock
from tidings.errors import BudgetError
from tidings.fetching.browser.browser import Browser
from tidings.fetching.files import FileFetcher
from tidings.fetching.http.client import Client
from tidings.model.observed.outcome import Failed, Fetched, FetchRequest, Unchanged, Validators
from tidings.service.machines.remote_fetcher import RemoteFetcher
from tidings.service.machines.remote_poller import RemotePoller
from tidings.settings import FetchSettings

OPEN = FetchSettings(allow_networks=("127.0.0.0/8",), robots=False, total_seconds=5)


class Remote:
    """The service's and the poller's side, with a bus between them."""

    def __init__(self, settings):
        bus, client = InProcessBus(), Client(settings)
        own = Client(settings)
        self._service = RemoteFetcher(bus, "secret", own, robots=own.robots, usual_seconds=settings.total_seconds)
        self._poller = RemotePoller(bus, "secret", client, robots=client.robots, places={"pages": 4, "browser": 1})
        self._running = None

    async def fetch(self, request, permit):
        self._running = self._running or asyncio.create_task(self._poller.run(("pages",)))
        return await self._service.fetch(request, permit)

    async def close(self):
        await self._poller.close()
        await self._service.close()
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait({self._running})


FETCHERS = {
    "client": Client,
    "browser": lambda settings: Rendered(Browser(settings, Client(settings))),
    "files": lambda settings: FileFetcher(settings, Client(settings), clock=SystemClock()),
    "remote": Remote,
}


class Rendered:
    """A fetcher that requests every page as rendered by a browser."""

    def __init__(self, fetcher):
        self._fetcher = fetcher
        self.close = fetcher.close

    async def fetch(self, request, permit):
        return await self._fetcher.fetch(replace(request, render="browser"), permit)


@pytest.fixture(params=sorted(FETCHERS))
def make(request):
    if request.param == "browser":
        need_chromium()
    return FETCHERS[request.param]


@pytest.fixture(params=sorted(set(FETCHERS) - {"browser"}))
def conditional(request):
    """Return a fetcher that sends validators.

    A rendered page has none: they would cover only its document.
    """
    return FETCHERS[request.param]


def fetch(make, *requests: FetchRequest, settings: FetchSettings = OPEN, permit=None) -> list[Any]:
    async def run():
        fetcher = make(settings)
        try:
            return [await fetcher.fetch(request, permit or FreePermit()) for request in requests]
        finally:
            await fetcher.close()

    return asyncio.run(run())


def test_fetched_body_has_all_metadata(make):
    """200: body after decoding, final URL, framing, encoding, sizes, headers in lower case."""
    with WebServer() as server:
        server.pages["/a"] = Page(
            b"hello", [("Content-Type", "text/plain"), ("X-A", "1"), ("x-a", "2")], etag='"1"', last_modified="x"
        )
        [outcome] = fetch(make, FetchRequest(url=server.url("/a")))

        assert isinstance(outcome, Fetched)
        assert (b"hello", server.url("/a"), 200, (), 1) == (
            outcome.body,
            outcome.final_url,
            outcome.status,
            outcome.hops,
            outcome.requests,
        )
        assert ("length", "", 5, "text/plain") == (
            outcome.framing,
            outcome.encoding,
            outcome.wire_bytes,
            outcome.content_type,
        )
        assert "1, 2" == outcome.headers["x-a"]


def test_validators_are_sent_unchanged_and_304_is_unchanged(conditional):
    """A 304 keeps the validators that it does not repeat."""
    tag, date = 'W/"odd \\ tag,, "', "Mon, 02 Jan 2006 15:04:05 GMT"
    with WebServer() as server:
        server.pages["/"] = Page(b"x", etag=tag, last_modified=date)
        [first] = fetch(conditional, FetchRequest(url=server.url()))
        server.pages["/"] = Page(b"x", etag=tag)
        [second] = fetch(conditional, FetchRequest(url=server.url(), validators=first.validators))

        assert isinstance(second, Unchanged)
        assert Validators(tag, date) == first.validators == second.validators
        assert (tag, date) == (server.seen[1].headers["if-none-match"], server.seen[1].headers["if-modified-since"])
        assert "if-none-match" not in server.seen[0].headers


def test_unrequested_304_is_a_failure(make):
    """A 304 to a request without validators has no meaning (H-117)."""
    with WebServer() as server:
        server.pages["/"] = Page(status=304)
        [outcome] = fetch(make, FetchRequest(url=server.url()))

        assert ("request", 304) == (outcome.kind, outcome.status)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(code, "busy") for code in (408, 425, 429, 503)]
    + [(code, "denied") for code in (401, 403, 407, 451)]
    + [(404, "404"), (410, "410")]
    + [(code, "5xx") for code in (500, 501, 502, 504, 520, 599)]
    + [
        (code, "request")
        for code in (201, 202, 204, 205, 206, 226, 400, 402, 405, 406, 414, 418, 422, 431, 499, 600, 999)
    ]
    + [(code, "redirect") for code in (300, 301, 302, 303, 305, 306, 307, 308)],
)
def test_other_statuses_are_failures_with_a_kind(make, status, kind):
    """Only 200 and 203 bring a version."""
    with WebServer() as server:
        server.pages["/"] = Page(b"", status=status)
        [outcome] = fetch(make, FetchRequest(url=server.url()))

        assert isinstance(outcome, Failed)
        assert (kind, status, 1) == (outcome.kind, outcome.status, outcome.requests)
        assert outcome.reason


@pytest.mark.parametrize("status", [200, 203])
def test_status_200_and_203_bring_a_version(make, status):
    """203 is treated like 200."""
    with WebServer() as server:
        server.pages["/"] = Page(b"x", status=status)
        [outcome] = fetch(make, FetchRequest(url=server.url()))

        assert (b"x", status) == (outcome.body, outcome.status)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_each_redirect_needs_a_permit_for_its_host(make, status):
    """The outcome names the hops and the final URL."""
    with WebServer() as server, WebServer("127.0.0.2") as other:
        server.pages["/a"] = Page(status=status, headers={"Location": other.url("/b?c")})
        other.pages["/b"] = Page(b"there")
        permit = FreePermit()
        [outcome] = fetch(make, FetchRequest(url=server.url("/a")), permit=permit)

        assert (b"there", other.url("/b?c"), (server.url("/a"),), 2) == (
            outcome.body,
            outcome.final_url,
            outcome.hops,
            outcome.requests,
        )
        assert [server.host, other.host] == permit.hosts


def test_validators_are_sent_only_to_their_own_address(conditional):
    """After a redirect they are sent to the final page only; elsewhere a 304 would be wrong."""
    with WebServer() as server:
        server.pages["/a"] = Page(status=302, headers={"Location": "/b"})
        server.pages["/b"] = Page(b"x", etag='"b"')
        with_url = FetchRequest(url=server.url("/a"), validators=Validators('"b"'), final_url=server.url("/b"))
        without_url = FetchRequest(url=server.url("/a"), validators=Validators('"b"'))
        first, second = fetch(conditional, with_url, without_url)

        assert isinstance(first, Unchanged)
        assert isinstance(second, Fetched)
        assert ["/a", "/b", "/a", "/b"] == server.paths()
        assert [False, True, True, False] == ["if-none-match" in request.headers for request in server.seen]


def test_robots_txt_is_requested_first_and_counted(make):
    """It needs a permit like the page, once per origin; forbidden pages are not requested."""
    settings = FetchSettings(allow_networks=("127.0.0.0/8",))
    with WebServer() as server:
        server.pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /private")
        server.pages["/a"] = Page(b"x")
        permit = FreePermit()
        urls = [server.url(path) for path in ("/a", "/a", "/private/b")]
        outcomes = fetch(make, *[FetchRequest(url=url) for url in urls], settings=settings, permit=permit)

        assert ["/robots.txt", "/a", "/a"] == server.paths()
        assert [2, 1, 0] == [outcome.requests for outcome in outcomes]
        assert [server.host] * 3 == permit.hosts
        assert "robots" == outcomes[2].kind


def test_refused_permit_prevents_the_request(make):
    """`fetch` raises `BudgetError` before the request is sent."""

    class OneOnly(FreePermit):
        async def hop(self, host):
            await super().hop(host)
            if len(self.hosts) > 1:
                raise BudgetError("no more today")

    with WebServer() as server, WebServer("127.0.0.2") as other:
        server.pages["/"] = Page(status=302, headers={"Location": other.url("/")})
        with pytest.raises(BudgetError, match="no more today"):
            fetch(make, FetchRequest(url=server.url()), permit=OneOnly())

        assert [["/"], []] == [server.paths(), other.paths()]


def test_forbidden_addresses_are_never_connected_to(make):
    """The guard refuses them before it asks for a permit and before any packet is sent."""
    permit = FreePermit()
    with SocketRecorder() as recorder:
        [outcome] = fetch(make, FetchRequest(url="http://10.0.0.1/"), permit=permit)

    assert ("address", 0, [], []) == (outcome.kind, outcome.requests, permit.hosts, recorder.dials)


def test_refused_connection_is_a_net_failure(make):
    """The failure names the host."""
    with WebServer() as server:
        url = server.url()
    [outcome] = fetch(make, FetchRequest(url=url))

    assert "net" == outcome.kind
    assert "127.0.0.1" in outcome.reason


def test_concurrent_fetches_are_independent(make):
    """Each of fifty concurrent fetches gets its own body."""
    with WebServer() as server:
        for n in range(50):
            server.pages[f"/{n}"] = Page(b"page %d" % n)

        async def run():
            fetcher = make(OPEN)
            try:
                asked = [fetcher.fetch(FetchRequest(url=server.url(f"/{n}")), FreePermit()) for n in range(50)]
                return await asyncio.gather(*asked)
            finally:
                await fetcher.close()

        bodies = [outcome.body for outcome in asyncio.run(run())]

        assert [b"page %d" % n for n in range(50)] == bodies


def test_closed_fetcher_refuses(make):
    """`close` can be called twice; a fetch after it fails and opens no connection."""

    async def run(url):
        fetcher = make(OPEN)
        await fetcher.fetch(FetchRequest(url=url), FreePermit())
        await fetcher.close()
        await fetcher.close()
        return await fetcher.fetch(FetchRequest(url=url), FreePermit())

    with WebServer() as server:
        outcome = asyncio.run(run(server.url()))

        assert "net" == outcome.kind
        assert 1 == len(server.seen)

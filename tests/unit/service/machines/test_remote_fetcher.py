"""Checks in which the poller, the bus or the permit fails."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from typing import Any

import pytest

from tests.buses import InProcessBus
from tests.fakes import FreePermit
from tidings.clock import SystemClock
from tidings.errors import BudgetError, StoreError
from tidings.fetching.robots import Robots
from tidings.model.observed.outcome import Failed, Fetched, FetchRequest
from tidings.model.observed.page import HostState
from tidings.model.secret import Secret
from tidings.service.machines import remote_fetcher, remote_poller
from tidings.service.machines.remote_fetcher import RemoteFetcher
from tidings.service.machines.remote_poller import RemotePoller
from tidings.service.machines.wire import LOST, Mailbox, SharedRobots, make_key, sign, unpack

URL = "http://a.example/"
REQUEST = FetchRequest(url=URL, headers=(("X-Key", Secret("hidden")),))
PAGE = Fetched(body=b"page", final_url=URL, status=200)


class Answers:
    """A fetcher that requests one permit at a time and returns the outcome; a `slow` one never does."""

    def __init__(self, outcome=PAGE, *, hosts=("a.example",), slow=False):
        self.outcome = outcome
        self.hosts = hosts
        self.slow = slow
        self.requests = []
        self.cancelled = False

    async def fetch(self, request, permit):
        self.requests.append(request)
        try:
            for host in self.hosts:
                await permit.hop(host)
            if self.slow:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return self.outcome

    async def close(self):
        """Do nothing."""


def make_robots(received=None):
    return Robots(
        agent="tidings",
        clock=SystemClock(),
        on_crawl_delay=(lambda host, seconds: received.append((host, seconds))) if received is not None else None,
    )


@contextlib.asynccontextmanager
async def pair(fetcher, *, secrets=("s" * 16, "s" * 16), pollers=1):
    """Yield the fetcher of a service with running pollers."""
    bus = InProcessBus()
    service = RemoteFetcher(bus, secrets[0], Answers(), robots=make_robots(), usual_seconds=1)
    others = [
        RemotePoller(bus, secrets[1], fetcher, robots=make_robots(), places={"pages": 8, "browser": 8})
        for _ in range(pollers)
    ]
    running = [asyncio.create_task(each.run(("pages", "browser"))) for each in others]
    try:
        yield service
    finally:
        for task in running:
            task.cancel()
        for each in others:
            await each.close()
        await service.close()


def play(story):
    """Run a story to its end."""

    async def act():
        async with asyncio.timeout(20):
            await story()

    asyncio.run(act())


@pytest.fixture
def hasty(monkeypatch):
    """Shorten all timeouts."""
    monkeypatch.setattr(remote_fetcher, "TAKE_SECONDS", 0.2)
    monkeypatch.setattr(remote_fetcher, "SILENT_SECONDS", -0.7)
    monkeypatch.setattr(remote_fetcher, "AGAIN_SECONDS", 0.0)


def test_check_without_a_poller_fails_with_advice(hasty):
    """The page has no fault: nothing was requested."""

    async def story():
        async with pair(Answers(), pollers=0) as service:
            outcome = await service.fetch(REQUEST, FreePermit())

        assert ("net", 0) == (outcome.kind, outcome.requests)
        assert "tidings serve --role poller" in outcome.reason

    play(story)


def test_poller_with_another_secret_gets_nothing(hasty, monkeypatch):
    """The service names this reason; "there is no poller" would mislead."""
    monkeypatch.setattr(remote_fetcher, "TAKE_SECONDS", 0.4)  # a busy machine needs time to refuse
    fetcher = Answers()

    async def story():
        async with pair(fetcher, secrets=("s" * 16, "t" * 16)) as service:
            outcome = await service.fetch(REQUEST, FreePermit())

        assert "another bus.secret" in getattr(outcome, "reason", "")
        assert [] == fetcher.requests

    play(story)


def test_request_reaches_the_poller_unchanged():
    """This includes secrets. Many concurrent checks are not mixed up."""
    fetcher = Answers()

    async def story():
        async with pair(fetcher, pollers=2) as service:
            outcomes = await asyncio.gather(*(service.fetch(REQUEST, FreePermit()) for _ in range(20)))

        assert [PAGE] * 20 == outcomes
        assert [REQUEST] * 20 == fetcher.requests
        assert "hidden" == fetcher.requests[0].headers[0][1].reveal()

    play(story)


def test_budget_error_of_a_permit_ends_the_check():
    """`fetch` raises it with the permit's own text, as without pollers."""

    class Refuses(FreePermit):
        async def hop(self, host):
            await super().hop(host)
            if len(self.hosts) > 1:
                raise BudgetError("the class is used up")

    async def story():
        async with pair(Answers(hosts=("a.example", "b.example"))) as service:
            with pytest.raises(BudgetError, match="the class is used up"):
                await service.fetch(REQUEST, Refuses())

    play(story)


def test_store_error_of_a_permit_ends_the_check():
    """The service stops its steps as if it had fetched the page itself, and the poller is
    cancelled.
    """
    fetcher = Answers()

    class Stalls(FreePermit):
        async def hop(self, host):
            raise StoreError("the disk is full")

    async def story():
        async with pair(fetcher) as service:
            with pytest.raises(StoreError, match="the disk is full"):
                await service.fetch(REQUEST, Stalls())
            while not fetcher.cancelled:  # noqa: ASYNC110 - the timeout of the story ends it
                await asyncio.sleep(0.01)

    play(story)


def test_silent_poller_is_given_up_and_cancelled(hasty):
    """The check has failed."""
    fetcher = Answers(slow=True)

    async def story():
        async with pair(fetcher) as service:
            outcome = await service.fetch(REQUEST, FreePermit())
            while not fetcher.cancelled:  # noqa: ASYNC110 - the timeout of the story ends it
                await asyncio.sleep(0.01)

        assert isinstance(outcome, Failed)
        assert "was silent" in outcome.reason

    play(story)


class Dies(Answers):
    """A fetcher whose process ends when it has asked for a page: it sends nothing more."""

    def __init__(self, *, waiting=False):
        super().__init__()
        self.is_waiting = waiting
        self.end = lambda: None

    async def fetch(self, request, permit):
        self.requests.append(request)
        await permit.hop("a.example")
        if self.is_waiting:
            asyncio.get_running_loop().call_later(0.1, self.end)
            await permit.hop("a.example")
        self.end()
        await asyncio.Event().wait()


@contextlib.asynccontextmanager
async def service_with(*fetchers):
    """Yield the fetcher of a service with a running poller for each of these."""
    bus = InProcessBus()
    service = RemoteFetcher(bus, "s" * 16, Answers(), robots=make_robots(), usual_seconds=1)
    pollers = [RemotePoller(bus, "s" * 16, each, robots=make_robots(), places={"pages": 1}) for each in fetchers]
    running = [asyncio.create_task(each.run(("pages",))) for each in pollers]

    async def drop(*message):
        pass

    def end(number):
        running[number].cancel()
        pollers[number]._mail.send = drop

    for number, each in enumerate(fetchers):
        each.end = functools.partial(end, number)
    try:
        yield service
    finally:
        for task in running:
            task.cancel()
        for each in pollers:
            await each.close()
        await service.close()


@pytest.fixture
def lively(monkeypatch):
    """Let pollers give signs of life often, and be missed soon."""
    monkeypatch.setattr(remote_fetcher, "GONE_SECONDS", 0.3)
    monkeypatch.setattr(remote_poller, "SIGN_SECONDS", 0.05)
    monkeypatch.setattr(remote_fetcher, "AGAIN_SECONDS", 0.0)


def test_lost_check_is_made_by_another_poller(lively, caplog):
    """The page gets its outcome in the same poll, and no blame; both requests count. The log names
    the lost poller, once.
    """
    dying, well = Dies(), Answers()

    async def story():
        async with service_with(dying, well) as service:
            outcomes = [await service.fetch(REQUEST, FreePermit()) for _ in range(4)]

        assert [PAGE.body] * 4 == [outcome.body for outcome in outcomes]
        assert 1 == len(dying.requests)
        assert 1 == caplog.text.count("gives no more signs of life")
        assert 1 + 4 == sum(outcome.requests for outcome in outcomes)

    play(story)


def test_page_that_ends_its_pollers_fails(lively):
    """Only the second loss is the page's: it must not end all pollers."""
    fetchers = [Dies() for _ in range(4)]

    async def story():
        async with service_with(*fetchers) as service:
            outcome = await service.fetch(REQUEST, FreePermit())

        assert isinstance(outcome, Failed)
        assert "was silent" in outcome.reason
        assert 2 == outcome.requests == sum(len(fetcher.requests) for fetcher in fetchers)

    play(story)


def test_poller_that_dies_while_it_waits_for_a_permit_is_noticed(lively):
    """However long the permit takes; one that lives is waited for."""

    class Slow(FreePermit):
        async def hop(self, host):
            await super().hop(host)
            await asyncio.sleep(0.5 if len(self.hosts) > 1 else 0.0)

    dying, well = Dies(waiting=True), Answers(hosts=("a.example", "a.example"))

    async def story():
        async with service_with(dying, well) as service:
            outcomes = await asyncio.gather(*(service.fetch(REQUEST, Slow()) for _ in range(2)))

        assert [PAGE.body] * 2 == [outcome.body for outcome in outcomes]
        assert 1 == len(dying.requests)

    play(story)


def test_poller_that_hangs_and_gives_signs_is_given_up(hasty, monkeypatch):
    """Its process lives, its fetch does not end."""
    monkeypatch.setattr(remote_poller, "SIGN_SECONDS", 0.05)

    async def story():
        async with pair(Answers(slow=True)) as service:
            outcome = await service.fetch(REQUEST, FreePermit())

        assert "was silent" in getattr(outcome, "reason", "")

    play(story)


def test_late_permit_is_not_used(monkeypatch):
    """It was under way while another request may have left; the wait at the service is no way."""
    monkeypatch.setattr(remote_poller, "LATE_SECONDS", 0.2)
    permit = FreePermit()

    class Held(FreePermit):
        async def hop(self, host):
            await super().hop(host)
            await asyncio.sleep(0.5)

    async def story():
        async with pair(Answers()) as service:
            send, ways = service._mail.send, iter([0.0, 0.4])

            async def slow(box, visit, message):
                await asyncio.sleep(next(ways, 0.0))  # the work, then the first permit
                await send(box, visit, message)

            service._mail.send = slow
            assert PAGE == await service.fetch(REQUEST, permit)
            assert PAGE == await service.fetch(REQUEST, held := Held())

        assert ["a.example"] * 2 == permit.hosts
        assert ["a.example"] == held.hosts

    play(story)


def test_bus_that_delays_every_permit_is_reported(monkeypatch):
    """No request leaves, and the reason says why."""
    monkeypatch.setattr(remote_poller, "LATE_SECONDS", -1.0)

    async def story():
        async with pair(Answers()) as service:
            with pytest.raises(BudgetError, match="to come here from the service"):
                await service.fetch(REQUEST, FreePermit())

    play(story)


@pytest.mark.parametrize("older", [remote_fetcher, remote_poller])
def test_versions_without_signs_work_with_this_one(monkeypatch, older):
    """During an upgrade. To an older service a sign is the end of a request, and it says only
    the number of a permit; an older poller gives no signs.
    """
    monkeypatch.setattr(older, "SIGN", ["done", 10**6])

    async def story():
        async with pair(Answers(hosts=("a.example", "b.example"))) as service:
            permit = FreePermit()
            assert PAGE == await service.fetch(REQUEST, permit)
            assert ["a.example", "b.example"] == permit.hosts

    play(story)


def test_poller_waiting_for_a_permit_is_not_silent(hasty):
    """The gap between two requests may be longer than a request."""

    class Slow(FreePermit):
        async def hop(self, host):
            await asyncio.sleep(0.4)

    async def story():
        async with pair(Answers()) as service:
            assert PAGE == await service.fetch(REQUEST, Slow())

    play(story)


def test_cancelled_check_stops_the_poller():
    """A service that ends leaves no requests behind."""
    fetcher = Answers(slow=True)

    async def story():
        async with pair(fetcher) as service:
            checking = asyncio.create_task(service.fetch(REQUEST, FreePermit()))
            while not fetcher.requests:  # noqa: ASYNC110 - the timeout of the story ends it
                await asyncio.sleep(0.01)
            checking.cancel()
            while not fetcher.cancelled:  # noqa: ASYNC110 - the timeout of the story ends it
                await asyncio.sleep(0.01)

    play(story)


def test_forged_and_repeated_messages_are_ignored(hasty):
    """Messages for another check are ignored too. The first poller that takes a check has it."""

    async def story():
        bus = InProcessBus()
        service = RemoteFetcher(bus, "s" * 16, Answers(), robots=make_robots(), usual_seconds=3)
        checking = asyncio.create_task(service.fetch(REQUEST, FreePermit()))
        visit, box = unpack(await bus.take("pages"))
        mail = Mailbox(bus)
        inbox = await mail.open(visit)
        _, public = make_key()
        for proof in (b"", sign("other secret", visit.encode(), mail.box.encode(), public)):
            await mail.send(box, visit, ["take", mail.box, public, proof])
        await mail.send(box, visit, ["outcome", "fetched", PAGE, []])
        await mail.send(box, visit, 7)
        await bus.send(box, b"\xc1 no message")
        await mail.send(box, "another", ["take", mail.box, public, b""])

        assert "another bus.secret" in getattr(await checking, "reason", "")
        assert inbox.empty()
        await mail.close()
        await service.close()

    play(story)


def test_check_that_nobody_wants_any_more_is_dismissed():
    """The poller's place is free again at once."""

    async def story():
        async with pair(Answers()) as service:
            await service.fetch(REQUEST, FreePermit())
            poller = Mailbox(service._mail.bus)
            inbox = await poller.open("over")
            for message in (["take", poller.box, b"", b""], ["take"], ["take", 7], "take", [], 7):
                await poller.send(service._mail.box, "over", message)
            assert await inbox.get() is LOST
            assert PAGE == await service.fetch(REQUEST, FreePermit())
            assert inbox.empty()
            await poller.close()

    play(story)


def test_page_to_render_waits_for_a_poller_with_a_free_browser():
    """None takes more of them than it renders at once; other pages have places of their own."""
    fetcher = Answers(slow=True)
    rendered = FetchRequest(url=URL, render="browser")

    async def story():
        bus = InProcessBus()
        service = RemoteFetcher(bus, "s" * 16, Answers(), robots=make_robots(), usual_seconds=9)
        pollers = [
            RemotePoller(bus, "s" * 16, each, robots=make_robots(), places={"pages": 2, "browser": 1})
            for each in (fetcher, Answers())
        ]
        running = [asyncio.create_task(pollers[0].run(("pages", "browser")))]
        checking = [asyncio.create_task(service.fetch(rendered, FreePermit())) for _ in range(3)]
        while not fetcher.requests:  # noqa: ASYNC110 - the timeout of the story ends it
            await asyncio.sleep(0.01)
        running.append(asyncio.create_task(pollers[1].run(("browser",))))
        done, left = await asyncio.wait(checking, return_when=asyncio.FIRST_COMPLETED)
        while len(done) < 2:
            more, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
            done |= more

        assert [PAGE] * 2 == [task.result() for task in done]
        assert 1 == len(fetcher.requests)
        for task in (*running, *left):
            task.cancel()
        for poller in pollers:
            await poller.close()
        await service.close()

    play(story)


def test_unreadable_answer_is_reported_at_once(monkeypatch):
    """The poller has another version, and the service does not wait for its timeout."""
    monkeypatch.setattr(remote_poller, "KINDS", {Fetched: "delivered"})

    async def story():
        async with pair(Answers()) as service, asyncio.timeout(5):
            outcome = await service.fetch(REQUEST, FreePermit())

        assert "are poller and service of one version?" in getattr(outcome, "reason", "")

    play(story)


def test_unreadable_check_is_reported_at_once():
    """The service has another version."""
    odd: Any = 7  # as another version may write it
    request = FetchRequest(url=URL, method=odd)

    async def story():
        async with pair(Answers()) as service, asyncio.timeout(5):
            outcome = await service.fetch(request, FreePermit())

        assert "the poller cannot read the check" in getattr(outcome, "reason", "")

    play(story)


def test_fault_of_the_poller_is_an_outcome_of_the_page(caplog):
    """The outcome is the same if the service fetches the page itself."""

    class Breaks(Answers):
        async def fetch(self, request, permit):
            raise KeyError("oops")

    async def story():
        async with pair(Breaks()) as service:
            outcome = await service.fetch(REQUEST, FreePermit())

        assert ("fault", True) == (outcome.kind, "KeyError" in outcome.reason)

    play(story)
    assert ["a fault of Tidings while http://a.example/ was fetched"] == [r.message for r in caplog.records]


def test_robots_txt_is_shared_between_pollers(monkeypatch):
    """The service stores what one poller has read, and sends it to the next one once. A Crawl-delay
    applies to all.
    """
    give = SharedRobots.give
    received: list[tuple[str, float]] = []

    async def story():
        robots = make_robots(received)
        reader, bus = make_robots(), InProcessBus()

        async def get(url):
            return b"User-agent: *\nCrawl-delay: 7\n"

        class Reads(Answers):
            async def fetch(self, request, permit):
                await permit.hop("a.example")
                await reader.check(URL, get)
                return await super().fetch(request, permit)

        given: list[list[HostState]] = []

        def note(*words):
            given.append(give(*words))
            return given[-1]

        monkeypatch.setattr(SharedRobots, "give", note)
        seen: set[str] = set()
        service = RemoteFetcher(bus, "s" * 16, Answers(), robots=robots, usual_seconds=1, on_poller=seen.add)
        poller = RemotePoller(bus, "s" * 16, Reads(), robots=reader, places={"pages": 1})
        running = asyncio.create_task(poller.run(("pages",)))
        for _ in range(3):
            await service.fetch(REQUEST, FreePermit())

        assert {poller._mail.box} == seen
        assert [("a.example", 7.0)] == received
        assert 1 == sum(map(len, given))
        assert b"Crawl-delay" in (robots.export(HostState(name="a.example")).robots or b"")
        running.cancel()
        await poller.close()
        await service.close()

    play(story)


def test_page_with_a_certificate_file_is_fetched_by_the_service():
    """A poller does not have the file."""

    async def story():
        async with pair(Answers(Failed(kind="net", reason="the poller")), pollers=1) as service:
            assert PAGE == await service.fetch(FetchRequest(url=URL, trust="/etc/own.pem"), FreePermit())

    play(story)

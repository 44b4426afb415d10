"""Promise: with a public address the hub of a feed is asked for notifications, which are hints (W3C
WebSub).
"""

from __future__ import annotations

import contextlib
import hmac
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.world import World, play, serve
from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.errors import StoreFullError
from tidings.service.run.monitor import Monitor
from tidings.service.show.finding import Finding
from tidings.service.sources import websub as service
from tidings.service.sources.websub import FIRST_WAIT, LEAVE_ATTEMPTS, PATH
from tidings.storage.db.database import open_database
from tidings.storage.observed import hints

PUBLIC = "https://tidings.example.org"
FLAGS = {"schedule__policy": "price", "fetch__page_floor_seconds": "60", "serve__public_url": PUBLIC}
FEED = """<feed xmlns="http://www.w3.org/2005/Atom"><title>news</title><id>x</id><updated>2023-11-14T00:00:00Z</updated>
{}<link rel="self" href="{}"/><entry><id>{}</id><title>entry {}</title></entry></feed>"""


class Hub:
    """A hub on loopback that records requests and answers with `status`."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.asked: list[dict[str, str]] = []
        self.status = 202
        self.url = world.server.url("/hub")
        world.server.pages["/hub"] = self._take
        self.publish(1)
        world.add("Create Sentinel feed Using {/feed} Monitor all words")

    def _take(self, seen: Any, wire: Any) -> None:
        assert "application/x-www-form-urlencoded" == seen.headers["content-type"]
        self.asked.append({name: values[0] for name, values in parse_qs(seen.body.decode()).items()})
        wire.send(f"HTTP/1.1 {self.status} Said\r\nContent-Length: 0\r\n\r\n".encode())

    def publish(self, number: int, *, link: str | None = None, headers: Any = None) -> None:
        named = f'<link rel="hub" href="{self.url}"/>' if link is None else link
        body = FEED.format(named, self.world.server.url("/feed"), number, number)
        self.world.page("/feed", body, headers={"Content-Type": "application/atom+xml", **(headers or {})})

    def token(self) -> str:
        return self.asked[-1]["hub.callback"].removeprefix(f"{PUBLIC}{PATH}")

    async def verify(self, monitor: Monitor, mode: str = "subscribe", **more: str) -> str | None:
        """Verify the subscription, as in the standard."""
        params = {"hub.mode": mode, "hub.topic": self.asked[-1]["hub.topic"], "hub.challenge": "c0ffee", **more}
        return await monitor.ways_in.hubs.verify(self.token(), params)

    async def tell(self, monitor: Monitor, *, method: str = "sha256", secret: str | None = None) -> bool:
        """Distribute signed content."""
        key = (
            next(form["hub.secret"] for form in reversed(self.asked) if "hub.secret" in form)
            if secret is None
            else secret
        )
        body = b"<feed>whatever a hub sends</feed>"
        signature = (
            f"{method}={hmac.new(key.encode(), body, method if method in ('sha1', 'sha512') else 'sha256').hexdigest()}"
        )
        return await monitor.ways_in.hubs.deliver(self.token(), body, signature)


async def begin(world: World, monitor: Monitor) -> None:
    """Start the server, poll the feed and subscribe to its hub."""
    monitor.ways_in.hubs.open()
    await world.pass_time(monitor, 2 * MINUTE)


def rows(world: World) -> Any:
    return world.read(hints.list_hubs)


def test_hub_is_subscribed_to_verifies_and_notifies(make_world):
    """A distribution causes a poll; its body is no version."""
    world = make_world(**FLAGS)
    hub = Hub(world)

    with serve(world) as running:
        running.run(begin(world, running.monitor))
        (form,) = hub.asked
        assert ("subscribe", world.server.url("/feed"), str(10 * DAY // SECOND)) == (
            form["hub.mode"],
            form["hub.topic"],
            form["hub.lease_seconds"],
        )
        assert 32 <= len(form["hub.secret"]) < 200
        assert "asked" == rows(world)[0].state
        assert "c0ffee" == running.run(hub.verify(running.monitor, **{"hub.lease_seconds": "86400"}))
        assert ("active", DAY) == (rows(world)[0].state, rows(world)[0].until - world.clock.now())
        running.pass_time(3 * HOUR)
        while world.clock.now() - world.polls(1)[-1].charged_at < 2 * MINUTE:
            running.pass_time(MINUTE)
        hub.publish(2)
        assert running.run(hub.tell(running.monitor))
        running.settle()

    assert world.clock.now() == world.polls(1)[-1].charged_at
    assert 1 == len(world.changes("feed"))
    assert 2 == len(world.versions())
    assert {"websub"} == {row.kind for row in world.read(hints.load)[1]}
    assert [] == world.violations()


@pytest.mark.parametrize(
    "flags",
    [{**FLAGS, "serve__public_url": ""}, {**FLAGS, "schedule__policy": "best_effort"}],
    ids=["no public address", "no policy that weighs hints"],
)
def test_no_subscription_where_it_has_no_effect(make_world, flags):
    """Off by default, and under policies without hints."""
    world = make_world(**flags)
    hub = Hub(world)

    with serve(world) as running:
        running.run(begin(world, running.monitor))
    assert [] == hub.asked == rows(world)


def test_no_subscription_without_a_server(make_world):
    """`tidings check` could not answer the hub."""
    world = make_world(**FLAGS)
    hub = Hub(world)

    with serve(world) as running:
        running.pass_time(HOUR)
    assert [] == hub.asked


def test_page_with_a_secret_is_not_subscribed(make_world):
    """Its address is confidential."""
    world = make_world(**FLAGS)
    hub = Hub(world)
    world.add('Drop feed;Create Sentinel own Using {/feed} Monitor all words Header "Authorization" secret "key"')

    with serve(world) as running:
        running.run(begin(world, running.monitor))
    assert [] == hub.asked


@pytest.mark.parametrize("method", ["sha1", "sha512"])
def test_unsigned_distribution_is_ignored(make_world, method):
    """No signature, another secret or method; all methods of the standard are supported."""
    world = make_world(**FLAGS)
    hub = Hub(world)

    with serve(world) as running:
        running.run(begin(world, running.monitor))
        running.run(hub.verify(running.monitor))
        deliver, token = running.monitor.ways_in.hubs.deliver, hub.token()
        refused = [
            running.run(hub.tell(running.monitor, secret="guessed")),
            running.run(hub.tell(running.monitor, method="md5")),
            running.run(deliver(token, b"x", "")),
            running.run(deliver(token, b"x", "sha256=é")),
            running.run(deliver("another", b"x", "sha256=00")),
        ]
        assert [False] * 5 == refused
        assert not any(row.waiting for row in world.read(hints.load)[1])
        assert running.run(hub.tell(running.monitor, method=method))
        assert 1 == len(world.read(hints.load)[1][0].waiting)


def test_unrequested_verification_is_refused(make_world):
    """Another topic or callback, an unwanted end, no challenge or a too long one: 404 without
    effect.
    """
    world = make_world(**FLAGS)
    hub = Hub(world)

    with serve(world) as running:
        running.run(begin(world, running.monitor))
        ours = rows(world)
        answers = [
            running.run(hub.verify(running.monitor, **{"hub.topic": "https://evil.example/"})),
            running.run(hub.verify(running.monitor, mode="unsubscribe")),
            running.run(hub.verify(running.monitor, **{"hub.challenge": ""})),
            running.run(hub.verify(running.monitor, **{"hub.challenge": "x" * 2_000})),
            running.run(hub.verify(running.monitor, mode="other")),
            running.run(
                running.monitor.ways_in.hubs.verify("another", {"hub.mode": "subscribe", "hub.challenge": "x"})
            ),
        ]
        assert [None] * 6 == answers
        assert ours == rows(world)


def test_lease_is_renewed_in_time_and_across_a_restart(make_world):
    """Callback and secret stay; without verification the hub covers no page."""
    world = make_world(**FLAGS)
    hub = Hub(world)

    with serve(world) as running:
        running.run(begin(world, running.monitor))
        running.run(hub.verify(running.monitor, **{"hub.lease_seconds": str(DAY // SECOND)}))
    with serve(world) as running:
        running.monitor.ways_in.hubs.open()
        running.pass_time(15 * HOUR)
        assert 1 == len(hub.asked)
        running.pass_time(2 * HOUR)
        assert hub.asked[0] == hub.asked[1]
        assert {"websub"} == running.monitor.ways_in.signals.tracker.kinds(1)
        running.pass_time(9 * HOUR)
        assert set() == running.monitor.ways_in.signals.tracker.kinds(1)
        assert "asked" == rows(world)[0].state
        assert "c0ffee" == running.run(hub.verify(running.monitor))
        assert {"websub"} == running.monitor.ways_in.signals.tracker.kinds(1)


def test_failing_hub_is_retried_with_growing_waits(make_world):
    """`doctor` has the reason; a refusal holds for a day."""
    world = make_world(**FLAGS)
    hub = Hub(world)
    hub.status = 500

    with serve(world) as running:
        running.run(begin(world, running.monitor))
        running.pass_time(7 * FIRST_WAIT + 3 * MINUTE)
        assert 4 == len(hub.asked)
        assert "answered 500" in rows(world)[0].problem
        running.run(hub.verify(running.monitor, mode="denied", **{"hub.reason": "no feeds here"}))
        assert ("refused", "the hub refuses: no feeds here") == (rows(world)[0].state, rows(world)[0].problem)
        assert not running.run(running.monitor.ways_in.hubs.knows(hub.token()))
        running.pass_time(23 * HOUR)
        assert 4 == len(hub.asked)


@pytest.mark.parametrize("answers", [True, False])
def test_subscription_ends_with_the_watch(make_world, answers):
    """Unsubscribed, verified and forgotten; a silent hub is given up after some attempts."""
    world = make_world(**FLAGS)
    hub = Hub(world)

    with serve(world) as running:
        running.run(begin(world, running.monitor))
        running.run(hub.verify(running.monitor))
        world.add("Drop feed")
        running.pass_time(2 * MINUTE)
        assert ["subscribe", "unsubscribe"] == [form["hub.mode"] for form in hub.asked]
        assert "hub.secret" not in hub.asked[-1]
        assert not running.run(hub.verify(running.monitor, mode="subscribe"))
        if answers:
            assert "c0ffee" == running.run(hub.verify(running.monitor, mode="unsubscribe"))
        else:
            running.pass_time(DAY)
            assert 1 + LEAVE_ATTEMPTS == len(hub.asked)
        assert [] == rows(world)
        assert set() == running.monitor.ways_in.signals.tracker.kinds(1)


def test_link_headers_precede_the_feed(make_world):
    """RFC 8288, bounded; each new version names its hub anew."""
    world = make_world(**FLAGS)
    hub = Hub(world)
    other = f'<{world.server.url("/hub")}>; rel="hub", <https://x.example/topic>; rel=self, <https://y.example/>; rel="next"'
    hub.publish(1, link='<link rel="hub" href="https://elsewhere.example/"/>', headers={"Link": other})

    with serve(world) as running:
        running.run(begin(world, running.monitor))
        assert ["https://x.example/topic"] == [form["hub.topic"] for form in hub.asked]
        running.run(hub.verify(running.monitor))
        hub.publish(2, link="")
        running.monitor.polling.requests.ask(1)
        running.pass_time(2 * MINUTE)
        assert ["subscribe", "unsubscribe"] == [form["hub.mode"] for form in hub.asked]


def test_hub_on_a_private_address_is_refused(make_world):
    """The guard of pages applies: nothing is sent, and it is reported."""
    world = make_world(**FLAGS)
    hub = Hub(world)
    hub.publish(1, link='<link rel="hub" href="http://10.1.2.3/admin"/>')

    with serve(world) as running:
        running.run(begin(world, running.monitor))
    assert [] == hub.asked
    assert "10.1.2.3" in rows(world)[0].problem


def test_subscriptions_end_without_a_public_address(make_world):
    """Later distributions are refused, and the hub covers no page."""
    world = make_world(**FLAGS)
    hub = Hub(world)

    with serve(world) as running:
        running.run(begin(world, running.monitor))
        running.run(hub.verify(running.monitor))
    world.flags["serve.public_url"] = ""
    with serve(world) as running:
        running.run(begin(world, running.monitor))
        assert not running.run(running.monitor.ways_in.hubs.knows(hub.token()))
        assert set() == running.monitor.ways_in.signals.tracker.kinds(1)
    assert [] == rows(world) == [row for row in world.read(hints.load)[1] if row.kind == "websub"]
    assert 1 == len(hub.asked)


@pytest.mark.parametrize(("lost", "kinds"), [("websub", set()), ("hint", {"websub"})])
def test_crash_leaves_hubs_and_hints_consistent(make_world, lost, kinds):
    """They are stored some seconds apart: only a hub that notifies covers pages."""
    world = make_world(**FLAGS)
    hub = Hub(world)

    with serve(world) as running:
        running.run(begin(world, running.monitor))
        running.run(hub.verify(running.monitor))
    assert world.read(hints.list_hubs)
    assert world.read(hints.load)[1]
    with contextlib.closing(open_database(world.settings)) as database:
        database.write(lambda c: c.execute(f"DELETE FROM {lost}"))
    with serve(world) as running:
        assert kinds == running.monitor.ways_in.signals.tracker.kinds(1)

    assert kinds == {row.kind for row in world.read(hints.load)[1]}


def test_removed_hub_is_not_subscribed_after_a_restart(make_world):
    """The newest version of the feed decides."""
    world = make_world(**FLAGS)
    hub = Hub(world)

    with serve(world) as running:
        running.pass_time(2 * MINUTE)
        hub.publish(2, link="")
        running.monitor.polling.requests.ask(1)
        running.pass_time(2 * MINUTE)
    assert 2 == len(world.versions())
    with serve(world) as running:
        running.run(begin(world, running.monitor))

    assert [] == hub.asked == rows(world)


def test_subscription_continues_after_a_full_disk(make_world, monkeypatch):
    """A request from before is repeated when it is due."""
    world = make_world(**FLAGS)
    hub = Hub(world)
    hub.publish(1)
    world.server.pages["/other"] = world.server.pages["/feed"]
    world.add("Create Sentinel other Using {/other} Monitor all words")
    put = service._put

    def nearly_full(connection: Any, row: Any, **more: Any) -> None:
        if row.page_id == 2:
            message = "it cannot grow; make room"
            raise StoreFullError(message)
        put(connection, row, **more)

    with serve(world) as running:
        running.settle()
        running.monitor.ways_in.hubs.open()
        with monkeypatch.context() as patched:
            patched.setattr(service, "_put", nearly_full)
            with pytest.raises(StoreFullError):
                running.run(running.monitor.step())
        running.pass_time(FIRST_WAIT + 2 * MINUTE)
    assert 2 == len({form["hub.callback"] for form in hub.asked})


def test_doctor_names_failing_hubs_and_a_remedy(make_world):
    """An error answer, or three unverified requests; not a hub that was just asked."""
    world = make_world(**FLAGS)
    hub = Hub(world)

    def findings() -> list[Finding]:
        found: list[Finding] = world.read(lambda c: [*service.findings(c)])
        return found

    async def story(monitor: Monitor) -> None:
        await begin(world, monitor)
        assert ["ok"] == [found.status for found in findings()]
        await world.pass_time(monitor, 3 * FIRST_WAIT + 2 * MINUTE)
        (unannounced,) = findings()
        hub.status = 500
        await world.pass_time(monitor, 4 * FIRST_WAIT)
        (failing,) = findings()
        assert {("warn", service.MEND)} == {(found.status, found.mend) for found in (unannounced, failing)}
        assert f"{hub.url}: it took 3 requests and has verified none: {world.server.url('/feed')}" == unannounced.detail
        assert "answered 500" in failing.detail

    play(world, story)

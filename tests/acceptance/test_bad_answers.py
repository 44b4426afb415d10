"""Promise: a bad answer is never a change: walls, maintenance pages, truncated bodies and unstable
servers are reported as such, once.
"""

from __future__ import annotations

import dataclasses
import re
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme

from tests.fakes import Page, WebServer
from tests.world import World, play, serve
from tidings.clock import DAY, HOUR, MINUTE
from tidings.isolation.runner import Done
from tidings.service.run.monitor import Monitor

TEXT = "<title>Prices</title>" + "".join(f"<p>Item {n} costs {n * 3} euro this week.</p>" for n in range(60))


def _suspect(monitor: Monitor, marker: bytes, kind: str) -> None:
    """Mark each body with a marker in it as suspicious, as `detection/doubt/plausibility` would."""
    detector = monitor.polling.poller._detector
    examine = detector._runner.run

    async def run(function, job, *, seconds=None):
        answer = await examine(function, job, seconds=seconds)
        assert isinstance(answer, Done)
        if marker in job.new.data:
            answer = dataclasses.replace(
                answer, value=dataclasses.replace(answer.value, suspicion=kind, why="it looks like one")
            )
        return answer

    detector._runner = type("Suspicious", (), {"run": staticmethod(run), "close": detector._runner.close})()


def test_wall_is_withheld_and_reported_once(world: World):
    """A challenge with 200 is quarantined, the page polled again after five minutes, error(blocked)
    reported once. The returning page is no change.
    """
    world.page("/a", TEXT)
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")

    with serve(world) as service:
        _suspect(service.monitor, b"wall", "blocked")
        service.settle()
        world.page("/a", "<p>wall</p>")
        service.pass_time(6 * HOUR)
        world.page("/a", TEXT)
        service.pass_time(2 * DAY)
    withheld = [p for p in world.polls() if p.outcome == "quarantined"]

    assert [] == world.changes()
    assert 1 == len(world.versions())
    assert {"blocked"} == {p.kind for p in withheld}
    assert 5 * MINUTE == withheld[1].charged_at - withheld[0].charged_at
    assert ["page.error", "page.ok"] == [e.type for e in world.events("page.error", "page.ok")]
    assert [] == world.violations()


def test_shrunk_page_is_reported_after_a_second_poll(world: World):
    """Collapsed text is confirmed by a second poll five minutes later."""
    world.page("/a", TEXT)
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")
    begun = world.clock.now()

    with serve(world) as service:
        _suspect(service.monitor, b"sold out", "collapsed")
        service.settle()
        world.page("/a", "<title>Prices</title><p>All sold out.</p>")
        service.pass_time(2 * HOUR)

    assert 1 == len(world.changes())
    assert [HOUR, HOUR + 5 * MINUTE] == [p.charged_at - begun for p in world.polls()[1:3]]
    assert [] == world.violations()


def test_empty_answer_between_good_ones_is_ignored(world: World):
    """It is withheld: no version, no event, no message."""
    world.page("/a", TEXT)
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        _suspect(service.monitor, b"<!-- nothing -->", "empty")
        service.settle()
        world.page("/a", "<!-- nothing -->")
        service.pass_time(HOUR + MINUTE)
        world.page("/a", TEXT)
        service.pass_time(3 * HOUR)

    assert [] == world.changes()
    assert [] == world.events("page.error")
    assert ["new", "quarantined", "unchanged"] == [p.outcome for p in world.polls()][:3]
    assert [] == world.violations()


def test_wall_at_the_first_check_is_no_baseline(world: World):
    """The page is blocked until its first good answer, which is the baseline."""
    world.page("/a", "<p>wall</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")

    with serve(world) as service:
        _suspect(service.monitor, b"wall", "blocked")
        service.pass_time(HOUR)
        world.page("/a", TEXT)
        service.pass_time(DAY)

    assert [] == world.changes()
    assert [TEXT.encode().__len__()] == [v.size for v in world.versions()]
    assert [] == world.violations()


def test_doubtful_answer_is_polled_again_within_minutes(world: World):
    """A page with a daily interval is polled again before its next tick."""
    world.page("/a", TEXT)
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 day")

    with serve(world) as service:
        service.settle()
        world.page("/a", "", status=500)
        service.pass_time(DAY)
        world.page("/a", TEXT)
        service.pass_time(HOUR)
    failed, again = world.polls()[1:3]

    assert ("error", "unchanged") == (failed.outcome, again.outcome)
    assert again.charged_at - failed.charged_at <= 2 * MINUTE
    assert [] == world.events("page.error")


def test_outage_of_our_network_is_reported_once_and_not_as_page_errors(world: World):
    """All hosts are unreachable for hours: one event at its start, one at its end."""
    others = [WebServer(f"127.0.0.{n}") for n in range(2, 7)]
    for n, other in enumerate(others):
        other.__enter__()
        other.pages["/a"] = Page(TEXT.encode(), {"Content-Type": "text/html"})
        world.add(f"Create Sentinel s{n} Using {other.url('/a')} Monitor any change Fetch every 10 min")

    async def story(monitor: Monitor) -> None:
        await world.settle(monitor)
        for other in others:
            other.__exit__(None, None, None)
        await world.pass_time(monitor, 2 * HOUR)

    play(world, story)

    assert ["network.down"] == [e.type for e in world.events("network.down", "network.up")]
    assert [] == world.events("page.error")
    assert [] == world.changes()


def test_network_outage_notifies_each_recipient_once(world: World):
    """Five pages of five hosts have one receiver: one message at the start, one at the end."""
    hook = world.receiver()
    others = [WebServer(f"127.0.0.{n}") for n in range(2, 7)]
    for n, other in enumerate(others):
        other.__enter__()
        other.pages["/a"] = Page(TEXT.encode(), {"Content-Type": "text/html", "Connection": "close"})
        world.add(
            f"Create Sentinel s{n} Using {other.url('/a')} Monitor any change Fetch every 10 min Notify By {hook}"
        )

    async def story(monitor: Monitor) -> None:
        await world.settle(monitor)
        for other in others:
            other.__exit__(None, None, None)
        await world.pass_time(monitor, 30 * MINUTE)
        assert [] == world.received
        await world.pass_time(monitor, 2 * HOUR)
        for other in others:
            other.__enter__()
        await world.pass_time(monitor, HOUR)

    play(world, story)
    for other in others:
        other.__exit__(None, None, None)

    assert ["network.away", "network.back"] == [body["type"] for _, body in world.received]
    summary = world.received[0][1]["data"]["summary"]
    assert "this machine seems to be down" in summary
    assert re.search(r"\(the last failure: .*127\.0\.0\.\d", summary)


def test_internal_fault_at_one_page_is_an_error_of_that_page(world: World, monkeypatch):
    """The owner is notified within the hour; other pages are polled as usual."""
    hook = world.receiver()
    for path in ("/a", "/b"):
        world.page(path, TEXT)
        world.add(f"Create Sentinel s{path[1]} Using {{{path}}} Monitor any change Fetch every 1 hour Notify By {hook}")

    async def story(monitor: Monitor) -> None:
        await world.settle(monitor)
        fetcher = monitor.polling.grants._fetcher
        fetch = fetcher.fetch

        async def fail(request, permit):
            if request.url.endswith("/a"):
                message = "nobody thought of this"
                raise RuntimeError(message)
            return await fetch(request, permit)

        monkeypatch.setattr(fetcher, "fetch", fail)
        world.page("/b", TEXT + "<p>More</p>")
        await world.pass_time(monitor, 3 * HOUR)

    play(world, story)
    reported = [body["data"] for _, body in world.received]

    assert [("sb", "change"), ("sa", "problem")] == [(one["sentinel"], one["record"]) for one in reported]
    assert "a fault of Tidings (RuntimeError: nobody thought of this)" in reported[1]["summary"]
    assert [] == world.violations()


def test_one_unreachable_host_is_its_own_error(world: World):
    """Two of three hosts answer: the third is in error(net), reported once."""
    others = [WebServer(f"127.0.0.{n}") for n in range(2, 5)]
    for n, other in enumerate(others):
        other.__enter__()
        other.pages["/a"] = Page(TEXT.encode(), {"Content-Type": "text/html"})
        world.add(f"Create Sentinel s{n} Using {other.url('/a')} Monitor any change Fetch every 10 min")

    with serve(world) as service:
        service.settle()
        others[0].__exit__(None, None, None)
        service.pass_time(5 * HOUR)
    for other in others[1:]:
        other.__exit__(None, None, None)

    assert [1] == [e.page_id for e in world.events("page.error")]
    assert [] == world.events("network.down")


def test_refused_connections_are_not_a_network_outage(world: World):
    """Three hosts close each connection: each page is in error, since the network works."""
    others = [WebServer(f"127.0.0.{n}") for n in range(2, 5)]
    for n, other in enumerate(others):
        other.__enter__()
        other.pages["/a"] = lambda seen, wire: wire.close()
        world.add(f"Create Sentinel s{n} Using {other.url('/a')} Monitor any change Fetch every 10 min")

    play(world, lambda monitor: world.pass_time(monitor, 5 * HOUR))
    for other in others:
        other.__exit__(None, None, None)

    assert {1, 2, 3} == {e.page_id for e in world.events("page.error")}
    assert [] == world.events("network.down")


def test_error_and_its_end_are_notified_once(world: World):
    """A page fails for a day: one message has the reason, one says that it is over; later changes
    are reported.
    """
    world.page("/a", TEXT)
    hook = world.receiver()
    world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change Fetch every 1 hour Notify By webhook {hook} immediate"
    )

    with serve(world) as service:
        service.settle()
        world.page("/a", "", status=503)
        service.pass_time(DAY)
        world.page("/a", TEXT.replace("Item 7", "Item seven"))
        service.pass_time(DAY)
    reported = [message for _, message in world.received]

    assert ["page.error", "change.found", "page.ok"] == sorted(
        (m["type"] for m in reported), key=["page.error", "change.found", "page.ok"].index
    )
    assert "busy" == reported[0]["data"]["kind"]
    assert [] == world.violations()


def test_digest_has_errors_as_lines(world: World):
    """With `Every 2 day` there are no separate messages."""
    world.page("/a", TEXT)
    hook = world.receiver()
    world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change Fetch every 1 hour Notify By webhook {hook} Every 2 day"
    )

    with serve(world) as service:
        service.settle()
        world.page("/a", "", status=503)
        service.pass_time(DAY)
        world.page("/a", TEXT)
        service.pass_time(3 * DAY)
    ((_, message),) = world.received

    assert ["page.error", "page.ok"] == [record["event"] for record in message["data"]["changes"]]


def test_failing_host_is_not_polled_for_each_page(world: World):
    """Fifty pages of it cause single requests, with pauses that double."""
    for n in range(50):
        world.page(f"/{n}", "", status=500)
        world.add(f"Create Sentinel s{n} Using {{/{n}}} Monitor any change Fetch every 10 min")

    play(world, lambda monitor: world.pass_time(monitor, 6 * HOUR))

    assert len(world.server.seen) <= 5 + 10


def _with_bad_certificates() -> list[WebServer]:
    """Return servers with invalid certificates: an unknown authority, another name, expired."""
    authority = trustme.CA()
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    servers = []
    for n, certificate in enumerate(
        [
            authority.issue_cert("127.0.0.5"),
            authority.issue_cert("elsewhere.example"),
            authority.issue_cert("127.0.0.7", not_after=long_ago, not_before=long_ago - timedelta(days=90)),
        ],
        start=5,
    ):
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate.configure_cert(tls)
        servers.append(WebServer(f"127.0.0.{n}", tls=tls))
    return servers


@pytest.mark.parametrize("robots", ["true", "false"])
def test_invalid_certificates_are_errors_of_their_pages(server: WebServer, tmp_path: Path, robots: str):
    """They are no network outage: the reason of each page is notified."""
    world = World(tmp_path / "data", server, fetch__robots=robots)
    others = _with_bad_certificates()
    for n, other in enumerate(others):
        other.__enter__()
        world.add(
            f"Create Sentinel s{n} Using {other.url('/a')} Monitor any change Fetch every 10 min Notify By console"
        )

    play(world, lambda monitor: world.pass_time(monitor, 5 * HOUR))
    for other in others:
        other.__exit__(None, None, None)

    assert [] == world.events("network.down")
    assert [1, 2, 3] == sorted(e.page_id for e in world.events("page.error"))
    assert 3 == world.console.getvalue().count("the certificate of")

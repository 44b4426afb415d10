"""A real `tidings serve` on PostgreSQL whose server, network and rivals are as bad as they get (S-5)."""

from __future__ import annotations

import signal
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.fakes import Page, WebServer
from tests.kill_loop import VARIABLES, KillLoop, Town
from tests.services import Installation, Service, until
from tests.stores import Terminator, own_postgres
from tests.tcp_proxy import TcpProxy
from tidings.storage.db import lock
from tidings.storage.db.connection import Connection
from tidings.storage.db.database import open_database
from tidings.storage.observed import polls

WAIT = 60.0


@pytest.fixture
def url() -> Iterator[str]:
    with own_postgres() as url:
        yield url


@pytest.fixture
def install(tmp_path: Path) -> Iterator[Callable[..., Installation]]:
    """Return a maker of installations whose services end with the test."""
    places: list[Installation] = []

    def make(url: str, **variables: str) -> Installation:
        named = {f"TIDINGS_{name.upper()}": value for name, value in variables.items()}
        directory = tmp_path / f"data{len(places)}"
        places.append(Installation(directory, {"TIDINGS_STORE_URL": url, "TIDINGS_FETCH_ROBOTS": "false", **named}))
        return places[-1]

    yield make
    for place in places:
        place.close()


def watch(place: Installation, web: WebServer) -> None:
    web.pages["/"] = Page(b"<p>one</p>", {"Content-Type": "text/html"})
    done = place.run(
        "add", "-", "--no-check", text=f"Create Sentinel s Using {web.url('/')} Monitor any change Fetch every 1 s"
    )
    assert 0 == done.returncode, done.stderr


def wait_for(service: Service, words: str) -> None:
    until(lambda: words in service.err, WAIT, f"nothing was said of {words!r}")


def test_connections_that_are_ended_and_kills_lose_nothing(tmp_path: Path, url: str):
    """While all connections are ended every two seconds, and after a kill with a start within the lease, every invariant holds and all is told."""
    with Town(hosts=2, pages=2, seed=5) as town:
        place = Installation(tmp_path / "data", {**VARIABLES, "TIDINGS_STORE_URL": url})
        try:
            terminator = Terminator(url, 2.0)

            def is_enough(kills: int) -> bool:
                return len(town.taken) >= 3 * (kills + 1) and terminator.cuts >= 2 * (kills + 1)

            report = KillLoop(place, town, seed=5).live(is_enough, during=terminator, kills=1)
        finally:
            place.close()

    assert [] == report.faults
    assert terminator.cuts > 0
    assert report.changes > 0
    assert report.received >= report.deliveries


def test_a_database_that_is_away_is_waited_for(url: str, install: Callable[..., Installation]):
    """A service that starts before its database waits and says so, goes on after an outage, shows one at /healthz, and ends when asked to meanwhile."""
    parts = urlsplit(url)
    with WebServer("127.0.0.2") as web, TcpProxy((parts.hostname or "", parts.port or 5432)) as proxy:
        through_proxy = parts._replace(netloc=f"{parts.netloc.rpartition(':')[0]}:{proxy.port}").geturl()
        place = install(through_proxy, fetch_host_gap_seconds="0")
        watch(place, web)
        proxy.is_out = True
        service = place.serve()
        wait_for(service, "Tidings tries again until it answers")
        proxy.mend()
        wait_for(service, "ready:")
        wait_for(service, "listening on")
        door = service.err.partition("listening on ")[2].split()[0]
        until(lambda: web.seen, WAIT, "nothing was looked at")
        proxy.is_out = True
        proxy.cut()
        until(lambda: _health(door) == (503, True), WAIT, "the outage does not show")
        seen = len(web.seen)
        proxy.mend()
        until(lambda: _health(door) == (200, False), WAIT, "the service does not go on")
        until(lambda: len(web.seen) > seen, WAIT, "nothing is looked at any more")
        proxy.is_out = True
        proxy.cut()
        until(lambda: _health(door) == (503, True), WAIT, "the second outage does not show")
        status, _ = service.terminate()

    assert 0 == status
    assert "Traceback" not in service.err
    assert [] == service.list_left_over()


def _health(door: str) -> tuple[int, bool]:
    """Return the status of /healthz, and whether it says that the database is lost."""
    try:
        with urllib.request.urlopen(f"{door}/healthz", timeout=5) as answer:
            return answer.status, b"database lost" in answer.read()
    except urllib.error.HTTPError as error:
        return error.code, b"database lost" in error.read()


def test_a_process_that_is_stopped_during_a_write_holds_nobody_up(url: str, install: Callable[..., Installation]):
    """F-38: the server ends its transaction before others have waited for `store.busy_seconds`. The
    process makes it again when it goes on.
    """
    first, second = (open_database(install(url, store_busy_seconds="4").settings) for _ in range(2))
    calls = []

    def write_slowly(c: Connection) -> str:
        calls.append("first")
        if len(calls) == 1:
            second.write(note)
        return "written"

    def note(c: Connection) -> None:
        calls.append("second")

    with closing(first), closing(second):
        done = first.write(write_slowly)

    assert "written" == done
    assert ["first", "second", "first"] == calls


def test_a_service_that_was_stopped_gives_way(url: str, install: Callable[..., Installation]):
    """Another machine takes over when the lease of a stopped process has ended; the first writes nothing when it goes on, and ends."""
    with WebServer("127.0.0.2") as web:
        first, second = (install(url, serve_lease_seconds="3", fetch_host_gap_seconds="0") for _ in range(2))
        watch(first, web)
        stopped = first.serve()
        stopped.wait_ready()
        until(lambda: web.seen, WAIT, "nothing was looked at")
        stopped.process.send_signal(signal.SIGSTOP)
        heir = second.serve()
        wait_for(heir, "ready:")
        stopped.process.send_signal(signal.SIGCONT)
        status = stopped.process.wait(timeout=WAIT)
        seen = len(web.seen)
        until(lambda: len(web.seen) > seen, WAIT, "the heir looks at nothing")
        epochs = [row.epoch for row in second.read(polls.listing)]
        held = second.read(lock.current_lease, lock.POLLER)
        ended, _ = heir.terminate()

    assert 3 == status
    assert "stopped:" in stopped.err
    assert sorted(epochs, reverse=True) == epochs
    assert held.epoch == epochs[0]
    assert 0 == ended

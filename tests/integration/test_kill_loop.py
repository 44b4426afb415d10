"""A real `tidings serve`, killed, stopped and started again while the web goes on (F-01 to F-04, F-34)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes import Page, Seen, WebServer, Wire, response
from tests.invariants import Asked, Limits, check_invariants
from tests.kill_loop import run_kill_loop
from tests.services import Installation, until

CYCLES = 4


@pytest.fixture
def web() -> Iterator[WebServer]:
    with WebServer("127.0.0.2") as running:
        yield running


@pytest.fixture
def install(tmp_path: Path) -> Iterator[Callable[..., Installation]]:
    """Return a maker of installations whose services end with the test."""
    places: list[Installation] = []

    def make(**variables: str) -> Installation:
        named = {f"TIDINGS_{name.upper()}": value for name, value in variables.items()}
        places.append(Installation(tmp_path / f"data{len(places)}", {"TIDINGS_FETCH_ROBOTS": "false", **named}))
        return places[-1]

    yield make
    for place in places:
        place.close()


def log_of(web: WebServer) -> list[Asked]:
    return [Asked(web.host, web.url(seen.path), seen.arrived, seen.arrived) for seen in web.seen]


def three_sentinels(web: WebServer) -> str:
    web.pages.update({f"/{n}": Page(b"<p>one</p>") for n in range(3)})
    return ";\n".join(
        f"Create Sentinel s{n} Using {web.url(f'/{n}')} Monitor any change Fetch every 1 s" for n in range(3)
    )


def wait_for_requests(web: WebServer, count: int) -> None:
    until(lambda: len(web.seen) >= count, 60, "nothing was asked", pause=0.001)


def test_random_kills_lose_nothing(tmp_path: Path):
    """Four kills at moments chosen by seed and traffic: every invariant holds, all that was acknowledged is there, all is told."""
    report = run_kill_loop(tmp_path, cycles=CYCLES, seed=3, hosts=2, pages_each=2)

    assert [] == report.faults
    assert CYCLES == report.cycles
    assert report.changes > 0
    assert report.received >= report.deliveries


def test_the_gap_of_a_host_outlives_a_kill(web: WebServer, install: Callable[..., Installation]):
    """I-4: a service that is killed as its request arrives does not ask that host again sooner when it is back."""
    place = install(fetch_host_gap_seconds="2.5", fetch_page_floor_seconds="0")
    assert 0 == place.run("add", "-", "--no-check", text=three_sentinels(web)).returncode
    for asked in (1, 2):
        service = place.serve()
        wait_for_requests(web, asked)
        service.kill()
    time.sleep(0.1)

    assert [] == check_invariants(place.settings, web=log_of(web), limits=Limits(gap=2.5, slack=0.5))


def test_kills_give_no_budget_back(web: WebServer, install: Callable[..., Installation]):
    """I-5: a budget of four requests is four requests, however often the service dies and comes back."""
    place = install(fetch_host_gap_seconds="0", budget_polls_per_day="0", budget_burst="4")
    assert 0 == place.run("add", "-", "--no-check", text=three_sentinels(web)).returncode
    for _ in range(2):
        service = place.serve()
        service.wait_ready()
        wait_for_requests(web, min(4, len(web.seen) + 1))
        service.kill()
    service = place.serve()
    service.wait_ready()
    time.sleep(0.7)
    status, _ = service.terminate()

    assert 0 == status
    assert len(web.seen) <= 4
    assert [] == check_invariants(place.settings, web=log_of(web), limits=Limits(rate=0, burst=4))


def test_sigterm_waits_for_nobody_who_hangs(web: WebServer, install: Callable[..., Installation]):
    """F-34: a page and a receiver that never answer hold up a stop for no longer than `serve.stop_seconds`; nothing is lost by it."""
    place = install(fetch_host_gap_seconds="0", fetch_host_connections="2", serve_stop_seconds="0.3")
    hung: list[str] = []

    def hang(seen: Seen, wire: Wire) -> None:
        hung.append(seen.path)
        wire.hang()

    def change(seen: Seen, wire: Wire) -> None:
        wire.send(response(Page(b"<p>edition %d</p>" % len(web.seen), {"Content-Type": "text/html"})))

    web.pages["/quick"] = change
    web.pages["/slow"] = web.pages["/hook"] = hang
    place.run(
        "add",
        "-",
        "--no-check",
        text=f"Create Sentinel slow Using {web.url('/slow')} Monitor any change;"
        f"Create Sentinel quick Using {web.url('/quick')} Monitor any change Fetch every 1 s"
        f" Notify By webhook {web.url('/hook')} immediate",
    )
    service = place.serve()
    until(lambda: {"/slow", "/hook"} <= set(hung), 60, "nobody hangs")
    status, seconds = service.terminate()

    assert 0 == status
    assert seconds < 20  # a fetch may take 30
    assert [] == service.list_left_over()
    assert [] == check_invariants(place.settings)
    assert "ERROR" not in service.err

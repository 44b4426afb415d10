"""Commands beside a running service: `check`, and verbs that write (contracts §2; F-10, F-24)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import command_writers
from tests.fakes import Page, Seen, WebServer, Wire, response
from tests.invariants import check_invariants
from tests.services import Installation, until
from tidings.storage.db.database import open_database

WRITERS = ("ada", "bob")
CALLS = 30
IMPATIENT = """
from tidings.cli.main import main
from tidings.cli.run import serve

serve.PATIENCE_SECONDS = 1.0
raise SystemExit(main(["serve"]))
"""
"""`tidings serve`, which waits a second only for another one to end."""


@pytest.fixture(scope="module")
def web() -> Iterator[WebServer]:
    """Yield a web whose pages change with every request."""

    def change(seen: Seen, wire: Wire) -> None:
        wire.send(response(Page(b"<p>edition %d</p>" % len(running.seen), {"Content-Type": "text/html"})))

    with WebServer("127.0.0.2") as running:
        running.pages.update({f"/{n}": change for n in range(4)})
        yield running


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, web: WebServer) -> Iterator[Installation]:
    """Yield an installation with a service that runs until the last test that needs it."""
    made = Installation(
        tmp_path_factory.mktemp("writers") / "data",
        {"TIDINGS_FETCH_ROBOTS": "false", "TIDINGS_FETCH_HOST_GAP_SECONDS": "0"},
    )
    done = made.run(
        "add",
        "-",
        "--no-check",
        text=f"Create Sentinel news Using {web.url('/0')} Monitor any change Fetch every 1 hour",
    )
    assert 0 == done.returncode, done.stderr
    made.serve().wait_ready()
    yield made
    made.close()


def test_check_is_answered_by_the_running_service(place: Installation, web: WebServer):
    """`check NAME` beside `serve` polls through it and prints what it found; the service goes on."""
    until(lambda: web.seen, 60, "the first check is missing")
    before = len(web.seen)
    done = [place.run("check", "news", "--json", "--exit-code") for _ in range(2)]
    records = [json.loads(line) for line in done[1].stdout.splitlines()]

    assert [1, 1] == [one.returncode for one in done], done
    assert ["poll", "change"] == [record["record"] for record in records]
    assert before + 2 == len(web.seen)
    assert place.services[0].process.poll() is None


def test_a_second_service_is_refused(place: Installation):
    """Two processes never poll for one directory: the second says whom it waits for, then ends with 3."""
    done = subprocess.run(
        [sys.executable, "-c", IMPATIENT],
        env=place.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert 3 == done.returncode
    assert 2 == done.stderr.count(f"process {place.services[0].process.pid}")
    assert "waiting up to 1 s" in done.stderr.splitlines()[0]
    assert place.services[0].process.poll() is None


def test_writers_beside_the_service_lose_nothing(place: Installation, web: WebServer):
    """Two processes that add, disable, enable and drop while the service commits: no error, no lost write, no damage."""
    urls = [web.url(f"/{n}") for n in range(4)]
    writers = [command_writers.start(place, name, CALLS, urls, cold=False) for name in WRITERS]
    calls = [call for writer in writers for call in command_writers.finish(writer, timeout=60)]
    expected = command_writers.ledger(calls)
    until(lambda: not place.read(command_writers.not_taken_in), 60, "the service has not taken in all that was written")
    (service,) = place.services
    status, _ = service.terminate()

    assert [] == [call for call in calls if call.status]
    assert len(WRITERS) * CALLS == len(calls)
    assert [] == place.read(command_writers.list_lost_writes, {**expected, "news": "enabled"})
    assert 0 == status
    assert "ERROR" not in service.err
    assert [] == check_invariants(place.settings)


def test_the_service_outlives_a_database_that_is_held(tmp_path: Path, web: WebServer):
    """F-10: somebody who writes for longer than `store.busy_seconds` is waited for; the service says so and goes on."""
    place = Installation(
        tmp_path / "held",
        {
            "TIDINGS_FETCH_ROBOTS": "false",
            "TIDINGS_FETCH_HOST_GAP_SECONDS": "0",
            "TIDINGS_STORE_BUSY_SECONDS": "0.1",
        },
    )
    place.run(
        "add", "-", "--no-check", text=f"Create Sentinel s Using {web.url('/0')} Monitor any change Fetch every 1 s"
    )
    service = place.serve()
    database = open_database(place.settings)
    try:
        until(lambda: "tidings: new" in service.err, 60, "the first check is missing")
        database.write(lambda _: until(lambda: "continues when" in service.err, 60, "the service says nothing"))
        seen = len(web.seen)
        until(lambda: len(web.seen) >= seen + 2, 60, "the service looks at nothing more")
        status, _ = service.terminate()
    finally:
        database.close()
        place.close()

    assert 0 == status
    assert [] == check_invariants(place.settings)

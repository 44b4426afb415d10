"""Promise: a process that polls and was stopped gives way once its lease has ended; should it go on later, it writes nothing more (S-8)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes import Page, WebServer
from tests.services import Installation, until
from tidings.clock import SystemClock
from tidings.errors import StaleEpochError
from tidings.storage.db.database import open_database
from tidings.storage.db.lock import (
    POLLER,
    LeaseRow,
    PollerLock,
    acquire_lease,
    check_epoch,
    current_lease,
    is_stopped,
    renew_lease,
)
from tidings.storage.observed import polls

WITHIN = """
import os, signal, sys
from pathlib import Path
from tidings.settings import Settings
from tidings.storage.db.lock import POLLER, acquire_lease
from tidings.storage.db.database import open_database
from tidings.storage.db.lock import PollerLock
database, lock = open_database(Settings(data=Path(sys.argv[1]))), PollerLock(Path(sys.argv[1]))
lock.acquire()
database.write(acquire_lease, POLLER, "here:1", at=1, until=2)
database.write(lambda c: os.kill(os.getpid(), signal.SIGSTOP))
"""
"""A process that polls and is stopped within a transaction."""


@pytest.fixture
def web() -> Iterator[WebServer]:
    with WebServer("127.0.0.2") as running:
        running.pages["/a"] = Page(b"<p>one", {"Content-Type": "text/html"})
        yield running


@pytest.fixture
def place(tmp_path: Path, web: WebServer) -> Iterator[Installation]:
    """An installation with one page, whose lease is short."""
    made = Installation(tmp_path / "data", {"TIDINGS_FETCH_ROBOTS": "false", "TIDINGS_SERVE_LEASE_SECONDS": "1"})
    made.run(
        "add", "-", "--no-check", text=f"Create Sentinel s Using {web.url('/a')} Monitor all words Fetch on demand"
    )
    yield made
    made.close()


def lease(place: Installation) -> LeaseRow:
    """Return the lease as it stands."""
    found: LeaseRow = place.read(current_lease, POLLER)
    return found


def test_check_takes_over_from_a_stopped_service_which_ends_when_it_goes_on(place: Installation) -> None:
    """`check` works and says so; the service that goes on finds that it is no longer the one that polls, and ends with 3."""
    service = place.serve()
    service.wait_ready()
    os.kill(service.process.pid, signal.SIGSTOP)
    try:
        until(lambda: lease(place).until < SystemClock().wall(), 30, "the lease does not end")
        ran = place.run("check", "s")
        epoch = lease(place).epoch
    finally:
        os.kill(service.process.pid, signal.SIGCONT)
    code = service.process.wait(timeout=60)

    assert (0, "1 checked, 0 changed") == (ran.returncode, ran.stdout.splitlines()[-1])
    assert f"process {service.process.pid} no longer works" in ran.stderr
    assert 2 == epoch
    assert 3 == code


def test_a_process_that_lives_keeps_its_lease(place: Installation) -> None:
    """A machine that slept finds leases that ended long ago: who renews its own at once keeps it, and is asked as ever."""
    service = place.serve()
    service.wait_ready()
    ran = place.run("check", "s")

    assert "no longer works" not in ran.stderr
    assert "1 checked, 0 changed" == ran.stdout.splitlines()[-1]
    assert 1 == lease(place).epoch


def test_who_was_stopped_within_a_commit_is_named(place: Installation) -> None:
    """Nobody can write while it holds the database: what to do is said, and nothing is taken over."""
    held = subprocess.Popen([sys.executable, "-c", WITHIN, str(place.directory)])
    child = held.pid
    try:
        until(lambda: is_stopped(child), 30, "it is not stopped")
        place.variables["TIDINGS_STORE_BUSY_SECONDS"] = "0.2"
        ran = place.run("check", "s")
        holder = PollerLock(place.directory).holder()
    finally:
        held.kill()
        held.wait()
    after = place.run("check", "s")

    assert 3 == ran.returncode
    assert f"kill -CONT {child}" in ran.stderr
    assert child == holder
    assert "1 checked, 0 changed" == after.stdout.splitlines()[-1]


def test_what_a_stopped_process_writes_later_is_refused(place: Installation) -> None:
    """Its epoch is stale: no look is charged, nothing renewed."""
    database = open_database(place.settings)
    try:
        old = database.write(acquire_lease, POLLER, "here:1", at=1, until=2)
        place.run("check", "s")
        count = len(database.read(polls.listing))
        with pytest.raises(StaleEpochError):
            database.write(renew_lease, POLLER, "here:1", old, until=4)
        with pytest.raises(StaleEpochError):
            database.write(check_epoch, old)
    finally:
        database.close()

    assert 1 == count


def test_a_lock_that_was_taken_over_is_that_of_the_taker(tmp_path: Path) -> None:
    """Others see its process, cannot take it, and what the first gives back later takes nothing from it."""
    first, second, third = (PollerLock(tmp_path) for _ in range(3))
    first.acquire()
    taken = second.take_over()
    (tmp_path / "lock").write_text((tmp_path / "lock").read_text())
    first.release()

    assert taken
    assert not third.acquire()
    second.release()
    assert third.acquire()


def test_of_two_takers_one_has_it(tmp_path: Path) -> None:
    """Whoever comes second finds another holder than it meant to overtake."""
    first, second = PollerLock(tmp_path), PollerLock(tmp_path)
    makers: list[Callable[[], bool]] = [first.take_over, second.take_over]

    assert [False, False] == [take() for take in makers]  # nobody has it: there is nothing to take over

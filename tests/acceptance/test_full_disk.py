"""Promise: a full disk stops nothing for good: the service says so, and continues with every page
within a minute of room (F-08).
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import WebServer
from tests.world import World, play, serve
from tidings.archive import files
from tidings.cli.main import main
from tidings.clock import HOUR, MINUTE, SECOND
from tidings.errors import StoreFullError, StoreMissingError, StoreStalledError
from tidings.service.run.from_settings import open_archive
from tidings.service.run.monitor import Monitor
from tidings.storage.db.connection import Connection
from tidings.storage.db.lock import PollerLock
from tidings.storage.observed import pages, polls, versions
from tidings.storage.write.store import Store

PAGES = 20


@pytest.fixture
def make_world(tmp_path: Path, server: WebServer) -> Callable[..., World]:
    """Return a function that makes worlds on SQLite: the disk of PostgreSQL is its server's."""
    return lambda **flags: World(tmp_path / "data", server, **flags)


def _watch(world: World, count: int = PAGES) -> None:
    for number in range(count):
        world.page(f"/{number}", _body(number, 1))
    clause = f"Notify By webhook {world.receiver()} immediate"
    world.add(
        ";".join(
            f"Create Sentinel s{n} Using {{/{n}}} Monitor any change Fetch every 1 min {clause}" for n in range(count)
        )
    )


def _body(number: int, edition: int) -> str:
    words = " ".join(f"w{number * edition * k}" for k in range(40 if number % 10 else 2_000))
    return f"<title>{number}</title><p>edition {edition}</p><p>{words}</p>"


async def _grow(monitor: Monitor, to: int) -> None:
    """Limit the database to this number of pages; SQLite never goes below the present size."""
    store = monitor.store
    await store._run(lambda: store._database._driver._raw.execute(f"PRAGMA max_page_count = {to}").fetchone())  # type: ignore[attr-defined]


async def _stand(world: World, monitor: Monitor, steps: int) -> int:
    """Run steps while the disk is full; return how many reported it."""
    refused = 0
    for _ in range(steps):
        try:
            await monitor.step()
        except StoreFullError as error:
            refused += "free some space" in str(error)
        await asyncio.sleep(0.005)
        world.clock.advance(SECOND)
    return refused


@pytest.fixture
def received(monkeypatch):
    """Return a switch that makes commits raise the error it is set to."""
    refusal: dict[str, Exception] = {}
    write, commit = Store.write, Store.commit

    async def refusing_write(store: Store, *given: Any, **more: Any) -> Any:
        if "error" in refusal:
            raise refusal["error"]
        return await write(store, *given, **more)

    async def refusing_commit(store: Store, units: Any) -> Any:
        return [refusal["error"]] * len(units) if "error" in refusal else await commit(store, units)

    monkeypatch.setattr(Store, "write", refusing_write)
    monkeypatch.setattr(Store, "commit", refusing_commit)
    return refusal


def test_every_page_continues_after_each_full_disk(world: World):
    """Twice the database cannot grow while all pages change: a minute after there is room, all are
    up to date; one report is sent.
    """
    _watch(world)

    with serve(world) as service:
        service.settle()
        for edition in range(2, 4):
            service.run(_grow(service.monitor, 1))
            for number in range(PAGES):
                world.page(f"/{number}", _body(number, edition))
            world.clock.advance(MINUTE)
            service.run(_stand(world, service.monitor, 20))
            states = Counter((s.health, s.kind) for _, s in world.read(pages.listing))
            assert states.keys() <= {("ok", ""), ("shaky", "disk")}
            service.run(_grow(service.monitor, 1_000_000))
            service.pass_time(MINUTE)
            stored = world.read(lambda c: [_body_of(world, c, number + 1) for number in range(PAGES)])
            assert [] == [number for number, body in enumerate(stored) if body != _body(number, edition)]
            assert [] == world.read(polls.open_polls)
    reports = [r for _, body in world.received for r in _records(body) if r.get("event") == "service.stalled"]

    assert 1 == len(reports)
    assert "checks could not be stored" in reports[0]["summary"]
    assert [] == world.violations()


def _body_of(world: World, connection: Connection, page_id: int) -> str:
    version = versions.newest(connection, page_id)
    assert version is not None
    archive = open_archive(world.settings, dialect="sqlite")
    return archive.restore(version.sha256, lambda sha256: versions.blob(connection, sha256)).decode()


def _records(body: Any) -> list[dict[str, Any]]:
    data = body.get("data", {})
    return data.get("records", [data]) if isinstance(data, dict) else list(data)


@pytest.mark.parametrize(
    "error",
    [
        StoreFullError("tidings.db cannot grow: database or disk is full; free some space"),
        StoreStalledError("tidings.db cannot be used: the file system is read-only"),
        StoreStalledError("tidings.db cannot be used: disk I/O error"),
        StoreStalledError("tidings.db cannot be used: Too many open files"),
        MemoryError(),
    ],
    ids=["full", "read-only", "error", "descriptors", "memory"],
)
def test_refused_commit_of_a_poll_is_retried(world: World, received, error, caplog):
    """The poll ends as error(disk), the page is polled again within a minute, and no traceback is
    printed.
    """
    _watch(world, 3)

    async def story(monitor: Monitor) -> None:
        await world.settle(monitor)
        for number in range(3):
            world.page(f"/{number}", _body(number, 2))
        world.clock.advance(MINUTE)
        await monitor.step()  # the looks are paid for
        received["error"] = error
        await asyncio.wait(monitor._tasks)
        trouble = PollerLock(world.settings.data).trouble()
        assert "nothing can be stored" in trouble
        del received["error"]
        await world.pass_time(monitor, MINUTE)
        assert "" == PollerLock(world.settings.data).trouble()

    play(world, story)

    assert {"disk"} == {poll.kind for poll in world.polls() if poll.outcome == "error"}
    assert [2, 2, 2] == [len(world.versions(n)) for n in (1, 2, 3)]
    assert [] == world.read(polls.open_polls)
    assert [] == [record for record in caplog.records if record.exc_info]
    assert [] == world.violations()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_body_that_cannot_be_written_keeps_the_poll_record(make_world, monkeypatch, code):
    """Any error of the file: the poll is recorded, the state is disk, and the next check stores the
    body.
    """
    world: World = make_world(store__blob_file_bytes="0")
    _watch(world, 2)

    def refuse(path: Any, content: bytes) -> None:
        raise OSError(code, errno.errorcode[code])

    with serve(world) as service:
        service.settle()
        world.page("/0", _body(0, 2))
        world.clock.advance(MINUTE)
        with monkeypatch.context() as patched:
            patched.setattr(files, "_write_durably", refuse)
            service.settle()
        ((_, ill), (_, well)) = world.read(pages.listing)
        assert ("shaky", "disk", "ok") == (ill.health, ill.kind, well.health)
        service.pass_time(MINUTE)
    failed = [poll for poll in world.polls(1) if poll.outcome == "error"]

    assert ["disk"] == [poll.kind for poll in failed]
    assert "could not be written" in failed[0].note
    assert [1, 2] == [version.seq for version in world.versions(1)]
    assert [] == world.events("page.error")
    assert [] == world.violations()


def test_message_sent_during_a_full_disk_is_not_sent_again(world: World, received):
    """The result is stored when there is room; the receiver gets no copy meanwhile."""
    _watch(world, 1)

    async def story(monitor: Monitor) -> None:
        await world.settle(monitor)
        world.page("/0", _body(0, 2))
        world.clock.advance(MINUTE)
        sent = monitor.sending.deliverer.attempt

        async def attempt(*given: Any, **more: Any) -> Any:
            unit = await sent(*given, **more)
            received["error"] = StoreFullError("full; free some space")
            return unit

        monitor.sending.deliverer.attempt = attempt  # type: ignore[method-assign]
        with contextlib.suppress(StoreFullError):
            await world.settle(monitor)
        assert 0 < await _stand(world, monitor, 30)
        monitor.sending.deliverer.attempt = sent  # type: ignore[method-assign]
        del received["error"]
        await world.pass_time(monitor, MINUTE)

    play(world, story)
    found = [body for _, body in world.received if body["type"] == "change.found"]

    assert 1 == len(found)
    assert {"delivered"} == {delivery.status for delivery in world.deliveries()}


def test_faults_an_hour_apart_are_two_reports(world: World, received):
    """Each has a report of its own."""
    _watch(world, 1)

    with serve(world) as service:
        service.settle()
        for _ in range(2):
            world.clock.advance(2 * HOUR)
            received["error"] = StoreFullError("full")
            service.run(_stand(world, service.monitor, 3))
            del received["error"]
            service.pass_time(MINUTE)

    assert 2 == len(world.events("service.stalled"))


def test_list_show_and_doctor_report_a_full_disk(world: World, received, capsys):
    """They give the reason and since when."""
    _watch(world, 1)

    with serve(world) as service:
        service.settle()
        world.clock.advance(MINUTE)
        received["error"] = StoreFullError("tidings.db cannot grow: database or disk is full; free some space")
        service.run(_stand(world, service.monitor, 1))
        for words in (["list"], ["show", "s0"], ["list", "--json"], ["doctor"]):
            main(["--data", str(world.directory), *words])
            assert "nothing can be stored: tidings.db cannot grow" in capsys.readouterr().out
        del received["error"]
        service.settle()
    main(["--data", str(world.directory), "list"])

    assert "STANDSTILL" not in capsys.readouterr().out


def test_service_ends_when_its_data_directory_is_removed(world: World):
    """It names the way out: its writes would be lost silently."""
    _watch(world, 1)

    async def story(monitor: Monitor) -> None:
        await world.settle(monitor)
        world.clock.advance(MINUTE)
        (world.directory / "tidings.db").rename(world.directory / "elsewhere.db")
        with pytest.raises(StoreMissingError, match="removed or replaced"):
            await monitor.step()

    with pytest.raises(StoreMissingError):
        play(world, story)

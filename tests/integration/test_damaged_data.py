"""Promise: what is damaged is never served silently: the service refuses with the way out, or goes on and says what is lost (S-4)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.damaged_data import PAGES, Made, body, try_damage
from tests.fakes import WebServer
from tests.world import World
from tidings.cli.main import main
from tidings.errors import StoreDamagedError
from tidings.service.run.monitor import Monitor
from tidings.storage.db import soundness
from tidings.storage.db.lock import PollerLock
from tidings.storage.db.soundness import Soundness
from tidings.storage.db.sqlite import sqlite3  # type: ignore[attr-defined]  # the library that Tidings itself uses

DAMAGES = 60
UNREAD = frozenset({"delivery", "event", "poll", "estimate", "subscription", "change", "digest", "version"})
"""Tables with values that nobody read in the hour after the damage; what was damaged there is noticed when it is."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a data directory that may be damaged."""
    with WebServer("127.0.0.1") as server:
        yield Made(tmp_path_factory.mktemp("damage"), server)


@pytest.mark.parametrize("first", range(0, DAMAGES, 10))
def test_sixty_damages_are_refused_or_told(made: Made, tmp_path: Path, first: int):
    """Flipped bits, zeroed pages, cut files, garbage, nonsense: no traceback, no refusal without a way out, nothing that was read is silent."""
    wrong = []
    for seed in range(first, first + 10):
        outcome = try_damage(made, tmp_path / str(seed), seed=seed)
        is_unread = outcome.what == "silent" and set(outcome.text.split(", ")) <= UNREAD
        if outcome.what not in {"refused", "told", "harmless"} and not is_unread:
            wrong.append(outcome)

    assert [] == wrong


def _spoil(world: World, statement: str) -> None:
    connection = sqlite3.connect(world.directory / "tidings.db")
    with connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("UPDATE page SET headers = '[[[' WHERE id = 1", "the page"),
        ("UPDATE page SET polled_at = 'x' WHERE id = 1", "the page"),
        ("UPDATE subscription SET missing = '{' WHERE page_id = 1", "what a sentinel knows of the page"),
        ("UPDATE sentinel_revision SET text = 'x' WHERE sentinel_id = 1", "the text of the sentinel s0"),
    ],
)
def test_a_row_that_makes_no_sense_is_set_aside_and_its_neighbours_go_on(made: Made, tmp_path: Path, statement, text):
    """Its owner is notified once, also over a second start; all other pages are looked at and their changes told."""
    world = made.copy(tmp_path / "data")
    _spoil(world, statement)
    before = world.read(lambda c: c.value("SELECT max(seq) FROM version"))
    for number in range(PAGES):
        world.page(f"/{number}", body(number, 99))

    async def start() -> None:
        async with world.monitor() as monitor:
            await world.settle(monitor)

    asyncio.run(start())
    asyncio.run(start())
    reports = [b["data"] for _, b in made.world.received + world.received if b["data"].get("event") == "data.damaged"]
    events = [row for row in world.read(lambda c: c.rows("SELECT type FROM event")) if row[0] == "data.damaged"]
    polled = world.read(lambda c: c.value("SELECT count(*) FROM version WHERE seq > :seq", seq=before))

    assert 1 == len(events)
    assert PAGES - 1 == polled
    assert not reports or text in reports[-1]["summary"]


def test_after_a_kill_a_damaged_database_is_refused_before_it_is_served(made: Made, tmp_path: Path, capsys):
    """`serve` and `check` name the fault, doctor, and how a copy is put back; the next start examines again."""
    world = made.copy(tmp_path / "data")
    path = world.directory / "tidings.db"
    root = next(row[0] for row in _rows(path, "SELECT rootpage FROM sqlite_master WHERE name = 'ix_change_page_id'"))
    data = bytearray(path.read_bytes())
    data[(root - 1) * 4096 : root * 4096] = bytes(4096)
    path.write_bytes(data)

    for _ in range(2):
        assert 3 == main(["--data", str(world.directory), "check"])
        text = capsys.readouterr().err
        assert "is damaged" in text
        assert "tidings doctor" in text
        assert "tidings restore --replace BACKUP" in text


def _rows(path: Path, text: str) -> list[tuple[int]]:
    connection = sqlite3.connect(path)
    try:
        return list(connection.execute(text))
    finally:
        connection.close()


def test_a_fault_that_is_found_later_ends_the_service(made: Made, tmp_path: Path, monkeypatch):
    """An examination that takes longer than two seconds goes on beside the service; what it finds ends it with the way out, and nothing more is written."""
    world = made.copy(tmp_path / "data")
    monkeypatch.setattr("tidings.service.run.only_poller.FIRST_SECONDS", 0.0)
    monkeypatch.setattr(soundness, "examine", lambda database, deep=False: ["row 7 is missing from an index"])

    async def story() -> None:
        async with world.monitor() as monitor:
            await _until_it_ends(world, monitor)

    with pytest.raises(StoreDamagedError, match="row 7 is missing"):
        asyncio.run(story())
    lock = PollerLock(world.directory)
    assert lock.acquire()
    assert lock.was_cut_off
    lock.release()


async def _until_it_ends(world: World, monitor: Monitor) -> None:
    while True:
        await monitor.step()
        await asyncio.sleep(0.001)


def test_a_whole_database_passes(made: Made, tmp_path: Path):
    """After a kill that harmed nothing the service starts, and a stop in order leaves no trace of the kill."""
    world = made.copy(tmp_path / "data")

    async def story() -> None:
        examination = Soundness(world.settings)
        examination.begin()
        await examination.wait(30)
        assert examination.is_whole
        async with world.monitor() as monitor:
            await world.settle(monitor)

    asyncio.run(story())
    lock = PollerLock(world.directory)

    assert lock.acquire()
    assert not lock.was_cut_off
    lock.release()

from __future__ import annotations

import os
import random
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stores import World
from tidings.errors import (
    SingleWriterError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreMissingError,
    TidingsError,
    UnitError,
)
from tidings.settings import Settings, StoreSettings
from tidings.storage import secrets
from tidings.storage.db import instance
from tidings.storage.db.connection import Connection
from tidings.storage.db.database import Database, open_database, quick_check
from tidings.storage.db.sqlite import SqliteDriver, library_version, needs_single_writer

OLD = (3, 40, 1)


def _close(world: World) -> Path:
    world.write(secrets.put, "a", "x" * 100_000)
    world.database.close()
    return world.settings.data / "tidings.db"


def test_file_has_wal_full_sync_and_foreign_keys(world: World):
    """Deleted content is overwritten too (`secure_delete`)."""
    driver = world.database._driver
    assert isinstance(driver, SqliteDriver)
    run = driver._raw.execute

    assert "wal" == run("PRAGMA journal_mode").fetchone()[0]
    assert 2 == run("PRAGMA synchronous").fetchone()[0]
    assert 1 == run("PRAGMA foreign_keys").fetchone()[0]
    assert 1 == run("PRAGMA secure_delete").fetchone()[0]


def test_journal_is_emptied_unless_a_reader_uses_it(world: World):
    """With a reader, the journal stays until the next time. The waiting time of writers is
    unchanged.
    """
    driver = world.database._driver
    assert isinstance(driver, SqliteDriver)
    journal = world.settings.data / "tidings.db-wal"
    reader = world.reopen()
    world.write(secrets.put, "a", "x" * 100_000)

    def meanwhile(c: Connection) -> None:
        secrets.listing(c)
        world.write(secrets.put, "a", "y")
        world.database.clear_journal()

    reader.read(meanwhile)
    left = journal.stat().st_size
    world.database.clear_journal()

    assert left > 100_000
    assert 0 == journal.stat().st_size
    assert round(world.settings.store.busy_seconds * 1000) == driver._raw.execute("PRAGMA busy_timeout").fetchone()[0]
    reader.close()


def test_new_directory_is_private(tmp_path: Path):
    """The directory is made with its parents, and only its owner can read it."""
    data = tmp_path / "a" / "b"
    open_database(Settings(data=data)).close()

    assert 0o700 == data.stat().st_mode & 0o777
    assert (data / "USED").read_text().startswith("Tidings uses this directory")


def test_used_directory_without_its_database_is_refused(world: World):
    """A lost database is never replaced by an empty one; the message says how to go on (F-12)."""
    path = _close(world)
    path.unlink()

    with pytest.raises(StoreMissingError, match="restore --replace BACKUP"):
        open_database(world.settings)
    assert not path.exists()


def test_directory_without_a_database_is_not_changed(tmp_path: Path):
    """With `create` off, not even the directory is made."""
    with pytest.raises(StoreMissingError, match="tidings add"):
        open_database(Settings(data=tmp_path / "new"), create=False)
    assert [] == list(tmp_path.iterdir())


def test_restored_database_is_opened_and_marked(world: World):
    """A restore leaves a copy without the marker `USED`."""
    _close(world)
    (world.settings.data / "USED").unlink()
    database = open_database(world.settings)

    assert ["a"] == database.read(secrets.names)
    assert (world.settings.data / "USED").stat().st_size
    database.close()


def test_interrupted_first_use_is_completed(tmp_path: Path):
    """An empty marker and an empty file show a first use that did not end: the database is made."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "USED").touch()
    (data / "tidings.db").touch()
    database = open_database(Settings(data=data))

    assert [] == database.read(secrets.names)
    database.close()


@pytest.mark.parametrize(
    ("what", "content"),
    [
        ("it is empty", b""),
        ("not an SQLite database", b"<html>" * 100),
        ("not an SQLite database", b"SQLite format 3\0"),
    ],
)
def test_file_that_is_no_database_is_refused(world: World, what: str, content: bytes):
    """A file that is empty, foreign or truncated stays as it is; the error has the command that
    repairs it.
    """
    path = _close(world)
    path.write_bytes(content)

    with pytest.raises(StoreDamagedError, match=f"{what}.*restore --replace BACKUP"):
        open_database(world.settings)
    assert content == path.read_bytes()


def test_truncated_database_is_refused(world: World):
    """The header names a larger size."""
    path = _close(world)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 4096)

    with pytest.raises(StoreDamagedError, match="should have"):
        open_database(world.settings)


def test_corrupted_page_is_detected(world: World):
    """Random bytes are an error at opening or a finding of `quick_check`, never data."""
    path = _close(world)
    chance = random.Random(3)
    for page in (1, 2, 5, 30):
        whole = path.read_bytes()
        noise = whole[: page * 4096] + chance.randbytes(4096) + whole[(page + 1) * 4096 :]
        data = world.settings.data.with_name(f"garbled-{page}")
        data.mkdir()
        (data / "tidings.db").write_bytes(noise)
        (data / "USED").write_text("used")
        assert [] != _findings(data)


def _findings(data: Path) -> list[str]:
    try:
        database = open_database(Settings(data=data))
    except StoreDamagedError as error:
        return [str(error)]
    found = quick_check(database)
    database.close()
    return found


def test_torn_journal_ends_at_a_commit(world: World, tmp_path: Path):
    """Wherever the write-ahead log is cut or corrupted, a whole prefix of the commits remains
    (F-06).
    """
    for number in range(40):
        world.write(secrets.put, f"{number:03}", "x" * 200)
    data = world.settings.data
    log = (data / "tidings.db-wal").read_bytes()
    chance = random.Random(7)
    cuts = [0, 1, 31, 32, 33, len(log) - 1, *(chance.randrange(len(log)) for _ in range(30))]
    found = []
    for number, cut in enumerate(cuts):
        copy = tmp_path / f"copy-{number}"
        copy.mkdir()
        shutil.copy(data / "tidings.db", copy)
        shutil.copy(data / "USED", copy)
        tail = chance.randbytes(len(log) - cut) if number % 2 else b""
        (copy / "tidings.db-wal").write_bytes(log[:cut] + tail)
        database = open_database(Settings(data=copy))
        names = database.read(secrets.names)
        assert [f"{i:03}" for i in range(len(names))] == names
        assert [] == quick_check(database)
        assert database.read(instance.load) == world.read(instance.load)
        database.close()
        found.append((cut, len(names)))

    counts = [count for _, count in sorted(found)]
    assert sorted(counts) == counts
    assert 39 == counts[-1]


def test_write_to_a_locked_database_raises_busy(world: World):
    """The write waits for `store.busy_seconds`. The error means that the write can be repeated
    (F-10).
    """
    other = open_database(Settings(data=world.settings.data, store=StoreSettings(busy_seconds=0.05)))

    def while_held(c: object) -> None:
        with pytest.raises(StoreBusyError, match=r"0\.05 s .*store\.busy_seconds"):
            other.write(secrets.put, "a", "b")

    world.write(while_held)
    other.write(secrets.put, "a", "c")

    assert "c" == world.read(secrets.get, "a")
    other.close()


def test_full_disk_is_a_temporary_error(world: World):
    """The write fails as a whole, and works again once there is space (F-08)."""
    driver = world.database._driver
    assert isinstance(driver, SqliteDriver)
    pages = driver._raw.execute("PRAGMA page_count").fetchone()[0]
    driver._raw.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="free some space") as caught:
        world.write(secrets.put, "big", "x" * 100_000)
    assert not isinstance(caught.value, UnitError)

    driver._raw.execute("PRAGMA max_page_count = 100000")
    world.write(secrets.put, "big", "y")
    assert "y" == world.read(secrets.get, "big")


def test_versions_of_sqlite_that_need_a_single_writer():
    """3.51.3, 3.50.7 and 3.44.6 have the fix of the race; the versions between and before them do
    not.
    """
    unsafe = [(3, 7, 0), OLD, (3, 44, 5), (3, 45, 9), (3, 50, 6), (3, 51, 2)]
    safe = [(3, 44, 6), (3, 50, 7), (3, 51, 3), (3, 53, 0), (4, 0, 0)]

    assert [True] * 6 + [False] * 5 == [needs_single_writer(version) for version in unsafe + safe]
    assert 3 == library_version()[0]


@pytest.fixture
def old(world: World) -> Iterator[Database]:
    """Yield the same database with an old version of SQLite."""
    driver = SqliteDriver(world.settings.data, busy_seconds=0.05, version=OLD)
    yield Database(driver)
    driver.close()


_HOLD = """
import sys
from pathlib import Path
from tidings.storage.db.lock import PollerLock
lock = PollerLock(Path(sys.argv[1]))
print(lock.acquire(), flush=True)
sys.stdin.read()
"""


def test_old_sqlite_does_not_write_while_another_process_polls(old: Database, world: World):
    """In single-writer mode, writes are refused while another process has the lock; reads are not
    (contracts §2).
    """
    old.write(secrets.put, "a", "b")
    command = [sys.executable, "-c", _HOLD, str(world.settings.data)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as poller:
        assert poller.stdin is not None
        assert poller.stdout is not None
        assert "True" == poller.stdout.readline().strip()
        with pytest.raises(SingleWriterError, match=f"process {poller.pid} is polling"):
            old.write(secrets.put, "a", "c")
        assert "b" == old.read(secrets.get, "a")
        assert not world.database.single_writer
        world.write(secrets.put, "a", "d")
        poller.stdin.close()
    old.write(secrets.put, "a", "e")

    assert old.single_writer
    assert "e" == world.read(secrets.get, "a")


def test_old_sqlite_writers_take_turns(old: Database, world: World):
    """In single-writer mode, a write waits for the whole transaction of the other, with its
    checkpoint.
    """
    second = Database(SqliteDriver(world.settings.data, busy_seconds=0.05, version=OLD))

    def while_held(c: object) -> None:
        with pytest.raises(StoreBusyError, match="another process wrote"):
            second.write(secrets.put, "a", "b")
        with pytest.raises(StoreBusyError, match="another process wrote"):
            second.clear_journal()

    old.write(while_held)
    second.clear_journal()
    second.write(secrets.put, "a", "c")
    assert "c" == old.read(secrets.get, "a")
    second.close()


def test_sqlite_errors_become_tidings_errors(world: World):
    """The error names the file."""
    for text in ("SELECT nothing FROM nowhere", "INSERT INTO tag (sentinel_id, name) VALUES (99, 'x')"):
        with pytest.raises(TidingsError, match=r"tidings\.db"):
            world.write(Connection.execute, text)


def test_database_files_are_private_in_an_open_folder(tmp_path: Path):
    """The files are 0600 under umask 0. Files that an older version left open to others are made
    private.
    """
    data = tmp_path / "open"
    data.mkdir(mode=0o777)
    before = os.umask(0)
    try:
        database = open_database(Settings(data=data))
        database.write(lambda c: c.execute("UPDATE owner SET name = 'x'"))
        assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in data.glob("tidings.db*")}
        database.close()
        (data / "tidings.db").chmod(0o644)
        (data / "tidings.db.before-migration-from-0001").touch(0o666)
        open_database(Settings(data=data)).close()
    finally:
        os.umask(before)

    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in data.glob("tidings.db*")}


@pytest.mark.parametrize("connections", [1, 2, 3])
def test_reader_of_another_process_deletes_no_journal(tmp_path: Path, connections: int):
    """A process that opens the file again keeps its locks, so no other one takes itself for the
    last. What is written after that is found by the next process.
    """
    settings = Settings(data=tmp_path)
    opened = [open_database(settings) for _ in range(connections)]
    if connections == 3:
        opened.pop().close()
    read = f"import sqlite3; c = sqlite3.connect({str(tmp_path / 'tidings.db')!r}); "
    read += "print(c.execute('SELECT count(*) FROM secret').fetchone()[0]); c.close()"

    def count() -> str:
        return subprocess.run([sys.executable, "-c", read], capture_output=True, text=True, check=True).stdout.strip()

    assert "0" == count()
    assert (tmp_path / "tidings.db-wal").exists()
    opened[0].write(secrets.put, "a", "x")
    assert "1" == count()
    for database in opened:
        database.close()
    assert "1" == count()

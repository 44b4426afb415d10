"""Promise: data restored from any kind of older copy never reuses an id."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.world import World, serve
from tidings.clock import HOUR
from tidings.storage.db import instance
from tidings.storage.db.database import open_database

Restore = Callable[[Path, Path], None]

pytestmark = pytest.mark.parametrize("make_world", ["sqlite"], indirect=True)
"""A data directory is put back here; on PostgreSQL the database is the server's."""


def _whole(copy: Path, data: Path) -> None:
    """Replace the data by the copied directory."""
    shutil.rmtree(data)
    shutil.copytree(copy, data)


def _move(copy: Path, data: Path) -> None:
    """Move the copied directory to the place of the data."""
    shutil.rmtree(data)
    shutil.copytree(copy, copy.with_name("second"))
    copy.rename(data)
    copy.with_name("second").rename(copy)


def _archive(copy: Path, data: Path) -> None:
    """Unpack an archive, which restores modification times."""
    archive = shutil.make_archive(str(data.with_name("archive")), "tar", copy)
    shutil.rmtree(data)
    shutil.unpack_archive(archive, data, filter="data")


def _in_place(copy: Path, data: Path) -> None:
    """Copy over the existing files."""
    shutil.copytree(copy, data, dirs_exist_ok=True)


def _database_alone(copy: Path, data: Path) -> None:
    """Restore only the database."""
    for name in ("tidings.db", "tidings.db-wal", "tidings.db-shm"):
        (data / name).unlink(missing_ok=True)
        if (copy / name).exists():
            shutil.copy2(copy / name, data / name)


def _database_in_a_new_directory(copy: Path, data: Path) -> None:
    """Keep only the key of the old directory."""
    shutil.rmtree(data)
    data.mkdir(mode=0o700)
    for name in ("tidings.db", "secrets.key"):
        shutil.copy2(copy / name, data / name)


def _change(world: World, text: str) -> None:
    """Serve this text and let the service find it, from its start to its end."""
    with serve(world) as service:
        service.settle()
        world.page("/a", f"<p>{text}</p>")
        service.pass_time(HOUR)


def _watch(world: World) -> None:
    world.page("/a", "<p>one</p>")
    world.add(
        f"Create Sentinel s Using {{/a}} Monitor all words Fetch every 1 hour Notify by webhook {world.receiver()}"
    )
    _change(world, "one")


def _ids(world: World) -> list[str]:
    return [headers["webhook-id"] for headers, _ in world.received]


@pytest.mark.parametrize("restore", [_whole, _move, _archive, _in_place, _database_alone, _database_in_a_new_directory])
def test_restored_copy_gives_new_ids(world: World, tmp_path: Path, restore: Restore):
    """A copy is restored twice; messages and changes have other ids each time."""
    _watch(world)
    copy = tmp_path / "copy"
    shutil.copytree(world.directory, copy)
    for text in ("two", "three", "four"):
        _change(world, text)
        restore(copy, world.directory)
    output = [message["data"] for _, message in world.received]

    assert (
        5 == len(_ids(world)) == len(set(_ids(world)))
    )  # one → two, and from the second round on also what the copy has missed
    assert 5 == len({data["id"] for data in output})
    assert "four" == output[-1]["updated"][0]["new"]


def test_restored_copy_is_noticed_after_new_events(world: World, tmp_path: Path):
    """The database alone is restored and gets as many events by `add` as it lost."""
    _watch(world)
    copy = tmp_path / "copy"
    shutil.copytree(world.directory, copy)
    _change(world, "two")
    _database_alone(copy, world.directory)
    world.clock.advance(HOUR)
    for name in "tuvwxyz":
        world.add(f"Create Sentinel {name} Using {{/b}} Monitor all words Fetch on demand")
    _change(world, "three")

    assert 3 == len(_ids(world)) == len(set(_ids(world)))
    assert 1 == len(world.events("data.restored"))


def test_data_that_was_not_restored_keeps_its_epoch(world: World):
    """Starts, stops, a moved directory and a copy that is only read: retries keep their id."""
    _watch(world)
    for text in ("two", "three"):
        _change(world, text)
        elsewhere = world.directory.rename(world.directory.with_name("elsewhere"))
        shutil.copytree(elsewhere, world.directory.with_name(f"copy-{text}"))
        elsewhere.rename(world.directory)
    _change(world, "four")

    assert 0 == world.read(instance.load).restore_epoch
    assert [] == world.events("data.restored") == world.violations()


@pytest.mark.parametrize("line", [b"", b"\0" * 42])
def test_truncated_line_is_ignored(world: World, line: bytes):
    """The file of numbers is not synced: a power cut must not make good data look restored."""
    _watch(world)
    (world.directory / "numbers").write_bytes(line)
    _change(world, "two")

    assert 0 == world.read(instance.load).restore_epoch


def test_data_of_older_versions_is_accepted(world: World):
    """An installation without these files continues."""
    _watch(world)
    for name in ("place", "numbers"):
        (world.directory / name).unlink()
    database = open_database(world.settings)
    database.write(instance.set_place, "")
    database.close()
    _change(world, "two")

    assert 0 == world.read(instance.load).restore_epoch
    assert 1 == len(_ids(world))

"""Promise: data that is put back from an older copy gives out no id twice, whatever was copied and however."""

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
    """Put the copied directory in the place of the data."""
    shutil.rmtree(data)
    shutil.copytree(copy, data)


def _move(copy: Path, data: Path) -> None:
    """Move the copied directory there."""
    shutil.rmtree(data)
    shutil.copytree(copy, copy.with_name("second"))
    copy.rename(data)
    copy.with_name("second").rename(copy)


def _archive(copy: Path, data: Path) -> None:
    """Unpack an archive, which carries over every time of modification."""
    archive = shutil.make_archive(str(data.with_name("archive")), "tar", copy)
    shutil.rmtree(data)
    shutil.unpack_archive(archive, data, filter="data")


def _in_place(copy: Path, data: Path) -> None:
    """Copy over the files that are there."""
    shutil.copytree(copy, data, dirs_exist_ok=True)


def _database_alone(copy: Path, data: Path) -> None:
    """Put the database back and nothing else."""
    for name in ("tidings.db", "tidings.db-wal", "tidings.db-shm"):
        (data / name).unlink(missing_ok=True)
        if (copy / name).exists():
            shutil.copy2(copy / name, data / name)


def _database_in_a_new_directory(copy: Path, data: Path) -> None:
    """Keep nothing of the old directory but its key."""
    shutil.rmtree(data)
    data.mkdir(mode=0o700)
    for name in ("tidings.db", "secrets.key"):
        shutil.copy2(copy / name, data / name)


def _change(world: World, text: str) -> None:
    """Let the page read so, and let the service find it: from its start to its end."""
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
def test_an_older_copy_gives_other_ids_to_other_news(world: World, tmp_path: Path, restore: Restore):
    """A copy is put back twice; what is found each time has ids of its own, of messages and of changes."""
    _watch(world)
    copy = tmp_path / "copy"
    shutil.copytree(world.directory, copy)
    for text in ("two", "three", "four"):
        _change(world, text)
        restore(copy, world.directory)
    said = [message["data"] for _, message in world.received]

    assert (
        5 == len(_ids(world)) == len(set(_ids(world)))
    )  # one → two, and from the second round on also what the copy has missed
    assert 5 == len({data["id"] for data in said})
    assert "four" == said[-1]["updated"][0]["new"]


def test_a_copy_is_noticed_although_something_was_added_to_it_first(world: World, tmp_path: Path):
    """The database is put back alone, and gets as many events by `add` as it had lost before the service runs."""
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


def test_data_that_was_never_put_back_keeps_its_epoch(world: World):
    """Starts, stops, a moved directory and a copy that is only read change nothing: what is sent again keeps its id."""
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
def test_a_line_that_a_power_cut_left_unfinished_says_nothing(world: World, line: bytes):
    """The file of numbers is not waited for; what is left of it must not turn good data into a copy."""
    _watch(world)
    (world.directory / "numbers").write_bytes(line)
    _change(world, "two")

    assert 0 == world.read(instance.load).restore_epoch


def test_data_of_before_is_taken_for_itself(world: World):
    """An installation that has no such files yet goes on as it was."""
    _watch(world)
    for name in ("place", "numbers"):
        (world.directory / name).unlink()
    database = open_database(world.settings)
    database.write(instance.set_place, "")
    database.close()
    _change(world, "two")

    assert 0 == world.read(instance.load).restore_epoch
    assert 1 == len(_ids(world))

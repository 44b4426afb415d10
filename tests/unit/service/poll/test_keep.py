"""New bodies: small ones are planned within the commit, those that may need a file before it."""

import asyncio
import hashlib
import random
from pathlib import Path

import pytest

from tests.stores import World
from tidings.archive.archive import Archive
from tidings.model.observed.unit import Unit
from tidings.model.observed.version import NewBody
from tidings.service.poll.keep import Keeper, keeping
from tidings.storage.write.store import Store

FILE_BYTES = 2_000


def new_body(size: int, former_size: int = 0) -> NewBody:
    body = random.Random(size).randbytes(size)
    return NewBody(body, hashlib.sha256(body).hexdigest(), "f" * 64 if former_size else "", former_size)


def commit_kept(world: World, folder: Path, *bodies: NewBody) -> Unit:
    """Return the unit that is passed to the commit."""
    committed: list[Unit] = []

    async def commit(unit: Unit) -> None:
        committed.append(unit)

    async def run() -> None:
        store = Store(world.reopen())
        archive = Archive(folder, file_bytes=FILE_BYTES, chain_length=8)
        await Keeper(store, archive, commit).keep(Unit(at=1, epoch=1, bodies=bodies))
        await store.close()

    asyncio.run(run())
    (unit,) = committed
    return unit


def test_small_bodies_are_left_to_the_commit(world: World, tmp_path: Path):
    """Small bodies fit into a row even without compression. Nothing is written to the disk."""
    unit = commit_kept(world, tmp_path / "blobs", new_body(1_000), new_body(FILE_BYTES - 64, former_size=50))

    assert (2, 0) == (len(unit.bodies), len(unit.blobs))
    assert [] == [*(tmp_path / "blobs").rglob("*")]


@pytest.mark.parametrize("large", [new_body(FILE_BYTES + 1), new_body(10, former_size=FILE_BYTES)])
def test_bodies_that_may_need_a_file_are_planned_before_the_commit(world: World, tmp_path: Path, large: NewBody):
    """The new body or its former version is large. The whole unit is planned then."""
    unit = commit_kept(world, tmp_path / "blobs", new_body(1_000), large)

    assert () == unit.bodies
    assert [new_body(1_000).sha256, large.sha256] == [blob.sha256 for blob in unit.blobs]
    files = {blob.file for blob in unit.blobs if blob.file}
    assert files == {
        path.relative_to(tmp_path / "blobs").as_posix() for path in (tmp_path / "blobs").rglob("*.*") if path.is_file()
    }
    assert bool(files) == (len(large.body) > FILE_BYTES)


def test_large_body_within_a_commit_is_refused(world: World, tmp_path: Path):
    """The file would be younger than its row."""
    keep = keeping(Archive(tmp_path / "blobs", file_bytes=FILE_BYTES, chain_length=8))

    with pytest.raises(ValueError, match="before the commit"):
        world.read(keep, new_body(FILE_BYTES * 2))

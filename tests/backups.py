"""A data directory with bodies in rows and in files, and a comparison of two such directories."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import sys
import tarfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from tidings.archive.archive import Archive
from tidings.clock import HOUR
from tidings.model.observed.version import Blob
from tidings.service.backup.backup import at_rest, back_up
from tidings.service.backup.restore import restore, verify
from tidings.service.sentinels import register
from tidings.settings import Settings, load
from tidings.storage.db.database import Database, open_database
from tidings.storage.observed import versions
from tidings.storage.watches import sentinels

NOON = 1_700_000_000_000_000
BODIES = 3


def fill(data: Path, name: str) -> Settings:
    """Make a data directory with a sentinel of that name, and a chain of bodies of which the
    newest is a file.
    """
    settings = load(data, environment={})
    with contextlib.closing(open_database(settings)) as database:
        text = f"Create Sentinel {name} Using https://{name}.example/ Monitor all words Notify by feed"
        register.register(database, text, settings=settings, now=NOON)
        archive = Archive(data / "blobs", file_bytes=100, chain_length=10)
        for number in range(BODIES):
            put(database, archive, f"{name} {number} ".encode() + os.urandom(2_000))
    return settings


def put(database: Database, archive: Archive, body: bytes) -> None:
    """Keep one more body, which is the file."""
    sha256 = hashlib.sha256(body).hexdigest()
    plan = archive.plan(body, sha256, None, None)
    archive.write_files(plan)
    database.write(versions.put_blobs, plan.blobs)
    archive.remove(plan.garbage)


def content(data: Path) -> tuple[list[str], int]:
    """Return the names of the sentinels, and how many bodies are given back whole."""
    with contextlib.closing(open_database(at_rest(data), create=False)) as database:
        archive = Archive(data / "blobs", file_bytes=100, chain_length=10)

        def lookup(sha256: str) -> Blob | None:
            return database.read(versions.blob, sha256)

        bodies = [archive.restore(blob.sha256, lookup) for blob in database.read(versions.blobs)]
        return [row.name for row in database.read(sentinels.listing)], len(bodies)


def pack(path: Path, members: Mapping[str, bytes | tarfile.TarInfo]) -> Path:
    """Write a tar of whatever members, the list of them last unless one is given."""
    with tarfile.open(path, "w") as tar:
        for name, member in members.items():
            if isinstance(member, tarfile.TarInfo):
                tar.addfile(member)
                continue
            header = tarfile.TarInfo(name)
            header.size = len(member)
            tar.addfile(header, io.BytesIO(member))
    return path


# -- kills

WRITES = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "shutil.rmtree", "sqlite3.connect"}


def kill_at(number: int, work: Callable[[], object]) -> bool:
    """Do something in a child that dies as it makes its n-th call to the file system; return
    whether it got to that.
    """
    child = os.fork()
    if child == 0:
        count = 0

        def refuse(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal count
            if event in WRITES and (event != "open" or _writes(arguments)):
                count += 1
                if count == number:
                    os._exit(9)

        sys.addaudithook(refuse)
        work()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def _writes(arguments: tuple[object, ...]) -> bool:
    flags = arguments[2]
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def enumerate_restores(folder: Path) -> dict[str, object]:
    """Kill a restore at each of its calls in turn; return how many there were, and each state
    found that is neither before nor after.
    """
    fill(folder / "new", "new")
    package = back_up(load(folder / "new", environment={}), folder / "new.tar", at=NOON).path
    before, after = (["old"], BODIES), (["new"], BODIES)
    wrong, states, number = [], [], 0
    while True:
        number += 1
        data = folder / f"data-{number}"
        settings = fill(data, "old")
        was_killed = kill_at(number, partial(restore, settings, package, at=NOON, ask=None, replace=True))
        found = content(data)
        states.append(found[0][0])
        if found not in (before, after) or (data / "restored").exists():
            wrong.append(f"{number}: {found}")
        restore(settings, package, at=NOON + HOUR, ask=None, replace=True)
        if content(data) != after or (data / "restoring").exists():
            wrong.append(f"{number}, again: {content(data)}")
        if not was_killed:
            return {"kills": number - 1, "wrong": wrong, "states": states}


def enumerate_backups(folder: Path) -> dict[str, object]:
    """Kill a backup at each of its calls in turn; the file is whole or not there, and the next
    backup clears what was left.
    """
    settings = fill(folder / "data", "only")
    wrong, number = [], 0
    while True:
        number += 1
        target = folder / f"to-{number}" / "b.tar"
        target.parent.mkdir()
        was_killed = kill_at(number, partial(back_up, settings, target, at=NOON))
        if target.exists():
            verify(target, deep=True)
        back_up(settings, target, at=NOON, overwrite=True)
        verify(target, deep=True)
        left = [path.name for path in target.parent.iterdir()] + [
            p.name for p in (folder / "data/blobs/held").iterdir()
        ]
        if sorted(left) != ["b.tar", "lock"]:
            wrong.append(f"{number}: {left}")
        if not was_killed:
            return {"kills": number - 1, "wrong": wrong}


if __name__ == "__main__":
    kind = {"restore": enumerate_restores, "backup": enumerate_backups}[sys.argv[1]]
    print(json.dumps(kind(Path(sys.argv[2]))))

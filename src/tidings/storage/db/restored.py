"""The last step of a restore: replace the content of a data directory by what was read from a
backup.

A restore prepares everything in `restoring/`, which has no effect. One rename to `restored/`
decides it: from then on whoever opens the database finishes it first, so that an interrupted
restore happens either not at all or completely. Each step is idempotent. The previous content is
moved into `before-restore-TIME/`, never deleted.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tidings import disk
from tidings.errors import StoreBusyError, StoreStalledError

PREPARED: Final = "restoring"
DECIDED: Final = "restored"
ASIDE: Final = "before-restore"
OLD: Final = ".old"
"""Suffix within `restored/` of the previous content, until the end."""
PLACES: Final = ("place", "numbers")
"""Files by which an older copy is detected (docs/decisions/0045); a restored directory starts
without them, with a new epoch.
"""
DATABASE: Final = "tidings.db"
OWN: Final = (DATABASE, "blobs", "secrets.key", "tidings.toml")
"""What a backup may hold; the database goes first, with the files that SQLite stores beside it."""
SEARCH: Final = ("search.db", "search.db-wal", "search.db-shm")
"""The search index of the previous content; restored content is indexed again."""
SEARCHES: Final = ("searches.db", "searches.db-wal", "searches.db-shm", "searches.db-journal")
"""What was searched for, by numbers of owners, which the restored database may give to others."""
BESIDE: Final = (f"{DATABASE}-wal", f"{DATABASE}-shm", *PLACES, *SEARCH, *SEARCHES)
PUT_BACK: Final = "tidings restore --replace BACKUP"
"""The command that puts a file of `tidings backup` in place of a lost or damaged database."""
_WAIT_SECONDS: Final = 10.0


def decide(data: Path) -> None:
    """Commit to a prepared restore; from here on it happens, if need be at the next opening."""
    disk.sync(data / PREPARED)
    (data / PREPARED).rename(data / DECIDED)
    disk.sync(data)


def finish(data: Path) -> None:
    """Finish a restore that was decided, if there is one; several processes may call this at once.

    Raises `StoreBusyError` while another process takes too long, `StoreStalledError` if the
    directory cannot be written.
    """
    if not (data / DECIDED).is_dir():
        return
    try:
        with _alone(data):
            if (data / DECIDED).is_dir():
                _carry_out(data)
    except OSError as error:
        raise StoreStalledError(
            f"{data}: a restore waits to be finished and cannot be: {error.strerror or error};"
            " check owner, rights and free space"
        ) from error


def _carry_out(data: Path) -> None:
    decided = data / DECIDED
    old = decided / OLD
    old.mkdir(mode=0o700, exist_ok=True)
    if (decided / DATABASE).exists():
        for name in BESIDE:
            _move(data / name, old / name)
    for name in OWN:
        if (decided / name).exists():
            _move(data / name, old / name)
            (decided / name).rename(data / name)
            disk.sync(data)
    mark_used(data)
    if not any(old.iterdir()):
        shutil.rmtree(decided)
    else:
        old.rename(_aside(data))
        shutil.rmtree(decided)
    disk.sync(data)


def mark_used(data: Path) -> None:
    """Mark a directory as having a database, as its first opening does."""
    handle = os.open(data / "USED", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.pwrite(
            handle,
            b"Tidings uses this directory. While this file is here, a lost tidings.db is never made anew.\n",
            0,
        )
        os.fsync(handle)
    finally:
        os.close(handle)


def _aside(data: Path) -> Path:
    """Return an unused folder name."""
    stem = f"{ASIDE}-{time.strftime('%Y-%m-%d-%H%M%S', time.gmtime())}"
    names = (stem, *(f"{stem}-{number}" for number in range(2, 1_000)))
    return next(data / name for name in names if not (data / name).exists())


def _move(source: Path, target: Path) -> None:
    if source.exists() and not target.exists():
        source.rename(target)


@contextlib.contextmanager
def _alone(data: Path) -> Iterator[None]:
    handle = os.open(data, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if not disk.lock(handle, seconds=_WAIT_SECONDS):
            raise StoreBusyError(f"another process is restoring {data}; try again")
        yield
    finally:
        os.close(handle)

"""Files that must survive a crash or belong to one process: syncing and locking."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

_PAUSE_SECONDS = 0.005


def sync(path: Path) -> None:
    """Make the content of a file durable, or the creations, renames and deletions in a folder."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def lock(handle: int, *, seconds: float = 0.0, shared: bool = False) -> bool:
    """Lock an open file until it is closed; return False if another process still has it after
    `seconds`.
    """
    kind = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB
    deadline = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(handle, kind)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_PAUSE_SECONDS)
        else:
            return True

"""The poller's lock: flock on `lock` in the data directory (contracts.md §2). The system drops it when its process ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from pathlib import Path

_TRIES = 20
_PAUSE_SECONDS = 0.005


class PollerLock:
    """The right of one process to poll and deliver for a data directory; its pid is written in the file, for messages."""

    def __init__(self, data: Path) -> None:
        self._path = data / "lock"
        self._file: int | None = None

    def acquire(self) -> bool:
        """Take the lock; return False if another process has it. Taking it twice is allowed.

        Somebody who only looks (`holder`) has the file for an instant; so a lock without a living holder is tried again.
        """
        if self._file is not None:
            return True
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        for _ in range(_TRIES):
            if _flock(handle, fcntl.LOCK_EX):
                os.ftruncate(handle, 0)
                os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
                self._file = handle
                return True
            if _is_alive(_read_pid(handle)):
                break
            time.sleep(_PAUSE_SECONDS)
        os.close(handle)
        return False

    def holder(self) -> int | None:
        """Return the pid of the process that has the lock (0 if it has not said so yet), or None if nobody has."""
        if self._file is not None:
            return os.getpid()
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            return None if _flock(handle, fcntl.LOCK_SH) else _read_pid(handle)
        finally:
            os.close(handle)

    def release(self) -> None:
        """Give the lock back, if it is held."""
        if self._file is None:
            return
        os.ftruncate(self._file, 0)
        os.close(self._file)
        self._file = None


def _flock(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read_pid(handle: int) -> int:
    text = os.pread(handle, 32, 0).strip()
    return int(text) if text.isdigit() else 0


def _is_alive(pid: int) -> bool:
    if not pid:
        return False
    with contextlib.suppress(PermissionError):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
    return True

"""The poller's lock: flock on `lock` in the data directory (contracts §2), and what keeps that
directory from being written.

The system drops the lock when its process ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from pathlib import Path
from typing import Final

from tidings.errors import StoreStalledError

LEAST_BYTES: Final = 64 * 1024
"""With less room than this no version and no transaction of some size can be stored."""
_TRIES = 20
_PAUSE_SECONDS = 0.005
_ROOM = 1_024


class PollerLock:
    """The right of one process to poll and deliver for a data directory.

    The file says who has it, and what keeps that process from its work; it is emptied when the lock is given back, so that a process which
    was cut off leaves a trace. It has its room on the disk from the start: a full one takes what is said there.
    """

    def __init__(self, data: Path) -> None:
        self._path = data / "lock"
        self._mark = data / "lease"
        self._file: int | None = None
        self.was_cut_off = False
        """whether the process that had the lock before ended without giving it back; known once it is taken"""
        self.left_by = ""
        """the name that the last process with this lock `mark`ed and never gave back: it has died; empty in a copy of the directory"""

    def acquire(self) -> bool:
        """Take the lock; return False if another process has it. Taking it twice is allowed.

        Somebody who only looks (`holder`) has the file for an instant; so a lock without a living holder is tried again.
        Raises `StoreStalledError` if the file cannot be made or written.
        """
        if self._file is not None:
            return True
        try:
            return self._acquire()
        except OSError as error:
            raise StoreStalledError(
                f"{self._path} cannot be written: {error.strerror or error}; check free space, owner and rights"
            ) from error

    def _acquire(self) -> bool:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for _ in range(_TRIES):
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                is_mine = _flock(handle, fcntl.LOCK_EX)
                if self._is_current(handle):
                    if is_mine:
                        self.was_cut_off = bool(_read_pid(handle))
                        self.left_by = self._read_mark() if self.was_cut_off else ""
                        os.pwrite(handle, _content(""), 0)
                        os.fsync(handle)
                        self._file, handle = handle, -1
                        return True
                    if _is_alive(_read_pid(handle)):
                        break
            finally:
                if handle >= 0:
                    os.close(handle)
            time.sleep(_PAUSE_SECONDS)
        return False

    def take_over(self) -> bool:
        """Take the lock although a process has it that does nothing any more; return False if another was quicker.

        The file is replaced: that process keeps the lock of a file that nobody opens any more. Whoever calls this fences what it may still
        write, should it go on: `leases.acquire` raises the epoch.
        """
        turn = os.open(self._path.with_name(f"{self._path.name}.turn"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            holder = self.holder()
            if holder is None or not _flock(turn, fcntl.LOCK_EX) or self.holder() != holder:
                return False
            new = self._path.with_name(f"{self._path.name}.new")
            new.unlink(missing_ok=True)
            handle = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            fcntl.flock(handle, fcntl.LOCK_EX)
            os.pwrite(handle, _content(""), 0)
            os.fsync(handle)
            new.replace(self._path)
            self._file, self.was_cut_off = handle, True
        finally:
            os.close(turn)
        return True

    def _is_current(self, handle: int) -> bool:
        """Return whether an open file is still the one of that name: another process may have replaced it."""
        try:
            return os.path.samestat(os.fstat(handle), self._path.stat())
        except FileNotFoundError:
            return False

    def say(self, trouble: str) -> None:
        """Let others read what keeps this process from its work, "" for nothing; on a disk that takes not even that they read nothing."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.pwrite(self._file, _content(trouble), 0)

    def trouble(self) -> str:
        """Return what keeps the process that has the lock from its work, "" if nothing does or nobody has it."""
        try:
            handle = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return ""
        try:
            said = os.pread(handle, _ROOM, 0).decode(errors="replace").partition("\n")[2].strip()
        except OSError:
            return ""
        finally:
            os.close(handle)
        return said if said and self.holder() is not None else ""

    def holder(self) -> int | None:
        """Return the pid of the process that has the lock (0 if it has not said so yet), or None if nobody has."""
        if self._file is not None:
            return os.getpid()
        try:
            handle = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            pid = _read_pid(handle)
            return None if _flock(handle, fcntl.LOCK_SH) else pid
        finally:
            os.close(handle)

    def mark(self, holder: str) -> None:
        """Note under which name the lease is taken, so that the next process knows whether a lease is that of a process that died here."""
        if self._file is not None:
            with contextlib.suppress(OSError):  # without it the next process waits for the lease
                self._mark.write_text(f"{os.fstat(self._file).st_ino} {holder}\n")

    def _read_mark(self) -> str:
        try:
            inode, _, holder = self._mark.read_text(errors="replace").strip().partition(" ")
            return holder if inode == str(self._path.stat().st_ino) else ""
        except OSError:
            return ""

    def release(self, *, cut_off: bool = False) -> None:
        """Give the lock back, if it is held; `end_earlier_epochs` leaves the trace of a process that was cut off."""
        if self._file is None:
            return
        with contextlib.suppress(OSError):
            if not cut_off:
                os.ftruncate(self._file, 0)
        os.close(self._file)
        self._file = None


def is_stopped(pid: int) -> bool:
    """Return whether a process of this machine was stopped (SIGSTOP, Ctrl-Z, a debugger); False where the system does not say."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[:1] in (["T"], ["t"])


def _content(trouble: str) -> bytes:
    """Return what the file says, always of one size."""
    return f"{os.getpid()}\n{' '.join(trouble.split())}".encode()[: _ROOM - 1].ljust(_ROOM - 1) + b"\n"


def _flock(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read_pid(handle: int) -> int:
    text = os.pread(handle, 32, 0).partition(b"\n")[0].strip()
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


def hindrance(data: Path) -> str:
    """Return why nothing can be written to a directory now: no room, no inodes, a read-only file system; "" if nothing shows."""
    try:
        left = os.statvfs(data)
    except FileNotFoundError:
        return ""  # it is made when it is needed
    except OSError as error:
        return error.strerror or str(error)
    if left.f_flag & os.ST_RDONLY:
        return "the file system is read-only"
    free = left.f_bavail if os.geteuid() else left.f_bfree  # root may use what is reserved
    if left.f_blocks and free * left.f_frsize < LEAST_BYTES:
        return "no room is left on the disk"
    if left.f_files and not left.f_favail:
        return "the disk takes no more files (no inode is free)"
    return ""


def standstill(data: Path) -> str:
    """Return what keeps polls of pages from being stored now: what the process that polls says, else what the file system shows; "" for nothing."""
    if said := PollerLock(data).trouble():
        return said
    shown = hindrance(data)
    return f"nothing can be stored in {data}: {shown}" if shown else ""

"""The poller's lock: flock on `lock` in the data directory (contracts §2), and why the directory
cannot be written.

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
"""With less free space than this, no version and no large transaction can be stored."""
_TRIES = 20
_PAUSE_SECONDS = 0.005
_ROOM = 1_024


class PollerLock:
    """The right of one process to poll and deliver for a data directory.

    The file names the holder and what prevents it from working. It is emptied on release, so a
    crashed process leaves a trace. Its space is allocated from the start, so that it can be written
    on a full disk.
    """

    def __init__(self, data: Path) -> None:
        self._path = data / "lock"
        self._mark = data / "lease"
        self._file: int | None = None
        self.was_cut_off = False
        """whether the previous holder ended without releasing the lock; known once it is
        acquired
        """
        self.left_by = ""
        """the name that a crashed previous holder set with `mark`; empty in a copy of the
        directory
        """

    def acquire(self) -> bool:
        """Acquire the lock; return False if another process has it. Acquiring it twice is allowed.

        A reader (`holder`) locks the file for an instant, so a lock without a living holder is
        retried. Raises `StoreStalledError` if the file cannot be created or written.
        """
        if self._file is not None:
            return True
        try:
            return self._acquire()
        except OSError as error:
            raise StoreStalledError(
                f"{self._path} cannot be written: {error.strerror or error}; check free space, owner and permissions"
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
        """Take the lock from a process that has hung; return False if another was quicker.

        The file is replaced: the old process keeps the lock of a file that nobody opens any more.
        The caller must fence its later writes: `leases.acquire` raises the epoch.
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
        """Return whether an open file is still the one at the path: another process may have
        replaced it.
        """
        try:
            return os.path.samestat(os.fstat(handle), self._path.stat())
        except FileNotFoundError:
            return False

    def say(self, trouble: str) -> None:
        """Publish what prevents this process from working, "" for nothing; if the disk is too full
        even for that, publish nothing.
        """
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.pwrite(self._file, _content(trouble), 0)

    def trouble(self) -> str:
        """Return what prevents the holder from working, "" if nothing does or the lock is free."""
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
        """Return the pid of the holder (0 if it has not written it yet), or None if the lock is
        free.
        """
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
        """Store the name under which the lease is held, so that the next process can recognize the
        lease of a process that crashed here.
        """
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
        """Release the lock if it is held; with `cut_off`, leave the trace of a crash, for
        `end_earlier_epochs`.
        """
        if self._file is None:
            return
        with contextlib.suppress(OSError):
            if not cut_off:
                os.ftruncate(self._file, 0)
        os.close(self._file)
        self._file = None


def is_stopped(pid: int) -> bool:
    """Return whether a local process is stopped (SIGSTOP, Ctrl-Z, a debugger); False where the
    system cannot say.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[:1] in (["T"], ["t"])


def _content(trouble: str) -> bytes:
    """Return the content of the file, always of one size."""
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
    """Return why a directory cannot be written now: no space, no inodes, a read-only file system;
    "" if no reason is found.
    """
    try:
        left = os.statvfs(data)
    except FileNotFoundError:
        return ""  # it is created on demand
    except OSError as error:
        return error.strerror or str(error)
    if left.f_flag & os.ST_RDONLY:
        return "the file system is read-only"
    free = left.f_bavail if os.geteuid() else left.f_bfree  # root may use the reserved blocks
    if left.f_blocks and free * left.f_frsize < LEAST_BYTES:
        return "the disk is full"
    if left.f_files and not left.f_favail:
        return "the disk has no room for more files (no free inode)"
    return ""


def standstill(data: Path) -> str:
    """Return what prevents polls from being stored now: as the polling process reports it, else as
    the file system shows; "" for nothing.
    """
    if said := PollerLock(data).trouble():
        return said
    shown = hindrance(data)
    return f"nothing can be stored in {data}: {shown}" if shown else ""

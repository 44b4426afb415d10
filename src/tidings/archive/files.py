"""Files under `blobs/`: their names, `ab/cd/SHA256.MARK`, and their atomic writes: temporary file,
fsync, rename, fsync of the folder.

Every name is validated before it becomes a path, and no symbolic link is followed at its end. The
mark changes each time a file is written, so that a name in garbage is never reused.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from tidings import disk
from tidings.errors import BlobError, StoreBusyError, StoreFullError, StoreStalledError

TEMPORARY: Final = "tmp"
HELD: Final = "held"
"""The folder for files that are deleted during a backup, until it ends."""
_HOLD_TRIES: Final = 200
CLOSED: Final = os.O_CLOEXEC | os.O_NOFOLLOW
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class BlobFiles:
    """The files of one directory, made when the first one is written."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def write(self, name: str, content: bytes) -> None:
        """Write a file durably. Raise `StoreStalledError` if the disk fails."""
        target = self._path(name)
        temporary = self._directory / TEMPORARY / f"{target.name}.{secrets.token_hex(4)}"
        try:
            self._make(temporary.parent)
            self._make(target.parent)
            _write_durably(temporary, content)
            temporary.rename(target)
            disk.sync(target.parent)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            reason = error.strerror or str(error)
            known = StoreFullError if error.errno in _FULL else StoreStalledError
            raise known(f"{target} could not be written: {reason}; nothing of this version was stored") from error

    def read(self, name: str) -> bytes:
        """Return the content of a file, also of one set aside for a backup. Raise `OSError` if it
        cannot be read.
        """
        with self.open_within_hold(name) as file:
            return file.read()

    def remove(self, name: str) -> None:
        """Unlink a file; a missing one is fine. Raise `StoreStalledError` if it cannot be
        unlinked.
        """
        path = self._path(name)
        try:
            if self._is_held():
                with contextlib.suppress(FileNotFoundError):
                    path.rename(self._directory / HELD / path.name)
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreStalledError(f"{path} could not be removed: {error.strerror or error}") from error

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Keep deleted files readable by `open_within_hold` meanwhile: for a backup, which copies
        the database first and its files after it.

        A file is deleted only after a commit without rows that name it. So every file named by a
        copy of the database that was made meanwhile is in its place, or set aside. Leftovers of an
        interrupted backup are deleted here. Raises `StoreBusyError` while another process holds.
        """
        self._make(self._directory / HELD)
        handle = os.open(self._directory / HELD / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            for attempt in range(_HOLD_TRIES):
                if disk.lock(handle):
                    break
                if attempt == _HOLD_TRIES - 1:
                    raise StoreBusyError(f"another backup of {self._directory.parent} is being made; wait for its end")
                time.sleep(0.005)  # a process that only tests the lock has it for an instant
            self._clear_set_aside()
            yield
            self._clear_set_aside()
        finally:
            os.close(handle)

    def open_within_hold(self, name: str) -> BinaryIO:
        """Open a file within `hold`, in its place or where it was set aside. Raise `OSError` if it
        is missing.
        """
        path = self._path(name)
        try:
            descriptor = os.open(path, os.O_RDONLY | CLOSED)
        except FileNotFoundError:
            descriptor = os.open(self._directory / HELD / path.name, os.O_RDONLY | CLOSED)
        return os.fdopen(descriptor, "rb")

    def _is_held(self) -> bool:
        try:
            handle = os.open(self._directory / HELD / "lock", os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            return not disk.lock(handle, shared=True)
        finally:
            os.close(handle)

    def _clear_set_aside(self) -> None:
        for entry in _entries(self._directory / HELD):
            if entry.name != "lock":
                (self._directory / HELD / entry.name).unlink(missing_ok=True)

    def sweep(self, known: Collection[str]) -> tuple[str, ...]:
        """Unlink half-written files and files of ours that are not `known`; return their names."""
        orphans = [name for name in self._names() if name not in known]
        for name in orphans:
            self.remove(name)
        halves = [entry.name for entry in _entries(self._directory / TEMPORARY) if entry.is_file(follow_symlinks=False)]
        for half in halves:
            (self._directory / TEMPORARY / half).unlink(missing_ok=True)
        return (*orphans, *(f"{TEMPORARY}/{half}" for half in halves))

    def _names(self) -> Iterator[str]:
        for first in _entries(self._directory):
            for second in _entries(Path(first.path)) if first.is_dir(follow_symlinks=False) else ():
                for file in _entries(Path(second.path)) if second.is_dir(follow_symlinks=False) else ():
                    name = f"{first.name}/{second.name}/{file.name}"
                    if is_file_name(name) and file.is_file(follow_symlinks=False):
                        yield name

    def _path(self, name: str) -> Path:
        if not is_file_name(name):
            raise BlobError(f"{name!r} is no file of the archive; `tidings doctor` shows which rows are damaged")
        return self._directory / name

    def _make(self, folder: Path) -> None:
        """Create a folder and its parents up to the directory, each entry synced."""
        if folder.is_dir():
            return
        if folder != self._directory:
            self._make(folder.parent)
        folder.mkdir(mode=0o700, parents=folder == self._directory, exist_ok=True)
        disk.sync(folder.parent)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except FileNotFoundError:
        return []


def _write_durably(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | CLOSED, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


_NAME: Final = re.compile(r"([0-9a-f]{2})/([0-9a-f]{2})/(\1\2[0-9a-f]{60})\.[0-9a-f]{1,32}")


def file_name(sha256: str, mark: str) -> str:
    """Return the path of a blob's frame, relative to `blobs/`; `mark` is 1 to 32 hexadecimal
    digits.
    """
    return f"{sha256[:2]}/{sha256[2:4]}/{sha256}.{mark}"


def is_file_name(name: str) -> bool:
    """Return whether this is a valid name of the archive: such a path stays inside `blobs/`."""
    return _NAME.fullmatch(name) is not None

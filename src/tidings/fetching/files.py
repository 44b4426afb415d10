"""Local files: pages at file: addresses, off unless directories are allowed.

A path is resolved first, with symbolic links; the result must lie below an allowed directory. It is
then opened step by step from that directory on, without following links, so that none can be
inserted meanwhile. Only regular files are read, up to a limit. Device and process files are never
opened, whatever directories are allowed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from email.utils import formatdate
from mimetypes import guess_type
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from tidings.errors import AddressError
from tidings.fetching.fetcher import FetchError
from tidings.model.observed.outcome import Failed, Fetched, Unchanged, Validators
from tidings.record import dataclass

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.fetching.fetcher import Fetcher, Permit
    from tidings.model.interval import Instant
    from tidings.model.observed.outcome import FetchRequest, Outcome
    from tidings.settings import FetchSettings

SCHEME: Final = "file:"
HOST: Final = "file"
"""The pseudo-host of all files: it has no gap, since no server is asked."""
NEVER: Final = ("/proc", "/sys", "/dev")
"""Directories of system files, which are never documents."""
_CHUNK: Final = 1 << 20
_SETTLED_NS: Final = 2_000_000_000
"""On some file systems (2 s on FAT) a file written so recently can be rewritten with the same time
of change.
"""
_STEP: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LAST: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Stamp:
    """The metadata that reveals a change of a file without reading it: time of change (ns since
    1970), size in bytes, inode.
    """

    mtime_ns: int
    size: int
    inode: int

    @property
    def etag(self) -> str:
        """Return it as a validator."""
        return f'"{self.mtime_ns:x}-{self.size:x}-{self.inode:x}"'

    def is_settled(self, wall: Instant) -> bool:
        """Return whether any write after `wall` gives another stamp; the file was read after
        `wall`, too.
        """
        return wall * 1_000 - self.mtime_ns > _SETTLED_NS


def is_file(url: str) -> bool:
    """Return whether an address names a file."""
    return url[: len(SCHEME)].lower() == SCHEME


def rebuild(url: str) -> str:
    """Return the only form in which a file: address is stored. Raise `AddressError` for an invalid
    one.
    """
    rest = url[len(SCHEME) :]
    try:
        path = unquote(rest.partition("#")[0][2:], errors="strict") if rest.startswith("///") else ""
    except UnicodeDecodeError as error:
        message = (
            f"Tidings will not watch {url[:100]!r}: its path is not in UTF-8; Tidings reads no file of such a name"
        )
        raise AddressError(message) from error
    if not path or "?" in rest:
        raise AddressError(f"Tidings will not watch {url[:100]!r}: it has no file name; write file:///srv/report.html")
    if ".." in path.split("/") or not path.isprintable():
        message = f"Tidings will not watch {url[:100]!r}: its path has .. or a control character; write the whole path"
        raise AddressError(message)
    return "file://" + quote(str(PurePosixPath("/" + path.lstrip("/"))))


def path_of(url: str) -> str:
    """Return the path of a rebuilt file: address."""
    return unquote(url[len("file://") :])


def is_below(path: str, directories: Sequence[str]) -> bool:
    """Return whether a path, as written, is below one of the directories; links are resolved when
    it is read.
    """
    return any(PurePosixPath(path).is_relative_to(directory) for directory in directories)


def read(path: str, directories: Sequence[str], most: int, known: str = "") -> tuple[Stamp, bytes | None]:
    """Return the stamp of a file, and its content unless the stamp is the `known` one (an etag).

    Raises `FetchError`: `address` (not allowed), `404` (not there), `denied` (no permission),
    `request` (no regular file), `size` (more than `most` bytes), `net` (the disk failed).

    Args:
        path: The file.
        directories: The directories below which files may be read.
        most: The most bytes that are read.
        known: The known stamp, empty for none.
    """
    with _open_checked(path, directories) as descriptor:
        stamp = _stamp(descriptor)
        if stamp.etag == known:
            return stamp, None
        if stamp.size > most:
            raise FetchError("size", f"the file has {stamp.size:,} bytes, more than the {most:,} that are read")
        body = _body(descriptor, most + 1)
        if len(body) > most:
            raise FetchError("size", f"the file has more than the {most:,} bytes that are read")
        return stamp, body


@dataclass(frozen=True, slots=True)
class FileHead:
    """The beginning of a file; `body` is None if its stamp is the known one."""

    stamp: Stamp
    body: bytes | None


@dataclass(frozen=True, slots=True)
class Unread:
    """Why a file could not be read; `is_gone`: it does not exist."""

    reason: str
    is_gone: bool = False


def head(path: str, directories: Sequence[str], most: int, known: str = "") -> FileHead | Unread:
    """Return the first `most` bytes of a file, unless its stamp is the `known` one (an etag); a
    failure is a value, too.

    Args:
        path: The file.
        directories: The directories below which files may be read.
        most: The most bytes that are read.
        known: The known stamp, empty for none.
    """
    try:
        with _open_checked(path, directories) as descriptor:
            stamp = _stamp(descriptor)
            return FileHead(stamp, None if stamp.etag == known else _body(descriptor, most))
    except FetchError as error:
        return Unread(str(error), is_gone=error.kind == "404")


@contextmanager
def _open_checked(path: str, directories: Sequence[str]) -> Iterator[int]:
    try:
        descriptor = _open(path, directories)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FetchError("404", "there is no such file", status=404) from error
    except PermissionError as error:
        raise FetchError("denied", "the file cannot be read: Tidings has no permission") from error
    except OSError as error:
        raise FetchError("net", f"the file cannot be read: {error.strerror or type(error).__name__}") from error
    except ValueError as error:
        raise FetchError("address", "this is not the path of a file") from error
    try:
        yield descriptor
    except OSError as error:
        raise FetchError("net", f"the file cannot be read: {error.strerror or type(error).__name__}") from error
    finally:
        os.close(descriptor)


def _open(path: str, directories: Sequence[str]) -> int:
    real = PurePosixPath(os.path.realpath(path))
    roots = [PurePosixPath(os.path.realpath(directory)) for directory in directories]
    root = next((root for root in roots if real.is_relative_to(root)), None)
    if root is None or any(real.is_relative_to(never) for never in NEVER):
        where = f"it leads to {real}, which" if str(real) != path else "it"
        raise FetchError("address", f"the file is not read: {where} is not in an allowed directory")
    *steps, last = real.relative_to(root).parts or (".",)
    at = os.open(root, _STEP)
    try:
        for step in steps:
            below = os.open(step, _STEP, dir_fd=at)
            os.close(at)
            at = below
        mode = os.stat(last, dir_fd=at, follow_symlinks=False).st_mode
        if not stat.S_ISREG(mode):
            raise FetchError("request", f"this is {_kind(mode)}, not a regular file")
        return os.open(last, _LAST, dir_fd=at)
    finally:
        os.close(at)


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a directory"
    return "a pipe, a socket or a device"


def _stamp(descriptor: int) -> Stamp:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):  # it was replaced between stat and open
        raise FetchError("request", f"this is {_kind(found.st_mode)}, not a regular file")
    return Stamp(found.st_mtime_ns, found.st_size, found.st_ino)


def _body(descriptor: int, most: int) -> bytes:
    parts: list[bytes] = []
    left = most
    while left > 0 and (part := os.read(descriptor, min(left, _CHUNK))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


class FileFetcher:
    """Reads file: addresses below `fetch.allow_files` (`fetcher.Fetcher`); `others` fetches all
    other pages, and is closed with it.

    Nothing leaves the machine: no permit is used, so there is no gap and no robots.txt. Redirects
    and frames of web pages never come here: their fetcher handles them.
    """

    def __init__(self, settings: FetchSettings, others: Fetcher, *, clock: Clock) -> None:
        self._settings = settings
        self._others = others
        self._clock = clock
        self._closed = False

    async def fetch(self, request: FetchRequest, permit: Permit) -> Outcome:
        """Read a file, or delegate to `others`; see `fetcher.Fetcher.fetch`."""
        if not is_file(request.url):
            return await self._others.fetch(request, permit)
        if self._closed:
            return Failed(kind="net", reason="the fetcher is closed", requests=0)
        if request.render or request.method != "GET" or request.body is not None:
            return Failed(
                kind="request", reason="a file cannot have Render, Method or Body; leave them out", requests=0
            )
        import asyncio  # here: commands that fetch nothing start faster

        return await asyncio.to_thread(self._read, request)

    async def close(self) -> None:
        """Close the fetcher of other pages; files are closed as soon as they are read."""
        self._closed = True
        await self._others.close()

    def _read(self, request: FetchRequest) -> Outcome:
        settings, url = self._settings, request.url
        if not settings.allow_files:
            return Failed(
                kind="address", reason="files are not allowed here: fetch.allow_files has no directory", requests=0
            )
        before = self._clock.wall()
        try:
            stamp, body = read(
                path_of(url), settings.allow_files, settings.max_body_bytes, request.validators.etag or ""
            )
        except FetchError as error:
            return Failed(kind=error.kind, reason=str(error), status=error.status, final_url=url, requests=0)
        if body is None:
            return Unchanged(final_url=url, requests=0, validators=request.validators)
        modified = formatdate(stamp.mtime_ns // 1_000_000_000, usegmt=True)
        return Fetched(
            body=body,
            final_url=url,
            status=200,
            headers={"last-modified": modified},
            content_type=guess_type(path_of(url))[0],
            requests=0,
            wire_bytes=len(body),
            validators=Validators(stamp.etag if stamp.is_settled(before) else None, None),
        )

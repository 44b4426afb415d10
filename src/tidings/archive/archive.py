"""Bodies under `blobs/`: files are written before their rows, and bodies are restored exactly.

Every method may block on the disk and may be called from any thread. The crash-safe order
(contracts §1, F-06): `write_files`, commit of the rows, `remove`; leftovers of a crash are found by
`sweep` at the next start.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import BinaryIO

from tidings.archive import blobs
from tidings.archive.blobs import WritePlan
from tidings.archive.files import BlobFiles
from tidings.errors import BlobError
from tidings.model.observed.version import Blob

__all__ = ["KEEP_BYTES", "Archive", "Lookup", "WritePlan"]


class Holds:
    """Locks by name; belongs to one event loop."""

    def __init__(self) -> None:
        self._held: set[str] = set()
        self._waiting: list[asyncio.Future[None]] = []

    @asynccontextmanager
    async def hold(self, *names: str) -> AsyncIterator[None]:
        """Wait until none of `names` is held, then hold all of them at once, which prevents
        deadlocks.
        """
        wanted = set(names)
        while wanted & self._held:
            freed = asyncio.get_running_loop().create_future()
            self._waiting.append(freed)
            await freed
        self._held |= wanted
        try:
            yield
        finally:
            self._held -= wanted
            self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for freed in waiting:
            if not freed.done():
                freed.set_result(None)


class BodyCache:
    """The most recently used bodies, together at most `most_bytes`; a body larger than half of that
    is not cached.

    Thread-safe.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._size = 0
        self._bodies: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, sha256: str) -> bytes | None:
        """Return the body if it is cached."""
        with self._lock:
            body = self._bodies.get(sha256)
            if body is not None:
                self._bodies.move_to_end(sha256)
            return body

    def keep(self, sha256: str, body: bytes) -> None:
        """Cache a body, evicting the least recently used ones."""
        if len(body) > self._most // 2:
            return
        with self._lock:
            former = self._bodies.pop(sha256, b"")
            self._bodies[sha256] = body
            self._size += len(body) - len(former)
            while self._size > self._most:
                _, oldest = self._bodies.popitem(last=False)
                self._size -= len(oldest)


Lookup = Callable[[str], Blob | None]

KEEP_BYTES = 16 * 1024 * 1024
MOST_OVERHEAD = 64
"""Bytes by which a frame of a small body may be larger than the body."""


class Archive:
    """The bodies of one data directory; `directory` is its `blobs/`.

    `file_bytes` and `chain_length` are as in `blobs.plan`; `keep_bytes` bounds the cache of decoded
    bodies.
    """

    def __init__(
        self, directory: Path, *, file_bytes: int | None, chain_length: int, keep_bytes: int = KEEP_BYTES
    ) -> None:
        self._files = BlobFiles(directory)
        self._file_bytes = file_bytes
        self._chain_length = chain_length
        self._bodies = BodyCache(keep_bytes)
        self._holds = Holds()

    @asynccontextmanager
    async def hold(self, *sha256s: str) -> AsyncIterator[None]:
        """Lock these blobs against other plans, from reading their rows until the plan's rows are
        committed.

        Pages share bodies, so a plan based on rows that another plan is about to rewrite would
        restore old rows.
        """
        async with self._holds.hold(*sha256s):
            yield

    def plan(self, body: bytes, sha256: str, newest: tuple[Blob, bytes] | None, existing: Blob | None) -> WritePlan:
        """Return what to write when `body` becomes the newest version of a page (`blobs.plan`);
        cache it.

        Args:
            body: The new body.
            sha256: Its hash, in hex.
            newest: The page's newest body and its row; None if it has none.
            existing: The row of this very body, if it is stored.
        """
        made = blobs.plan(
            body,
            sha256,
            newest,
            existing,
            chain_length=self._chain_length,
            file_bytes=self._file_bytes,
            mark=secrets.token_hex(8),
        )
        self._bodies.keep(sha256, body)
        return made

    def is_row(self, size: int) -> bool:
        """Return whether a body of at most `size` bytes is stored in a row, however badly it
        compresses.
        """
        return self._file_bytes is None or size + MOST_OVERHEAD <= self._file_bytes

    def lean(self, blob: Blob, body: bytes, base: tuple[Blob, bytes] | None) -> WritePlan:
        """Return what to write so that a body no longer depends on its present base
        (`blobs.lean`).
        """
        return blobs.lean(blob, body, base, file_bytes=self._file_bytes, mark=secrets.token_hex(8))

    def write_files(self, plan: WritePlan) -> None:
        """Write the files of a plan durably; before the commit of its rows.

        Raises `StoreStalledError` if the disk fails; then the rows must not be committed.
        """
        for name, frame in plan.files:
            self._files.write(name, frame)

    def remove(self, names: Iterable[str]) -> None:
        """Unlink garbage files of committed plans that no row names; a missing one is fine."""
        for name in names:
            self._files.remove(name)

    def sweep(self, known: Collection[str]) -> tuple[str, ...]:
        """Delete what a killed process left: half-written files and files not in `known`; return
        their names.

        `known` are the files that rows name. Only at start, before anything is written. Foreign
        files stay.
        """
        return self._files.sweep(known)

    @contextmanager
    def hold_files(self) -> Iterator[None]:
        """Keep deleted files readable meanwhile, for a backup (`BlobFiles.hold`)."""
        with self._files.hold():
            yield

    def open_file(self, name: str) -> BinaryIO:
        """Open a file that a row names, within `hold_files`. Raise `BlobError` if it is gone."""
        try:
            return self._files.open_within_hold(name)
        except OSError as error:
            raise BlobError(
                f"blobs/{name} cannot be read: {error.strerror or error}; `tidings doctor` shows what else is damaged"
            ) from error

    def restore(self, sha256: str, lookup: Lookup) -> bytes:
        """Return the body of that name, verified by its hash; `lookup` returns the row of a blob.

        Raises `BlobError` that names the faulty blob and says what to do.
        """
        kept = self._bodies.get(sha256)
        if kept is not None:
            return kept
        path, base = self._path(sha256, lookup)
        body = self._decode(path.pop(), base)
        while path:
            body = self._decode(path.pop(), body)
        if hashlib.sha256(body).hexdigest() != sha256:
            raise _make_lost_error(sha256, "what is stored decodes to other bytes")
        self._bodies.keep(sha256, body)
        return body

    def _path(self, sha256: str, lookup: Lookup) -> tuple[list[Blob], bytes | None]:
        """Return the rows from `sha256` to a whole one, or to one with a cached base, and that
        base.
        """
        path: list[Blob] = []
        seen: set[str] = set()
        name = sha256
        while name not in seen:
            seen.add(name)
            blob = lookup(name)
            if blob is None:
                raise _make_lost_error(
                    sha256, "it has no row" if name == sha256 else f"it leans on {name}, which has no row"
                )
            path.append(blob)
            if not blob.base:
                return path, None
            if (base := self._bodies.get(blob.base)) is not None:
                return path, base
            name = blob.base
        raise _make_lost_error(sha256, f"it leans on {name}, which leans on itself")

    def _decode(self, blob: Blob, base: bytes | None) -> bytes:
        try:
            return blobs.decode(self._frame(blob), blob.size, base=base)
        except blobs.FrameError as error:
            raise _make_lost_error(blob.sha256, f"its stored frame is damaged: {error}") from error

    def _frame(self, blob: Blob) -> bytes:
        if blob.file is None:
            if blob.frame is None:
                raise _make_lost_error(blob.sha256, "its row has neither a frame nor a file")
            return blob.frame
        try:
            return self._files.read(blob.file)
        except OSError as error:
            raise _make_lost_error(
                blob.sha256, f"its file blobs/{blob.file} cannot be read: {error.strerror or error}"
            ) from error


def _make_lost_error(sha256: str, reason: str) -> BlobError:
    return BlobError(f"blob {sha256} cannot be given back: {reason}; `tidings doctor` shows what else is damaged")

"""Decide which rows to write for a new body of a page, and encode them as zstd frames; pure.

The newest body of a page is whole, the one before is rewritten as a delta against it, so that the
newest costs one read and an old one a walk from neighbour to neighbour (contracts §3). Three rules
keep that sound when bodies return and when pages share them:

- *The new body's row is always written, and whole.* A delta is only ever written against a row that
  the same plan makes whole, so it depends on nothing that depends on it: cycles are impossible,
  whatever other plans do meanwhile.
- *A body that is a delta already stays one*: another page wrote it so.
- *`Blob.height` bounds the longest chain based on a blob.* A body at the bound stays whole. Heights
  never decrease, since a row does not know its dependents; so they may be too high, which costs a
  whole frame now and then, never a long walk.

A delta is a frame with the other body as raw prefix. The window covers both and the size is
pledged: otherwise a page of 2.5 MB shares nothing with its neighbour (detection §2.6). Levels are
measured (`bench/archive_bytes.py`): a body alone is soon rewritten as a delta and gets level 3, a
fourth of level 9's time for 4 to 10 % more bytes; a delta stays and gets level 9; but below 16 KB
zstd's level 9 is its optimal parser, three to seven times the time for 2 % of the bytes.
"""

from __future__ import annotations

import threading
from typing import Final

from tidings.archive import files
from tidings.model.observed.version import Blob
from tidings.record import dataclass, replace
from tidings.zstd import CompressionParameter, ZstdCompressor, ZstdDecompressor, ZstdDict, ZstdError

# A restore decodes the chain's bodies in sequence, about 0.2 ms a megabyte: 24 MB keep it near 5
# ms, whatever `chain_length` allows, except for pages over 1.5 MB, whose chains are not cut below
# 16.
CHAIN_BYTES: Final = 24 * 1024 * 1024
SHORTEST_CHAIN: Final = 16


@dataclass(frozen=True, slots=True)
class WritePlan:
    """What one new version writes: `files` (name, bytes) before the commit, `blobs` (rows) in it,
    `garbage` (names) after it.

    A row whose `file` is set has no frame. A `garbage` file may be deleted once the rows are
    committed and no row names it.
    """

    blobs: tuple[Blob, ...] = ()
    garbage: tuple[str, ...] = ()
    files: tuple[tuple[str, bytes], ...] = ()


def plan(
    body: bytes,
    sha256: str,
    newest: tuple[Blob, bytes] | None,
    existing: Blob | None,
    *,
    chain_length: int,
    file_bytes: int | None,
    mark: str = "0",
) -> WritePlan:
    """Return what to write when `body` (named `sha256`) becomes the newest version of a page.

    `newest` is the row and the bytes of the page's newest version until now (None: it has none),
    `existing` the row of `body` on this page or another (None: it has none). No chain grows longer
    than `chain_length` deltas; those of large bodies stay shorter. Frames of more than `file_bytes`
    bytes become files whose names end in `mark`; None: never.
    """
    if newest is not None and newest[0].sha256 == sha256:
        return WritePlan()
    draft = _Draft(file_bytes, mark)
    height = 0 if existing is None else existing.height
    if newest is not None and (frame := _smaller(*newest, body, chain_length=chain_length)) is not None:
        former = newest[0]
        height = max(height, former.height + 1)
        draft.put(former, base=sha256, height=former.height, frame=frame)
    if existing is not None and not existing.base:
        draft.blobs.append(replace(existing, height=height))
    else:
        blob = existing or Blob(sha256, len(body), "", 0, None)
        draft.put(blob, base="", height=height, frame=encode(body))
    return WritePlan(tuple(reversed(draft.blobs)), tuple(draft.garbage), tuple(draft.files))


def lean(
    blob: Blob, body: bytes, base: tuple[Blob, bytes] | None, *, file_bytes: int | None, mark: str = "0"
) -> WritePlan:
    """Return what to write so that `blob`, whose bytes are `body`, is based on `base` instead of
    its present base; None, or where that would not be smaller: on nothing.

    `base` is the base of its own base: the chain gets shorter, and no height changes.

    Args:
        blob: The row to rewrite.
        body: Its bytes.
        base: The row and bytes of the new base; None for nothing.
        file_bytes: Bodies larger than this (compressed) are files; None: never.
        mark: Distinguishes new file names from old ones.
    """
    draft = _Draft(file_bytes, mark)
    frame, name = encode(body), ""
    if base is not None:
        delta = encode_delta(body, base[1])
        if delta is not None and len(delta) < len(frame):
            frame, name = delta, base[0].sha256
    draft.put(blob, base=name, height=blob.height, frame=frame)
    return WritePlan(tuple(draft.blobs), tuple(draft.garbage), tuple(draft.files))


def _smaller(blob: Blob, former: bytes, body: bytes, *, chain_length: int) -> bytes | None:
    """Return the delta that replaces the whole frame of `former`, or None if it must stay or would
    not be smaller.
    """
    longest = min(chain_length, max(SHORTEST_CHAIN, CHAIN_BYTES // max(1, len(former))))
    if blob.base or blob.height >= longest:
        return None
    delta = encode_delta(former, body)
    if delta is None:
        return None
    whole = blob.frame if blob.frame is not None else encode(former)
    return delta if len(delta) < len(whole) else None


class _Draft:
    """Rows, files and garbage of a plan in progress."""

    def __init__(self, file_bytes: int | None, mark: str) -> None:
        self._file_bytes = file_bytes
        self._mark = mark
        self.blobs: list[Blob] = []
        self.garbage: list[str] = []
        self.files: list[tuple[str, bytes]] = []

    def put(self, blob: Blob, *, base: str, height: int, frame: bytes) -> None:
        """Rewrite `blob` with another frame; its former file is garbage.

        Args:
            base: The hash of the body on which the frame is a delta; empty if it stands alone.
            height: The number of deltas below it.
            frame: The compressed bytes.
        """
        file = None
        if self._file_bytes is not None and len(frame) > self._file_bytes:
            file = files.file_name(blob.sha256, self._mark)
            self.files.append((file, frame))
        if blob.file is not None:
            self.garbage.append(blob.file)
        self.blobs.append(Blob(blob.sha256, blob.size, base, height, None if file else frame, file))


WHOLE_LEVEL: Final = 3
DELTA_LEVEL: Final = 9
SMALL_LEVEL: Final = 7
SMALL_BYTES: Final = 16 * 1024
SHORTEST_PREFIX: Final = 8  # zstd takes no shorter one
SMALLEST_WINDOW: Final = 10


class FrameError(ValueError):
    """These bytes are not a frame of a body of that size; the text says why."""


class _BlobCache(threading.local):
    """A compressor of each thread for whole frames: to make one takes twice as long as to compress
    a page. For large bodies it would hold megabytes.
    """

    compressor: ZstdCompressor | None = None


_kept: Final = _BlobCache()
CACHED_BYTES: Final = 64 * 1024


def encode(body: bytes) -> bytes:
    """Return `body` as an independent frame."""
    if len(body) > CACHED_BYTES:
        return _encode(_whole(), body)
    compressor, _kept.compressor = _kept.compressor or _whole(), None
    frame = _encode(compressor, body)
    _kept.compressor = compressor  # it has not failed
    return frame


def _whole() -> ZstdCompressor:
    return ZstdCompressor(options={CompressionParameter.compression_level: WHOLE_LEVEL})


def encode_delta(body: bytes, base: bytes) -> bytes | None:
    """Return `body` as a delta against `base`, or None if `base` is too short."""
    if len(base) < SHORTEST_PREFIX:
        return None
    together = len(base) + len(body)
    options: dict[int, int] = {
        CompressionParameter.compression_level: SMALL_LEVEL if together <= SMALL_BYTES else DELTA_LEVEL,
        CompressionParameter.window_log: max(SMALLEST_WINDOW, together.bit_length()),
    }
    return _encode(ZstdCompressor(options=options, zstd_dict=ZstdDict(base, is_raw=True).as_prefix), body)


def decode(frame: bytes, size: int, *, base: bytes | None = None) -> bytes:
    """Return the body of `size` bytes in `frame`; `base` is the base of a delta.

    Raises `FrameError` for an invalid or truncated frame, trailing bytes, or another number of
    bytes; never decodes more than one byte over `size`.
    """
    dictionary = None if base is None else ZstdDict(base, is_raw=True).as_prefix
    try:
        decoder = ZstdDecompressor(zstd_dict=dictionary)
        body = decoder.decompress(frame, size + 1)
    except (ValueError, ZstdError) as error:
        raise FrameError(str(error)) from error
    if len(body) == size and not decoder.eof:  # all bytes are decoded, but the final checks are pending
        body += _rest(decoder)
    if len(body) != size:
        raise FrameError(
            f"it holds {len(body)} bytes or more, not {size}"
            if len(body) > size
            else f"it ends after {len(body)} of {size} bytes"
        )
    if not decoder.eof:
        raise FrameError("it is cut short")
    if decoder.unused_data:
        raise FrameError(f"{len(decoder.unused_data)} bytes follow its end")
    return body


def _rest(decoder: ZstdDecompressor) -> bytes:
    try:
        return decoder.decompress(b"", 1)
    except (ValueError, ZstdError, EOFError) as error:
        raise FrameError(str(error)) from error


def _encode(compressor: ZstdCompressor, body: bytes) -> bytes:
    compressor.set_pledged_input_size(len(body))
    return compressor.compress(body, mode=ZstdCompressor.FLUSH_FRAME)

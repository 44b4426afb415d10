"""Zstandard frames: a body alone, or as what it differs from another body.

A delta is a frame with the other body as raw prefix. The window covers both and the size is pledged: without them a page
of 2.5 MB shares nothing with its neighbour (detection §2.6). Levels are measured (`bench/archive_bytes.py`): a body alone
is soon rewritten as a delta and gets level 3, a fourth of level 9's time for 4 to 10 % more bytes; a delta stays and gets
level 9; but below 16 KB zstd's level 9 is its optimal parser, three to seven times the time for 2 % of the bytes.
"""

from __future__ import annotations

from typing import Final

from tidings.zstd import CompressionParameter, ZstdCompressor, ZstdDecompressor, ZstdDict, ZstdError

WHOLE_LEVEL: Final = 3
DELTA_LEVEL: Final = 9
SMALL_LEVEL: Final = 7
SMALL_BYTES: Final = 16 * 1024
SHORTEST_PREFIX: Final = 8  # zstd takes no shorter one
SMALLEST_WINDOW: Final = 10


class FrameError(ValueError):
    """These bytes are no frame of a body of that size; the text says why."""


def encode(body: bytes) -> bytes:
    """Return `body` as a frame that stands alone."""
    return _encode(ZstdCompressor(options={CompressionParameter.compression_level: WHOLE_LEVEL}), body)


def encode_delta(body: bytes, base: bytes) -> bytes | None:
    """Return `body` as a frame that needs `base` to be read, or None if `base` is too short to lean on."""
    if len(base) < SHORTEST_PREFIX:
        return None
    together = len(base) + len(body)
    options: dict[int, int] = {
        CompressionParameter.compression_level: SMALL_LEVEL if together <= SMALL_BYTES else DELTA_LEVEL,
        CompressionParameter.window_log: max(SMALLEST_WINDOW, together.bit_length()),
    }
    return _encode(ZstdCompressor(options=options, zstd_dict=ZstdDict(base, is_raw=True).as_prefix), body)


def decode(frame: bytes, size: int, *, base: bytes | None = None) -> bytes:
    """Return the body of `size` bytes that `frame` holds, `base` being what a delta leans on.

    Raises `FrameError` for what is no such frame, is cut, goes on after its end or holds another number of bytes; never
    decodes more than one byte over `size`.
    """
    dictionary = None if base is None else ZstdDict(base, is_raw=True).as_prefix
    try:
        decoder = ZstdDecompressor(zstd_dict=dictionary)
        body = decoder.decompress(frame, size + 1)
    except (ValueError, ZstdError) as error:
        raise FrameError(str(error)) from error
    if len(body) == size and not decoder.eof:  # the last bytes are out, the checks at the end are not yet done
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

"""Files stored with gzip and sent without a Content-Encoding: feeds, sitemaps and other texts,
unpacked within bounds.
"""

from __future__ import annotations

import re
import zlib
from typing import Final

MOST_BYTES: Final = 10_000_000
"""The most bytes of an unpacked text, as of a body with a Content-Encoding (default of
`max_body_bytes`).
"""

MOST_RATIO: Final = 200
"""The largest ratio of unpacked to packed size, for results above 1 MB."""

MOST_MEMBERS: Final = 1_000
_FREE: Final = 1_000_000
_STEP: Final = 65_536
_GZIP: Final = b"\x1f\x8b\x08"
_SNIFFED: Final = 1_445
_BINARY_BYTE: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_TEXT_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")


class PackedError(ValueError):
    """A packed file cannot be unpacked; the text says why."""


def unpack(data: bytes, *, most: int = MOST_BYTES) -> bytes:
    """Return the content of a gzip file, or the data unchanged if it is none.

    `most` is the limit of the result in bytes. Raises `PackedError` for a file that is damaged,
    truncated, or expands too much.
    """
    if not data.startswith(_GZIP):
        return data
    return b"".join(_pieces(data, most))


def text_within(data: bytes) -> bytes | None:
    """Return the text in a gzip file, None if it is no gzip file or holds something else (an
    archive of files).

    Raises `PackedError` as `unpack` does.
    """
    return unpack(data) if data.startswith(_GZIP) and _begins_as_text(data) else None


def _begins_as_text(data: bytes) -> bool:
    try:
        head = zlib.decompressobj(wbits=31).decompress(data, _SNIFFED)
    except zlib.error:
        return False
    return bool(head) and (head.startswith(_TEXT_MARKS) or not _BINARY_BYTE.search(head))


def _pieces(data: bytes, most: int) -> list[bytes]:
    """Return the contents of the members of a gzip file; trailing garbage is ignored."""
    pieces: list[bytes] = []
    size, left = 0, data
    for _ in range(MOST_MEMBERS):
        inflate = zlib.decompressobj(wbits=31)
        while not inflate.eof:
            try:
                piece = inflate.decompress(left, _STEP)
            except zlib.error:
                message = "the gzip file is damaged"
                raise PackedError(message) from None
            left = inflate.unconsumed_tail
            size += len(piece)
            if size > most:
                message = f"it has more than {most:,} bytes once it is unpacked"
                raise PackedError(message)
            if size > _FREE and size > MOST_RATIO * len(data):
                message = f"it becomes more than {MOST_RATIO} times larger when it is decompressed"
                raise PackedError(message)
            if not piece and not left and not inflate.eof:
                message = "the gzip file ends before its end"
                raise PackedError(message)
            pieces.append(piece)
        left = inflate.unused_data
        if not left.startswith(_GZIP):
            return pieces
    message = f"the gzip file has more than {MOST_MEMBERS:,} parts"
    raise PackedError(message)

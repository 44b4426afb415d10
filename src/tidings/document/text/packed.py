"""Files that are stored packed with gzip and sent as they are, without a Content-Encoding: feeds, sitemaps and other texts, unpacked in bounds."""

from __future__ import annotations

import re
import zlib
from typing import Final

MOST_BYTES: Final = 10_000_000
"""Most bytes of an unpacked text, as of a body that is sent with a Content-Encoding (`max_body_bytes` unless set otherwise)."""

MOST_RATIO: Final = 200
"""How many times a file may grow by being unpacked, once it is larger than 1 MB."""

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
    """Return what a gzip file holds, or the data themselves if they are none.

    `most` is the most bytes that may come of it. Raises `PackedError` for a file that is damaged, ends before its end, or grows too much.
    """
    if not data.startswith(_GZIP):
        return data
    return b"".join(_pieces(data, most))


def text_within(data: bytes) -> bytes | None:
    """Return the text that a gzip file holds, None if it is no gzip file or holds something else (an archive of files).

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
    """Return what the members of a gzip file hold; what follows them and is none is left out."""
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
                message = f"it grows more than {MOST_RATIO} times by being unpacked"
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

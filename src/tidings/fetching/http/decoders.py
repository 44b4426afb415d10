"""Content-Encoding decoded in bounded steps (contracts §6, R-05 and R-06).

A body counts only if every decoder reached its own end. Bytes after that end are ignored (not for
brotli), and an invalid coding name (`UTF-8`, `none`, `aws-chunked`) counts as none if the body is
plain text: browsers do both. Decoding never runs more than 64 KiB ahead of the checks: total size,
and expansion (`MOST_RATIO`) once over 1 MB. Checked at each stage, so that a chain cannot hide a
bomb.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

import brotli

from tidings.fetching.fetcher import FetchError
from tidings.zstd import DecompressionParameter, ZstdDecompressor, ZstdError

STEP_BYTES = 65_536
MAX_ENCODINGS = 5
MOST_RATIO = 200
"""How many times its size a body may become by decoding."""
RATIO_FREE_BYTES = 1_000_000
"""Expansion is not checked below this size: small texts of one letter compress 1,000 to 1."""

MAX_MEMBERS = 1_000
"""Gzip members or zstd frames of one body; a million empty ones would cost seconds and give
nothing.
"""

_ZSTD_WINDOW_LOG = 23  # 8 MiB, the most that an HTTP sender may use (RFC 9659)


class Stage(Protocol):
    """One decoder of a chain."""

    def decode(self, data: bytes) -> Iterator[bytes]:
        """Yield the decoded bytes in steps. Raise `FetchError` of kind `encoding`."""
        ...

    def finish(self) -> None:
        """Raise `FetchError` unless the encoding's own end was reached."""
        ...


class Decoder:
    """Takes a body's wire bytes in pieces and returns the decoded body. `encoding` is the canonical
    header value.
    """

    def __init__(self, content_encoding: str, *, max_bytes: int) -> None:
        names, self._unknown = encodings(content_encoding)
        self.encoding = ", ".join(names)
        self.wire_bytes = 0
        self.decoded_bytes = 0
        self._limit = _Limit(max_bytes)
        self._stages = [(STAGES[name](), _Limit(max_bytes)) for name in reversed(names)]
        self._pieces: list[bytes] = []

    def feed(self, data: bytes) -> None:
        """Decode the next bytes. Raise `FetchError` of kind `encoding` or `size`."""
        self.wire_bytes += len(data)
        if not self._stages:
            self._limit.count(0, len(data))
            self._add(data)
            return
        for piece in self._through(0, data):
            self._add(piece)

    def finish(self) -> bytes:
        """Return the whole body. Raise `FetchError` of kind `encoding` if a decoder has not reached
        its end, or for an unknown coding.
        """
        for stage, _ in self._stages:
            stage.finish()
        self._stages.clear()  # free their windows before the body is joined
        body = b"".join(self._pieces)
        if self._unknown and not _is_plain(body):
            reason = (
                f"the body has the unknown Content-Encoding {self._unknown[:40]!r} and is not text without decoding"
            )
            raise FetchError("encoding", reason)
        return body

    def cut_short(self) -> bytes:
        """Return the part decoded so far, for texts of which the beginning suffices
        (robots.txt).
        """
        return b"".join(self._pieces)

    def _add(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self.decoded_bytes += len(piece)

    def _through(self, at: int, data: bytes) -> Iterator[bytes]:
        if at == len(self._stages):
            yield data
            return
        stage, limit = self._stages[at]
        limit.take(len(data))
        for piece in stage.decode(data):
            limit.count(limit.taken, len(piece))
            yield from self._through(at + 1, piece)


class _Limit:
    """Counts the input and output of one stage."""

    __slots__ = ("given", "max_bytes", "taken")

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.taken = 0
        self.given = 0

    def take(self, count: int) -> None:
        self.taken += count
        if self.taken > self.max_bytes:
            raise FetchError("size", f"the body is larger than {self.max_bytes:,} bytes before it is decoded")

    def count(self, taken: int, given: int) -> None:
        self.given += given
        if self.given > self.max_bytes:
            raise FetchError("size", f"the body is larger than {self.max_bytes:,} bytes")
        if taken and self.given > RATIO_FREE_BYTES and self.given > MOST_RATIO * taken:
            raise FetchError("size", f"the body becomes more than {MOST_RATIO} times larger by decoding")


def encodings(content_encoding: str) -> tuple[list[str], str]:
    """Return the known encodings in the order of application, and the first unknown one. Raise
    `FetchError` for too many.
    """
    names = [name.strip().lower() for name in content_encoding.split(",")]
    names = [_ALIASES.get(name, name) for name in names if name not in {"", "identity"}]
    if len(names) > MAX_ENCODINGS:
        raise FetchError("encoding", f"the body is encoded {len(names)} times; {MAX_ENCODINGS} is the most")
    return [name for name in names if name in STAGES], next((name for name in names if name not in STAGES), "")


def _is_plain(body: bytes) -> bool:
    """Return whether a body is readable as it is: text by the rule of the WHATWG MIME Sniffing
    §7.2, or a PDF.
    """
    return body.startswith(_READABLE) or not _BINARY.search(body, 0, _SNIFFED)


_READABLE = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"%PDF-")
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_SNIFFED = 1_445


class _Tail:
    """The bytes after a whole body: another part if they begin with `magic`, else ignored."""

    def __init__(self, magic: re.Pattern[bytes] | None, length: int = 0) -> None:
        self._magic = magic
        self._length = length
        self._buffer = b""

    def take(self, data: bytes) -> bytes:
        """Return the bytes of another part of the body, empty while there is none."""
        if self._magic is None:
            return b""
        self._buffer += data
        if len(self._buffer) < self._length:
            return b""
        buffered, self._buffer = self._buffer, b""
        if self._magic.match(buffered):
            return buffered
        self._magic = None
        return b""


class _Zlib:
    """Gzip (one or more members), zlib or raw deflate."""

    def __init__(self, name: str, window_bits: int, *, members: bool) -> None:
        self._name = name
        self._window_bits = window_bits
        self._tail = _Tail(_GZIP if members else None, 2)
        self._members_left = MAX_MEMBERS
        self._inflate = zlib.decompressobj(window_bits)

    def decode(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._inflate.eof:
                data = self._tail.take(data)
                if not data:
                    return
                self._next_member()
            piece = self._decompress(data)
            if piece:
                yield piece
            data = self._inflate.unused_data if self._inflate.eof else self._inflate.unconsumed_tail
            # zlib may hold back output although it took all input: continue until it gives less
            # than a step.
            while not data and len(piece) == STEP_BYTES and not self._inflate.eof:
                piece = self._decompress(b"")
                if piece:
                    yield piece
                data = self._inflate.unused_data

    def finish(self) -> None:
        if not self._inflate.eof:
            raise _make_cut_error(self._name)

    def _decompress(self, data: bytes) -> bytes:
        try:
            return self._inflate.decompress(data, STEP_BYTES)
        except zlib.error:
            raise _make_damage_error(self._name) from None

    def _next_member(self) -> None:
        if not self._members_left:
            raise _too_many(self._name)
        self._members_left -= 1
        self._inflate = zlib.decompressobj(self._window_bits)


class _Deflate:
    """Deflate in both forms: in a zlib frame as RFC 9110 says, else raw as some servers send it."""

    def __init__(self) -> None:
        self._head = b""
        self._inner: _Zlib | None = None

    def decode(self, data: bytes) -> Iterator[bytes]:
        if self._inner is None:
            self._head += data
            if len(self._head) < 2:
                return
            data, self._head = self._head, b""
            framed = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
            self._inner = _Zlib("deflate", zlib.MAX_WBITS if framed else -zlib.MAX_WBITS, members=False)
        yield from self._inner.decode(data)

    def finish(self) -> None:
        if self._inner is None:
            raise _make_cut_error("deflate")
        self._inner.finish()


class _Brotli:
    def __init__(self) -> None:
        self._decoder = brotli.Decompressor()

    def decode(self, data: bytes) -> Iterator[bytes]:
        pending = False
        while data or pending:
            if self._decoder.is_finished():
                if data:  # the library does not report the end of a body with trailing bytes in the same piece
                    raise FetchError("encoding", "bytes follow the end of the br body")
                return
            try:
                piece = self._decoder.process(data, output_buffer_limit=STEP_BYTES)
            except brotli.error:
                raise _make_damage_error("br") from None
            data = b""
            # A full step may have more output, also when all input was taken.
            pending = len(piece) >= STEP_BYTES or not self._decoder.can_accept_more_data()
            if piece:
                yield piece

    def finish(self) -> None:
        if not self._decoder.is_finished():
            raise _make_cut_error("br")


class _Zstd:
    def __init__(self) -> None:
        self._decoder = self._fresh()
        self._tail = _Tail(_ZSTD, 4)
        self._frames_left = MAX_MEMBERS

    def decode(self, data: bytes) -> Iterator[bytes]:
        while data or not self._decoder.needs_input:
            if self._decoder.eof:
                data = self._tail.take(data)
                if not data:
                    return
                if not self._frames_left:
                    raise _too_many("zstd")
                self._frames_left -= 1
                self._decoder = self._fresh()
            try:
                piece = self._decoder.decompress(data, STEP_BYTES)
            except ZstdError:
                raise _make_damage_error("zstd") from None
            data = self._decoder.unused_data if self._decoder.eof else b""
            if piece:
                yield piece

    def finish(self) -> None:
        if not self._decoder.eof:
            raise _make_cut_error("zstd")

    @staticmethod
    def _fresh() -> ZstdDecompressor:
        return ZstdDecompressor(options={DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG})


def _gzip() -> _Zlib:
    return _Zlib("gzip", 16 + zlib.MAX_WBITS, members=True)


STAGES: dict[str, Callable[[], Stage]] = {"gzip": _gzip, "deflate": _Deflate, "br": _Brotli, "zstd": _Zstd}
_ALIASES = {"x-gzip": "gzip"}
_GZIP = re.compile(rb"\x1f\x8b")
_ZSTD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")


def _make_damage_error(name: str) -> FetchError:
    return FetchError("encoding", f"the body is declared as {name}, but is not, or is damaged")


def _make_cut_error(name: str) -> FetchError:
    return FetchError("encoding", f"the {name} body ends before its end")


def _too_many(name: str) -> FetchError:
    return FetchError("size", f"the {name} body has more than {MAX_MEMBERS:,} parts")

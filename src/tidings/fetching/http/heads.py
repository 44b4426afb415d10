"""The head of an answer, before the parser gets it: small faults that browsers read over are mended here.

The parser refuses an answer for them, and the page could not be watched. A 304, a 204 or an answer to HEAD has no body (RFC 9112 §6.3): bytes
that follow its head are thrown away, with the connection. A length that is given twice is one length if both are equal (RFC 9110 §8.6).
"""

from __future__ import annotations

import re
from typing import Final

LONGEST_HEAD: Final = 65_536
"""Bytes of a head after which it goes to the parser as it is, whose own limits are lower."""

_END = re.compile(rb"\r?\n\r?\n")
_STATUS_LINE = re.compile(rb"HTTP/\d\.\d (\d{3})")
_LENGTH = re.compile(rb"(?im)^Content-Length:[ \t]*([0-9, \t]*?)[ \t]*\r?\n")
_NAMES_BODY = re.compile(rb"(?im)^(?:Content-Length:[ \t]*0*[1-9]|Transfer-Encoding:)")
_START = b"HTTP/"
_BODILESS = frozenset({204, 304})
_SWITCHING = 101


class Head:
    """Takes the bytes of one answer and gives those that the parser is to have. With `is_bodiless` no body follows, whatever the status."""

    def __init__(self, *, is_bodiless: bool) -> None:
        self.is_last = False
        """set once nothing more can be asked by this connection"""
        self._is_bodiless = is_bodiless
        self._drops = False
        self._is_read = False
        self._held = bytearray()

    def take(self, data: bytes) -> bytes:
        """Return what the parser may have now: nothing until a head is whole."""
        if self._drops:
            self.is_last = True
            return b""
        if self._is_read:
            return data
        ready, is_whole = b"", False
        scanned = max(0, len(self._held) - 3)
        self._held += data
        while not is_whole and (end := _END.search(self._held, scanned)):
            head = bytes(self._held[: end.end()])
            del self._held[: end.end()]
            mended, is_whole = self._mend(head)
            ready += mended
            scanned = 0
        if is_whole or len(self._held) > LONGEST_HEAD or not self._may_be_head():
            ready += self.end()
        return ready

    def end(self) -> bytes:
        """Return what is held back: the connection has ended, or what comes is no head."""
        self._is_read = True
        held = bytes(self._held)
        self._held.clear()
        return held

    def _may_be_head(self) -> bool:
        return self._held.startswith(_START) or _START.startswith(self._held)

    def _mend(self, head: bytes) -> tuple[bytes, bool]:
        """Return a head as the parser is to have it, and whether it is the answer's own: not an informational one before it."""
        match = _STATUS_LINE.match(head)
        status = int(match[1]) if match else 0
        if 100 <= status < 200 and status != _SWITCHING:
            return head, False
        if match and (self._is_bodiless or status in _BODILESS):
            self._drops = True
            self.is_last = bool(self._held) or (status in _BODILESS and _NAMES_BODY.search(head) is not None)
            self._held.clear()
        return _with_one_length(head), True


def _with_one_length(head: bytes) -> bytes:
    """Return a head in which a length that is given more than once, each time the same, is given once."""
    found = list(_LENGTH.finditer(head))
    values = [value.strip() for match in found for value in match[1].split(b",")]
    if len(values) < 2 or len(set(values)) > 1 or not values[0].isdigit():
        return head
    first, line_end, rest = _LENGTH.sub(b"", head).partition(b"\n")
    return first + line_end + b"Content-Length: " + values[0] + b"\r\n" + rest

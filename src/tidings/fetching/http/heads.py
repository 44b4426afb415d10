"""The head of an answer, repaired before the parser gets it: small faults that browsers accept.

The parser would refuse the answer, and the page could not be watched. A 304, a 204 or an answer to
HEAD has no body (RFC 9112 §6.3): bytes after its head are discarded, with the connection. Duplicate
equal lengths are one length (RFC 9110 §8.6).
"""

from __future__ import annotations

import re
from typing import Final

LONGEST_HEAD: Final = 65_536
"""Bytes of a head after which it goes to the parser unchanged, whose own limits are lower."""

_END = re.compile(rb"\r?\n\r?\n")
_STATUS_LINE = re.compile(rb"HTTP/\d\.\d (\d{3})")
_LENGTH = re.compile(rb"(?im)^Content-Length:[ \t]*([0-9, \t]*?)[ \t]*\r?\n")
_NAMES_BODY = re.compile(rb"(?im)^(?:Content-Length:[ \t]*0*[1-9]|Transfer-Encoding:)")
_START = b"HTTP/"
_BODILESS = frozenset({204, 304})
_SWITCHING = 101


class Head:
    """Takes the bytes of one answer and returns those for the parser. With `is_bodiless` no body
    follows, whatever the status.
    """

    def __init__(self, *, is_bodiless: bool) -> None:
        self.is_last = False
        """set once this connection can send no further request"""
        self._is_bodiless = is_bodiless
        self._drops = False
        self._is_read = False
        self._held = bytearray()

    def take(self, data: bytes) -> bytes:
        """Return the bytes for the parser: none until a head is complete."""
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
        """Return the buffered bytes: the connection has ended, or this is no head."""
        self._is_read = True
        held = bytes(self._held)
        self._held.clear()
        return held

    def _may_be_head(self) -> bool:
        return self._held.startswith(_START) or _START.startswith(self._held)

    def _mend(self, head: bytes) -> tuple[bytes, bool]:
        """Return a repaired head, and whether it is the final one, not an informational one."""
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
    """Return a head with equal duplicate lengths merged."""
    found = list(_LENGTH.finditer(head))
    values = [value.strip() for match in found for value in match[1].split(b",")]
    if len(values) < 2 or len(set(values)) > 1 or not values[0].isdigit():
        return head
    first, line_end, rest = _LENGTH.sub(b"", head).partition(b"\n")
    return first + line_end + b"Content-Length: " + values[0] + b"\r\n" + rest

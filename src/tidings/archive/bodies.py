"""A few decoded bodies at hand: the newest body of a page is what the next comparison asks for."""

from __future__ import annotations

import threading
from collections import OrderedDict


class Bodies:
    """The bodies last used, together at most `most_bytes`; a body larger than half of that is not kept.

    Safe between threads.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._size = 0
        self._bodies: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, sha256: str) -> bytes | None:
        """Return the body if it is at hand."""
        with self._lock:
            body = self._bodies.get(sha256)
            if body is not None:
                self._bodies.move_to_end(sha256)
            return body

    def keep(self, sha256: str, body: bytes) -> None:
        """Keep a body, letting go of those not used for longest."""
        if len(body) > self._most // 2:
            return
        with self._lock:
            former = self._bodies.pop(sha256, b"")
            self._bodies[sha256] = body
            self._size += len(body) - len(former)
            while self._size > self._most:
                _, oldest = self._bodies.popitem(last=False)
                self._size -= len(oldest)

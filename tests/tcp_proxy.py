"""A proxy between a client and a TCP server on loopback that a test can cut, block and repair; it
can also end at a given word.

```
with TcpProxy(("127.0.0.1", 5432)) as proxy:
    client = connect(port=proxy.port)
    proxy.end_at = End(b"COMMIT", passes=True)  # the server gets the word, and its answer is lost
    proxy.cut()
```
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self


@dataclass(frozen=True, slots=True)
class End:
    """The word of a client at which its connection ends, once; `passes`: the server gets the word all the same."""

    word: bytes
    passes: bool


class TcpProxy:
    """Carries bytes to and fro. `is_out`: whoever connects is sent away. `lag` returns for how many
    seconds the next piece is held back, as a slow network does, or one that lost it at first.
    """

    def __init__(self, server: tuple[str, int]) -> None:
        self._server = server
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._ends: list[socket.socket] = []
        self._open = threading.Event()
        self._open.set()
        self._is_over = False
        self.is_out = False
        self.lag: Callable[[], float] = float
        self.end_at: End | None = None
        self.connections = 0
        """how many there were"""

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over = True
        self._open.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def cut(self) -> None:
        """End all connections as a reset does."""
        with self._lock:
            ends, self._ends = self._ends, []
        for end in ends:
            _reset(end)

    def block(self) -> None:
        """Pass nothing on from now on, and close nothing either."""
        self._open.clear()

    def abandon(self) -> None:
        """Let the connections there are stay blocked for ever."""
        with self._lock:
            self._ends, self._open = [], threading.Event()
        self._open.set()

    def mend(self) -> None:
        """Carry everything at once again, from new connections too."""
        self.is_out, self.lag = False, float
        self._open.set()

    def _accept(self) -> None:
        while not self._is_over:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            if self.is_out:
                _reset(near)
                continue
            threading.Thread(target=self._connect, args=(near,), daemon=True).start()

    def _connect(self, near: socket.socket) -> None:
        self._open.wait()
        try:
            far = socket.create_connection(self._server)
        except OSError:
            _reset(near)
            return
        with self._lock:
            self._ends += (near, far)
        threading.Thread(target=self._carry, args=(far, near, False), daemon=True).start()
        self._carry(near, far, True)

    def _carry(self, source: socket.socket, sink: socket.socket, is_asking: bool) -> None:
        is_open = self._open
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                is_open.wait()
                if (late := self.lag()) > 0:
                    time.sleep(late)
                end = self.end_at if is_asking and self.end_at is not None and self.end_at.word in data else None
                if end is not None:
                    self.end_at = None
                    _reset(source)
                    if not end.passes:
                        _reset(sink)
                        return
                sink.sendall(data)
                if end is not None:
                    sink.recv(1)  # the server has done what it was asked to
                    break
        _reset(source)
        _reset(sink)


def _reset(end: socket.socket) -> None:
    """Close a connection so that its other end is interrupted at once."""
    with contextlib.suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        end.shutdown(socket.SHUT_RDWR)
    end.close()

r"""Fakes that tests of several packages share.

The web is a real server on loopback, with a log of its requests.

```
with WebServer() as server:
    server.pages["/a"] = Page(b"<p>hello</p>", etag='"1"')
    server.pages["/drip"] = lambda seen, wire: wire.send(b"HTTP/1.1 200 OK\r\n\r\n")
    ... server.url("/a") ... server.seen
```
"""

from __future__ import annotations

import contextlib
import functools
import socket
import ssl
import struct
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

Headers = Mapping[str, str] | Iterable[tuple[str, str]]
SO_TIMESTAMPNS = 35
"""Linux' option that has the kernel say when bytes came; the module `socket` does not name it."""
TLS_HELLO = b"\x16\x03"
"""How a client begins that tries https: a server of http ends that connection at once, as real ones do."""
REASONS = {200: "OK", 304: "Not Modified", 404: "Not Found"}


@dataclass
class Page:
    """What a path answers. `etag` and `last_modified` are sent, and answered with 304 when they come back."""

    body: bytes = b""
    headers: Headers = ()
    status: int = 200
    etag: str | None = None
    last_modified: str | None = None


@dataclass
class Seen:
    """One request as the server saw it; `at` and `done_at` are seconds of `time.monotonic`, `headers` lower-case names.

    `arrived` is when its first bytes reached this machine, in seconds of `time.time`: the kernel's word on Linux, which no busy
    thread delays.
    """

    at: float
    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    connection: int
    done_at: float = 0.0
    arrived: float = 0.0

    @property
    def path(self) -> str:
        """Return the target without its query."""
        return self.target.partition("?")[0]


class Wire:
    """The server's end of one connection, for raw behaviours. Everything ends when the server stops."""

    def __init__(self, peer: socket.socket, number: int, stopped: threading.Event) -> None:
        self.peer = peer
        self.number = number
        self.stopped = stopped
        self.buffer = b""
        self.is_open = True
        self.arrived = 0.0
        self._is_stamped = sys.platform == "linux" and not isinstance(peer, ssl.SSLSocket)
        if self._is_stamped:
            peer.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)

    def send(self, data: bytes) -> bool:
        """Send bytes; False once the other side has gone."""
        if not self.is_open:
            return False
        try:
            self.peer.sendall(data)
        except OSError:
            self.close()
            return False
        return True

    def wait(self, seconds: float) -> bool:
        """Wait; False as soon as the server is stopped."""
        return not self.stopped.wait(seconds)

    def hang(self) -> None:
        """Hold the connection open, silent, until the other side leaves or the server stops."""
        while self.is_open and not self.stopped.is_set() and self.receive() != b"":
            pass

    def receive(self) -> bytes | None:
        """Return what comes, empty at the end, None if nothing came for a moment."""
        try:
            notes: Iterable[tuple[int, int, bytes]] = ()
            if self._is_stamped:
                data, notes, _, _ = self.peer.recvmsg(65_536, 64)
            else:
                data = self.peer.recv(65_536)
            if not self.buffer:
                self.arrived = _stamp(notes)
            return data
        except TimeoutError:
            return None
        except OSError:
            return b""

    def close(self) -> None:
        """End the connection in order."""
        if self.is_open:
            self.is_open = False
            with contextlib.suppress(OSError):
                self.peer.shutdown(socket.SHUT_WR)
            self.peer.close()

    def reset(self) -> None:
        """Break the connection off with RST."""
        self.is_open = False
        self.peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.peer.close()

    def wake(self) -> None:
        """Let whoever waits for bytes see the end."""
        with contextlib.suppress(OSError):
            self.peer.shutdown(socket.SHUT_RDWR)

    def read_request(self) -> tuple[str, str, dict[str, str], bytes] | None:
        """Return method, target, headers and body of the next request, None at the end."""
        while b"\r\n\r\n" not in self.buffer:
            if not self._more() or self.buffer.startswith(TLS_HELLO):
                return None
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers: dict[str, str] = {}
        for line in lines:
            name, _, value = line.partition(":")
            name = name.lower()
            headers[name] = f"{headers[name]}, {value.strip()}" if name in headers else value.strip()
        length = int(headers.get("content-length", "0"))
        while len(self.buffer) < length:
            if not self._more():
                return None
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return method, target, headers, body

    def _more(self) -> bool:
        while not self.stopped.is_set() and self.is_open:
            data = self.receive()
            if data:
                self.buffer += data
                return True
            if data == b"":
                return False
        return False


Answer = Page | Callable[[Seen, Wire], object]


@dataclass
class WebServer:
    """A web server in threads on a loopback address. `seen` is its log, `dials` counts connections.

    `pages` maps a path to a `Page` or to a callable that does with the wire what it likes. `connect`, if set, is called with each
    new connection before anything is read. Each of 127.0.0.1 to 127.0.0.254 can be a host of its own.
    """

    address: str = "127.0.0.1"
    port: int = 0
    tls: ssl.SSLContext | None = None
    pages: dict[str, Answer] = field(default_factory=dict)
    connect: Callable[[Wire], object] | None = None
    seen: list[Seen] = field(default_factory=list)
    dials: int = 0

    def __enter__(self) -> Self:
        self._stopped = threading.Event()
        self._threads: list[threading.Thread] = []
        self._wires: list[Wire] = []
        family = socket.AF_INET6 if ":" in self.address else socket.AF_INET
        self._listener = socket.create_server((self.address, self.port), family=family, backlog=128)
        self._listener.settimeout(0.2)
        self.port = self._listener.getsockname()[1]
        self._start(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        for wire in self._wires:
            wire.wake()
        with contextlib.suppress(OSError):
            socket.create_connection((self.address, self.port), timeout=1).close()  # wakes who accepts
        for thread in list(self._threads):
            thread.join()
        self._listener.close()

    def url(self, path: str = "/") -> str:
        """Return the rebuilt URL of a path."""
        scheme, default = ("https", 443) if self.tls else ("http", 80)
        host = f"[{self.address}]" if ":" in self.address else self.address
        port = "" if self.port == default else f":{self.port}"
        return f"{scheme}://{host}{port}{path}"

    @property
    def host(self) -> str:
        """Return the key of this host (contracts §3)."""
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"

    def paths(self) -> list[str]:
        """Return the paths asked for, in order."""
        return [request.path for request in self.seen]

    def most_at_once(self) -> int:
        """Return how many requests were being answered at the same time at most."""
        return max(
            (sum(1 for b in self.seen if b.at <= a.at < (b.done_at or float("inf"))) for a in self.seen), default=0
        )

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                peer, _ = self._listener.accept()
            except OSError:
                continue
            if self._stopped.is_set():
                peer.close()
                return
            self.dials += 1
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._start(self._serve, peer, self.dials)

    def _serve(self, peer: socket.socket, number: int) -> None:
        peer.settimeout(0.05 if self.tls is None else 5)
        if self.tls is not None:
            try:
                peer = self.tls.wrap_socket(peer, server_side=True)
            except OSError:
                peer.close()
                return
            peer.settimeout(0.05)
        wire = Wire(peer, number, self._stopped)
        self._wires.append(wire)
        if self.connect is not None:
            self.connect(wire)
        while wire.is_open and (request := wire.read_request()) is not None:
            method, target, headers, body = request
            seen = Seen(time.monotonic(), method, target, headers, body, number, arrived=wire.arrived)
            self.seen.append(seen)
            answer = self.pages.get(seen.path, Page(b"not here", status=404))
            if isinstance(answer, Page):
                wire.send(response(answer, seen))
            else:
                answer(seen, wire)
            seen.done_at = time.monotonic()
        wire.close()


def _stamp(notes: Iterable[tuple[int, int, bytes]]) -> float:
    """Return when bytes reached this machine, as the kernel says beside them, else now."""
    for level, kind, data in notes:
        if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
            seconds, nanoseconds = struct.unpack("qq", data[:16])
            return float(seconds + nanoseconds / 1e9)
    return time.time()


def response(page: Page, seen: Seen | None = None) -> bytes:
    """Return the bytes that answer a request with a page."""
    pairs = list(page.headers.items() if isinstance(page.headers, Mapping) else page.headers)
    if page.etag:
        pairs.append(("ETag", page.etag))
    if page.last_modified:
        pairs.append(("Last-Modified", page.last_modified))
    status, body = page.status, page.body
    if seen is not None and _is_known(page, seen):
        status, body = 304, b""
    names = {name.lower() for name, _ in pairs}
    if status != 304 and not names & {"content-length", "transfer-encoding"}:
        pairs.append(("Content-Length", str(len(body))))
    head = "".join(f"{name}: {value}\r\n" for name, value in pairs)
    text = f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}\r\n{head}\r\n"
    return text.encode("latin-1") + (b"" if seen is not None and seen.method == "HEAD" else body)


def _is_known(page: Page, seen: Seen) -> bool:
    """Return whether a request is conditional and its condition says that the page is unchanged (RFC 9110 §13.2.2)."""
    if "if-none-match" in seen.headers:
        return page.etag is not None and page.etag in seen.headers["if-none-match"]
    return page.last_modified is not None and seen.headers.get("if-modified-since") == page.last_modified


_DIALS: list[list[tuple[object, ...]]] = []


@functools.cache
def _install_hook() -> None:
    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "socket.connect" and _DIALS:
            address = arguments[1]
            for dials in _DIALS:
                dials.append(address if isinstance(address, tuple) else (address,))

    sys.addaudithook(hook)


class SocketRecorder:
    """Notes every address that this process dials (from Python) while it is entered: `with SocketRecorder() as recorder`."""

    def __init__(self) -> None:
        self.dials: list[tuple[object, ...]] = []

    def __enter__(self) -> Self:
        _install_hook()
        _DIALS.append(self.dials)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _DIALS.remove(self.dials)

    def hosts(self) -> list[object]:
        """Return the addresses dialled, without ports."""
        return [address[0] for address in self.dials]


class FreePermit:
    """A permit that lets everything through at once and notes the hosts (`fetching.fetcher.Permit`)."""

    def __init__(self) -> None:
        self.hosts: list[str] = []

    async def hop(self, host: str) -> None:
        """Note a request."""
        self.hosts.append(host)

    @contextlib.asynccontextmanager
    async def beside(self, host: str) -> AsyncIterator[None]:
        """Note a request of a page load."""
        self.hosts.append(host)
        yield

"""A forward proxy on loopback, built from the fake web server: pages by absolute URL, tunnels by
CONNECT.

```
with WebServer() as proxy, WebServer(tls=...) as site:
    proxy.pages["http://site.test/a"] = Page(b"by proxy")
    proxy.pages["site.test:443"] = tunnel(site)
```
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable

from tests.fakes import Seen, WebServer, Wire

ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


def tunnel(site: WebServer) -> Callable[[Seen, Wire], None]:
    """Return what answers CONNECT: bytes go to and fro between its sender and a server, whatever name was asked for."""

    def answer(seen: Seen, wire: Wire) -> None:
        assert "CONNECT" == seen.method
        with socket.create_connection((site.address, site.port)) as far:
            wire.send(ESTABLISHED)
            wire.peer.settimeout(None)
            back = threading.Thread(target=_pump, args=(far, wire.peer), daemon=True)
            back.start()
            _pump(wire.peer, far)
            back.join(timeout=5)
        wire.close()

    return answer


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)

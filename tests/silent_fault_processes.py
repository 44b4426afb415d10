"""The faults of `silent_faults` that need real processes: killed or stopped ones, workers, cut
PostgreSQL connections.

Each ends within a minute with the news of the page at its owner's receiver, or with a message that
says why not.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from tests.fakes import Page, Seen, WebServer, Wire
from tests.services import Installation, Service, until
from tests.silent_faults import HTML, NEWS, Sight, page
from tests.stores import PRODUCTS, Products

WITHIN_SECONDS = 60.0
VARIABLES = {"TIDINGS_FETCH_HOST_GAP_SECONDS": "0", "TIDINGS_FETCH_ROBOTS": "false", "TIDINGS_SERVE_LEASE_SECONDS": "5"}


@dataclass(slots=True)
class Running:
    """A service that watches one page each second, and what its owner's receiver took."""

    place: Installation
    web: WebServer
    service: Service
    received: list[Any] = field(default_factory=list)

    def show(self, word: str) -> None:
        """Let the page say a word from now on."""
        self.web.pages["/a"] = Page(page(word).encode(), HTML)

    def workers(self) -> list[int]:
        """Return the processes of the service beside itself."""
        return [pid for pid in self.service.members() if pid != self.service.process.pid]

    def again(self) -> None:
        """Start the service anew."""
        self.service = self.place.serve()
        self.service.wait_ready()


@dataclass(frozen=True, slots=True)
class RealFault:
    """A fault of real processes: `before` the page has news, and `after` it."""

    name: str
    before: Callable[[Running], None]
    after: Callable[[Running], None] = lambda running: None


def _signal_workers(number: int) -> Callable[[Running], None]:
    def act(running: Running) -> None:
        for pid in running.workers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    return act


def _kill(running: Running) -> None:
    running.service.kill()


def _terminate(running: Running) -> None:
    running.service.terminate()


def _stop(running: Running) -> None:
    os.kill(running.service.process.pid, signal.SIGSTOP)


def _continue(running: Running) -> None:
    time.sleep(2)
    os.kill(running.service.process.pid, signal.SIGCONT)


def _again(running: Running) -> None:
    running.again()


REAL_FAULTS = (
    RealFault("all workers are killed", _signal_workers(signal.SIGKILL)),
    RealFault("all workers are stopped", _signal_workers(signal.SIGSTOP)),
    RealFault("the service is killed and started again", _kill, _again),
    RealFault("the service is asked to end and started again", _terminate, _again),
    RealFault("the service is stopped for two seconds", _stop, _continue),
)


def judge_real(fault: RealFault, folder: Path, *, product: str = "sqlite") -> Sight:
    """Play one fault with real processes and return what the owner noticed within a minute."""
    with _running(folder, product) as running:
        fault.before(running)
        running.show(NEWS)
        fault.after(running)
        deadline = time.monotonic() + WITHIN_SECONDS
        while time.monotonic() < deadline:
            news = [m for m in running.received if NEWS in json.dumps(m)]
            if news:
                return Sight(verdict="goes on", words="")
            time.sleep(0.05)
        text = "; ".join(str(m["data"].get("summary", "")) for m in running.received[1:])
        return Sight(verdict="reported" if text else "silent", words=text)


def cut_connections(running: Running) -> None:
    """End every connection that the service has to its PostgreSQL."""
    url = running.place.variables["TIDINGS_STORE_URL"]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


CUT = RealFault("PostgreSQL ends every connection", cut_connections)


@contextlib.contextmanager
def _running(folder: Path, product: str) -> Iterator[Running]:
    with contextlib.ExitStack() as stack:
        web, receiver = stack.enter_context(WebServer("127.0.0.2")), stack.enter_context(WebServer("127.0.0.8"))
        variables = dict(VARIABLES)
        if product != PRODUCTS[0]:
            products = Products(folder)
            stack.callback(products.close)
            variables["TIDINGS_STORE_URL"] = stack.enter_context(products.fresh(product, folder / "unused")).store.url
        place = Installation(folder / "data", variables)
        stack.callback(place.close)
        received: list[Any] = []

        def take(seen: Seen, wire: Wire) -> None:
            received.append(json.loads(seen.body))
            wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

        receiver.pages["/hook"] = take
        web.pages["/a"] = Page(page("nothing").encode(), HTML)
        text = f"Create Sentinel s Using {web.url('/a')} Monitor all words Fetch every 1 s Notify By webhook {receiver.url('/hook')}"
        added = place.run("add", "-", "--no-check", text=text)
        assert 0 == added.returncode, added.stderr
        service = place.serve()
        service.wait_ready()
        running = Running(place, web, service, received)
        until(lambda: len(web.seen) >= 1, WITHIN_SECONDS, "the page is not checked")
        time.sleep(1.5)
        running.show("something")
        until(lambda: received, WITHIN_SECONDS, "the watch does not work before the fault")
        yield running

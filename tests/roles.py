"""Processes of each role on one PostgreSQL database, as if each ran on its own machine.

The ledgers are those of the page's server and of the receiver, not of the database.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import threading
import urllib.request
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.fakes import Seen, WebServer, Wire
from tests.services import Installation, Service, until
from tests.stores import own_postgres
from tidings.clock import SystemClock
from tidings.model.secret import Secret
from tidings.notification.webhook import make_secret
from tidings.service.sentinels import register
from tidings.storage.db import lock
from tidings.storage.db.database import open_database
from tidings.storage.observed import polls, versions
from tidings.storage.secrets import SIGNING, Vault
from tidings.storage.watches import changes, deliveries

LEASE_SECONDS = 1.5
WAIT_SECONDS = 30.0


class Cluster:
    """One database, a page of `server` with an edition number, and a receiver that may be held."""

    def __init__(self, directory: Path, url: str = "", **variables: str) -> None:
        self.directory = directory
        self._stack = contextlib.ExitStack()
        self._url = url
        self.variables = {
            "TIDINGS_FETCH_HOST_GAP_SECONDS": "0.1",
            "TIDINGS_FETCH_ROBOTS": "false",
            "TIDINGS_SERVE_LEASE_SECONDS": str(LEASE_SECONDS),
            "TIDINGS_SEARCH_INDEX": "false",
            **variables,
        }
        self.server = WebServer("127.0.0.2")
        self.edition = 0
        self.taken: list[tuple[str, int]] = []
        """(id, edition) of each message that arrived, in order"""
        self.holding = threading.Event()
        """while set, the receiver takes a message and does not answer"""
        self.places: dict[str, Installation] = {}

    def __enter__(self) -> Self:
        self.variables["TIDINGS_STORE_URL"] = self._url or self._stack.enter_context(own_postgres())
        self._stack.enter_context(self.server)
        self.server.pages["/"] = self._show
        self.server.pages["/hook"] = self._take
        self.main = self.machine("main")
        with contextlib.closing(open_database(self.main.settings)) as database:
            now = SystemClock().now()
            register.register(database, self.statement, settings=self.main.settings, now=now)
            database.write(Vault(self.main.directory).put, SIGNING, Secret(make_secret()), kind="signing", at=now)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for place in self.places.values():
            place.close()
        self._stack.close()

    @property
    def statement(self) -> str:
        """Return what is watched."""
        return (
            f"Create Sentinel page Using {self.server.url('/')} Monitor any change Fetch every 1 s"
            f" Notify by webhook {self.server.url('/hook')}"
        )

    def machine(self, name: str) -> Installation:
        """Return a machine: a data directory of its own, with the key of the first."""
        if name not in self.places:
            place = self.places[name] = Installation(self.directory / name, self.variables)
            key = self.directory / "main" / "secrets.key"
            if name != "main" and key.exists():
                place.directory.mkdir(mode=0o700, parents=True)
                shutil.copy(key, place.directory)
        return self.places[name]

    def start(self, role: str, name: str = "", *, ready: bool = True) -> Service:
        """Start a process of a role on a machine."""
        service = self.machine(name or role).serve("--role", role)
        if ready:
            service.wait_ready()
        return service

    def edit(self) -> int:
        """Change the page, once there is a version to compare with; return the new edition."""
        until(
            lambda: self.edition or self.main.read(versions.listing, 1), WAIT_SECONDS, "there is no version", pause=0.05
        )
        self.edition += 1
        return self.edition

    def editions_told(self) -> list[int]:
        """Return the editions that messages told, in the order in which they arrived."""
        return [edition for _, edition in list(self.taken)]

    def await_told(self, edition: int) -> None:
        """Return once the receiver has a message that tells an edition."""
        until(lambda: edition in self.editions_told(), WAIT_SECONDS, f"edition {edition} is not told", pause=0.02)

    def await_stored(self, edition: int) -> None:
        """Return once a change to an edition is stored."""
        until(
            lambda: edition in self.editions_stored(),
            WAIT_SECONDS,
            f"edition {edition} is not found",
            pause=0.05,
        )

    def editions_stored(self) -> list[int]:
        """Return the editions of the stored changes."""
        return [_edition(row.row.summary) for row in self.main.read(changes.listing)]

    def lease(self) -> lock.LeaseRow:
        """Return the planner's lease."""
        row: lock.LeaseRow = self.main.read(lock.current_lease, lock.POLLER)
        return row

    def violations(self) -> list[str]:
        """Return what the ledgers contradict.

        Polls that nobody paid for; changes that were not told, under two ids, or out of order.
        """
        asked = sum(seen.path == "/" for seen in list(self.server.seen))
        paid = len(self.main.read(polls.listing, limit=None))
        found = [] if asked <= paid else [f"{asked} requests, and {paid} polls are paid"]
        stored = {row.id: row for row in self.main.read(deliveries.listing)}
        ids = [id_ for id_, _ in self.taken]
        found += [f"message {id_} is not stored" for id_ in set(ids) - stored.keys()]
        first = [id_ for place, id_ in enumerate(ids) if id_ not in ids[:place]]
        if first != sorted(first, key=lambda id_: stored[id_].last_seq if id_ in stored else 0):
            found.append("messages are out of order")
        ids_of = Counter(edition for _, edition in set(self.taken))
        found += [f"edition {edition} has {count} ids" for edition, count in ids_of.items() if count > 1]
        found += [
            f"edition {edition} is stored and not told" for edition in self.editions_stored() if not ids_of[edition]
        ]
        return found

    def ask(self, service: Service, path: str, **more: Any) -> tuple[int, str]:
        """Return status and text of an answer of a process that serves."""
        until(lambda: "listening on" in service.err, WAIT_SECONDS, "it does not listen")
        address = service.err.split("listening on ")[1].split()[0]
        request = urllib.request.Request(address.rstrip("/") + path, **more)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()

    def _show(self, seen: Seen, wire: Wire) -> None:
        body = f"<title>Page</title><p>edition {self.edition} is out</p>".encode()
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    def _take(self, seen: Seen, wire: Wire) -> None:
        record = json.loads(seen.body)["data"]
        self.taken.append((seen.headers["webhook-id"], _edition(record["summary"])))
        while self.holding.is_set() and wire.wait(0.02):
            pass
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


def _edition(summary: str) -> int:
    """Return the edition that a summary reports: `edition "3" → "4" is out`."""
    return int(summary.partition("→")[2].split('"')[1])

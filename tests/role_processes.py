"""Processes of each role on one PostgreSQL database, as if each ran on its own machine.

The ledgers are those of the pages' servers and of the receiver, not of the database.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import shutil
import threading
import urllib.request
from collections import Counter
from itertools import pairwise
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
from tidings.service.watch.shards import shard_of
from tidings.storage.db import lock, planners
from tidings.storage.db.database import open_database
from tidings.storage.observed import polls, versions
from tidings.storage.secrets import SIGNING, Vault
from tidings.storage.watches import changes, deliveries

LEASE_SECONDS = 1.5
WAIT_SECONDS = 30.0


class Site:
    """A host with one page, which shows the number of its edition, and an address that leads to
    another host's page.
    """

    def __init__(self, number: int, server: WebServer, hook: str) -> None:
        self.number = number
        self.server = server
        self.edition = 0
        self.editions: list[int] = []
        self.hook = hook
        self.leads_to = ""
        server.pages["/"] = self._show
        server.pages["/away"] = self._lead_away

    @property
    def statement(self) -> str:
        """Return what is watched."""
        return (
            f"Create Sentinel page{self.number} Using {self.server.url('/')} Monitor any change Fetch every 1 s"
            f" Notify by webhook {self.hook}"
        )

    @property
    def arrivals(self) -> list[float]:
        """Return when the host was asked, in order."""
        return sorted(seen.arrived or seen.at for seen in list(self.server.seen))

    def _lead_away(self, seen: Seen, wire: Wire) -> None:
        wire.send(f"HTTP/1.1 302 Found\r\nLocation: {self.leads_to}\r\nContent-Length: 0\r\n\r\n".encode())

    def _show(self, seen: Seen, wire: Wire) -> None:
        body = f"<title>Page</title><p>edition {self.edition} is out</p>".encode()
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


class Cluster:
    """One database, pages with edition numbers on `sites` hosts, a receiver that may be held."""

    def __init__(self, directory: Path, url: str = "", *, sites: int = 1, **variables: str) -> None:
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
        self._count = sites
        self.sites: list[Site] = []
        self.receiver = WebServer("127.0.0.1")
        self._numbers = itertools.count(1)
        self.taken: list[tuple[str, int]] = []
        """(id, edition) of each message about a change that arrived, in order"""
        self.notices: list[str] = []
        """what other messages say, e.g. that a page cannot be fetched"""
        self.holding = threading.Event()
        """while set, the receiver takes a message and does not answer"""
        self.places: dict[str, Installation] = {}
        self.own: dict[str, dict[str, str]] = {}
        """more variables of machines"""

    def __enter__(self) -> Self:
        self.variables["TIDINGS_STORE_URL"] = self._url or self._stack.enter_context(own_postgres())
        self._stack.enter_context(self.receiver)
        for number in range(self._count):
            server = self._open_server(number)
            path = f"/hook/{number}"
            self.receiver.pages[path] = self._take
            self.sites.append(Site(number, server, self.receiver.url(path)))
        self.main = self.machine("main")
        with contextlib.closing(open_database(self.main.settings)) as database:
            now = SystemClock().now()
            text = "\n".join(site.statement for site in self.sites)
            register.register(database, text, settings=self.main.settings, now=now)
            database.write(Vault(self.main.directory).put, SIGNING, Secret(make_secret()), kind="signing", at=now)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for place in self.places.values():
            place.close()
        self._stack.close()

    def _open_server(self, number: int) -> WebServer:
        """Return the server of a site. If two planners share the pages, even numbers belong to one and
        odd ones to the other.
        """
        while True:
            server: WebServer = self._stack.enter_context(WebServer(f"127.0.0.{2 + number}"))
            if shard_of(server.host, planners.SHARDS) * 2 // planners.SHARDS == number % 2:
                return server

    def machine(self, name: str) -> Installation:
        """Return a machine: a data directory of its own, with the key of the first."""
        if name not in self.places:
            variables = {**self.variables, **self.own.get(name, {})}
            place = self.places[name] = Installation(self.directory / name, variables)
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

    def edit(self, site: int = 0) -> int:
        """Change a page, once there is a version to compare with; return the new edition."""
        where = self.sites[site]
        until(
            lambda: where.edition or self.main.read(versions.listing, site + 1),
            WAIT_SECONDS,
            "there is no version",
            pause=0.05,
        )
        where.edition = next(self._numbers)
        where.editions.append(where.edition)
        return where.edition

    def edit_all(self) -> list[int]:
        """Change all pages; return the new editions."""
        return [self.edit(site.number) for site in self.sites]

    def editions_told(self) -> list[int]:
        """Return the editions that messages reported, in the order in which they arrived."""
        return [edition for _, edition in list(self.taken)]

    def await_told(self, *editions: int, seconds: float = WAIT_SECONDS) -> None:
        """Return once the receiver has messages that report these editions."""
        wanted = {*editions}
        until(
            lambda: wanted <= {*self.editions_told()},
            seconds,
            lambda: f"editions {sorted(wanted - {*self.editions_told()})} are not reported",
            pause=0.02,
        )

    def editions_stored(self) -> list[int]:
        """Return the editions of the stored changes."""
        return [_find_edition(row.row.summary) or 0 for row in self.main.read(changes.listing)]

    def runs(self) -> list[planners.PlannerRun]:
        """Return the runs of the planners."""
        found: list[planners.PlannerRun] = self.main.read(planners.listing)
        return found

    def await_divided(self, *services: Service) -> None:
        """Return once these planners, and no others, share all pages evenly."""
        wanted = {service.process.pid for service in services}

        def is_divided() -> bool:
            runs = self.runs()
            sizes = [len(run.shards) for run in runs]
            pids = {int(run.holder.split(":")[1]) for run in runs}
            return (
                pids == wanted
                and sum(sizes) == planners.SHARDS
                and not any(planners.is_uneven(run, runs) for run in runs)
            )

        until(is_divided, WAIT_SECONDS, lambda: f"the pages are not divided: {self.runs()}", pause=0.05)

    def find_holder(self, site: int = 0) -> int | None:
        """Return the process id of the planner that checks a page, None while nobody does."""
        shard = shard_of(self.sites[site].server.host, planners.SHARDS)
        return next((int(run.holder.split(":")[1]) for run in self.runs() if shard in run.shards), None)

    def lease(self) -> lock.LeaseRow:
        """Return the lease of the poller, whose epoch counts the runs."""
        row: lock.LeaseRow = self.main.read(lock.current_lease, lock.POLLER)
        return row

    def gaps(self) -> list[float]:
        """Return the seconds between two requests to a host, by the servers' logs."""
        return [later - earlier for site in self.sites for earlier, later in pairwise(site.arrivals)]

    def violations(self) -> list[str]:
        """Return what the ledgers contradict.

        Polls that nobody paid for; changes that were not reported, under two ids, or out of order.
        """
        asked = sum(len(site.arrivals) for site in self.sites)
        paid = sum(row.cost for row in self.main.read(polls.listing, limit=None))
        found = [] if asked <= paid else [f"{asked} requests, and {paid:g} are paid"]
        stored = {row.id: row for row in self.main.read(deliveries.listing)}
        ids = [id_ for id_, _ in list(self.taken)]
        found += [f"message {id_} is not stored" for id_ in set(ids) - stored.keys()]
        first = [stored[id_] for id_ in dict.fromkeys(ids) if id_ in stored]
        for endpoint in {row.endpoint_id for row in first}:
            numbers = [row.last_seq for row in first if row.endpoint_id == endpoint]
            if numbers != sorted(numbers):
                found.append("messages are out of order")
        ids_of = Counter(edition for _, edition in set(self.taken))
        found += [f"edition {edition} has {count} ids" for edition, count in ids_of.items() if count > 1]
        found += [
            f"edition {edition} is stored and not reported" for edition in self.editions_stored() if not ids_of[edition]
        ]
        return found

    def ask(self, service: Service, path: str, **more: Any) -> tuple[int, str]:
        """Return status and text of an answer of a process that serves."""
        until(lambda: "listening on" in service.err, WAIT_SECONDS, "it does not listen")
        address = service.err.split("listening on ")[1].split()[0]
        request = urllib.request.Request(address.rstrip("/") + path, **more)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()

    def _take(self, seen: Seen, wire: Wire) -> None:
        summary = json.loads(seen.body)["data"]["summary"]
        if (edition := _find_edition(summary)) is None:
            self.notices.append(summary)
        else:
            self.taken.append((seen.headers["webhook-id"], edition))
        while self.holding.is_set() and wire.wait(0.02):
            pass
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


def _find_edition(summary: str) -> int | None:
    """Return the edition that a summary (`edition "4" (was "3") is out`) reports, None for none."""
    found = re.search(r'edition "(\d+)"', summary)
    return None if found is None else int(found[1])

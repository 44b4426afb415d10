"""A simulated town of changing pages on loopback, and a loop that kills the service which watches
it.

The town keeps its own ledgers: each request of each of its hosts, each webhook that arrived. They are compared with the database
by `tests.invariants`. Everything that chance decides comes from a seed; the moments at which threads and processes run do not.
"""

from __future__ import annotations

import hashlib
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.fakes import Seen, WebServer, Wire
from tests.invariants import Acknowledged, Asked, Limits, Taken, check_invariants
from tests.services import STOP_SECONDS, Installation, Service, until
from tidings.storage.db.connection import Connection
from tidings.storage.observed import pages, versions
from tidings.storage.watches import changes, deliveries, subscriptions

GAP = 0.5
SLACK = 0.3
"""What a busy machine blurs: the gap is kept where requests start in the service and measured where they arrive."""
QUIET_SECONDS = 60.0
VARIABLES = {
    "TIDINGS_FETCH_HOST_GAP_SECONDS": str(GAP),
    "TIDINGS_SCHEDULE_PACE_SECONDS": "0.3",
    "TIDINGS_STORE_BLOB_FILE_BYTES": "300",
    "TIDINGS_STORE_CHAIN_LENGTH": "8",
    "TIDINGS_DETECT_ATTEMPTS": "9",
}
WAYS = ("time", "request", "delivery", "start", "worker", "terminate")
WEIGHTS = (35, 20, 25, 8, 6, 6)
BROKEN = b"<p>BROKEN: half of a page"


class TownPage:
    """A page: its present body, its history, and what it answered when."""

    def __init__(self, name: str, rng: random.Random) -> None:
        self.name = name
        self._rng = rng
        self._editions = 0
        self._before = b""
        self.words: dict[str, str] = {}
        self.body = b""
        self.edit()

    def edit(self) -> None:
        """Change the text; now and then back to what it was before."""
        if self._before and self._rng.random() < 0.15:
            self._before, self.body = self.body, self._before
            return
        self._editions += 1
        word = f"{self.name}x{self._editions}"
        noise = " ".join(f"{self._rng.getrandbits(40):x}" for _ in range(self._rng.choice((250, 400, 550))))
        body = f"<title>{self.name}</title><p>edition {word} is out</p><p>{noise}</p>".encode()
        self._before, self.body = self.body, body
        self.words[hashlib.sha256(body).hexdigest()] = word


class Town:
    """`hosts` web servers with `pages` changing pages each, one page that always breaks off, and a receiver of webhooks.

    `hold` seconds is the longest that the receiver takes to answer.
    """

    def __init__(self, *, hosts: int = 4, pages: int = 3, seed: int = 1, hold: float = 0.02) -> None:
        self.rng = random.Random(seed)
        self.asked: list[Asked] = []
        self.taken: list[Taken] = []
        self.moment = threading.Condition()
        self.requests = 0
        self._hold = hold
        self._servers = [WebServer(f"127.0.0.{2 + n}") for n in range(hosts)]
        self._receiver = WebServer("127.0.0.1")
        self.pages: dict[str, TownPage] = {}
        self._places = [(n, f"/{k}") for n in range(hosts) for k in range(pages)]
        self._still = threading.Event()
        self._editor: threading.Thread | None = None

    def __enter__(self) -> Self:
        for server in self._servers:
            server.__enter__()
        self._receiver.__enter__()
        for number, path in self._places:
            server = self._servers[number]
            page = TownPage(f"h{number}p{path[1:]}", random.Random(self.rng.random()))
            self.pages[server.url(path)] = page
            server.pages[path] = self._answer(server, page)
        for server in self._servers:
            server.pages["/robots.txt"] = self._robots(server)
        self._servers[0].pages["/broken"] = self._break(self._servers[0])
        self._receiver.pages["/hook"] = self._take
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stand_still()
        for server in (*self._servers, self._receiver):
            server.__exit__(kind, error, trace)

    @property
    def text(self) -> str:
        """Return a sentinel for each page, by turns with an interval and on change, and one for the page that breaks off."""
        hook = self._receiver.url("/hook")
        clause = f"Notify By webhook {hook} immediate"
        made = [
            f"Create Sentinel {page.name} Using {url} Monitor any change"
            f" {('Fetch every 1 s', 'Fetch on change between 1 s and 3 s')[place % 2]} {clause}"
            for place, (url, page) in enumerate(self.pages.items())
        ]
        broken = self._servers[0].url("/broken")
        return ";\n".join([*made, f"Create Sentinel broken Using {broken} Monitor any change {clause}"])

    def go(self, seconds: float) -> None:
        """Edit a page every so many seconds from now on."""
        self._still.clear()
        self._editor = threading.Thread(target=self._edit, args=(seconds,), daemon=True)
        self._editor.start()

    def stand_still(self) -> None:
        """Edit nothing more."""
        self._still.set()
        if self._editor is not None:
            self._editor.join()

    def wait_for(self, what: str, seconds: float) -> bool:
        """Return once another request or webhook has come in, or after so long."""
        before = self._count(what)
        with self.moment:
            return self.moment.wait_for(lambda: self._count(what) > before, seconds)

    def _count(self, what: str) -> int:
        return self.requests if what == "request" else len(self.taken)

    def _edit(self, seconds: float) -> None:
        turn = random.Random(self.rng.random())
        while not self._still.wait(seconds):
            turn.choice(list(self.pages.values())).edit()

    def _answer(self, server: WebServer, page: TownPage) -> Any:
        def answer(seen: Seen, wire: Wire) -> None:
            self._list_arrived()
            body = page.body
            tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
            if seen.headers.get("if-none-match") == tag:
                sent = wire.send(f"HTTP/1.1 304 Not Modified\r\nETag: {tag}\r\n\r\n".encode())
                body = b""
            else:
                head = (
                    f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: {tag}\r\nContent-Length: {len(body)}\r\n\r\n"
                )
                sent = wire.send(head.encode() + body)
            digest = hashlib.sha256(body).hexdigest() if sent and body else ""
            self._note(server, seen, digest)

        return answer

    def _robots(self, server: WebServer) -> Any:
        def robots(seen: Seen, wire: Wire) -> None:
            self._list_arrived()
            wire.send(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            self._note(server, seen, "")

        return robots

    def _break(self, server: WebServer) -> Any:
        def break_answer(seen: Seen, wire: Wire) -> None:
            self._list_arrived()
            wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n" + BROKEN)
            wire.close()
            self._note(server, seen, "")

        return break_answer

    def _take(self, seen: Seen, wire: Wire) -> None:
        self.taken.append(Taken(seen.headers["webhook-id"], seen.body))
        with self.moment:
            self.moment.notify_all()
        time.sleep(self.rng.uniform(0, self._hold))
        wire.send(b"HTTP/1.1 204 No Content\r\n\r\n")

    def _list_arrived(self) -> None:
        self.requests += 1
        with self.moment:
            self.moment.notify_all()

    def _note(self, server: WebServer, seen: Seen, digest: str) -> None:
        self.asked.append(Asked(server.host, server.url(seen.path), seen.arrived, time.time(), digest))


@dataclass
class Report:
    """What a loop did and what it found."""

    cycles: int = 0
    ways: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    stops: list[float] = field(default_factory=list)
    versions: int = 0
    changes: int = 0
    deliveries: int = 0
    received: int = 0
    requests: int = 0
    charged: float = 0.0
    acknowledged: int = 0
    worker_kills: int = 0
    starts: list[float] = field(default_factory=list)
    """seconds from a start to ready"""
    quiet_seconds: float = 0.0


class KillLoop:
    """Starts, kills and starts again the service that watches a town."""

    def __init__(
        self, place: Installation, town: Town, *, seed: int = 1, ways: Mapping[str, int] | None = None
    ) -> None:
        self._ways = ways or dict(zip(WAYS, WEIGHTS, strict=True))
        self.place = place
        self.town = town
        self.rng = random.Random(seed)
        self.report = Report()
        self.quiet_seconds = QUIET_SECONDS
        """how long the rest may take; whoever lets much gather gives it longer"""
        self.added: set[str] = set()

    def run(self, cycles: int, *, edit_seconds: float = 0.02, say: Any = None) -> Report:
        """Go through so many kills, then let everything come to rest, stop in order and compare all ledgers."""
        self._add(self.town.text)
        self.town.go(edit_seconds)
        for number in range(cycles):
            self._cycle(self.rng.choices([*self._ways], [*self._ways.values()])[0], number)
            if say is not None:
                say(f"{number + 1} cycles, {self.town.requests} requests, {len(self.town.taken)} webhooks")
        self.town.stand_still()
        self._rest()
        return self.report

    def live(
        self, is_enough: Callable[[int], bool], *, during: AbstractContextManager[object], kills: int = 0
    ) -> Report:
        """Let a service live until `is_enough(0)`, `during` something; kill it, let the next live until `is_enough(1)`, and so on for all `kills`.

        Then come to rest, stop in order and compare all ledgers.
        """
        self._add(self.town.text)
        self.town.go(0.02)
        with during:
            service = self._live_on(partial(is_enough, 0))
            for number in range(1, kills + 1):
                service.kill()
                self._check_the_dead(service)
                service = self._live_on(partial(is_enough, number))
            self.town.stand_still()
        self._rest(None if service.process.poll() is not None else service)
        return self.report

    def _live_on(self, is_enough: Callable[[], bool]) -> Service:
        service = self.place.serve()
        service.wait_ready()
        while not is_enough() and service.process.poll() is None:
            time.sleep(0.1)
        if service.process.poll() is not None:
            self.report.faults.append(f"the service ended by itself: {service.err[-2000:]}")
        return service

    def _add(self, text: str) -> None:
        done = self.place.run("add", "-", "--no-check", text=text)
        if done.returncode:
            self.report.faults.append(f"add failed: {done.stderr}")
        self.added |= {line.split()[2] for line in text.splitlines() if line.startswith("Create Sentinel")}

    def _cycle(self, way: str, number: int) -> None:
        begun = time.monotonic()
        service = self.place.serve()
        if way != "start":
            service.wait_ready()
            self.report.starts.append(time.monotonic() - begun)
        if number % 20 == 10:
            url = self.rng.choice(list(self.town.pages))
            self._add(f"Create Sentinel late{number} Using {url} Monitor all words Fetch every 1 s")
        self._wait(way, service)
        if way == "terminate":
            self._terminate(service)
        else:
            if service.process.poll() is not None:
                self.report.faults.append(f"the service ended by itself: {service.err[-2000:]}")
            service.kill()
        self._check_the_dead(service)
        self.report.cycles += 1
        self.report.ways[way] += 1

    def _wait(self, way: str, service: Service) -> None:
        """Let the moment come at which the service is to die."""
        if way == "start":
            time.sleep(self.rng.uniform(0.2, 1.0))
            return
        time.sleep(self.rng.uniform(0, 0.5))
        if way in {"request", "delivery"}:
            for _ in range(self.rng.randint(1, 4)):
                self.town.wait_for(way, 1.0)
            time.sleep(self.rng.uniform(0, 0.03))
        elif way == "worker" and service.kill_worker(self.rng.choice):
            self.report.worker_kills += 1
            time.sleep(self.rng.uniform(0.1, 0.5))

    def _terminate(self, service: Service) -> None:
        status, seconds = service.terminate()
        self.report.stops.append(seconds)
        if status != 0 or seconds > STOP_SECONDS:
            self.report.faults.append(f"SIGTERM: status {status} after {seconds:.1f} s: {service.err[-2000:]}")

    def _check_the_dead(self, service: Service) -> None:
        left = service.list_left_over()
        if left:
            self.report.faults.append(f"I-8: the processes {left} outlive the service")
        for line in service.err.splitlines():
            if "Traceback" in line or " ERROR " in line:
                self.report.faults.append(f"the service complained: {service.err[-3000:]}")
                break

    def _rest(self, service: Service | None = None) -> None:
        if service is None:
            service = self.place.serve()
            service.wait_ready()
        begun = time.monotonic()
        try:
            until(lambda: not self.place.read(self._unrest), self.quiet_seconds, "the town is not notified", pause=0.1)
        except AssertionError as error:
            self.report.faults.append(f"I-10: {error}: {self.place.read(self._unrest)[:10]}")
        self.report.quiet_seconds = time.monotonic() - begun
        self._terminate(service)
        now = time.time_ns() // 1000
        self._check_the_dead(service)
        self._compare(now)

    def _unrest(self, c: Connection) -> list[str]:
        """Return what is not yet as the town is."""
        waiting = [f"delivery {row.id}" for row in deliveries.listing(c) if row.status == "waiting"]
        waiting += [f"comparison of {row.subscription_id}" for row in versions.list_pending(c)]
        newest = {}
        for identity, state in pages.listing(c):
            if identity.given in self.town.pages:
                newest[state.page_id] = state.last_seq
                version = versions.newest(c, state.page_id)
                body = hashlib.sha256(self.town.pages[identity.given].body).hexdigest()
                if version is None or version.sha256 != body:
                    waiting.append(f"page {identity.given}")
        for sub in subscriptions.listing(c, active=True):
            if sub.page_id in newest and sub.taken[-1:] != (newest[sub.page_id],):
                waiting.append(f"subscription {sub.id}")
        return waiting

    def _compare(self, now: int) -> None:
        report, town, place = self.report, self.town, self.place
        acknowledged = self._list_acknowledged()
        report.faults += check_invariants(
            place.settings,
            web=town.asked,
            receiver=town.taken,
            acknowledged=acknowledged,
            limits=Limits(gap=GAP, slack=SLACK, longest_wait=30.0),
            outputs=place.outputs(),
            quiet=True,
            now=now,
        )
        report.faults += place.read(self._words)
        doctor = place.run("doctor", "--json", "--deep")
        report.faults += [line for line in doctor.stdout.splitlines() if json.loads(line)["status"] == "fail"]
        report.acknowledged = len(acknowledged.changes) + sum(acknowledged.stored.values())
        report.received, report.requests = len(town.taken), len(town.asked)
        place.read(self._count)

    def _list_acknowledged(self) -> Acknowledged:
        """Return what all services of this place have said is done; a line that was cut by a kill does not count."""
        found: set[str] = set()
        stored: Counter[str] = Counter()
        for service in self.place.services:
            for line in service.out.split("\n")[:-1]:
                record = json.loads(line)
                if record["record"] == "change":
                    found.add(record["id"])
            for line in service.err.split("\n")[:-1]:
                _, _, message = line.partition("tidings: ")
                outcome, _, url = message.partition(" ")
                if outcome in {"new", "changed"}:
                    stored[url] += 1
        return Acknowledged(changes=found, stored=stored, sentinels=self.added)

    def _words(self, c: Connection) -> list[str]:
        """Return the changes that do not name the words that left and came."""
        bodies: dict[int, dict[int, str]] = {}
        faults = []
        for change in changes.listing(c, quiet=True):
            row = change.row
            if row.page_id not in bodies:
                bodies[row.page_id] = {v.seq: v.sha256 for v in versions.listing(c, row.page_id)}
            words = self.town.pages[change.url].words
            old, new = (words[bodies[row.page_id][seq]] for seq in (row.from_seq, row.to_seq))
            came = json.dumps([row.found.inserted, [new for _, new in row.found.updated]])
            left = json.dumps([row.found.deleted, [old for old, _ in row.found.updated]])
            if new not in came or old not in left:
                faults.append(f"I-3: change {row.id} of {change.url} does not say {old} → {new}")
        return faults

    def _count(self, c: Connection) -> None:
        self.report.versions = c.value("SELECT count(*) FROM version")
        self.report.changes = c.value("SELECT count(*) FROM change")
        self.report.deliveries = c.value("SELECT count(*) FROM delivery")
        self.report.charged = c.value("SELECT sum(cost) FROM poll")


def run_kill_loop(
    folder: Path,
    *,
    cycles: int,
    seed: int = 1,
    hosts: int = 4,
    pages_each: int = 3,
    say: Any = None,
    variables: Mapping[str, str] = {},
    ways: Mapping[str, int] | None = None,
    quiet_seconds: float = QUIET_SECONDS,
) -> Report:
    """Run one loop in a folder and return what came of it; `variables` are further settings, `ways` the weights of how a service dies."""
    with Town(hosts=hosts, pages=pages_each, seed=seed) as town:
        place = Installation(folder / "data", {**VARIABLES, **variables})
        try:
            loop = KillLoop(place, town, seed=seed, ways=ways)
            loop.quiet_seconds = quiet_seconds
            return loop.run(cycles, say=say)
        finally:
            place.close()

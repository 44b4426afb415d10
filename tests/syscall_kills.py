"""A cycle of poll, archive and notify, killed at each of its writing system calls in turn.

`strace` counts the calls of a kind, on one file or on all, and kills the process as it makes the k-th one. For k = 1, 2, … until the
cycle ends by itself that is an enumeration of the moments at which a kill can matter: between two such calls nothing changes outside.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.fakes import Seen, WebServer, Wire
from tests.invariants import Asked, Taken, check_invariants
from tests.services import Installation
from tidings.service.run import check as checking
from tidings.service.run.assembly import poller
from tidings.storage.observed import pages, versions
from tidings.storage.watches import changes, deliveries, sentinels

VARIABLES = {
    "TIDINGS_FETCH_HOST_GAP_SECONDS": "0",
    "TIDINGS_FETCH_PAGE_FLOOR_SECONDS": "0",
    "TIDINGS_DETECT_ISOLATION": "in_process",
    "TIDINGS_STORE_BLOB_FILE_BYTES": "100",
}
CALLS = (
    "write",
    "pwrite64",
    "writev",
    "pwritev",
    "fsync",
    "fdatasync",
    "ftruncate",
    "fallocate",
    "rename",
    "unlink",
    "mkdir",
)
FILES = ("tidings.db", "tidings.db-wal", "tidings.db-shm", "lock")
_CALL = re.compile(r"^(\d+) +([a-z0-9_]+)\((?:\d+<([^>]*)>|\"([^\"]*)\")")
_CHANCE = re.compile(r"(\.[0-9a-f]{8,16})+$|pipe:\[\d+\]|[0-9]+$")


@dataclass(frozen=True, slots=True)
class Lane:
    """Calls of one kind, on one file of the data directory if it names one."""

    call: str
    file: str | None = None

    def __str__(self) -> str:
        return f"{self.call}({self.file or 'anything'})"


LANES = (
    *(Lane(call, file) for call in ("pwrite64", "fsync", "ftruncate") for file in FILES),
    *(Lane(call) for call in CALLS if call != "pwrite64"),  # nothing but those files is written so
)
"""A file's own lane first: without a file the calls of other threads may come before the one that is meant."""


@dataclass(slots=True)
class Outcome:
    """What the enumeration of one lane brought."""

    lane: Lane
    kills: int = 0
    repeats: int = 0
    """kills after which the receiver had a delivery twice"""
    points: set[tuple[str, str, int]] = field(default_factory=set)
    """(call, file, how manieth of them) of each kill"""
    faults: list[str] = field(default_factory=list)


def is_possible() -> bool:
    """Say whether strace is here and may trace."""
    if shutil.which("strace") is None:
        return False
    return subprocess.run(["strace", "-f", "-o", "/dev/null", "true"], check=False, capture_output=True).returncode == 0


class Cycle:
    """A page in its second edition, a receiver, and a data directory that knows the first edition."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server = WebServer("127.0.0.2")
        self._edition = 1
        self.asked: list[Asked] = []
        self.taken: list[Taken] = []

    def __enter__(self) -> Self:
        self._server.__enter__()
        self._server.pages["/page"] = self._answer
        self._server.pages["/hook"] = self._take
        place = Installation(self._folder / "before", VARIABLES)
        url, hook = self._server.url("/page"), self._server.url("/hook")
        made = place.run(
            "add",
            "-",
            "--no-check",
            text=f"Create Sentinel s Using {url} Monitor any change Notify By webhook {hook} immediate",
        )
        assert 0 == made.returncode, made.stderr
        self._check(place)
        self._edition = 2
        self._first = list(self.asked)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.__exit__(kind, error, trace)

    def lanes(self) -> tuple[Lane, ...]:
        """Return all lanes: those of every cycle, and those of the folders that the second edition's body is put into."""
        name = hashlib.sha256(self._body(2)).hexdigest()
        folders = ("blobs", f"blobs/{name[:2]}", f"blobs/{name[:2]}/{name[2:4]}")
        return (*LANES, *(Lane(call, folder) for call in ("fsync", "mkdir") for folder in folders))

    def census(self) -> set[tuple[str, str, int]]:
        """Return every writing call of a cycle that nobody kills."""
        place = self._fresh()
        log = self._folder / "census"
        command = ["strace", "-f", "-y", "-o", str(log), "-e", f"trace={','.join(CALLS)}", *place.command("check", "s")]
        done = subprocess.run(command, env=place.environment, capture_output=True, check=False)
        assert 0 == done.returncode, done.stderr
        return set(self._points(log, place))

    def enumerate(self, lane: Lane, *, only: range | None = None) -> Outcome:
        """Kill at the first, second, … call of a lane until the cycle ends by itself (or only at these); check all after each."""
        outcome = Outcome(lane)
        for number in only or range(1, 10_000):
            place = self._fresh()
            if not self._kill(place, lane, number, outcome):
                break
            outcome.kills += 1
            outcome.faults += [f"killed at {lane} no. {number}: {fault}" for fault in self._faults(place, outcome)]
        return outcome

    def _kill(self, place: Installation, lane: Lane, number: int, outcome: Outcome) -> bool:
        """Run the cycle under strace; False if it ended by itself."""
        log = self._folder / "log"
        paths = ["-P", str(place.directory / lane.file)] if lane.file else []
        inject = ["-e", f"trace={lane.call}", "-e", f"inject={lane.call}:signal=KILL:when={number}"]
        command = ["strace", "-f", "-y", "-o", str(log), *paths, *inject, *place.command("check", "s")]
        done = subprocess.run(command, env=place.environment, capture_output=True, check=False)
        if done.returncode == 0:
            return False
        if done.returncode not in {137, -9}:
            outcome.faults.append(f"{lane} no. {number}: status {done.returncode}: {done.stderr.decode()[-2000:]}")
        # The call at which it died is the one that the thread with that many calls made last.
        points = [p for p in self._points(log, place) if lane.file is not None or p[2] <= number]
        outcome.points.update(points[-1:])
        return True

    def _faults(self, place: Installation, outcome: Outcome) -> Iterator[str]:
        """Start anew after the kill, without any; then everything must be as if there had been none."""
        self._check(place)
        if len(self.taken) > 1:
            outcome.repeats += 1
        yield from check_invariants(place.settings, web=[*self._first, *self.asked], receiver=self.taken, quiet=True)
        stored = place.read(lambda c: [v.sha256 for v in versions.listing(c, 1)])
        if stored != [hashlib.sha256(self._body(n)).hexdigest() for n in (1, 2)]:
            yield f"I-2: {len(stored)} versions are stored, or others than were served"
        found = place.read(changes.listing)
        if [(1, 2)] != [(change.row.from_seq, change.row.to_seq) for change in found]:
            yield f"I-3: {len(found)} changes were found instead of the one"
        ids = {taken.id for taken in self.taken}
        if ids != {row.id for row in place.read(deliveries.listing)} or len(ids) != 1:
            yield f"I-3: the receiver has {len(ids)} different deliveries instead of the one"
        if ["enabled"] != [row.state for row in place.read(sentinels.listing)] or len(place.read(pages.listing)) != 1:
            yield "I-1: the sentinel or its page is not as it was"

    def _fresh(self) -> Installation:
        target = self._folder / "data"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self._folder / "before", target)
        self.asked.clear()
        self.taken.clear()
        return Installation(target, VARIABLES)

    def _check(self, place: Installation) -> None:
        """Do in this process what `tidings check s` does."""

        async def check() -> None:
            async with poller(place.settings) as monitor:
                named = {page_id: {1} for page_id in monitor.watchlist.pages} or {1: {1}}
                await checking.check(monitor, named)

        asyncio.run(check())

    def _points(self, log: Path, place: Installation) -> Iterator[tuple[str, str, int]]:
        """Yield (call, file, how manieth of its thread) of each call in a log, names made by chance left out."""
        counts: dict[tuple[str, str, str], int] = {}
        for line in log.read_text(errors="replace").splitlines():
            if match := _CALL.match(line):
                thread, call, by_descriptor, by_name = match.groups()
                path = _CHANCE.sub(
                    "", (by_descriptor or by_name or "").replace(f"{place.directory}/", "").replace("/tmp/", "/half/")
                )
                key = (thread, call, path)
                counts[key] = counts.get(key, 0) + 1
                yield call, path, counts[key]

    def _body(self, edition: int) -> bytes:
        noise = " ".join(hashlib.sha256(b"%d" % n).hexdigest() for n in range(40))
        return f"<title>page</title><p>edition {edition}</p><p>{noise}</p>".encode()

    def _answer(self, seen: Seen, wire: Wire) -> None:
        body = self._body(self._edition)
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        sha256 = hashlib.sha256(body).hexdigest()
        self.asked.append(Asked(self._server.host, self._server.url("/page"), seen.at, seen.at, sha256))

    def _take(self, seen: Seen, wire: Wire) -> None:
        self.taken.append(Taken(seen.headers["webhook-id"], seen.body))
        wire.send(b"HTTP/1.1 204 No Content\r\n\r\n")

"""A small disk that can be filled and emptied, and fifty watched pages with a data directory on it
(F-08).

The disk is a tmpfs, which only root may mount: `why_not()` says why there can be none here.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import resource
import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from tests.fakes import Seen, WebServer, Wire
from tests.services import Installation, Service, until
from tidings.storage.db.connection import Connection
from tidings.storage.observed import pages, versions

BALLAST = "ballast"
VARIABLES = {
    "TIDINGS_FETCH_HOST_GAP_SECONDS": "0",
    "TIDINGS_FETCH_ROBOTS": "false",
    "TIDINGS_STORE_BLOB_FILE_BYTES": "4000",
    "TIDINGS_DETECT_SECOND_POLLS": "false",
}
GOES_ON_SECONDS = 60.0
"""By then every page is checked again (docs/reference/errors.md)."""


@contextlib.contextmanager
def small_disk(folder: Path, *, megabytes: int = 24, inodes: int = 0) -> Iterator[Path]:
    """Mount a tmpfs of that size; 0 inodes: as many as fit."""
    folder.mkdir(parents=True, exist_ok=True)
    options = f"size={megabytes}m,mode=0700" + (f",nr_inodes={inodes}" if inodes else "")
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tidings-test", str(folder)], check=True, capture_output=True
    )
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, capture_output=True)


def why_not(folder: Path) -> str:
    """Return why no disk can be mounted here, or ""."""
    try:
        with small_disk(folder / "try"):
            return ""
    except FileNotFoundError:
        return "there is no mount command"
    except subprocess.CalledProcessError as error:
        return f"no disk can be mounted: {error.stderr.decode(errors='replace').strip()}"


def fill(disk: Path) -> None:
    """Leave no byte free."""
    handle = os.open(disk / BALLAST, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    size = 1 << 20
    try:
        while size:
            try:
                os.write(handle, bytes(size))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                size //= 2
    finally:
        os.close(handle)


def empty(disk: Path) -> None:
    """Give the room back."""
    (disk / BALLAST).unlink(missing_ok=True)


class Pages:
    """So many pages on one server, each of which says another number whenever it is asked, once `bump`ed."""

    def __init__(self, count: int) -> None:
        self._server = WebServer("127.0.0.2")
        self._lock = threading.Lock()
        self.edition = 1
        self.seen: dict[str, int] = {}
        """the newest edition that each page has shown"""
        self.messages: list[bytes] = []
        self.count = count

    def __enter__(self) -> Self:
        self._server.__enter__()
        for number in range(self.count):
            self._server.pages[f"/{number}"] = self._answer
        self._server.pages["/hook"] = self._take
        return self

    def __exit__(self, *given: object) -> None:
        self._server.__exit__(None, None, None)

    def url(self, path: str) -> str:
        """Return the address of a path."""
        return self._server.url(path)

    def text(self, every: str) -> str:
        """Return a sentinel for each page; one receiver is notified of all."""
        hook = self.url("/hook")
        return ";\n".join(
            f"Create Sentinel p{n} Using {self.url(f'/{n}')} Monitor any change Fetch every {every} Notify By webhook {hook} immediate"
            f" Errors to webhook {hook}"
            for n in range(self.count)
        )

    def body(self, path: str) -> bytes:
        """Return what a page shows now; some are so long that they become files."""
        number = int(path[1:])
        words = " ".join(f"w{number * 7_919 * k % 1_000_003:x}" for k in range(200 if number % 5 else 6_000))
        return f"<title>{path}</title><p>edition {self.edition} of {path}</p><p>{words} {self.edition}</p>".encode()

    def _answer(self, seen: Seen, wire: Wire) -> None:
        with self._lock:
            body = self.body(seen.path)
            self.seen[seen.path] = self.edition
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    def _take(self, seen: Seen, wire: Wire) -> None:
        self.messages.append(seen.body)
        wire.send(b"HTTP/1.1 204 No Content\r\n\r\n")


# -- what can go wrong with a disk ---------------------------------------------------------------------------------------------


@contextlib.contextmanager
def no_room(disk: Path, service: Service) -> Iterator[None]:
    """Leave no byte free."""
    fill(disk)
    try:
        yield
    finally:
        empty(disk)


@contextlib.contextmanager
def no_inodes(disk: Path, service: Service) -> Iterator[None]:
    """Leave no file to be made."""
    folder = disk / "many"
    folder.mkdir(exist_ok=True)
    with contextlib.suppress(OSError):
        for number in range(10_000_000):
            (folder / str(number)).touch()
    try:
        yield
    finally:
        shutil.rmtree(folder)


def _limit(kind: int, choose: Callable[[int], int]) -> Fault:
    @contextlib.contextmanager
    def limit(disk: Path, service: Service) -> Iterator[None]:
        pid = service.process.pid
        before = resource.prlimit(pid, kind)
        resource.prlimit(pid, kind, (choose(pid), before[1]))
        try:
            yield
        finally:
            resource.prlimit(pid, kind, before)

    return limit


def _open_files(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir())) + 1


def _memory(pid: int) -> int:
    pages_used = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
    return pages_used * resource.getpagesize()


def inject_error(calls: str, error: str) -> Fault:
    """Return a fault that lets system calls of the service fail, by strace: `pwrite64` with ENOSPC, say."""

    @contextlib.contextmanager
    def inject(disk: Path, service: Service) -> Iterator[None]:
        paths = [word for path in _list_stored(disk) for word in ("-P", str(path))]
        command = ["strace", "-f", "-q", "-o", "/dev/null", "-p", str(service.process.pid), *paths]
        command += ["-e", f"trace={calls}", "-e", f"inject={calls}:error={error}"]
        tracer = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            tracer.terminate()
            tracer.wait()

    return inject


def _list_stored(disk: Path) -> list[Path]:
    return [path for path in disk.rglob("*") if path.is_file()]


Fault = Callable[[Path, Service], contextlib.AbstractContextManager[None]]
FAULTS: dict[str, Fault] = {
    "no room": no_room,
    "no inodes": no_inodes,
    "file size limit": _limit(resource.RLIMIT_FSIZE, lambda _: 100_000),
    "no descriptors": _limit(resource.RLIMIT_NOFILE, _open_files),
    "no memory": _limit(resource.RLIMIT_AS, _memory),
}
UNSAID = frozenset({"no descriptors", "no memory"})
"""Faults under which what is open goes on: nothing need be said of the disk."""
INJECTED: dict[str, Fault] = {
    "quota": inject_error("pwrite64,write", "EDQUOT"),
    "read-only": inject_error("pwrite64,write,openat", "EROFS"),
    "write error": inject_error("pwrite64,write", "EIO"),
    "no room at fsync": inject_error("fsync,fdatasync", "ENOSPC"),
    "error at fsync": inject_error("fsync,fdatasync", "EIO"),
}


@dataclass
class Round:
    """One fault and what came of it; `seconds` until every page showed what it is, None if they never did."""

    fault: str
    seconds: float | None
    states: dict[str, int]
    said: str


@dataclass
class Report:
    """What a run found."""

    rounds: list[Round] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    versions: int = 0
    reports: int = 0


class DiskLoop:
    """Watches pages from a data directory on a small disk that fails again and again."""

    def __init__(self, disk: Path, web: Pages, *, logs: Path, every: str = "2 s") -> None:
        self.disk, self.web = disk, web
        self.place = Installation(disk / "data", VARIABLES)
        self.place._logs = logs
        self.report = Report()
        self._every = every

    def run(
        self, faults: Mapping[str, Fault], *, seconds: float, say: Callable[[str], None] = lambda text: None
    ) -> Report:
        """Let each fault last for so long, then wait until every page is checked again."""
        added = self.place.run("add", "-", "--no-check", text=self.web.text(self._every))
        assert not added.returncode, added.stderr
        service = self.place.serve()
        service.wait_ready()
        until(lambda: not self._behind(), GOES_ON_SECONDS, "the first checks are not made", pause=0.2)
        for number, (name, fault) in enumerate(faults.items()):
            self._round(name, fault, service, seconds * (1 + number % 3 / 4))
            say(str(self.report.rounds[-1]))
        status, _ = service.terminate()
        if status:
            self.report.faults.append(f"SIGTERM: status {status}: {service.err[-1_000:]}")
        self._compare(service)
        return self.report

    def _round(self, name: str, fault: Fault, service: Service, seconds: float) -> None:
        self.web.edition += 1
        with fault(self.disk, service):
            time.sleep(seconds)
            states = Counter(self.place.read(_states)) if "memory" not in name else Counter()
            text = self.place.run("list").stdout.partition("\n")[0]
            self.web.edition += 1
        begun = time.monotonic()
        try:
            until(lambda: not self._behind(), GOES_ON_SECONDS, f"{name}: pages stand still", pause=0.2)
            took: float | None = time.monotonic() - begun
        except AssertionError as error:
            self.report.faults.append(f"{error}: {len(self._behind())} of {self.web.count}: {service.err[-1_500:]}")
            took = None
        text = text if text.startswith("STANDSTILL") else ""
        self.report.rounds.append(Round(name, took, {str(k): v for k, v in states.items()}, text))
        wrong = [state for state in states if state[0] != "ok" and state[1] != "disk"]
        if wrong:
            self.report.faults.append(f"{name}: the state says {wrong}")
        if name not in UNSAID and not text and not any(state[1] == "disk" for state in states):
            self.report.faults.append(f"{name}: neither `list` nor a page says anything of the disk")
        if service.process.poll() is not None:
            raise AssertionError(f"{name}: the service ended: {service.err[-2_000:]}")

    def _behind(self) -> list[str]:
        """Return the pages whose newest version is not what they show."""
        stored = self.place.read(_newest)
        wanted = {f"/{n}": hashlib.sha256(self.web.body(f"/{n}")).hexdigest() for n in range(self.web.count)}
        return [path for path, sha256 in wanted.items() if stored.get(path) != sha256]

    def _compare(self, service: Service) -> None:
        report = self.report
        done = self.place.run("doctor", "--deep", "--json", timeout=300)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        report.faults += [
            f"doctor: {f['what']}: {f['detail']}" for f in found if f["status"] == "fail" and f["what"] != "space"
        ]
        report.versions = self.place.read(
            lambda c: sum(1 for _, state in pages.listing(c) for _ in range(state.last_seq))
        )
        report.reports = sum(b'"service.stalled"' in body for body in self.web.messages)
        if report.reports != 1:
            report.faults.append(f"{report.reports} reports of the disk instead of one")
        if "Traceback" in service.err:
            report.faults.append(f"a traceback: {service.err[service.err.index('Traceback') :][:3_000]}")


def _states(c: Connection) -> list[tuple[str, str]]:
    return [(state.health, state.kind) for _, state in pages.listing(c)]


def _newest(c: Connection) -> dict[str, str]:
    found = {identity.url: versions.newest(c, state.page_id) for identity, state in pages.listing(c)}
    return {f"/{url.rpartition('/')[2]}": version.sha256 for url, version in found.items() if version is not None}

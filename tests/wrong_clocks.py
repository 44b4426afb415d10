"""A real service with a wrong clock for some seconds: libfaketime shifts its time, and two loopback
hosts log requests.

The log is written by the clock of the process that runs this, which nobody shifts. The monotonic clock of the service stays real too.
`bench/clocks.py` is the long form, `tests/integration/test_clocks.py` the short one.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.fakes import Page, WebServer
from tests.services import Installation, Service, until

LIBRARIES = tuple(
    Path(folder) / "faketime" / "libfaketimeMT.so.1"
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib", "/usr/local/lib")
)
HOUR, DAY = 3_600, 86_400
HOSTS, PAGES = ("127.0.0.1", "127.0.0.2"), ("/a", "/b")
INTERVAL, GAP, BURST, RATE = 2.0, 0.2, 4.0, 3.0
"""of each page (s), between two checks of a host (s), and of the budget (checks, checks a second)"""
SLACK = 3.0
"""Seconds by which a check may be late on an idle machine; what `tidings add` took just before is added, as the measure of how busy this one is."""
JITTER = 0.1
"""Seconds by which two requests may arrive closer together than they were sent, on a busy machine."""


def library() -> Path | None:
    """Return libfaketime, None if it is not installed."""
    return next((path for path in LIBRARIES if path.exists()), None)


def need_faketime() -> Path:
    """Return libfaketime; skip the test without it, or fail it if `TESTS_REQUIRE` asks for it."""
    path = library()
    if path is not None:
        return path
    missing = "there is no libfaketime here; `apt-get install faketime` brings it"
    if "faketime" in os.environ.get("TESTS_REQUIRE", ""):
        pytest.fail(f"TESTS_REQUIRE asks for it, but {missing}")
    pytest.skip(missing)


@dataclass(frozen=True, slots=True)
class Seen:
    """What the hosts saw in some seconds."""

    requests: int
    longest: float
    """the longest time without a check of a page (s), from the first second to the last"""
    allowed: float
    """what that may be: the interval and the slack (s)"""
    closest: float
    """the shortest time between two requests of one host (s)"""
    over: float
    """by how many checks the budget was exceeded at the worst; below 0: it was not"""

    @property
    def faults(self) -> list[str]:
        """Return what is wrong with that, in words."""
        return [
            text
            for is_wrong, text in (
                (self.longest > self.allowed, f"no check of a page for {self.longest:.1f} s of {self.allowed:.1f}"),
                (self.closest < GAP - JITTER, f"two requests of a host {self.closest:.2f} s apart"),
                (self.over > 0, f"{self.over:.1f} checks beyond the budget"),
            )
            if is_wrong
        ]

    def __str__(self) -> str:
        closest = f"{self.closest:.2f}" if self.requests > 1 else "-"
        return f"{self.requests:4d} checks, longest wait {self.longest:5.2f} of {self.allowed:5.2f} s, closest {closest} s, budget {self.over:+.1f}"


class Clocked:
    """An installation whose processes believe a clock of its own, and the pages that it watches."""

    def __init__(self, directory: Path, fake: Path, servers: tuple[WebServer, ...], more: str = "") -> None:
        self._file = directory.parent / f"{directory.name}-clock"
        self._servers = servers
        self.place = Installation(
            directory,
            {
                "LD_PRELOAD": str(fake),
                "FAKETIME_TIMESTAMP_FILE": str(self._file),
                "FAKETIME_CACHE_DURATION": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                "FAKETIME_FORCE_MONOTONIC_FIX": "0",
                "TIDINGS_SERVE_TICK_SECONDS": "0.25",
                "TIDINGS_FETCH_HOST_GAP_SECONDS": str(GAP),
                "TIDINGS_FETCH_ROBOTS": "false",
                "TIDINGS_BUDGET_BURST": str(BURST),
                "TIDINGS_BUDGET_POLLS_PER_DAY": str(RATE * DAY),
            },
        )
        self._more = more
        self.slack = 0.0
        self.shift(0)

    def add(self) -> None:
        """Add a sentinel for each page, and what the story needs besides."""
        pages = [server.url(path) for server in self._servers for path in PAGES]
        every = f"Monitor any change Fetch every {INTERVAL:g} s"
        text = "\n".join(f"Create Sentinel s{n} Using {url} {every}" for n, url in enumerate(pages))
        begun = time.monotonic()
        added = self.place.run("add", "-", "--no-check", text=f"{text}\n{self._more}")
        self.slack = SLACK + time.monotonic() - begun
        assert 0 == added.returncode, added.stderr

    def shift(self, seconds: int) -> None:
        """Let the clock of all processes be wrong by so much from now on."""
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{seconds:+d}\n", encoding="ascii")
        fresh.replace(self._file)

    def move_to(self, moment: datetime) -> None:
        """Let the clock of all processes say so now, and go on from there."""
        self.shift(round(moment.timestamp() - time.time()))

    def serve(self) -> Service:
        """Start the service; return once each page was checked."""
        service = self.place.serve()
        service.wait_ready()
        wanted = len(self._servers) * len(PAGES)
        until(
            lambda: len({page for _, page in self.log()} & self._pages()) == wanted, 60.0, "not every page is checked"
        )
        return service

    def log(self, since: float = 0.0) -> list[tuple[float, tuple[str, str]]]:
        """Return when which page (host, path) was asked for, in order."""
        return sorted(
            (s.at, (server.address, s.path)) for server in self._servers for s in server.seen if s.at >= since
        )

    def watch(self, seconds: float) -> Seen:
        """Return what the hosts see in the next so many seconds."""
        begun = time.monotonic()
        time.sleep(seconds)
        end = time.monotonic()
        log = [(at, page) for at, page in self.log(begun) if at <= end]
        waits = [max(_gaps([begun, *(at for at, page in log if page == each), end])) for each in self._pages()]
        hosts = [sorted(s.arrived for s in server.seen if begun <= s.at <= end) for server in self._servers]
        times = [at for at, _ in log]
        over = max(
            (
                last - first + 1 - BURST - RATE * (times[last] - times[first] + GAP)
                for first, last in _pairs(len(times))
            ),
            default=-BURST,
        )
        closest = min(itertools.chain.from_iterable(map(_gaps, hosts)), default=float("inf"))
        return Seen(len(log), max(waits), INTERVAL + self.slack, closest, over)

    def be_wrong(self, seconds: int, *, hold: float, watch: float) -> tuple[Seen, Seen]:
        """Let the clock of a running service be wrong for `hold` seconds; return what is seen meanwhile, and in the `watch` seconds after that."""
        self.shift(seconds)
        meanwhile = self.watch(hold)
        self.shift(0)
        return meanwhile, self.watch(watch)

    def suspend(self, service: Service, seconds: int, *, watch: float) -> Seen:
        """Stop all processes of a service while the clock goes on by so much, as on a machine that sleeps; return what is seen after that."""
        members = service.members()
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for pid in members:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            if number == signal.SIGSTOP:
                time.sleep(2.0)
                self.shift(seconds)
        return self.watch(watch)

    def _pages(self) -> set[tuple[str, str]]:
        return {(server.address, path) for server in self._servers for path in PAGES}


@contextlib.contextmanager
def set_clock(directory: Path, fake: Path, more: str = "") -> Iterator[Clocked]:
    """Yield an installation with its two hosts; at the end nothing of it runs. `{d}` in `more` is the address of a page that only that text names."""
    with contextlib.ExitStack() as stack:
        servers = tuple(stack.enter_context(WebServer(address=address)) for address in HOSTS)
        for server, path in itertools.product(servers, (*PAGES, "/d")):
            server.pages[path] = Page(f"<p>page {path}</p>".encode(), {"Content-Type": "text/html"})
        story = Clocked(directory, fake, servers, more.format(d=servers[0].url("/d")))
        stack.callback(story.place.close)
        yield story


def to_year_2038() -> int:
    """Return how far it is to a moment before 32-bit clocks end (s)."""
    return round(datetime(2038, 1, 19, 3, tzinfo=UTC).timestamp() - time.time())


def to_year_1970() -> int:
    """Return how far it is back to ten minutes after clocks began (s, negative)."""
    return round(600 - time.time())


def _gaps(times: list[float]) -> Iterator[float]:
    return (b - a for a, b in itertools.pairwise(times))


def _pairs(count: int) -> Iterator[tuple[int, int]]:
    return itertools.combinations(range(count), 2)

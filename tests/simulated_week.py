"""A week of a small web on a manual clock, watched by the real service, which is killed and
restarted: the servers' log.

All is judged from the log of the servers. A request is *early* if it came before the host's gap, its Crawl-delay, its Retry-After or the
page's floor allowed it. An answer *died* if the service was killed before it could have stored what it said: of a Retry-After or a
Crawl-delay that died nobody can know, so those are counted apart; gap and floor hold across it all the same.
"""

from __future__ import annotations

import asyncio
import bisect
import contextlib
import random
import threading
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.fakes import Seen, WebServer, Wire
from tests.world import World
from tidings.clock import DAY, HOUR, MINUTE, SECOND, Duration, Instant, ManualClock
from tidings.model.interval import ExecutionInterval
from tidings.service.run.monitor import Monitor
from tidings.storage.observed.polls import CUT_OFF

GAP: Duration = 5 * SECOND
FLOOR: Duration = MINUTE
CRAWL_DELAYS = (0, 0, 20, 0, 60)
"""Seconds that the robots.txt of every fifth host asks for."""
FETCHES = (
    *["Fetch every 1 hour"] * 4,
    *["Fetch every 30 min"] * 2,
    "Fetch every 2 hour",
    "Fetch on change",
    "Fetch on change",
    "Fetch on change between 20 min and 3 hour",
)
CHANGES_EVERY = (2 * HOUR, 8 * HOUR, DAY, 3 * DAY)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request as its server saw it, at an instant of the manual clock."""

    at: Instant
    host: str
    path: str
    status: int
    is_conditional: bool
    retry_after: Duration = 0
    at_once: int = 1


@dataclass(slots=True)
class Week:
    """What came of it."""

    arrivals: list[Arrival]
    deaths: list[ExecutionInterval]
    """stretches of the clock in which a kill fell: what was answered in them may not have been stored"""
    crawl_delays: dict[str, Duration]
    rate: float
    burst: float
    began: Instant
    length: Duration
    restarts: int = 0
    pages: int = 0
    violations: list[str] = field(default_factory=list)
    cut_off: int = 0
    open_polls: int = 0
    polls: int = 0
    changes: int = 0

    def may_have_died(self, arrival: Arrival) -> bool:
        """Say whether the answer may have been lost."""
        return any(span.start <= arrival.at <= span.end for span in self.deaths)

    def early(self) -> Counter[str]:
        """Return how many requests came too early, by rule: `gap`, `crawl delay`, `retry after`, `floor`; `… died` beside."""
        found: Counter[str] = Counter()
        last: dict[str, Instant] = {}
        delays: dict[str, list[tuple[Duration, bool]]] = defaultdict(list)
        pauses: dict[str, list[tuple[Instant, bool]]] = defaultdict(list)
        pages: dict[tuple[str, str], Instant] = {}
        for a in self.arrivals:
            since = a.at - last.get(a.host, a.at - DAY)
            found["gap"] += since < GAP
            _count(found, "crawl delay", [died for delay, died in delays[a.host] if since < delay])
            _count(found, "retry after", [died for until, died in pauses[a.host] if a.at < until])
            if a.path != "/robots.txt":
                found["floor"] += a.at - pages.get((a.host, a.path), a.at - DAY) < FLOOR
                pages[a.host, a.path] = a.at
            elif self.crawl_delays[a.host]:
                delays[a.host].append((self.crawl_delays[a.host], self.may_have_died(a)))
            if a.retry_after:
                pauses[a.host].append((a.at + a.retry_after, self.may_have_died(a)))
            last[a.host] = a.at
        return found

    def over_budget(self) -> int:
        """Return how many requests came when rate × time + burst had been used up, counted from every instant of the week."""
        level, at, over = self.burst, self.began, 0
        for a in self.arrivals:
            level = min(self.burst, level + self.rate * (a.at - at) / SECOND) - 1
            at = a.at
            over += level < -1e-6
        return over

    def most_at_once(self) -> int:
        """Return how many requests a host had to answer together at most."""
        return max(a.at_once for a in self.arrivals)

    def repeats(self) -> tuple[int, int]:
        """Return how many requests were for a page that had been answered before, and how many of these were conditional."""
        known: set[tuple[str, str]] = set()
        every = conditional = 0
        for a in self.arrivals:
            if a.path == "/robots.txt":
                continue
            if (a.host, a.path) in known:
                every += 1
                conditional += a.is_conditional
            elif a.status == 200:
                known.add((a.host, a.path))
        return every, conditional

    def fullest_second(self) -> int:
        """Return how many requests all hosts together had in a second at most."""
        return max(Counter(a.at // SECOND for a in self.arrivals).values())

    def count_forbidden(self) -> int:
        """Return how many requests were for what robots.txt forbids."""
        return sum(a.path.startswith("/private") for a in self.arrivals)


def _count(found: Counter[str], rule: str, broken: list[bool]) -> None:
    if broken:
        found[f"{rule} died" if all(broken) else rule] += 1


class SmallWeb:
    """`hosts` servers with `pages` pages in all, whose contents, bad hours and robots.txt hang on the manual clock and a seed."""

    def __init__(self, clock: ManualClock, *, hosts: int, pages: int, length: Duration, seed: int) -> None:
        self.clock = clock
        self.arrivals: list[Arrival] = []
        self.changes = 0
        self._lock = threading.Lock()
        self._inside: Counter[str] = Counter()
        rng = random.Random(seed)
        begun = clock.now()
        self.servers = [WebServer(f"127.0.0.{2 + n}") for n in range(hosts)]
        self._bad = [_bad_hours(rng, begun, length) for _ in range(hosts)]
        self._paths = [(n % hosts, f"/private/{n}" if n % 50 == 49 else f"/{n}") for n in range(pages)]
        self._times = {place: _changes(rng, begun, length) for place in self._paths}
        self.crawl_delays: dict[str, Duration] = {}

    def __enter__(self) -> Self:
        for number, server in enumerate(self.servers):
            server.__enter__()
            delay = CRAWL_DELAYS[number % len(CRAWL_DELAYS)]
            self.crawl_delays[server.host] = delay * SECOND
            rules = (
                f"User-agent: *\nDisallow: /private\nCrawl-delay: {delay}\n"
                if delay
                else "User-agent: *\nDisallow: /private\n"
            )
            server.pages["/robots.txt"] = self._rules(server, rules.encode())
        for number, path in self._paths:
            self.servers[number].pages[path] = self._page(number, path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for server in self.servers:
            server.__exit__(kind, error, trace)

    @property
    def text(self) -> str:
        """Return a sentinel for each page, of all kinds."""
        return ";\n".join(
            f"Create Sentinel s{place} Using {self.servers[number].url(path)} Monitor any change {FETCHES[place % len(FETCHES)]}"
            for place, (number, path) in enumerate(self._paths)
        )

    def _rules(self, server: WebServer, body: bytes) -> Any:
        def answer(seen: Seen, wire: Wire) -> None:
            with self._note(server, seen, 200):
                wire.send(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(body) + body
                )

        return answer

    def _page(self, number: int, path: str) -> Any:
        server, times = self.servers[number], self._times[number, path]
        place = int(path.rpartition("/")[2])

        def answer(seen: Seen, wire: Wire) -> None:
            now = self.clock.now()
            edition = bisect.bisect(times, now)
            pause = next((p for start, end, p in self._bad[number] if start <= now < end), None)
            etag = f'"{place}-{edition}"'
            stamp = _http_date(times[edition - 1] if edition else times[0] - 30 * DAY)
            head = f"ETag: {etag}\r\n" if place % 3 else f"Last-Modified: {stamp}\r\n"
            head += "Cache-Control: max-age=900\r\n" if place % 4 == 0 else ""
            if pause is not None:
                text = str(pause // SECOND) if place % 2 else _http_date(now + pause + SECOND - 1)
                with self._note(server, seen, 503, retry_after=pause):
                    wire.send(f"HTTP/1.1 503 Busy\r\nRetry-After: {text}\r\nContent-Length: 0\r\n\r\n".encode())
            elif etag == seen.headers.get("if-none-match") or stamp == seen.headers.get("if-modified-since"):
                with self._note(server, seen, 304):
                    wire.send(f"HTTP/1.1 304 Not Modified\r\n{head}\r\n".encode())
            else:
                body = f"<title>page {place}</title><p>Edition {edition} of page {place} is out; it has some more words.".encode()
                head += f"Content-Type: text/html\r\nContent-Length: {len(body)}\r\n"
                with self._note(server, seen, 200):
                    wire.send(f"HTTP/1.1 200 OK\r\n{head}\r\n".encode() + body)

        return answer

    @contextlib.contextmanager
    def _note(self, server: WebServer, seen: Seen, status: int, *, retry_after: Duration = 0) -> Any:
        """Note a request for as long as it is answered."""
        with self._lock:
            self._inside[server.host] += 1
            conditional = bool({"if-none-match", "if-modified-since"} & seen.headers.keys())
            self.arrivals.append(
                Arrival(
                    self.clock.now(),
                    server.host,
                    seen.path,
                    status,
                    conditional,
                    retry_after,
                    at_once=self._inside[server.host],
                )
            )
        try:
            yield
        finally:
            with self._lock:
                self._inside[server.host] -= 1


def _changes(rng: random.Random, begun: Instant, length: Duration) -> list[Instant]:
    """Return when a page changes, in whole seconds; the first time before all."""
    every, at, times = rng.choice(CHANGES_EVERY), begun - DAY, []
    while at < begun + length:
        times.append(at // SECOND * SECOND)
        at += round(rng.expovariate(1 / every)) + SECOND
    return times


def _bad_hours(rng: random.Random, begun: Instant, length: Duration) -> list[tuple[Instant, Instant, Duration]]:
    """Return (from, to, what Retry-After says) of each time in which a host answers 503: about one a day."""
    found, at = [], begun
    while (at := at + round(rng.expovariate(1 / DAY))) < begun + length:
        found.append((at, at + rng.randrange(5, 60) * MINUTE, rng.randrange(60, 3_600) * SECOND))
    return found


def _http_date(at: Instant) -> str:
    return format_datetime(datetime.fromtimestamp(at // SECOND, UTC), usegmt=True)


def run_week(
    directory: Path,
    *,
    days: float = 7,
    hosts: int = 12,
    pages: int = 200,
    polls_per_day: float = 4_000,
    burst: float = 40,
    restarts: int = 28,
    seed: int = 1,
) -> Week:
    """Let the real service watch a small web for so many days of the manual clock; it is killed or stopped `restarts` times.

    Three of four times it is killed, with requests under way, and it stays away for up to half an hour.
    """
    clock, length, rng = ManualClock(), round(days * DAY), random.Random(seed)
    begun = clock.now()
    ends = sorted(begun + rng.randrange(length) for _ in range(restarts))
    with SmallWeb(clock, hosts=hosts, pages=pages, length=length, seed=seed) as web:
        world = World(
            directory,
            web.servers[0],
            fetch__host_gap_seconds=str(GAP / SECOND),
            fetch__page_floor_seconds=str(FLOOR / SECOND),
            fetch__robots="true",
            budget__polls_per_day=str(polls_per_day),
            budget__burst=str(burst),
        )
        world.clock = clock
        world.add(web.text)
        deaths = asyncio.run(_live(world, [*ends, begun + length], rng))
        return Week(
            arrivals=sorted(web.arrivals, key=lambda a: a.at),
            deaths=deaths,
            crawl_delays=web.crawl_delays,
            rate=polls_per_day / (DAY / SECOND),
            burst=burst,
            began=begun,
            length=length,
            restarts=restarts,
            pages=pages,
            violations=world.violations(),
            cut_off=sum(p.note == CUT_OFF for p in world.polls()),
            open_polls=sum(p.outcome is None for p in world.polls()),
            polls=len(world.polls()),
            changes=len(world.changes()),
        )


async def _live(world: World, ends: list[Instant], rng: random.Random) -> list[ExecutionInterval]:
    """Run one process after the other, the last one to its end in order; return the stretches in which kills fell."""
    deaths = []
    for end in ends:
        is_last = end == ends[-1]
        if not is_last and end <= world.clock.now():
            continue
        context = world.monitor(spreads=True)
        monitor = await context.__aenter__()
        try:
            await _pass_time(world, monitor, end)
            if not is_last and rng.random() < 0.75:
                deaths.append(await _kill(world, monitor, rng))
        finally:
            await context.__aexit__(None, None, None)
        if not is_last:
            world.clock.advance(rng.choice((0, SECOND, 10 * SECOND, rng.randrange(30 * MINUTE))))
    return deaths


async def _pass_time(world: World, monitor: Monitor, end: Instant) -> None:
    while True:
        await _settle(world, monitor)
        now = world.clock.now()
        if now >= end:
            return
        world.clock.move_to(min(end, max(monitor.next_due(now), now + 1)))


async def _settle(world: World, monitor: Monitor) -> None:
    """Step until nothing is due at this instant. The clock moves under a fetch only if all that is under way waits for it."""
    while True:
        await monitor.step()
        while not monitor.quiescent():
            if _waits_for_the_clock(world, monitor):
                world.clock.move_to(world.clock.next_wake() or 0)
            await asyncio.sleep(0.0002)
        if monitor.next_due(world.clock.now()) > world.clock.now():
            return


def _waits_for_the_clock(world: World, monitor: Monitor) -> bool:
    sleeping = sum(not future.done() for _, _, future in world.clock._sleepers)
    queued = sum(len(lane.queue or ()) for lane in monitor.gate._lanes.values())
    return sleeping > 0 and sleeping + queued >= len(monitor._tasks) and monitor.committer.quiet


async def _kill(world: World, monitor: Monitor, rng: random.Random) -> ExecutionInterval:
    """Let the process die within the next minutes, in the midst of requests: what was not durable is lost, nothing is said to anybody."""
    while not monitor._tasks:
        world.clock.move_to(max(monitor.next_due(world.clock.now()), world.clock.now() + 1))
        await monitor.step()
    began = world.clock.now()
    for _ in range(rng.randrange(5)):
        if _waits_for_the_clock(world, monitor):
            world.clock.move_to(world.clock.next_wake() or 0)
        await asyncio.sleep(rng.random() / 1_000)
    store = monitor.store
    store._waiting.clear()
    tasks = list(monitor._tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    store._waiting.clear()
    monitor.stop = _die  # type: ignore[method-assign]
    return ExecutionInterval(began, world.clock.now())


async def _die(*, patience: Duration = 0) -> None:
    """Say nothing, store nothing."""

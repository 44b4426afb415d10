"""A simulated year of many sentinels on a manual clock, with a web in memory, users who alter them,
and kills at any commit.

`run(History(...))` is one such life; two of the same history must end alike, however often the service was killed in one of them
(the law of sentinels §2.3).
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

from tests.world import FLAGS
from tidings.clock import DAY, HOUR, MINUTE, Duration, Instant, ManualClock
from tidings.errors import SentinelError, StaleEpochError, UnknownNameError
from tidings.model.observed.outcome import Fetched, FetchRequest, Outcome, Unchanged, Validators
from tidings.service.run import assembly
from tidings.service.run.monitor import Monitor
from tidings.service.sentinels import register
from tidings.settings import Settings, load
from tidings.storage.db.database import Database, open_database

BEGIN: Instant = 1_767_225_600_000_000
"""2026-01-01T00:00Z: the year has two changes of clocks in Paris and in New York."""
ZONES = ("Europe/Paris", "America/New_York", "UTC")
RATES = (
    "immediate",
    "every 1 day",
    "every 4 day",
    "every 3 changes",
    "every 1 week or 3 changes",
    "at 08:00",
    "at 02:30 sat-mon",
    "best effort",
    "immediate quiet 20:00 to 07:00",
    "every 2 changes quiet 01:00 to 12:00",
    "best effort quiet 06:00 to 22:00",
    "immediate max 2 per 7 day",
    "at 07:30 quiet 06:00 to 09:00 max 3 per 14 day",
    "every 1 day max 1 per 4 day",
    "interactive",
)
FETCHES = (
    "every 2 day",
    "every 3 day slack 0 s",
    "every 7 day",
    "every 36 hour",
    "at 02:30 sat-mon",
    "at 08:00 mon",
    "on change between 2 day and 5 day",
)
LIVES = (
    "",
    "",
    "For {d} day",
    "From now + {d} day For {e} day",
    "From end({x}) + {k} day For {e} day",
    "From start({x}) To end({x})",
    "From end({x})",
    "From end({x}) - {k} day For {d} day",
    "To end({x}) + {k} day",
    "To first change",
)
HOURS = (
    "",
    "",
    "During mon-fri 08:00 to 18:00",
    "During daily 22:00 to 03:00",
    "During sat 10:00 to 12:00, tue 01:00 to 04:00",
)
MONITORS = ("all words", "any change", "all links", "keywords <even>")
JOINED = (
    "any change of A AND any change of B within 8 day",
    "any change of A AND NOT any change of B within 3 day",
    "all words of A OR all links of B",
    "any change of A AND any change of B",
    "all words of A Then within 36 hour check B",
)
"""What is asked of two pages together."""
REFUSALS = {"E20", "E21", "E30", "E33", "E34", "E35"}
"""What people are refused: names that are not there or taken, ends that have passed, sentinels that have ended, circles."""
HOPELESS = 100_000


@dataclass(frozen=True, slots=True)
class History:
    """What happens, whoever watches: `sentinels` at the beginning, `acts` of people later, pages that change, for `length`; by `seed`."""

    sentinels: int
    length: Duration
    acts: int
    seed: int = 1
    begin: Instant = BEGIN

    def web(self) -> dict[str, list[Instant]]:
        """Return when each page changes."""
        rng = random.Random(f"web {self.seed}")
        pages = {}
        for number in range(max(3, self.sentinels // 3)):
            at, times = self.begin, []
            gap = rng.choice((2 * DAY, 6 * DAY, 20 * DAY))
            while (at := at + round(rng.expovariate(1 / gap))) < self.begin + self.length:
                times.append(at)
            pages[f"https://h{number % 20}.example/p{number}"] = times
        return pages

    def script(self) -> list[tuple[Instant, str]]:
        """Return what people say when."""
        rng = random.Random(f"people {self.seed}")
        urls, names = list(self.web()), [f"s{n}" for n in range(self.sentinels)]
        statements = [(self.begin, self._creation(rng, name, names[:place], urls)) for place, name in enumerate(names)]
        late = []
        for number in range(self.acts):
            at = self.begin + HOUR + MINUTE * rng.randrange(self.length // MINUTE - 60)
            late.append((at, self._act(rng, number, names, urls)))
        return [*statements, *sorted(late)]

    def _creation(self, rng: random.Random, name: str, others: list[str], urls: list[str]) -> str:
        life = rng.choice(LIVES if others else LIVES[:4])
        life = life.format(
            d=rng.randint(5, 90), e=rng.randint(5, 200), k=rng.randint(1, 9), x=rng.choice(others or [""])
        )
        monitor = rng.choice(MONITORS)
        if rng.random() < 0.2:
            one, two = rng.sample(urls, 2)
            target, monitor = f"{one} As A, {two} As B", rng.choice(JOINED)
        elif others and rng.random() < 0.15:
            target = rng.choice(others)
        else:
            target = ", ".join(rng.sample(urls, rng.choice((1, 1, 2))))
        parts = [f"Create Sentinel {name} Using {target}", f"Monitor {monitor}", f"Fetch {rng.choice(FETCHES)}"]
        parts += [life, rng.choice(HOURS), f"Zone {rng.choice(ZONES)}"]
        parts += [_notify(rng) for _ in range(rng.choice((1, 1, 1, 2)))]
        return "\n".join(filter(None, parts))

    def _act(self, rng: random.Random, number: int, names: list[str], urls: list[str]) -> str:
        name = rng.choice(names)
        return rng.choice(
            (
                f"Disable {name}",
                f"Enable {name}",
                f"Enable {name} fresh",
                f"Disable {name}; Enable {name}",
                f"Alter {name} Fetch {rng.choice(FETCHES)}",
                f"Alter {name} {_notify(rng)}",
                f"Alter {name} Monitor {rng.choice(MONITORS)}",
                f'Alter {name} Header "X-Number" "{number}"',
                f"Alter {name} For {rng.randint(1, 300)} day",
                f"Drop {name}",
                self._creation(rng, f"late{number}", names, urls),
            )
        )


def _notify(rng: random.Random) -> str:
    rate = rng.choice(RATES)
    return f"Notify By {'dashboard' if rate == 'interactive' else 'console'} {rate}"


@dataclass(slots=True)
class Lived:
    """How it went: the deliveries (sentinel, when, of how many changes), the lines that they reported, the changes, the steps of each life, where each
    sentinel stands, and what it took.

    Two pages that are polled in the same instant answer in any order: which of two changes comes first in a message is nobody's promise, nor whether
    a second page is still polled when the first one has ended its sentinel; so versions are not numbered here.
    """

    deliveries: list[tuple[Any, ...]] = field(default_factory=list)
    lines: list[tuple[str, str]] = field(default_factory=list)
    changes: list[tuple[Any, ...]] = field(default_factory=list)
    sentinels: list[tuple[Any, ...]] = field(default_factory=list)
    steps: list[tuple[Any, ...]] = field(default_factory=list)
    polls: int = 0
    kills: int = 0
    refused: int = 0


class Web:
    """Pages in memory, as they are at the time of the clock."""

    def __init__(self, pages: dict[str, list[Instant]], clock: ManualClock) -> None:
        self._pages = pages
        self._clock = clock

    async def fetch(self, request: FetchRequest, permit: Any) -> Outcome:
        """Answer at once, with 304 where the validators still hold."""
        await permit.hop(urlsplit(request.url).hostname)
        number = sum(at <= self._clock.now() for at in self._pages[request.url])
        etag = f'"{number}"'
        if request.validators.etag == etag:
            return Unchanged(final_url=request.url, validators=request.validators)
        odd = "even " * (number % 2 == 0)
        body = f'<title>{request.url}</title><p>number {number} {odd}</p><a href="/{number // 2}">on</a>'.encode()
        return Fetched(
            body=body,
            final_url=request.url,
            status=200,
            content_type="text/html",
            validators=Validators(etag=etag),
            wire_bytes=len(body),
        )

    async def close(self) -> None:
        """Do nothing."""


class _Year:
    """One installation on its way through a history; `kills` times it dies at a commit that chance names.

    Pages have no floor: after a kill the floor would hold back a page whose request may have left, for a minute.
    """

    def __init__(self, history: History, directory: Path, kills: int) -> None:
        self._history = history
        self._clock = ManualClock(history.begin)
        self._rng = random.Random(f"kills {history.seed}")
        self._web = Web(history.web(), self._clock)
        self._kills = kills
        self._left: float = 0
        self._commits = 0
        self.lived = Lived()
        flags = {
            **FLAGS,
            "schedule.policy": "round_robin",
            "schedule.pace_seconds": "86400",
            "schedule.concurrency": "1",
            "fetch.page_floor_seconds": "0",
        }
        self._settings: Settings = load(directory, environment={}, flags=flags)
        self._database: Database = open_database(self._settings)

    async def run(self, expected_commits: int) -> int:
        """Live through the history; return how many writes it took. The kills are spread over so many."""
        script = self._history.script()
        end = self._history.begin + self._history.length
        self._next_kill(expected_commits)
        while True:
            try:
                async with assembly.poller(self._settings, clock=self._clock, stream=io.StringIO()) as monitor:
                    self._arm(monitor)
                    while script:
                        at, text = script[0]
                        await self._live_until(monitor, at)
                        script.pop(0)
                        self._say(text)
                    await self._live_until(monitor, end)
                    self._left = float("inf")
                break
            except StaleEpochError:
                self.lived.kills += 1
                self._next_kill(expected_commits)
        self._read()
        return self._commits

    def _next_kill(self, expected: int) -> None:
        is_done = self.lived.kills >= self._kills
        self._left = float("inf") if is_done else self._rng.randint(1, max(2, 2 * expected // self._kills))

    def _arm(self, monitor: Monitor) -> None:
        """Let every write from some moment on fail, as if the process were gone: what was committed before is all there is."""
        store = monitor.store

        def mortal(write: Any) -> Any:
            async def wrap(*arguments: Any, **more: Any) -> Any:
                if self._left <= 0:
                    monitor.hurry = True
                    monitor.committer.lost = error = StaleEpochError("killed")
                    raise error
                self._left -= 1
                self._commits += 1
                return await write(*arguments, **more)

            return wrap

        for name in ("commit", "write"):
            setattr(store, name, mortal(getattr(store, name)))
        store._gather_seconds = 0
        store._run = _at_once  # type: ignore[method-assign] # a year has no time to wait for a thread

    async def _live_until(self, monitor: Monitor, end: Instant) -> None:
        while True:
            await self._settle(monitor)
            now = self._clock.now()
            if now >= end:
                return
            self._clock.move_to(min(end, max(monitor.next_due(now), now + 1)))

    async def _settle(self, monitor: Monitor) -> None:
        for _ in range(HOPELESS):
            await monitor.step()
            if not monitor.quiescent():
                while not monitor.quiescent():  # noqa: ASYNC110 - many tasks, none of which shows that all are done
                    await asyncio.sleep(0)
                continue
            now = self._clock.now()
            is_killed = monitor.committer.lost is not None  # the next step raises it, at the same instant
            if not is_killed and monitor.next_due(now) > now and not await monitor.owes_deliveries():
                return
        message = "the service never comes to rest"
        raise AssertionError(message)

    def _say(self, text: str) -> None:
        try:
            register.register(self._database, text, settings=self._settings, now=self._clock.now())
        except SentinelError as error:
            self.lived.refused += 1
            if not {problem.as_dict()["code"] for problem in error.problems} <= REFUSALS:
                raise
        except UnknownNameError:
            self.lived.refused += 1

    def _read(self) -> None:
        def everything(c: Any) -> None:
            reported = c.rows(
                "SELECT s.name, d.created_at, d.status, d.changes, d.body FROM delivery d JOIN sentinel s ON s.id = d.sentinel_id"
            )
            self.lived.deliveries = sorted(row[:4] for row in reported)
            self.lived.lines = sorted(
                (row[0], _line(line)) for row in reported for line in bytes(row[4]).decode().splitlines()
            )
            found = c.rows(
                "SELECT s.name, p.given, c.revision, c.detected_at, c.texts FROM change c"
                " JOIN sentinel s ON s.id = c.sentinel_id JOIN page p ON p.id = c.page_id"
            )
            self.lived.changes = sorted(map(_change, found))
            self.lived.sentinels = c.rows(
                "SELECT name, state, reason, revision, started_at, ended_at FROM sentinel ORDER BY id"
            )
            self.lived.steps = c.rows(
                "SELECT sentinel_id, type, at FROM event WHERE type LIKE 'sentinel.%' ORDER BY sentinel_id, seq"
            )
            self.lived.polls = c.value("SELECT count(*) FROM poll WHERE outcome IN ('new', 'changed', 'unchanged')")

        self._database.read(everything)
        self._database.close()


def _line(text: str) -> str:
    """Return a line of a message; of one about several pages without the address, which is that of the page seen last."""
    return text.rpartition("  ")[0] if "; B: " in text else text


def _change(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a change as it is in every installation; one of several pages is of whichever was seen last."""
    name, url, revision, at, texts = row
    statements = json.loads(texts)
    if "composite" not in statements:
        return name, at, revision, url, texts
    parts = sorted(
        json.dumps({key: value for key, value in part.items() if key != "change_id"}, sort_keys=True)
        for part in statements["composite"]["parts"]
    )
    return name, at, revision, statements["composite"]["verdict"], "\n".join(parts)


async def _at_once(call: Any) -> Any:
    return call()


@contextlib.contextmanager
def _in_memory(year: _Year) -> Iterator[None]:
    """Let the service fetch from the web in memory."""
    with mock.patch("tidings.service.run.assembly.open_fetcher", return_value=year._web):
        yield


def _memory() -> str | None:
    """Return a folder in memory, if there is one: what is killed here is the service only, and no disk need be waited for."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def differences(one: Lived, other: Lived) -> list[str]:
    """Return in what two lives of the same history differ, the first of each sort."""
    found = []
    for name in ("sentinels", "steps", "changes", "deliveries", "lines"):
        a, b = getattr(one, name), getattr(other, name)
        if a != b:
            pair = next(((x, y) for x, y in zip(a, b, strict=False) if x != y), (len(a), len(b)))
            found.append(f"{name}: {pair[0]} and {pair[1]}")
    return found


def run(history: History, *, kills: int = 0, commits: int = 0) -> tuple[Lived, int]:
    """Live through a history; return how it went, and how many writes it took, for a run that is killed at some of them."""
    with tempfile.TemporaryDirectory(dir=_memory()) as directory:
        year = _Year(history, Path(directory) / "data", kills)
        with _in_memory(year):
            written = asyncio.run(year.run(commits))
    return year.lived, written

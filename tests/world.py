"""A whole Tidings on a manual clock: a loopback web, a real database, the real service.

Months pass in milliseconds.

```
world.page("/a", "<p>one</p>")
world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")
with serve(world) as service:
    service.pass_time(2 * HOUR)
```
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import io
import json
import re
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tests.fakes import Page, WebServer
from tests.roles import Roles, play_roles
from tidings.clock import SECOND, Duration, ManualClock
from tidings.events.engine import Sizes
from tidings.service.rules.follow import RuleFollower
from tidings.service.run.assembly import poller
from tidings.service.run.from_settings import open_archive
from tidings.service.run.monitor import Monitor
from tidings.service.sentinels import register
from tidings.service.show.records import Record, change_record
from tidings.settings import Settings, load
from tidings.storage.db.database import Database, open_database
from tidings.storage.observed import polls, versions
from tidings.storage.watches import changes, deliveries, events, sentinels
from tidings.storage.write import invariants

FLAGS = {
    "fetch.allow_networks": "127.0.0.0/8",
    "fetch.host_gap_seconds": "0",
    "fetch.robots": "false",
    "detect.isolation": "in_process",
    "detect.second_polls": "false",  # stories count polls; those about noise turn them on
    "serve.lease_seconds": "100000000",
}
HOPELESS = 20_000

T = TypeVar("T")


@functools.cache
def _empty() -> bytes:
    """Return an empty database: to make one takes as long as twenty polls."""
    with tempfile.TemporaryDirectory() as folder:
        open_database(Settings(data=Path(folder))).close()
        return (Path(folder) / "tidings.db").read_bytes()


class World:
    """One installation and the web that it watches; its database is SQLite's, or the one of `url`."""

    def __init__(self, directory: Path, server: WebServer, url: str = "", **flags: str) -> None:
        self.directory = directory
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not url:
            with contextlib.suppress(FileExistsError), (directory / "tidings.db").open("xb") as file:
                file.write(_empty())
        self.url = url
        self.has_roles = False
        """whether the service is played by all roles of a cluster (`tests.roles`)"""
        self._reading: Database | None = None
        self.server = server
        self.clock = ManualClock()
        self.flags = {
            **FLAGS,
            **({"store.url": url} if url else {}),
            **{name.replace("__", "."): value for name, value in flags.items()},
        }
        self.console = io.StringIO()
        self.stores_at_once = True
        self._asked = 0
        self.received: list[tuple[dict[str, str], Any]] = []

    @property
    def dialect(self) -> str:
        """Return sqlite or postgresql."""
        return "postgresql" if self.url else "sqlite"

    @property
    def settings(self) -> Settings:
        """Return the settings of this installation."""
        flags = dict(self.flags)
        commands = flags.pop("fetch.allow_commands", "")  # which only a file or the environment can say
        environment = {"TIDINGS_FETCH_ALLOW_COMMANDS": commands} if commands else {}
        return load(self.directory, environment=environment, flags=flags)

    def page(self, path: str, body: str | bytes, **more: Any) -> None:
        """Let a path answer an HTML page from now on."""
        data = body.encode() if isinstance(body, str) else body
        self.server.pages[path] = Page(data, more.pop("headers", {"Content-Type": "text/html; charset=utf-8"}), **more)

    def receiver(self, path: str = "/hook", statuses: Callable[[int], int] = lambda n: 200) -> str:
        """Let a path take webhooks; `statuses` says what the n-th attempt is answered. Return its URL."""

        def take(seen: Any, wire: Any) -> None:
            self.received.append((seen.headers, json.loads(seen.body)))
            wire.send(f"HTTP/1.1 {statuses(len(self.received))} Said\r\nContent-Length: 0\r\n\r\n".encode())

        self.server.pages[path] = take
        return self.server.url(path)

    def add(self, text: str) -> None:
        """Register statements; `{/path}` stands for that page of the loopback web."""
        database = open_database(self.settings)
        try:
            register.register(database, self.text(text), settings=self.settings, now=self.clock.now())
        finally:
            database.close()

    def text(self, text: str) -> str:
        """Return a text with the addresses put in."""
        return re.sub(r"\{(/[^}]*)\}", lambda m: self.server.url(m[1]), text)

    def read(self, fn: Callable[..., Any], *args: Any, **kw: Any) -> Any:
        """Read the database as another process would; that process stays, for to connect to a server takes long."""
        if self.url:
            self._reading = self._reading or open_database(self.settings)
            return self._reading.read(fn, *args, **kw)
        database = open_database(self.settings)
        try:
            return database.read(fn, *args, **kw)
        finally:
            database.close()

    def write(self, fn: Callable[..., Any], *args: Any, **kw: Any) -> Any:
        """Write to the database as another process would."""
        with contextlib.closing(open_database(self.settings)) as database:
            return database.write(fn, *args, **kw)

    def close(self) -> None:
        """Leave the database."""
        if self._reading is not None:
            self._reading.close()

    @contextlib.asynccontextmanager
    async def monitor(self, *, spreads: bool = False) -> AsyncIterator[Monitor]:
        """Run the service's monitor; it moves when the test says so. `spreads` as for `serve`."""
        running: contextlib.AbstractAsyncContextManager[Any] = (
            play_roles(self, spreads=spreads)
            if self.has_roles
            else poller(self.settings, clock=self.clock, stream=self.console, spreads=spreads)
        )
        async with running as monitor:
            for store in monitor.stores if isinstance(monitor, Roles) else (monitor.store,):
                store._gather_seconds = 0  # nobody else's units come meanwhile
                if self.stores_at_once and not self.url:  # a server may have to be waited for
                    store._run = _at_once  # type: ignore[method-assign]
                else:
                    store._run = self._count(store._run)  # type: ignore[method-assign]
            yield monitor

    def _count(self, run: Callable[[Callable[[], Any]], Any]) -> Callable[[Callable[[], Any]], Any]:
        """Return what asks a store on its thread, and counts what was asked and not answered: no clock moves while a server is waited for."""

        async def count(call: Callable[[], Any]) -> Any:
            self._asked += 1
            try:
                return await run(call)
            finally:
                self._asked -= 1

        return count

    async def settle(self, monitor: Monitor) -> None:
        """Step until nothing is under way and nothing more is due at this instant."""
        for _ in range(HOPELESS):
            await monitor.step()
            if not monitor.quiescent():
                await self._wait(monitor)
                continue
            if monitor.next_due(self.clock.now()) > self.clock.now() and not await monitor.owes_deliveries():
                return
        message = "the service never comes to rest"
        raise AssertionError(message)

    async def _wait(self, monitor: Monitor) -> None:
        """Let what is under way end; a fetch that waits for nothing but the clock (a host's gap) has the clock moved."""
        idle = 0
        while not monitor.quiescent():
            if monitor._tasks:
                await asyncio.wait(monitor._tasks, timeout=0.0005, return_when=asyncio.FIRST_COMPLETED)
            else:
                await asyncio.sleep(0)
            wake = self.clock.next_wake()
            idle = idle + 1 if wake is not None and not self._asked else 0
            nobody_fetches = self.clock.sleeping() >= len(monitor._tasks)
            if wake is not None and idle > (2 if nobody_fetches else 400 if self.has_roles else 40):
                self.clock.move_to(wake)
                idle = 0

    async def pass_time(self, monitor: Monitor, duration: Duration) -> None:
        """Let so much time pass, from one due instant to the next."""
        end = self.clock.now() + duration
        while True:
            await self.settle(monitor)
            now = self.clock.now()
            if now >= end:
                return
            self.clock.move_to(min(end, max(monitor.next_due(now), now + 1)))

    def changes(self, sentinel: str | None = None) -> list[Record]:
        """Return the change records, oldest first."""
        found = self.read(changes.listing, sentinel=sentinel, quiet=True)
        return [change_record(c.row, sentinel=c.sentinel, url=c.url) for c in reversed(found)]

    def versions(self, page_id: int = 1) -> Any:
        """Return the versions of a page."""
        return self.read(versions.listing, page_id)

    def polls(self, page_id: int | None = None) -> list[Any]:
        """Return the polls, oldest first."""
        return list(reversed(self.read(polls.listing, page_id=page_id)))

    def deliveries(self) -> Any:
        """Return all deliveries."""
        return self.read(deliveries.listing)

    def events(self, *types: str) -> Any:
        """Return events of these types."""
        return self.read(events.listing, types=types or None)

    def sentinel(self, name: str) -> Any:
        """Return the row of a sentinel."""
        return self.read(sentinels.find, name)

    def violations(self) -> Any:
        """Return what breaks the invariants I-1 to I-10 as far as the database shows."""
        archive = open_archive(self.settings, dialect=self.dialect)

        def check(connection: Any) -> list[str]:
            def lookup(sha256: str) -> Any:
                return versions.blob(connection, sha256)

            return invariants.check(connection, blob_bytes=lambda blob: archive.restore(blob.sha256, lookup))

        return self.read(check)


async def _at_once(call: Callable[[], Any]) -> Any:
    """Run what the store is asked for where it is asked for: to go to its thread and back takes longer than most of that."""
    await asyncio.sleep(0)
    return call()


def play(world: World, story: Callable[[Monitor], Coroutine[Any, Any, None]], *, spreads: bool = False) -> None:
    """Run one story from the start of the service to its end."""

    async def act() -> None:
        async with world.monitor(spreads=spreads) as monitor:
            await story(monitor)

    asyncio.run(act())


@dataclass(frozen=True, slots=True)
class Service:
    """A service that runs, a step at a time, as its test says."""

    world: World
    monitor: Monitor
    runner: asyncio.Runner

    @property
    def rule_sizes(self) -> Sizes:
        """Return the size of the event engine."""
        rules = self.monitor.rules
        assert isinstance(rules, RuleFollower)
        return rules.sizes

    def settle(self) -> None:
        """Step until nothing is under way and nothing more is due at this instant."""
        self.run(self.world.settle(self.monitor))

    def pass_time(self, duration: Duration) -> None:
        """Let so much time pass, from one due instant to the next."""
        self.run(self.world.pass_time(self.monitor, duration))

    def run(self, act: Coroutine[Any, Any, T]) -> T:
        """Return what something yields that is awaited beside the service."""
        return self.runner.run(act)


@contextlib.contextmanager
def serve(world: World, *, spreads: bool = False) -> Iterator[Service]:
    """Yield the service of a world, which runs to the end of the block: a story without `await`."""
    with asyncio.Runner() as runner, contextlib.ExitStack() as closing:
        monitoring = world.monitor(spreads=spreads)
        monitor = runner.run(_enter(monitoring))
        closing.push(lambda *error: runner.run(_exit(monitoring, error)))
        yield Service(world, monitor, runner)


async def _enter(monitoring: contextlib.AbstractAsyncContextManager[Monitor]) -> Monitor:
    return await monitoring.__aenter__()


async def _exit(monitoring: contextlib.AbstractAsyncContextManager[Monitor], error: tuple[Any, ...]) -> bool | None:
    return await monitoring.__aexit__(*error)


def seconds(number: float) -> Duration:
    """Return seconds as µs."""
    return round(number * SECOND)

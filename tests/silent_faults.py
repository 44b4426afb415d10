"""Tests whether a fault silences a watch: one page with news, one fault, one time limit
(`silent_fault_rows` lists the faults).

A page is checked every two hours and its owner is notified by a webhook. It works: one change is delivered. Then the fault comes, and the
page has news. Within the limit of the fault either the news arrives, or the owner is notified of what keeps the watch from seeing it. Anything
else is silence.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tests.fakes import Page, Seen, WebServer, Wire
from tests.world import World
from tidings.clock import HOUR, MINUTE, Duration
from tidings.errors import ClockSetBackError, StoreBusyError, StoreError, StoreFullError, TidingsError
from tidings.service.health.sources import health_of
from tidings.service.run.monitor import Monitor
from tidings.storage.db.database import open_database

INTERVAL: Duration = 2 * HOUR
NEWS = "newsworthy"
HTML = {"Content-Type": "text/html; charset=utf-8", "Connection": "close"}
"""no connection outlives its answer: hours pass in milliseconds here"""
FILLER = "".join(f"<p>Line {n} of the timetable has the number {n * 7} and stays as it is.</p>" for n in range(40))
STEPS_MOST = 400
"""steps of the service that a fault may refuse before a row gives up"""

Verdict = Literal["goes on", "reported", "shown", "silent"]
"""`shown`: no message can go out, and `list`, `show`, `check` and `doctor` say so in the words of a trouble that fails."""


def page(word: str) -> str:
    """Return the page with a word in it that is all it has to say."""
    return f"<title>Board</title><h1>Board</h1><p id=news>Today: {word}.</p>{FILLER}"


@dataclass(slots=True)
class Watch:
    """One watched page, its web, its owner's receiver, and what happened since the fault."""

    world: World
    receiver: WebServer
    second: WebServer
    monitor: Monitor | None = None
    received: list[Any] = field(default_factory=list)
    by_second: list[Any] = field(default_factory=list)
    host: str = ""
    secure: WebServer | None = None
    authority: Any = None
    closing: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    running: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)
    undo: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    """what ends the fault"""

    @property
    def clock(self) -> Any:
        """Return the manual clock of the world."""
        return self.world.clock

    def show(self, word: str = NEWS, **more: Any) -> None:
        """Let the page say a word from now on."""
        self.world.page("/a", page(word), headers=HTML, **more)

    def answer(self, answer: Page | Callable[[Seen, Wire], object]) -> None:
        """Let the page be answered so from now on."""
        self.world.server.pages["/a"] = answer

    async def open(self) -> None:
        """Start the service, anew if it runs."""
        await self.running.aclose()
        self.monitor = await self.running.enter_async_context(self.world.monitor())

    async def step(self) -> None:
        """Make one step; as `serve` does, a clock that was set back starts the service anew."""
        assert self.monitor is not None
        try:
            await self.monitor.step()
        except ClockSetBackError:
            self.clock._last = self.clock.wall()  # a new process remembers no later time
            await self.open()
            await self.monitor.step()

    async def live(self, duration: Duration) -> None:
        """Let so much time pass; as `serve` does, what the disk refuses is tried again and a clock set back starts the service anew."""
        end = self.clock.wall() + duration
        for _ in range(STEPS_MOST):
            assert self.monitor is not None
            try:
                await self.world.pass_time(self.monitor, max(0, end - self.clock.now()))
            except ClockSetBackError:
                self.clock._last = self.clock.wall()  # a new process remembers no later time
                await self.open()
            except (StoreBusyError, StoreFullError):
                await asyncio.sleep(0.001)
                if self.clock.now() >= end:
                    return
                self.clock.advance(min(MINUTE, end - self.clock.now()))
            else:
                return

    def patch(self, owner: Any, name: str, new: Any) -> None:
        """Replace an attribute until the fault ends."""
        old = getattr(owner, name)
        setattr(owner, name, new)
        self.undo.callback(setattr, owner, name, old)

    def write(self, sql: str, **values: Any) -> None:
        """Change the database as nobody should."""
        database = open_database(self.world.settings)
        try:
            database.write(lambda c: c.execute(sql, **values))
        finally:
            database.close()


Act = Callable[[Watch], Awaitable[None] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault: what happens, what is right then, and within what time.

    `expect` is what must be seen: the news arrive (`goes on`), the owner is notified (`reported`), or either. `lift` ends the fault `after` so long.
    """

    name: str
    kind: str
    act: Act
    expect: frozenset[Verdict] = frozenset({"goes on", "reported"})
    within: Duration = INTERVAL
    lift: Act | None = None
    after: Duration = 0
    clauses: str = ""
    monitor: str = "all words"
    flags: Mapping[str, str] = field(default_factory=dict)
    prepare: Act | None = None
    """what is set up before the watch begins"""
    address: str = "{/a}"
    """the page's address; `{host}` stands for what `prepare` has set up"""
    notices_only: bool = False
    """whether the news, which arrive by another receiver, are not enough: the owner must be notified of the fault"""
    restart: bool = False
    """whether the service stops before the fault and starts again after it"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What an owner saw after a fault: which way it went, in which words, and which invariants are broken."""

    verdict: Verdict
    words: str
    violations: tuple[str, ...] = ()


def _take(into: list[Any]) -> Callable[[Seen, Wire], None]:
    def take(seen: Seen, wire: Wire) -> None:
        into.append(json.loads(seen.body))
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    return take


@contextlib.contextmanager
def watch(folder: Path, fault: Fault) -> Iterator[Watch]:
    """Give a watch that nothing is wrong with yet."""
    with contextlib.ExitStack() as stack:
        server, receiver, second = (
            stack.enter_context(WebServer(address)) for address in ("127.0.0.1", "127.0.0.8", "127.0.0.9")
        )
        world = World(folder / "data", server, **fault.flags)
        made = Watch(world, receiver, second, closing=stack)
        receiver.pages["/hook"] = _take(made.received)
        second.pages["/hook"] = _take(made.by_second)
        made.show("nothing")
        stack.callback(made.undo.close)
        yield made


def judge(fault: Fault, folder: Path) -> Sight:
    """Play one fault and return what its owner noticed."""
    with watch(folder, fault) as made:
        return asyncio.run(_play(fault, made))


async def _play(fault: Fault, made: Watch) -> Sight:
    world = made.world
    if fault.prepare is not None:
        await _do(fault.prepare, made)
    clauses = fault.clauses.replace("{trust}", str(world.directory.parent / "ca.pem"))
    world.add(
        f"Create Sentinel s Using {fault.address.replace('{host}', made.host)} Monitor {fault.monitor} Fetch every 2 hours slack 1 s {clauses}"
        f" Notify By webhook {made.receiver.url('/hook')} Notify By webhook {made.second.url('/hook')}"
    )
    async with made.running:
        await made.open()
        await made.live(MINUTE)
        made.show("something")
        await made.live(INTERVAL)
        if not made.received:
            message = f"{fault.name}: the watch does not work before the fault"
            raise AssertionError(message)
        await made.live(INTERVAL - 2 * MINUTE)  # the next check is a minute away
        if fault.restart:
            await made.running.aclose()
        marks = len(made.received), len(made.by_second), len(world.console.getvalue())
        made.show()
        await _do(fault.act, made)
        if fault.restart:
            try:
                await made.open()
            except StoreError as error:  # refused with the way out: the owner reads it where they started it
                return Sight(verdict="reported", words=f"refused at the start: {error}")
        until = made.clock.wall() + fault.within
        if fault.lift is not None:
            await made.live(fault.after)
            await _do(fault.lift, made)
        await made.live(until - made.clock.wall())
    return _verdict(fault, made, marks)


async def _do(act: Act, made: Watch) -> None:
    answer = act(made)
    if answer is not None:
        await answer


def _verdict(fault: Fault, made: Watch, marks: tuple[int, int, int]) -> Sight:
    messages = [*made.received[marks[0] :], *made.by_second[marks[1] :]]
    console = made.world.console.getvalue()[marks[2] :]
    news = [m for m in messages if m["type"].startswith("change.") and NEWS in json.dumps(m)]
    notices = [m for m in messages if m not in news and not (fault.notices_only and m["type"].startswith("change."))]
    text = "; ".join(str(m["data"].get("summary", "")) for m in notices) or console.strip()
    violations = tuple(_violations(made.world))
    if news and not fault.notices_only:
        return Sight(verdict="goes on", words=text, violations=violations)
    if text:
        return Sight(verdict="reported", words=text, violations=violations)
    health = made.world.read(health_of, made.world.settings, now=made.clock.now(), is_polled=True)
    shown = "; ".join(trouble.words for trouble in health.troubles if trouble.severity == "fail")
    return Sight(verdict="shown" if shown else "silent", words=shown, violations=violations)


def _violations(world: World) -> list[str]:
    try:
        return list(world.violations())
    except (TidingsError, ValueError, TypeError, LookupError):
        return []  # what is damaged cannot be judged; what is reported of it is

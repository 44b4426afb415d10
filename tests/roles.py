"""The roles of a cluster in one process, on the manual clock of a story: two planners, three
pollers behind a bus and two notifiers on one PostgreSQL database.

Stories that only let time pass see no difference to one service. A story that looks into the memory
of one process is skipped.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

from tests.buses import InProcessBus
from tidings.clock import DAY, SECOND
from tidings.fetching.browser.browser import Browser
from tidings.fetching.http.client import Client
from tidings.record import replace
from tidings.service.machines.remote_poller import RemotePoller
from tidings.service.run import leases
from tidings.service.run.assembly import poller
from tidings.service.run.notifier import Notifier, notifier
from tidings.storage.db import planners
from tidings.storage.db.database import open_database

if TYPE_CHECKING:
    from tests.world import World
    from tidings.clock import Instant
    from tidings.model.observed.unit import Unit
    from tidings.service.run.monitor import Monitor
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.write.store import Store

PLANNERS = ("leader", "other")
POLLERS = 3
NOTIFIERS = 2
START_SECONDS = 60.0
SECRET = "a secret of a test"


class Roles:
    """Planners and notifiers that step together, with the face of a monitor."""

    def __init__(self, monitors: list[Monitor], notifiers: list[Notifier]) -> None:
        self._monitors = monitors
        self._notifiers = notifiers
        self._is_news = False
        self._all: tuple[Monitor | Notifier, ...] = (*monitors, *notifiers)
        for each in self._all:
            each.committer.listen(self._note)
            each.store.has_changed = self._noting(each.store.has_changed)  # type: ignore[method-assign]

    @property
    def stores(self) -> list[Store]:
        """Return the store of each process."""
        return [each.store for each in self._all]

    @property
    def store(self) -> Store:
        """Return the store of the planner that leads."""
        return self._monitors[0].store

    @property
    def _tasks(self) -> set[asyncio.Task[None]]:
        return set().union(*(each._tasks for each in self._all))

    def quiescent(self) -> bool:
        """Return whether nothing is in flight in any process."""
        return all(each.quiescent() for each in self._monitors) and all(
            not each._tasks and each.committer.quiet for each in self._notifiers
        )

    async def owes_deliveries(self) -> bool:
        """Return whether something is due in any process, or another one has yet to read what was
        written.
        """
        now = self._monitors[0].clock.now()
        return (
            self._is_news
            or any([await each.owes_deliveries() for each in self._monitors])
            or any([await each._sending.owes(now) for each in self._notifiers])
        )

    def next_due(self, now: Instant) -> Instant:
        """Return the earliest instant at which a step of any process would have work."""
        sending = (each._sending.next_due for each in self._notifiers)
        return min(*(each.next_due(now) for each in self._monitors), *(at for at in sending if at is not None))

    async def step(self) -> None:
        """Do what is due now, in each process."""
        self._is_news = False
        for each in self._all:
            await each.step()

    async def live(self) -> None:
        """Apply due lifecycle steps of sentinels."""
        for each in self._monitors:
            await each.live()

    def _note(self, unit: Unit) -> None:
        self._is_news = True

    def _noting(self, ask: Callable[[], Any]) -> Callable[[], Any]:
        async def has_changed() -> bool:
            found = await ask()
            self._is_news |= found
            return bool(found)

        return has_changed

    def __getattr__(self, name: str) -> Any:
        pytest.skip(f"the story looks into the memory of one process (monitor.{name})")


@contextlib.asynccontextmanager
async def play_roles(world: World, *, spreads: bool) -> AsyncIterator[Roles]:
    """Run all roles on the database of a world; they move when the test says so.

    The planner that leads has the lower half of the shards, the other one the upper half.
    """
    with contextlib.closing(open_database(world.settings)) as database:
        if database.read(planners.listing):
            pytest.skip("the story starts a second service beside the first")
        database.write(_divide)
    bus = InProcessBus()
    settings = replace(world.settings, bus=replace(world.settings.bus, url="nats://127.0.0.1:1", secret=SECRET))
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(patch.object(leases, "MOST_APART", DAY))  # no story asks how often a run is renewed
        stack.enter_context(patch("tidings.bus.buses.open_bus", lambda settings: bus))
        async with asyncio.timeout(START_SECONDS):
            monitors = [
                await stack.enter_async_context(
                    poller(settings, clock=world.clock, stream=world.console, spreads=spreads, planner=name)
                )
                for name in PLANNERS
            ]
            notifiers = [
                await stack.enter_async_context(notifier(settings, stream=world.console, clock=world.clock))
                for _ in range(NOTIFIERS)
            ]
        for _ in range(POLLERS):
            await stack.enter_async_context(_polling(settings, world, bus))
        yield Roles(monitors, notifiers)


def _divide(c: Connection) -> None:
    """Give each planner its half, without the time that they take to agree."""
    for name in (*PLANNERS, PLANNERS[0]):
        planners.begin(c, name, seen=None, length=10**8 * SECOND)


@contextlib.asynccontextmanager
async def _polling(settings: Settings, world: World, bus: InProcessBus) -> AsyncIterator[None]:
    client = Client(settings.fetch, clock=world.clock)
    made = RemotePoller(
        bus, SECRET, Browser(settings.fetch, client), robots=client.robots, places={"pages": 64, "browser": 1}
    )
    running = asyncio.create_task(made.run(("pages", "browser")))
    try:
        yield
    finally:
        running.cancel()
        await asyncio.wait({running})
        await made.close()

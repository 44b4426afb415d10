"""Serve screens, API, feeds and the stream from the database, without checking or sending: the role
`web`. Any number of such processes may run.

What users and programs ask for is written as other commands write it, and the planner takes it over
at its next step.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, NamedTuple

from tidings.clock import SECOND, put_forward, set_back
from tidings.model.event_type import EventType
from tidings.scheduling.policies import reads_of
from tidings.service.notify.deliver import STREAMED
from tidings.service.run.only_poller import open_patiently
from tidings.service.run.presence import present
from tidings.service.run.senders import read_signing
from tidings.service.run.server_clock import ServerClock, open_clock
from tidings.service.sources.outside_events import OutsideEvents
from tidings.service.sources.signals import LeftSignals
from tidings.service.sources.websub import LeftCallbacks
from tidings.storage.people.accounts import add_shares
from tidings.storage.secrets import Vault
from tidings.storage.watches import events
from tidings.storage.write.store import Store

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.model.interval import Duration
    from tidings.service.run.monitor import SideTask
    from tidings.service.run.presence import Presence
    from tidings.settings import Settings


class LeftWays(NamedTuple):
    """The inputs from outside of a process that only serves."""

    events: OutsideEvents
    signals: LeftSignals
    hubs: LeftCallbacks


class WebOnly:
    """One process that only serves."""

    holder = ""
    epoch = 0
    price = None

    def __init__(self, store: Store, clock: Clock, ways_in: LeftWays, presence: Presence) -> None:
        self.store = store
        self.clock = clock
        self.ways_in = ways_in
        self.on_streamed: Callable[[], None] = lambda: None
        """called when others have put records on the stream"""
        self.on_changed: Callable[[], None] = lambda: None
        """called when others have found changes"""
        self._around: list[SideTask] = [presence, *([clock] if isinstance(clock, ServerClock) else [])]
        self._seen = 0

    async def start(self) -> None:
        """Begin with what is stored now."""
        self._seen = await self.store.read(events.last_seq)
        await self.store.has_changed()

    async def step(self) -> None:
        """Call whom the news since the last step concern. Raises `StoreStalledError` while the
        database cannot be used.
        """
        if set_back(self.clock) or put_forward(self.clock):
            self.clock.restart()
        for each in self._around:
            await asyncio.gather(*await each.due(self.clock.now()))
        if not await self.store.has_changed():
            return
        types_read = (STREAMED, EventType.CHANGE_FOUND)
        found, self._seen = await self.store.read(events.read_new, after=self._seen, types=types_read)
        types = {event.type for event in found}
        if STREAMED in types:
            self.on_streamed()
        if EventType.CHANGE_FOUND in types:
            self.on_changed()

    async def rest(self, *, most: Duration) -> None:
        """Wait."""
        await asyncio.sleep(most / SECOND)


@contextlib.asynccontextmanager
async def web_only(settings: Settings) -> AsyncIterator[WebOnly]:
    """Yield what a process that only serves needs. Waits for a database server that does not
    answer. Raises what `open_database` raises.
    """
    store = Store(await open_patiently(settings, endures=True))
    vault = Vault(settings.data)
    try:
        clock = await open_clock(settings, store)
        settings = await store.read(add_shares, settings)
        signing = await store.write(read_signing, settings, vault, clock.now())
        signals = LeftSignals(store, clock, reads=reads_of(settings.schedule.policy), zone=settings.serve.zone)
        ways_in = LeftWays(
            OutsideEvents(store, vault, clock, on_event=lambda name: None),  # noqa: ARG005 - the planner reads it
            signals,
            LeftCallbacks(store, signals, clock, keys=signing.keys),
        )
        async with present(store, "web", settings) as presence:
            made = WebOnly(store, clock, ways_in, presence)
            await made.start()
            yield made
    finally:
        store.hurry()
        await store.close()

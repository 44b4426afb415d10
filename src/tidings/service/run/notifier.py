"""Send due messages and nothing else: the role `notifier`. Several such processes may run; each
claims the receivers that it tries (`notify.claims`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections.abc import AsyncIterator, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from tidings.clock import SECOND, put_forward, set_back
from tidings.errors import ClockSetBackError, StoreError, StoreStalledError
from tidings.service.notify.claims import Claims
from tidings.service.rules.follow import is_awaited
from tidings.service.run.only_poller import open_patiently
from tidings.service.run.presence import Presence, length_of, name_process
from tidings.service.run.senders import open_client, open_sending, read_signing
from tidings.service.run.server_clock import ServerClock, open_clock
from tidings.service.show.records import spell_gap
from tidings.service.watch.committer import Committer
from tidings.service.watch.holds import StepParts, make_problem
from tidings.service.watch.watchlist import load_users
from tidings.storage.db import instance
from tidings.storage.secrets import Vault
from tidings.storage.watches import events
from tidings.storage.write.store import Store

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.model.interval import Duration, Instant
    from tidings.service.notify.deliver import SendQueue
    from tidings.service.run.monitor import SideTask
    from tidings.service.watch.watchlist import WatchedSentinel
    from tidings.settings import Settings
    from tidings.storage.watches.deliveries import DeliveryRow

log = logging.getLogger("tidings.service")


class Notifier:
    """One process that sends."""

    def __init__(
        self, store: Store, clock: Clock, committer: Committer, sending: SendQueue, presence: Presence
    ) -> None:
        self.store = store
        self.committer = committer
        self.presence = presence
        self._clock = clock
        self._sending = sending
        self._around: list[SideTask] = [presence, *([clock] if isinstance(clock, ServerClock) else [])]
        self._parts = StepParts(self._note_failed)
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._is_stalled = False

    async def step(self) -> None:
        """Start the attempts that are due. Raises `ClockSetBackError` once the machine's clock was
        set back, `StoreStalledError` while results cannot be stored.
        """
        self._follow_clock()
        if self._is_stalled:
            await self._sending.store_again()
            self._is_stalled = False
        now = self._clock.now()
        for each in self._around:
            await self._parts.do(type(each).__name__, partial(self._start, each), now)
        if await self.store.has_changed():
            self._sending.wake()
        await self._parts.do("messages", partial(self._start, self._sending), now)

    async def _start(self, each: SideTask | SendQueue, now: Instant) -> None:
        for work in await each.due(now):
            self._spawn(work)

    async def _note_failed(self, part: str, error: Exception, now: Instant) -> None:
        """Report a part of the step that failed, in the log and for health."""
        self._sending.wake()
        known = isinstance(error, StoreError)  # users can fix it: no traceback
        log.error("the part %s of the notifier failed: %s", part, error, exc_info=None if known else error)
        with contextlib.suppress(StoreError):
            await self.store.write(events.append, [make_problem(part, error, now)])

    async def rest(self, *, most: Duration) -> None:
        """Wait for the end of an attempt, or for `most`."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), most / SECOND)
        self._wake.clear()

    async def stop(self, *, patience: Duration) -> None:
        """Give running attempts `patience` to end."""
        self.store.hurry()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=patience / SECOND)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)
        with contextlib.suppress(StoreStalledError):
            await self._sending.store_again()

    def _follow_clock(self) -> None:
        if back := set_back(self._clock):
            message = f"the machine's clock was set back by {spell_gap(back)}"
            raise ClockSetBackError(message)
        if put_forward(self._clock):
            self._clock.restart()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._wake.set()
        if task.cancelled() or (error := task.exception()) is None:
            return
        self._is_stalled = self._is_stalled or isinstance(error, StoreStalledError)
        if isinstance(error, StoreError):  # users can fix it: no traceback
            log.error("the result of an attempt was not stored: %s", error)
        else:
            log.error("a task of the notifier failed", exc_info=error)


@contextlib.asynccontextmanager
async def notifier(
    settings: Settings, *, clock: Clock | None = None, stream: TextIO | None = None
) -> AsyncIterator[Notifier]:
    """Yield a notifier; the caller runs its steps. Waits for a database server that does
    not answer. Raises what `open_database` raises.

    Args:
        settings: The settings.
        clock: The clock; by default that of the database's server.
        stream: Where console messages are written; standard output by default.
    """
    store = Store(await open_patiently(settings, endures=True))
    vault, holder = Vault(settings.data), name_process()
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(store.close)
        stack.callback(store.hurry)
        clock = clock or await open_clock(settings, store)

        async def find_users(delivery: DeliveryRow) -> list[WatchedSentinel]:
            return await store.read(load_users, delivery.endpoint_id, zone=settings.serve.zone)

        async def awaits(sentinel_id: int, endpoint_id: int) -> bool:
            return await store.read(is_awaited, sentinel_id, endpoint_id)

        committer = Committer(store)
        sending = open_sending(
            stack,
            settings,
            store,
            committer,
            open_client(stack, settings, clock),
            await store.write(read_signing, settings, vault, clock.now()),
            await store.read(instance.load),
            stream or sys.stdout,
            clock=clock,
            epoch=0,
            claims=Claims(store, holder, length_of(settings)),
            awaits=awaits,
            users_of=find_users,
        )
        presence = Presence(store, "notifier", holder, length_of(settings))
        await presence.note()
        stack.push_async_callback(presence.end)
        made = Notifier(store, clock, committer, sending, presence)
        try:
            yield made
        finally:
            await asyncio.shield(made.stop(patience=round(settings.serve.stop_seconds * SECOND)))

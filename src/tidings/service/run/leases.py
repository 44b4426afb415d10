"""The right to poll: the lease of a process that has all pages to itself, or of one run of a
planner that shares them (`storage.db.planners`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import SECOND
from tidings.errors import PollerBusyError, ShardsMovedError, StoreError
from tidings.model.interval import Duration
from tidings.service.run.presence import Presence
from tidings.service.watch.shards import ALL, Shards
from tidings.storage.db import lock, planners
from tidings.storage.db.lock import PLANNERS, POLLER

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.model.interval import Instant
    from tidings.storage.db.lock import LeaseRow, PollerLock
    from tidings.storage.db.planners import PlannerRun
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service")
MOST_APART: Final[Duration] = 2 * SECOND
"""The longest time between two renewals of a run: others wait for what it gives up, and for its
note.
"""
WATCHES_A_LEASE: Final = 40
"""How often a process that stands by reads the lease, in the length of one."""


class SoleLease:
    """The lease of a process that has all pages to itself.

    Args:
        store: The database.
        holder: The unique name of the process.
        epoch: The epoch with which the lease was acquired.
        length: How long it lasts unless it is renewed (µs, > 0).
    """

    shards = ALL

    def __init__(self, store: Store, holder: str, epoch: int, length: Duration) -> None:
        self._store = store
        self._length = length
        self.holder = holder
        self.epoch = epoch
        self.every = length // 3
        """the time from one renewal to the next (µs)"""

    async def renew(self, now: Instant) -> None:
        """Prolong the lease. Raises `StaleEpochError` if another process has acquired it."""
        await self._store.write(lock.renew_lease, POLLER, self.holder, self.epoch, until=now + self._length)

    async def release(self) -> None:
        """Release the lease."""
        await self._store.write(lock.release_lease, POLLER, self.holder, self.epoch)


class PlannerLease:
    """One run of a planner.

    Args:
        store: The database.
        run: The run, which has begun.
        length: How long it lasts unless it is renewed (µs, > 0).
    """

    def __init__(self, store: Store, run: PlannerRun, length: Duration) -> None:
        self._store = store
        self._run = run
        self._length = length
        self._is_followed = False
        self.holder = run.holder
        self.epoch = run.epoch
        self.shards = Shards(planners.SHARDS, run.shards)
        self.every = min(length // 6, MOST_APART)
        self.write_note: Callable[[], Mapping[str, Any]] = dict
        """returns the note to the other planners"""
        self.read_notes: Callable[[Sequence[PlannerRun]], None] = lambda others: None  # noqa: ARG005 - nobody does yet
        """takes theirs"""

    async def renew(self, now: Instant) -> None:  # noqa: ARG002 - the server's clock decides
        """Prolong the run, and exchange notes with the other planners.

        Raises `StaleEpochError` if another planner has ended the run, `ShardsMovedError` if it is
        to be followed by one with other shards.
        """
        runs = await self._store.write(planners.renew, self._run, self.write_note(), length=self._length)
        self.read_notes([run for run in runs if run.epoch != self.epoch])
        if planners.is_uneven(self._run, runs):
            self._is_followed = True
            count = len(runs)
            message = f"{count} planner{'' if count == 1 else 's'} work{'s' if count == 1 else ''} now: the pages are divided anew"
            raise ShardsMovedError(message)

    @contextlib.asynccontextmanager
    async def keeping(self) -> AsyncIterator[None]:
        """Renew the run meanwhile: to load the pages may take longer than it lasts. The next who
        renews it gets the error if it was ended.
        """

        async def renew() -> None:
            while True:
                await asyncio.sleep(self.every / SECOND)
                with contextlib.suppress(StoreError):  # tried again, and told by whoever renews it next
                    await self._store.write(planners.renew, self._run, {}, length=self._length)

        renewing = asyncio.create_task(renew())
        try:
            yield
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)

    async def release(self) -> None:
        """End the run, unless the next one of this process takes its place."""
        if not self._is_followed:
            await self._store.write(planners.end, self._run)


Lease = SoleLease | PlannerLease


async def begin_run(
    store: Store, directory_lock: PollerLock, clock: Clock, holder: str, *, length: Duration
) -> PlannerLease:
    """Return a run with at least one shard; wait while there is none, or while a process has all
    pages to itself.

    That process is gone when it has released its lease, or did not renew it for its length by the
    clock of this one. A planner that was killed in this data directory has its run ended at once.

    Args:
        store: The database.
        directory_lock: The lock file of the data directory.
        clock: The clock.
        holder: The unique name of this process.
        length: The length of a lease (µs, > 0).
    """
    presence = Presence(store, "stand-by", holder, length)
    seen: LeaseRow | None = None
    since, is_locked, is_reported, run = time.monotonic(), False, False, None
    try:
        while True:
            if not is_locked and (is_locked := directory_lock.acquire()):
                if directory_lock.left_by:  # its last holder has died here
                    await store.write(planners.bury, directory_lock.left_by)
                directory_lock.mark(holder)
            lease = await store.read(lock.current_lease, POLLER)
            waited = time.monotonic() - since
            is_shared = lease is None or lease.holder in {"", PLANNERS}
            if is_shared or (lease == seen and waited >= length / SECOND):
                run = await _begin(store, holder, lease, length) or run
                if run is not None and run.shards:
                    store.fence(run.epoch)
                    return PlannerLease(store, run, length)
            if lease != seen:
                seen, since = lease, time.monotonic()
            if not is_reported:
                is_reported = True
                log.warning("standing by: %s", _spell_wait(lease))
            await asyncio.gather(*await presence.due(clock.now()))
            await asyncio.sleep(length / SECOND / WATCHES_A_LEASE)
    except BaseException:  # a run may have begun although its answer did not arrive
        with contextlib.suppress(StoreError):
            await store.write(planners.bury, holder)
        raise
    finally:
        await presence.end()


async def _begin(store: Store, holder: str, lease: LeaseRow | None, length: Duration) -> PlannerRun | None:
    try:
        return await store.write(planners.begin, holder, seen=lease, length=length)
    except PollerBusyError:
        return None


def _spell_wait(lease: LeaseRow | None) -> str:
    if lease is None or lease.holder in {"", PLANNERS}:
        return "other planners have all pages, and give up a part of them"
    return f"{lease.holder} holds the lease"

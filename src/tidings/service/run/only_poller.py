"""The only poller of a data directory: it holds the lock file and the lease, and only it writes the
results of polls (contracts §2).

A poller that was stopped, or hangs, is replaced once its lease has ended. Its late writes are
fenced: the successor raises the epoch, and the store refuses every unit, charge and renewal of an
older one. A stopped process that holds a transaction open cannot be replaced: nobody can write
before it continues or ends.

With PostgreSQL, planners may share the pages (`leases`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Final, NamedTuple

from tidings.clock import MINUTE, SECOND, SystemClock
from tidings.errors import PollerBusyError, StoreBusyError, StoreLostError
from tidings.service.poll.unit import keeping
from tidings.service.run.from_settings import open_archive
from tidings.service.run.leases import SoleLease, begin_run
from tidings.service.run.presence import length_of, name_process
from tidings.storage.db.database import Patience, open_database
from tidings.storage.db.lock import (
    POLLER,
    LeaseRow,
    PollerLock,
    acquire_lease,
    current_lease,
    is_stopped,
    release_lease,
    retire,
    shorten_lease,
)
from tidings.storage.db.soundness import FIRST_SECONDS, Soundness
from tidings.storage.db.sqlite import FILE
from tidings.storage.write.store import Store

if TYPE_CHECKING:
    from tidings.archive.archive import Archive
    from tidings.clock import Clock
    from tidings.model.interval import Duration
    from tidings.service.run.leases import Lease
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Database

log = logging.getLogger("tidings.service")
LOCK_EVERY_SECONDS: Final = 0.1
SMALL_BYTES: Final = 8 * 1024 * 1024
WATCHED_SECONDS: Final = 3.0
"""A process that only slept with its machine renews its lease within this time, and keeps it."""
HANGS: Final[Duration] = MINUTE
"""A process that was not stopped counts as hung this long after its lease ended, at least two
leases.
"""


class OpenStore(NamedTuple):
    """The database and the bodies of the polling process, with its lock and the result of the
    integrity check.
    """

    store: Store
    archive: Archive
    lock: PollerLock
    soundness: Soundness


@contextlib.asynccontextmanager
async def open_alone(
    settings: Settings, patience_seconds: float, *, endures: bool = False, shares: bool = False
) -> AsyncIterator[OpenStore]:
    """Open the database for the only poller. Raises `PollerBusyError` if another process polls,
    `StoreDamagedError` if the database is damaged.

    The database is checked first if a process was interrupted, or if it is small. A planner that
    shares the pages needs no lock: `lead` divides them.

    Args:
        settings: Where the data is.
        patience_seconds: How long to wait for the lock, in seconds.
        endures: Wait as long as needed for a database server that does not answer.
        shares: Whether the process shares the pages with others.
    """
    lock = PollerLock(settings.data)
    database = await open_patiently(settings, endures=endures)
    try:
        await _hold(lock, database, settings, patience_seconds, shares=shares)
    except BaseException:
        database.close()
        lock.release(cut_off=lock.was_cut_off)
        raise
    archive = open_archive(settings, dialect=database.dialect)
    store = Store(database, keep=keeping(archive))
    soundness = Soundness(settings)
    try:
        if lock.was_cut_off or _is_small(settings):
            soundness.begin()
            await soundness.wait(FIRST_SECONDS)
        yield OpenStore(store, archive, lock, soundness)
        await soundness.end(settings.serve.stop_seconds)
    finally:
        await soundness.end(0)
        store.hurry()
        await store.close()
        lock.release(cut_off=lock.was_cut_off and not soundness.is_whole)


async def _hold(
    lock: PollerLock, database: Database, settings: Settings, patience_seconds: float, *, shares: bool
) -> None:
    """Acquire the lock, or take it over from a process that hangs. Raises `PollerBusyError`.

    Args:
        lock: The lock.
        database: The open database.
        settings: Where the data is.
        patience_seconds: How long to wait for the lock, in seconds.
        shares: Whether the process shares the pages with others, and needs no lock.
    """
    give_up_at = time.monotonic() + patience_seconds
    if patience_seconds and not shares and (other := None if lock.acquire() else lock.holder()) is not None:
        log.warning("waiting up to %.0f s for process %d to end: it checks the pages too", patience_seconds, other)
    while not (held := lock.acquire() or shares) and time.monotonic() < give_up_at:  # noqa: ASYNC110 - another process lets go
        await asyncio.sleep(LOCK_EVERY_SECONDS)
    if not (held or await take_over(lock, database, settings)):
        message = (
            f"another Tidings (process {lock.holder()}) checks the pages of {settings.data}; use `tidings check`, or "
            "stop that process first"
        )
        raise PollerBusyError(message)


def _is_small(settings: Settings) -> bool:
    """Return whether the whole database can be read in some hundredths of a second."""
    with contextlib.suppress(OSError):
        return not settings.store.url and (settings.data / FILE).stat().st_size <= SMALL_BYTES
    return False


async def open_patiently(settings: Settings, *, endures: bool) -> Database:
    """Return the open database; with `endures`, wait for its server, now and later, and log that.
    Raises what `open_database` raises.
    """
    if not endures:
        return open_database(settings)
    patience = Patience(None)
    while True:
        try:
            database = await asyncio.to_thread(open_database, settings)
        except StoreLostError as error:
            await asyncio.sleep(patience.pause(error))
        else:
            patience.over()
            database.patience = patience
            return database


async def take_over(lock: PollerLock, database: Database, settings: Settings) -> bool:
    """Take the lock of a process that was stopped or hangs, on SQLite; return whether this process
    holds it now.

    Raises `StoreBusyError`, with advice, if that process holds a transaction open.
    """
    pid = lock.holder()
    if pid is None or database.dialect != "sqlite" or database.single_writer or not _gives_way(pid, database, settings):
        return False
    before = database.read(current_lease, POLLER)
    await asyncio.sleep(0 if is_stopped(pid) else WATCHED_SECONDS)
    if database.read(current_lease, POLLER) != before or lock.holder() != pid:
        return False
    try:
        database.write(lambda c: current_lease(c, POLLER))
    except StoreBusyError as error:
        message = (
            f"process {pid} was stopped during a write, so no other process can write; continue it (kill -CONT "
            f"{pid}) or end it (kill -KILL {pid})"
        )
        raise StoreBusyError(message) from error
    if not lock.take_over():
        return False
    log.warning("process %d no longer works, and its lease has ended: this process takes over", pid)
    return True


def _gives_way(pid: int, database: Database, settings: Settings) -> bool:
    lease = database.read(current_lease, POLLER)
    if lease is None or not lease.holder:
        return False  # it is starting or ending
    length, ago = round(settings.serve.lease_seconds * SECOND), SystemClock().wall() - lease.until
    return ago > 0 if is_stopped(pid) else ago > max(HANGS, 2 * length)


async def lead(
    settings: Settings,
    store: Store,
    lock: PollerLock,
    clock: Clock,
    patience_seconds: float,
    *,
    planner: str = "",
) -> Lease:
    """Take the lease. From then on only this process writes through `store`.

    A lease is over if its holder died with our lock file; on SQLite, which has one directory, any
    lease is. Another machine's lease is waited for until it ends, and `patience_seconds` longer
    once its holder has renewed it. Raises `PollerBusyError`.

    Args:
        settings: Where the database is, and how long a lease lasts.
        store: The open database.
        lock: The lock file, which names its last holder.
        clock: The clock.
        patience_seconds: How long to wait for another machine, in seconds; 0: not at all.
        planner: The unique name of a process that shares the pages with other planners, and waits
            as long as needed; empty for one that has them all.
    """
    lease = length_of(settings)
    if planner:
        return await begin_run(store, lock, clock, planner, length=lease)
    holder = name_process()
    dead = None if settings.store.url == "" else lock.left_by
    if dead is not None:
        lock.mark(holder)
    await store.write(_expire, dead, clock.now())
    first: LeaseRow | None = None
    give_up_at = clock.now() + round(patience_seconds * SECOND)
    while True:
        now = clock.now()
        await store.write(shorten_lease, POLLER, until=now + lease)
        try:
            epoch = await store.write(acquire_lease, POLLER, holder, at=now, until=now + lease)
        except PollerBusyError:
            current = await store.read(current_lease, POLLER)
            if patience_seconds == 0 or current is None:
                raise
            if first is None:
                first = current
                left = (current.until - now) / SECOND
                log.warning(
                    "waiting for the lease of %s, which ends in %.0f s if it is not renewed", current.holder, left
                )
            if current != first and now >= give_up_at:
                raise
            await asyncio.sleep(LOCK_EVERY_SECONDS)
        else:
            store.fence(epoch)
            return SoleLease(store, holder, epoch, lease)


def _expire(connection: Connection, dead: str | None, now: int) -> None:
    """End the lease of a holder known to be dead; None: of any holder. Release its claims too."""
    lease = current_lease(connection, POLLER)
    if lease is not None and lease.until > now and (dead is None or lease.holder == dead):
        release_lease(connection, POLLER, lease.holder, lease.epoch)
    if dead:
        retire(connection, dead)

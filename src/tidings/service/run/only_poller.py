"""The only poller of a data directory: it holds the lock file and the lease, and only it writes the
results of polls (contracts §2).

A poller that was stopped, or hangs, is replaced once its lease has ended. Its late writes are
fenced: the successor raises the epoch, and the store refuses every unit, charge and renewal of an
older one. A stopped process that holds a transaction open cannot be replaced: nobody can write
before it continues or ends.

With PostgreSQL, a planner may stand by: it waits until the lease of another is over, and takes it.
The clocks of two machines may differ, so it measures by its own clock how long the lease was not
renewed.
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
from tidings.service.run.presence import Presence, length_of, name_process
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
    succeed,
)
from tidings.storage.db.soundness import FIRST_SECONDS, Soundness
from tidings.storage.db.sqlite import FILE
from tidings.storage.write.store import Store

if TYPE_CHECKING:
    from tidings.archive.archive import Archive
    from tidings.clock import Clock
    from tidings.model.interval import Duration, Instant
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Database

log = logging.getLogger("tidings.service")
LOCK_EVERY_SECONDS: Final = 0.1
WATCHES_A_LEASE: Final = 40
"""How often a process that stands by reads the lease, in the length of one."""
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


class Lead(NamedTuple):
    """The lease of the polling process: its epoch, and the holder's name."""

    epoch: int
    holder: str


@contextlib.asynccontextmanager
async def open_alone(
    settings: Settings, patience_seconds: float, *, endures: bool = False, stands_by: bool = False
) -> AsyncIterator[OpenStore]:
    """Open the database for the only poller. Raises `PollerBusyError` if another process polls,
    `StoreDamagedError` if the database is damaged.

    The database is checked first if a process was interrupted, or if it is small. A process that
    stands by needs no lock: `lead` waits for the lease.

    Args:
        settings: Where the data is.
        patience_seconds: How long to wait for the lock, in seconds.
        endures: Wait as long as needed for a database server that does not answer.
        stands_by: Whether the process may wait for the lease of another.
    """
    lock = PollerLock(settings.data)
    database = await open_patiently(settings, endures=endures)
    give_up_at = time.monotonic() + patience_seconds
    while not (held := lock.acquire() or stands_by) and time.monotonic() < give_up_at:  # noqa: ASYNC110 - another process lets go
        await asyncio.sleep(LOCK_EVERY_SECONDS)
    held = held or await take_over(lock, database, settings)
    if not held:
        database.close()
        message = (
            f"another Tidings (process {lock.holder()}) checks the pages of {settings.data}; use `tidings check`, or "
            "stop that process first"
        )
        raise PollerBusyError(message)
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
    stands_by: bool = False,
) -> Lead:
    """Take the lease and return its epoch and holder name. From then on only this process writes
    through `store`.

    A lease is over if its holder died with our lock file; on SQLite, which has one directory, any
    lease is. Another machine's lease is waited for until it ends, and `patience_seconds` longer
    once its holder has renewed it. Raises `PollerBusyError`.

    Args:
        settings: Where the database is, and how long a lease lasts.
        store: The open database.
        lock: The lock file, which names its last holder.
        clock: The clock.
        patience_seconds: How long to wait for another machine, in seconds; 0: not at all.
        stands_by: Wait for as long as another process holds the lease.
    """
    holder, lease = name_process(), length_of(settings)
    if stands_by:
        return await _stand_by(settings, store, lock, clock, holder)
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
            held = await store.read(current_lease, POLLER)
            if patience_seconds == 0 or held is None:
                raise
            if first is None:
                first = held
                left = (held.until - now) / SECOND
                log.warning("waiting for the lease of %s, which ends in %.0f s if it is not renewed", held.holder, left)
            if held != first and now >= give_up_at:
                raise
            await asyncio.sleep(LOCK_EVERY_SECONDS)
        else:
            store.fence(epoch)
            return Lead(epoch, holder)


async def _stand_by(settings: Settings, store: Store, lock: PollerLock, clock: Clock, holder: str) -> Lead:
    """Wait until the lease of another process is over, and take it."""
    length = length_of(settings)
    presence = Presence(store, "stand-by", holder, length)
    seen: LeaseRow | None = None
    since, is_locked = time.monotonic(), False
    try:
        while True:
            if not is_locked and (is_locked := lock.acquire()):  # its last holder has ended, perhaps with the lease
                if lock.left_by:
                    await store.write(_expire, lock.left_by, 0)
                lock.mark(holder)
            held = await store.read(current_lease, POLLER)
            is_over = held is None or not held.holder or (held == seen and time.monotonic() - since >= length / SECOND)
            if is_over and (epoch := await _succeed(store, held, holder, until=clock.now() + length)) is not None:
                return Lead(epoch, holder)
            if held != seen:
                if seen is None and held is not None:
                    log.warning("standing by: %s holds the lease", held.holder)
                seen, since = held, time.monotonic()
            await asyncio.gather(*await presence.due(clock.now()))
            await asyncio.sleep(length / SECOND / WATCHES_A_LEASE)
    finally:
        await presence.end()


async def _succeed(store: Store, held: LeaseRow | None, holder: str, *, until: Instant) -> int | None:
    """Take a lease that is over, and return the new epoch; None if another was faster."""
    try:
        epoch = await store.write(succeed, POLLER, held, holder, until=until)
    except PollerBusyError:
        return None
    if held is not None and held.holder:
        log.warning("%s no longer renews its lease: this process takes over", held.holder)
        await store.write(retire, held.holder)
    store.fence(epoch)
    return epoch


def _expire(connection: Connection, dead: str | None, now: int) -> None:
    """End the lease of a holder known to be dead; None: of any holder. Release its claims too."""
    held = current_lease(connection, POLLER)
    if held is not None and held.until > now and (dead is None or held.holder == dead):
        release_lease(connection, POLLER, held.holder, held.epoch)
    if dead:
        retire(connection, dead)

"""A poller that was stopped, or hangs, gives way once its lease has ended (contracts §2).

What it may still write is fenced: the one that takes over raises the epoch, and the store refuses every unit, charge and renewal of an older one.
A process that holds a transaction open while it is stopped cannot be overtaken: nobody can write before it goes on or ends.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from tidings.clock import MINUTE, SECOND, SystemClock
from tidings.errors import StoreBusyError
from tidings.storage.db.lock import is_stopped
from tidings.storage.write import leases

if TYPE_CHECKING:
    from tidings.model.interval import Duration
    from tidings.settings import Settings
    from tidings.storage.db.database import Database
    from tidings.storage.db.lock import PollerLock

log = logging.getLogger("tidings.service")
WATCHED_SECONDS: Final = 3.0
"""A process that only slept with its machine renews its lease within so long, and keeps it."""
HANGS: Final[Duration] = MINUTE
"""A process that is not seen to be stopped hangs once its lease ended so long ago, two leases at least."""


async def take_over(lock: PollerLock, database: Database, settings: Settings) -> bool:
    """Take the lock of a process that was stopped or hangs, on SQLite; return whether this process has it now.

    Raises `StoreBusyError`, with what to do, if that process holds a transaction open.
    """
    pid = lock.holder()
    if pid is None or database.dialect != "sqlite" or database.single_writer or not _gives_way(pid, database, settings):
        return False
    before = database.read(leases.current, leases.POLLER)
    await asyncio.sleep(0 if is_stopped(pid) else WATCHED_SECONDS)
    if database.read(leases.current, leases.POLLER) != before or lock.holder() != pid:
        return False
    try:
        database.write(lambda c: leases.current(c, leases.POLLER))
    except StoreBusyError as error:
        message = f"process {pid} was stopped while it wrote, so nobody else can write; let it go on (kill -CONT {pid}) or end it (kill -KILL {pid})"
        raise StoreBusyError(message) from error
    if not lock.take_over():
        return False
    log.warning("process %d does nothing any more, its lease has ended: this process takes over", pid)
    return True


def _gives_way(pid: int, database: Database, settings: Settings) -> bool:
    lease = database.read(leases.current, leases.POLLER)
    if lease is None or not lease.holder:
        return False  # it is just starting, or ending
    length, ago = round(settings.serve.lease_seconds * SECOND), SystemClock().wall() - lease.until
    return ago > 0 if is_stopped(pid) else ago > max(HANGS, 2 * length)

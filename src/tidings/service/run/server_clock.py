"""The time of PostgreSQL's server, which all processes on one database share: the clocks of their
machines may differ.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import MINUTE, SECOND, SystemClock, read_steady
from tidings.storage.db import lock

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.settings import Settings
    from tidings.storage.write.store import Store

EXACT: Final[Duration] = SECOND // 10
"""An answer that takes longer says too little of the server's time."""
TRIES: Final = 5


class ServerClock(SystemClock):
    """A clock that runs on this machine's steady time and is set by the server of a database, once
    a minute. A `SideTask` of the monitor.
    """

    def __init__(self, store: Store, offset: Duration) -> None:
        self._store = store
        self._offset = offset
        self.next_due: Instant | None = 0
        super().__init__()

    def wall(self) -> Instant:
        """Return the server's time of day."""
        return read_steady() + self._offset

    async def due(self, now: Instant) -> list[Coroutine[Any, Any, None]]:
        """Return the task that sets the clock, if it is due."""
        if self.next_due is not None and now < self.next_due:
            return []
        self.next_due = now + MINUTE
        return [self._set()]

    async def _set(self) -> None:
        offset, took = await _compare(self._store)
        if took <= EXACT:
            self._offset = offset


async def open_clock(settings: Settings, store: Store) -> SystemClock:
    """Return the clock of a process: with PostgreSQL that of the server."""
    if not settings.store.url:
        return SystemClock()
    found = [await _compare(store)]
    while found[-1][1] > EXACT and len(found) < TRIES:
        found.append(await _compare(store))
    return ServerClock(store, min(found, key=lambda each: each[1])[0])


async def _compare(store: Store) -> tuple[Duration, Duration]:
    """Return by how much the server's time is ahead of the steady one, and how long its answer
    took.
    """
    asked = read_steady()
    at = await store.read(lock.server_time)
    answered = read_steady()
    return at - (asked + answered) // 2, answered - asked

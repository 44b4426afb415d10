"""Commit all units of this process and publish them to subscribers.

The store groups concurrent commits into one transaction (contracts §1); a task waits for its own
unit only. A unit that the store refuses is recorded there as a problem, published as refused, and
raised to its writer.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tidings.errors import OvertakenError, StaleEpochError, StoreBusyError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from tidings.model.interval import Instant
    from tidings.model.observed.unit import Unit
    from tidings.storage.write.commit import Committed
    from tidings.storage.write.store import Store


TRIES = 3
"""Attempts per unit while another process holds the database; each waits `store.busy_seconds`."""


async def finish_all(writes: Iterable[Awaitable[object]]) -> None:
    """Await all writes to their end, then raise the first error: who reads what is stored after a
    refusal misses none of the others.
    """
    for result in await asyncio.gather(*writes, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result


class Committer:
    """Writes all results of one process to the database."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._open = 0
        self._listeners: list[Callable[[Unit], None]] = []
        self._numbered: list[Callable[[int, Instant], None]] = []
        self._refused: list[Callable[[Unit, Exception], None]] = []
        self.lost: StaleEpochError | None = None
        """set once the lease is lost: this process writes nothing more"""

    @property
    def quiet(self) -> bool:
        """Return whether nothing waits to be written."""
        return self._open == 0

    def listen(self, listener: Callable[[Unit], None]) -> Callable[[], None]:
        """Call `listener` with each unit once it is durable, in database order, after earlier
        subscribers; return a function that unsubscribes.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def listen_to_numbers(self, listener: Callable[[int, Instant], None]) -> None:
        """Call `listener` with the number and instant of the last event of each unit that has any,
        before the unit's subscribers.
        """
        self._numbered.append(listener)

    def listen_to_refusals(self, listener: Callable[[Unit, Exception], None]) -> None:
        """Call `listener` with each unit that was not written, and the error."""
        self._refused.append(listener)

    async def write(self, unit: Unit) -> Committed:
        """Write a unit; return once it is durable. Raises the store's error."""
        self._open += 1
        try:
            result = await self._offer(unit)
        finally:
            self._open -= 1
        if isinstance(result, Exception):
            if isinstance(result, StaleEpochError):
                self.lost = result
            if isinstance(result, OvertakenError):  # its writer makes it again
                raise result
            for refused in self._refused:
                refused(unit, result)
            raise result
        if result.event_seqs:
            for numbered in self._numbered:
                numbered(result.event_seqs[-1], unit.events[-1].at)
        for listener in [*self._listeners]:
            listener(unit)
        return result

    async def _offer(self, unit: Unit) -> Committed | Exception:
        for _ in range(TRIES - 1):
            (result,) = await self._store.commit([unit])
            if not isinstance(result, StoreBusyError):
                return result
        (result,) = await self._store.commit([unit])
        return result

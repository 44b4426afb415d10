"""Commit: every unit of this process goes through here, and who must know hears of it.

The store groups what many tasks commit at the same time into one transaction (contracts §1); a task waits for its own unit only. A unit
that the store refuses is recorded there as a problem, told to `on_refused`, and raised to who wrote it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.errors import StaleEpochError, StoreBusyError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidings.model.unit import Unit
    from tidings.storage.write.commit import Committed
    from tidings.storage.write.store import Store


TRIES = 3
"""How often a unit is offered to a database that somebody else holds; each waits `store.busy_seconds`."""


class Committer:
    """The way of all outcomes of one process into the database."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._open = 0
        self.on_committed: Callable[[Unit, Committed], None] = _ignore
        """hears each unit once it is durable, in the order of the database"""
        self.on_refused: Callable[[Unit, Exception], None] = _ignore
        """hears each unit that was not written, and why"""
        self.lost: StaleEpochError | None = None
        """set once the lease is found lost: nothing of this process is written any more"""

    @property
    def quiet(self) -> bool:
        """Say whether nothing waits to be written."""
        return self._open == 0

    async def write(self, unit: Unit) -> Committed:
        """Return once a unit is durable; raise what the store said against it."""
        self._open += 1
        try:
            result = await self._offer(unit)
        finally:
            self._open -= 1
        if isinstance(result, Exception):
            if isinstance(result, StaleEpochError):
                self.lost = result
            self.on_refused(unit, result)
            raise result
        self.on_committed(unit, result)
        return result

    async def _offer(self, unit: Unit) -> Committed | Exception:
        for _ in range(TRIES - 1):
            (result,) = await self._store.commit([unit])
            if not isinstance(result, StoreBusyError):
                return result
        (result,) = await self._store.commit([unit])
        return result


def _ignore(unit: Unit, answer: object) -> None:
    """Hear nothing."""

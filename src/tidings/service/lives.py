"""Lives: the steps in sentinels' lives are written as they fall due, in their order (sentinels_and_events §2, §2.3)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tidings.service import activate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidings.model.interval import Instant
    from tidings.model.unit import SentinelMove, Unit
    from tidings.service.committer import Committer
    from tidings.service.plan import Planner
    from tidings.service.watchlist import Watchlist
    from tidings.storage.store import Store


class Lives:
    """Steps on the sentinels of one poller. `next_at` is when the next step is due (None: never by time alone)."""

    def __init__(
        self, store: Store, watchlist: Watchlist, planner: Planner, committer: Committer, *, epoch: int
    ) -> None:
        self._store = store
        self._watchlist = watchlist
        self._planner = planner
        self._committer = committer
        self._epoch = epoch
        self._noted: list[SentinelMove] = []
        """steps that looks have taken"""
        self.next_at: Instant | None = 0

    def wake(self) -> None:
        """Hear that another process may have made, altered or moved a sentinel."""
        self.next_at = 0

    def note(self, unit: Unit) -> None:
        """Hear of a unit that was committed: a look may have ended a sentinel (`To first change`)."""
        if unit.sentinels and unit.changes:
            self._noted += unit.sentinels
            self.wake()

    async def live(self, now: Instant) -> list[SentinelMove]:
        """Take the steps that are due; return all that were taken since the last call."""
        taken, self._noted = self._noted, []
        await self._reload(taken)
        while self.next_at is not None and self.next_at <= now:
            course = activate.course(self._watchlist.lives(), now=now)
            self.next_at = course.next_at
            await self._write(course.moves)
            taken += course.moves
        return taken

    async def _write(self, moves: Sequence[SentinelMove]) -> None:
        """Write steps in their order; the store takes many in one transaction. After a crash those that are left are worked out again."""
        if not moves:
            return
        held = self._watchlist.sentinels
        units = [activate.unit_for(move, held[move.sentinel_id], epoch=self._epoch) for move in moves]
        await asyncio.gather(*(self._committer.write(unit) for unit in units))
        await self._reload(moves)

    async def _reload(self, moves: Sequence[SentinelMove]) -> None:
        for sentinel_id in dict.fromkeys(move.sentinel_id for move in moves):
            self._planner.touch(await self._watchlist.reload(sentinel_id))

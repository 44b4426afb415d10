"""Write the lifecycle steps of sentinels when they fall due, in order (sentinels §2, §2.3)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tidings.model.observed.unit import SentinelMove, Unit
from tidings.service.notify.life_steps import end_with_report, ends_with_a_report, play_lives, unit_for
from tidings.storage.watches import changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidings.model.interval import Instant
    from tidings.service.plan.planner import Planner
    from tidings.service.watch.committer import Committer
    from tidings.service.watch.watchlist import Watchlist
    from tidings.storage.write.store import Store


class Lives:
    """Applies lifecycle steps to one poller's sentinels. `next_at` is when the next step is due
    (None: never by time alone).
    """

    def __init__(
        self, store: Store, watchlist: Watchlist, planner: Planner, committer: Committer, *, epoch: int
    ) -> None:
        self._store = store
        self._watchlist = watchlist
        self._planner = planner
        self._committer = committer
        self._epoch = epoch
        self._noted: list[SentinelMove] = []
        """steps taken by polls"""
        self._reported: set[int] = set()
        """sentinels with `To first change` whose change came in a unit that did not end them: a
        report across pages
        """
        self._is_new = True
        self.next_at: Instant | None = 0

    def wake(self) -> None:
        """Signal that another process may have created, altered or moved a sentinel."""
        self.next_at = 0

    def note(self, unit: Unit) -> None:
        """Record a committed unit: a poll may have ended a sentinel (`To first change`)."""
        if unit.sentinels and unit.changes:
            self._noted += unit.sentinels
            self.wake()
            return
        reported = {row.sentinel_id for row in unit.changes if not row.quiet}
        if reported and (ending := self._ending_with_a_report(reported)):
            self._reported |= ending
            self.wake()

    async def live(self, now: Instant) -> list[SentinelMove]:
        """Take the steps that are due; return all that were taken since the last call."""
        if self._is_new:
            self._is_new = False
            self._reported |= await self._list_notified()
        taken, self._noted = self._noted, []
        await self._reload(taken)
        if self._reported:
            reported, self._reported = self._ending_with_a_report(self._reported), set()
            moves = [end_with_report(sentinel_id, now) for sentinel_id in sorted(reported)]
            await self._write(moves)
            taken += moves
        while self.next_at is not None and self.next_at <= now:
            course = play_lives(self._watchlist.lives(), now=now)
            self.next_at = course.next_at
            await self._write(course.moves)
            taken += course.moves
        return taken

    def _ending_with_a_report(self, among: Iterable[int]) -> set[int]:
        held = (self._watchlist.sentinels.get(sentinel_id) for sentinel_id in among)
        return {
            each.row.id
            for each in held
            if each is not None and each.row.state == "enabled" and ends_with_a_report(each.sentinel)
        }

    async def _list_notified(self) -> set[int]:
        """Return which of the sentinels that end with their first report had it before the service
        stopped.
        """
        found = set()
        for sentinel_id in self._ending_with_a_report(self._watchlist.sentinels):
            row = self._watchlist.sentinels[sentinel_id].row
            reported = await self._store.read(changes.listing, sentinel=row.name, since=row.revised_at)
            found |= {sentinel_id} & {change.row.sentinel_id for change in reported}
        return found

    async def _write(self, moves: Sequence[SentinelMove]) -> None:
        """Write steps in order; the store batches them in one transaction. After a crash the
        remaining ones are computed again.
        """
        if not moves:
            return
        held = self._watchlist.sentinels
        units = [unit_for(move, held[move.sentinel_id], epoch=self._epoch) for move in moves]
        await asyncio.gather(*(self._committer.write(unit) for unit in units))
        await self._reload(moves)

    async def _reload(self, moves: Sequence[SentinelMove]) -> None:
        concerned = [
            i for move in moves for i in (move.sentinel_id, *(premise.sentinel_id for premise in move.premises))
        ]
        if concerned:  # the cause of a step may have cancelled it
            self._planner.touch(await self._watchlist.reload(concerned))
        if any(move.state == "ended" for move in moves):
            self._watchlist.forget()

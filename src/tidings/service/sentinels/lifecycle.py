"""Write the lifecycle steps of sentinels when they fall due, in order (sentinels §2, §2.3)."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tidings.errors import UnitError
from tidings.model.observed.unit import SentinelMove, Unit
from tidings.service.notify.life_steps import end_with_report, play_lives, unit_for
from tidings.service.watch.committer import finish_all
from tidings.service.watch.holds import FaultHolds
from tidings.storage.watches import changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidings.model.interval import Instant
    from tidings.service.plan.planner import Planner
    from tidings.service.watch.committer import Committer
    from tidings.service.watch.watchlist import Watchlist
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service")


class Lifecycle:
    """Applies lifecycle steps to one poller's sentinels. `next_at` is when the next step is due
    (None: never by time alone). Without `leads` it only ends those whose report it sees, since
    another planner knows all sentinels.
    """

    def __init__(
        self,
        store: Store,
        watchlist: Watchlist,
        planner: Planner,
        committer: Committer,
        *,
        epoch: int,
        leads: bool = True,
    ) -> None:
        self._store = store
        self._watchlist = watchlist
        self._planner = planner
        self._committer = committer
        self._epoch = epoch
        self._leads = leads
        self._noted: list[SentinelMove] = []
        """steps taken by polls"""
        self._reported: set[int] = set()
        """sentinels with `To first change` whose change came in a unit that did not end them: a
        report across pages
        """
        self._is_new = True
        self._holds: FaultHolds[int] = FaultHolds()
        """sentinels of which a step was refused"""
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
            self._reported |= await self._list_notified()
            self._is_new = False
        taken = [*self._noted]
        await self._reload(taken)
        del self._noted[: len(taken)]
        if self._reported:
            reported = set(self._reported)
            moves = [end_with_report(i, now) for i in sorted(self._ending_with_a_report(reported))]
            taken += await self._write(moves, now)
            self._reported -= reported
        if not self._leads:
            self.next_at = None
        while self.next_at is not None and self.next_at <= now:
            course = play_lives(self._watchlist.lives(), now=now)
            self.next_at = course.next_at
            taken += await self._write(course.moves, now)
        if (end := self._holds.next_end(now)) is not None:
            self.next_at = end if self.next_at is None else min(self.next_at, end)
        return taken

    def _ending_with_a_report(self, among: Iterable[int]) -> set[int]:
        watched = (self._watchlist.sentinels.get(sentinel_id) for sentinel_id in among)
        return {
            each.row.id
            for each in watched
            if each is not None and each.row.state == "enabled" and each.ends_with_report
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

    async def _write(self, moves: Sequence[SentinelMove], now: Instant) -> Sequence[SentinelMove]:
        """Write steps in order; the store batches them in one transaction. After a crash the
        remaining ones are computed again. A step that contradicts what is stored holds its
        sentinel.
        """
        moves = [move for move in moves if not self._holds.has(move.sentinel_id, now)]
        await finish_all(self._take(move, now) for move in moves)
        await self._reload(moves)
        return moves

    async def _take(self, move: SentinelMove, now: Instant) -> None:
        unit = unit_for(move, self._watchlist.sentinels[move.sentinel_id], epoch=self._epoch)
        try:
            await self._committer.write(unit)
        except UnitError as error:  # the store has recorded it as a problem
            log.error("a step of the sentinel %s was refused: %s", move.sentinel_id, error)  # noqa: TRY400 - the text says all
            self._holds.begin(move.sentinel_id, now)

    async def _reload(self, moves: Sequence[SentinelMove]) -> None:
        concerned = [
            i for move in moves for i in (move.sentinel_id, *(premise.sentinel_id for premise in move.premises))
        ]
        if concerned:  # the cause of a step may have cancelled it
            self._planner.touch(await self._watchlist.reload(concerned))
        if any(move.state == "ended" for move in moves):
            self._watchlist.forget()

"""The weekly report: on Monday at 8 each owner's receivers get the figures of the last seven days.

Off unless `notify.weekly` is set. A report that fell due while nothing ran is sent at the next
start, once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Coroutine
from datetime import UTC
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.language.times import zone_of
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event, Unit
from tidings.scheduling.timetable import ClockTimes
from tidings.storage.watches import events, listed

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.service.notify.news import Bulletins
    from tidings.service.watch.committer import Committer
    from tidings.service.watch.watchlist import Watchlist
    from tidings.settings import Settings
    from tidings.storage.write.store import Store

MONDAY: Final = (0,)
EIGHT: Final = 8 * HOUR // MINUTE


class WeeklyReport:
    """Writes the report of a week to the receivers of all enabled sentinels."""

    def __init__(
        self,
        store: Store,
        watchlist: Watchlist,
        committer: Committer,
        bulletins: Bulletins,
        settings: Settings,
        *,
        epoch: int,
    ) -> None:
        self._store = store
        self._watchlist = watchlist
        self._committer = committer
        self._bulletins = bulletins
        self._pace = round(settings.schedule.pace_seconds * SECOND)
        self._ticks = ClockTimes(start=0, clocks=(EIGHT,), zone=zone_of(settings.serve.zone) or UTC, days=MONDAY)
        self._epoch = epoch
        self.next_due: Instant | None = 0 if settings.notify.weekly else None

    async def due(self, now: Instant) -> list[Coroutine[Any, Any, None]]:
        """Return the report of the last Monday, unless it was made."""
        if self.next_due is None or now < self.next_due:
            return []
        monday = self._find_last_monday(now)
        last = await self._store.read(events.newest, EventType.WEEK_REPORTED)
        if last is not None and last.at >= monday:
            self.next_due = self._ticks.next_tick(now)
            return []
        self.next_due = None
        return [self._report(monday, now)]

    def _find_last_monday(self, now: Instant) -> Instant:
        """Return the last Monday at 8 that has come; a week with a change of clocks is an hour
        longer or shorter.
        """
        monday = self._ticks.first_tick(now - 8 * DAY)
        while (later := self._ticks.next_tick(monday)) <= now:
            monday = later
        return monday

    async def _report(self, monday: Instant, now: Instant) -> None:
        """Write the report; try again in a minute if it is refused."""
        again_at = now + MINUTE
        try:
            await self._write(monday, now)
            again_at = self._ticks.next_tick(now)
        finally:
            self.next_due = again_at

    async def _write(self, monday: Instant, now: Instant) -> None:
        owners: defaultdict[int, set[int]] = defaultdict(set)
        for held in self._watchlist.sentinels.values():
            if held.row.state == "enabled" and held.row.created_at < monday:
                owners[held.row.owner_id].add(held.row.id)
        made: list[Event] = []
        for owner_id, ids in sorted(owners.items()):
            week = await self._store.read(listed.count_between, owner_id, monday - 7 * DAY, monday)
            at_pace = week.pages * 7 * DAY // self._pace
            data = {"since": monday - 7 * DAY, "sentinels": len(ids), "at_pace": at_pace, **week._asdict()}
            made.append(Event(type=EventType.WEEK_REPORTED, at=now, data=data))
        drafts = [
            draft
            for place, (event, (_, ids)) in enumerate(zip(made, sorted(owners.items()), strict=True))
            for draft in self._bulletins.drafts(event, place=place, concerned=ids)
        ]
        if made:
            await self._committer.write(Unit(at=now, epoch=self._epoch, events=tuple(made), deliveries=tuple(drafts)))

"""Outages: whoever waited for checks that a database which did not answer has held up is notified
once, when it answers again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidings.clock import MINUTE, SECOND
from tidings.model.observed.unit import Event
from tidings.model.watch.sentinel import FetchAt, FetchEvery
from tidings.service.show.records import OUTAGE

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.service.notify.bulletins import Bulletins
    from tidings.service.plan.planner import Planner
    from tidings.service.watch.committer import Committer
    from tidings.service.watch.watchlist import Subscription, Watchlist
    from tidings.storage.write.store import Store

LEAST: Final = MINUTE
"""A shorter outage is no news, whatever the interval."""


class Outages:
    """Announces the outages of one poller's database."""

    def __init__(
        self,
        store: Store,
        watchlist: Watchlist,
        planner: Planner,
        committer: Committer,
        bulletins: Bulletins,
        *,
        epoch: int,
    ) -> None:
        self._store = store
        self._watchlist = watchlist
        self._planner = planner
        self._committer = committer
        self._bulletins = bulletins
        self._epoch = epoch

    async def announce(self, now: Instant) -> None:
        """Store each outage that has ended, and notify the recipients of those sentinels that lost at least one check by it."""
        for outage in self._store.take_outages():
            lasted = round(outage.seconds * SECOND)
            if lasted >= LEAST:
                event = Event(type=OUTAGE, at=now, data={"since": now - lasted, "reason": outage.error})
                unit = self._bulletins.unit(event, epoch=self._epoch, concerned=self._find_held_up(lasted, now))
                await self._committer.write(unit)

    def _find_held_up(self, lasted: Duration, now: Instant) -> set[int]:
        """Return the sentinels with a page that is overdue by its interval or more."""
        found: set[int] = set()
        for page_id, page in self._watchlist.pages.items():
            due = self._planner.due_at(page_id)
            for sub in page.subscriptions.values():
                interval = self._interval(page_id, sub)
                if due is not None and interval is not None and interval <= min(lasted, now - due):
                    found.add(sub.row.sentinel_id)
        return found

    def _interval(self, page_id: int, sub: Subscription) -> Duration | None:
        """Return how often a subscription looks, 0 for a time of day: one that has passed is missed. None: nobody knows."""
        match sub.interval:
            case FetchEvery(interval):
                return interval
            case FetchAt():
                return 0
            case None:
                return self._planner.pace(page_id)

"""Start the polls of a step. Pages that are paid for are polled; owed comparisons with a stored
version run without a poll.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final

from tidings.storage.observed import versions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from tidings.model.interval import Instant
    from tidings.model.observed.unit import Charged, Unit
    from tidings.service.plan.planner import Planner
    from tidings.service.poll.frames import Frames
    from tidings.service.poll.grants import Grants
    from tidings.service.poll.pay import Payer
    from tidings.service.poll.poller import Poller
    from tidings.service.poll.requests import Requests
    from tidings.service.watch.watchlist import WatchedPage
    from tidings.storage.write.store import Store

Spawn = Callable[[Coroutine[Any, Any, None], int], None]
"""Starts a task for a page."""
GRANTS_A_TICK: Final = 64


class Polling:
    """Starts polls, at most `most` concurrently. `watched` is the watchlist's own table."""

    def __init__(
        self,
        store: Store,
        watched: Mapping[int, WatchedPage],
        planner: Planner,
        payer: Payer,
        requests: Requests,
        grants: Grants,
        poller: Poller,
        frames: Frames,
        *,
        most: int,
        epoch: int,
    ) -> None:
        self._store = store
        self._watched = watched
        self._planner = planner
        self.payer = payer
        self.requests = requests
        self.grants = grants
        self.poller = poller
        self._frames = frames
        self._most = most
        self._epoch = epoch
        self._owed: dict[int, tuple[int, int]] = {}
        """comparisons whose job died, by subscription: the page, and the number of attempts"""

    async def load(self) -> None:
        """Load owed comparisons and open requests."""
        for row in await self._store.read(versions.list_pending):
            self._owed[row.subscription_id] = (row.page_id, row.attempt)
        await self.requests.read_new()

    def note(self, unit: Unit) -> None:
        """Update the owed comparisons from a committed unit."""
        for row in unit.comparisons:
            if row.status == "pending":
                self._owed[row.subscription_id] = (row.page_id, row.attempt)
            else:
                self._owed.pop(row.subscription_id, None)

    def end(self, page_id: int) -> list[int]:
        """Mark the work on a page as ended; return the requests it was to answer."""
        self._frames.note_end(page_id)
        return self.requests.end(page_id)

    def serve(self, now: Instant, spawn: Spawn) -> None:
        """Retry comparisons whose job died, and serve ticks from a recently checked version."""
        for page, owed in self._servable():
            spawn(self.poller.serve(page, at=now, epoch=self._epoch, owed=owed), page.state.page_id)

    def _servable(self) -> Iterator[tuple[WatchedPage, dict[int, int]]]:
        """Yield the pages to serve, reserved, with what each is owed."""
        by_page: dict[int, dict[int, int]] = {}
        for sub_id, (page_id, attempt) in self._owed.items():
            by_page.setdefault(page_id, {})[sub_id] = attempt
        for page_id in self._planner.servable():
            by_page.setdefault(page_id, {})
        for page_id, owed in by_page.items():
            page = self._watched.get(page_id)
            if page is None:
                for sub_id in owed:
                    self._owed.pop(sub_id, None)
            elif self._planner.reserve(page_id):
                yield page, owed

    async def poll(self, now: Instant, spawn: Spawn, *, under_way: int, only: Collection[int] | None) -> None:
        """Choose the pages to poll now, pay and start.

        Args:
            now: The present (µs).
            spawn: Starts a task.
            under_way: How many tasks run.
            only: The only pages that may be polled; None for all.
        """
        free = min(GRANTS_A_TICK, self._most - under_way)
        if free <= 0 or (self.payer.is_empty(now) and not self.requests):
            return
        charged, unpaid = await self.payer.pay(now, most=free, only=only)
        for paid in charged:
            spawn(self._poll(paid), paid.grant.page_id)
        for grant in unpaid:
            await self.requests.refuse_unpaid(grant.page_id)
        if unpaid:
            await self.payer.wait_for(unpaid[0], now)

    async def _poll(self, charged: Charged) -> None:
        page_id = charged.grant.page_id
        page = self._watched.get(page_id)
        if page is None:
            self._planner.release(page_id)
            return  # unwatched between the grant and now; the charge stays
        owed = {sub_id: attempt for sub_id, (its_page, attempt) in self._owed.items() if its_page == page_id}
        await self.grants.poll(charged, page, self.requests.begin(page_id), owed)

"""Requests to poll a page now, whatever its schedule, and their answers."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from tidings.record import dataclass
from tidings.service.watch.shards import ALL
from tidings.storage.observed import pages, polls

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidings.service.plan.planner import Planner
    from tidings.service.watch.shards import Shards
    from tidings.service.watch.watchlist import WatchedPage
    from tidings.storage.write.store import Store


@dataclass(slots=True)
class PageRequest:
    """Who requests a poll now: rows of `request`, and sentinels; `alone`: without its frames."""

    requests: list[int] = field(default_factory=list)
    sentinels: set[int] = field(default_factory=set)
    alone: bool = False

    @property
    def is_awaited(self) -> bool:
        """Whether somebody waits for the poll."""
        return bool(self.requests or self.sentinels)


class Requests:
    """The pages with open requests. Those of other `shards` are left to their planners."""

    def __init__(
        self,
        store: Store,
        watched: Mapping[int, WatchedPage],
        planner: Planner,
        *,
        shards: Shards = ALL,
    ) -> None:
        self._store = store
        self._shards = shards
        self._watched = watched
        self._planner = planner
        self._asked: dict[int, PageRequest] = {}
        self._answering: dict[int, list[int]] = {}
        """requests that running polls will answer, by page"""
        self._ended: set[int] = set()
        """requests whose poll has ended since the rows were read last"""
        self.refused_by_budget: set[int] = set()
        """requested pages that the budget could not pay for"""

    def __bool__(self) -> bool:
        return bool(self._asked)

    async def read_new(self) -> None:
        """Load the requests that other processes have written, without those that a running poll
        answers.
        """
        self._ended.clear()
        for row in await self._store.read(polls.list_requests):
            if row.id in self._ended or row.id in self._answering.get(row.page_id, ()):
                continue
            if row.page_id not in self._watched:
                if await self._is_unwatched(row.page_id):
                    await self.refuse(row.id, "no enabled sentinel watches this page")
                continue
            asked = self._asked.setdefault(row.page_id, PageRequest())
            if row.id not in asked.requests:
                asked.requests.append(row.id)
                asked.sentinels.update(() if row.sentinel_id is None else (row.sentinel_id,))
                self._planner.force(row.page_id)

    async def _is_unwatched(self, page_id: int) -> bool:
        """Return whether nobody watches a page, as far as this planner is to say so."""
        return self._shards.is_all or (self._shards.leads and not await self._store.read(pages.is_watched, page_id))

    def ask(self, page_id: int, *, sentinels: Iterable[int] = (), alone: bool = False) -> None:
        """Request a poll now, whatever the schedule; host limits and budget apply.

        Args:
            page_id: The page.
            sentinels: The sentinels that ask; empty for all.
            alone: Whether its frames are left to the next poll.
        """
        asked = self._asked.setdefault(page_id, PageRequest())
        asked.sentinels.update(sentinels)
        asked.alone = asked.alone or alone
        self._planner.force(page_id)

    def withdraw(self, page_id: int) -> None:
        """Withdraw a request of this process that was not served."""
        self._asked.pop(page_id, None)
        self._planner.unforce(page_id)

    def begin(self, page_id: int) -> PageRequest:
        """Return who requested a page that is polled now."""
        asked = self._asked.pop(page_id, None) or PageRequest()
        self._answering[page_id] = asked.requests
        return asked

    def end(self, page_id: int) -> list[int]:
        """Mark the poll of a page as ended; return the requests it was to answer."""
        ended = self._answering.pop(page_id, [])
        self._ended.update(ended)
        return ended

    async def refuse_unpaid(self, page_id: int) -> None:
        """Refuse open requests for a page that the budget cannot pay for."""
        if page_id not in self._asked:
            return
        self.refused_by_budget.add(page_id)
        self._planner.unforce(page_id)
        for request_id in self._asked.pop(page_id).requests:
            await self.refuse(request_id, "budget")

    async def refuse(self, request_id: int, reason: str) -> None:
        """Store why a request is not served."""
        await self._store.write(polls.refuse_request, request_id, reason)

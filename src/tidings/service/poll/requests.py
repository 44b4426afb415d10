"""Requests: who asks for a page to be polled now, whatever the schedule says, and what becomes of that."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from tidings.errors import StoreStalledError
from tidings.record import dataclass
from tidings.storage.watches import requests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tidings.service.plan.planner import Planner
    from tidings.service.watch.watchlist import WatchedPage
    from tidings.storage.write.store import Store


@dataclass(slots=True)
class PageRequest:
    """Who wants a page to be looked at now: rows of `request`, sentinels; `first`: right after `add --url`, before robots.txt;
    `alone`: without its frames.
    """

    requests: list[int] = field(default_factory=list)
    sentinels: set[int] = field(default_factory=set)
    first: bool = False
    alone: bool = False


class Requests:
    """The pages that somebody asks for. `hear_again` lets the open requests be heard once more at the next step."""

    def __init__(
        self, store: Store, watched: Mapping[int, WatchedPage], planner: Planner, *, hear_again: Callable[[], None]
    ) -> None:
        self._store = store
        self._watched = watched
        self._planner = planner
        self._hear_again = hear_again
        self._asked: dict[int, PageRequest] = {}
        self._answering: dict[int, list[int]] = {}
        """requests that polls under way will answer, by page"""
        self.refused_by_budget: set[int] = set()
        """pages that were asked for and that the budget did not pay for"""

    def __bool__(self) -> bool:
        return bool(self._asked)

    async def hear(self) -> None:
        """Take in the requests that other processes have written."""
        for row in await self._store.read(requests.open_requests):
            if row.page_id not in self._watched:
                await self.refuse(row.id, "nothing that is enabled watches this page")
                continue
            asked = self._asked.setdefault(row.page_id, PageRequest())
            if row.id not in asked.requests:
                asked.requests.append(row.id)
                asked.sentinels.update(() if row.sentinel_id is None else (row.sentinel_id,))
                self._planner.force(row.page_id)

    def ask(self, page_id: int, *, sentinels: Iterable[int] = (), first: bool = False, alone: bool = False) -> None:
        """Ask for a look now, whatever the schedule says; host limits and budget hold."""
        asked = self._asked.setdefault(page_id, PageRequest())
        asked.sentinels.update(sentinels)
        asked.first = asked.first or first
        asked.alone = asked.alone or alone
        self._planner.force(page_id)

    def withdraw(self, page_id: int) -> None:
        """Take a request of this process back that has not been served."""
        self._asked.pop(page_id, None)
        self._planner.unforce(page_id)

    def begin(self, page_id: int) -> PageRequest:
        """Return who asked for a page that is polled now."""
        asked = self._asked.pop(page_id, None) or PageRequest()
        self._answering[page_id] = asked.requests
        return asked

    def end(self, page_id: int) -> list[int]:
        """Hear that the poll of a page is over; return the requests that it was to answer."""
        return self._answering.pop(page_id, [])

    async def refuse_unpaid(self, page_id: int) -> None:
        """Refuse what was asked of a page, if anything was: the budget does not pay for it."""
        if page_id not in self._asked:
            return
        self.refused_by_budget.add(page_id)
        self._planner.unforce(page_id)
        for request_id in self._asked.pop(page_id).requests:
            await self.refuse(request_id, "budget")

    async def refuse(self, request_id: int, reason: str) -> None:
        """Write why a request is not served."""
        try:
            await self._store.write(requests.refuse, request_id, reason)
        except StoreStalledError:
            self._hear_again()  # it is still open, and is heard again
            raise

"""Frames: poll the followed frames of a page (sentinels §5.4).

A frame is a page like any other: it has a row, validators, versions and a state; its requests are
charged, wait for its host's gap and obey its robots.txt. All pages that embed it, and sentinels
that watch it directly, share it: it is polled once, and not more often than a page may be. A frame
that another planner watches is polled by that one only, and used as it is stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from tidings.model.watch.sentinel import WHOLE
from tidings.service.examine.framed_page import Frame
from tidings.service.examine.page_state import forget_body
from tidings.service.watch.shards import ALL
from tidings.service.watch.watchlist import WatchedPage
from tidings.storage.observed import members, pages, versions

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.page import PageIdentity, PageState
    from tidings.service.plan.planner import Planner
    from tidings.service.watch.shards import Shards
    from tidings.storage.db.connection import Connection
    from tidings.storage.write.store import Store

Ask = Callable[[WatchedPage, str, str], Awaitable[str]]
"""Polls a page, given why robots.txt is not obeyed ("": it is). Returns once the result is durable:
"", or why it was not polled.
"""


class Frames:
    """Polls frames. `watched` is the watchlist's own table; `floor` is the shortest time between
    two polls of a page. Watched frames of other `shards` are left to their planners.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        planner: Planner,
        watched: Mapping[int, WatchedPage],
        *,
        floor: Duration,
        shards: Shards = ALL,
    ) -> None:
        self._store = store
        self._clock = clock
        self._planner = planner
        self._watched = watched
        self._floor = floor
        self._shards = shards
        self._asking: set[int] = set()
        self._polling: dict[int, int] = {}
        """frames being polled, by page: detects cycles"""
        self._waiting: dict[int, list[asyncio.Future[None]]] = {}

    def now(self) -> Instant:
        """Return the time after a poll."""
        return self._clock.now()

    async def poll(
        self,
        page_id: int,
        frame_ids: Sequence[int],
        ask: Ask,
        *,
        since: Instant,
        is_asked: bool,
        ignoring: str = "",
    ) -> list[Frame]:
        """Poll the frames of a page one after the other with `ask`, and return them as they are
        then.

        The frames polled longest ago come first, so that a small budget serves them in turn. The
        stored state is used for a frame polled since the poll of the page began, within the floor,
        and for one in back-off after a failure; with `is_asked` (a user requested the page) only
        the first holds. `ignoring` is why robots.txt is not obeyed for the page, and so for its
        frames, which are of the same site.

        Args:
            page_id: The page.
            frame_ids: Its frames.
            ask: Polls one frame.
            since: When the poll of the page began (µs).
            is_asked: Whether a user requested the page.
            ignoring: Why robots.txt is not obeyed; empty: it is.
        """
        unasked: dict[int, str] = {}
        for frame_id in await self._store.read(_longest_ago, frame_ids):
            self._polling[page_id] = frame_id
            try:
                unasked[frame_id] = await self._poll(
                    page_id, frame_id, ask, since=since, is_asked=is_asked, ignoring=ignoring
                )
            finally:
                del self._polling[page_id]
        return await self.load(frame_ids, unasked)

    async def load(self, frame_ids: Sequence[int], unasked: Mapping[int, str] | None = None) -> list[Frame]:
        """Return frames as they are stored."""
        return await self._store.read(_load, frame_ids, unasked or {})

    async def forget_lost(self, page_id: int, can_read: Callable[[Connection, int], bool]) -> None:
        """Forget the newest bodies of frames that cannot be read: they are fetched again."""
        for frame_id in await self._store.write(_forget_lost, page_id, can_read):
            if (watched := self._watched.get(frame_id)) is not None:
                watched.state = forget_body(watched.state)

    def note_end(self, page_id: int) -> None:
        """Mark the poll of a page as ended."""
        for waiter in self._waiting.pop(page_id, ()):
            if not waiter.done():
                waiter.set_result(None)

    async def _poll(
        self, page_id: int, frame_id: int, ask: Ask, *, since: Instant, is_asked: bool, ignoring: str
    ) -> str:
        while frame_id in self._asking or self._planner.is_busy(frame_id):
            if self._is_circle(page_id, frame_id):
                return ""
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(frame_id, []).append(waiter)
            await waiter
        page = self._watched.get(frame_id) or WatchedPage(*await self._store.read(_page, frame_id))
        if not self._shards.owns(page.identity.host) and await self._store.read(pages.is_watched, frame_id):
            return ""
        if self._is_served(page.state, since, is_asked=is_asked, ignoring=ignoring):
            return ""
        self._asking.add(frame_id)
        is_reserved = self._planner.reserve(frame_id)
        is_asked_for = False
        try:
            reason = await ask(page, ignoring, self._payer(page_id))
            is_asked_for = not reason
            return reason
        finally:
            if is_reserved and not is_asked_for:
                self._planner.release(frame_id)
            self._asking.discard(frame_id)
            self.note_end(frame_id)

    def _payer(self, page_id: int) -> str:
        """Return the budget class that pays for a page's frames: the page's own."""
        page = self._watched.get(page_id)
        return WHOLE if page is None else self._planner.budget(page)

    def _is_circle(self, page_id: int, frame_id: int) -> bool:
        """Return whether the poll of a frame waits, directly or indirectly, for this page."""
        at: int | None = frame_id
        while at is not None and at != page_id:
            at = self._polling.get(at)
        return at == page_id

    def _is_served(self, state: PageState, since: Instant, *, is_asked: bool, ignoring: str) -> bool:
        now = self._clock.now()
        if state.polled_at is not None and state.polled_at >= since:
            return True
        if is_asked:
            return False
        is_resting = state.retry_at is not None and state.retry_at > now and not (ignoring and state.kind == "robots")
        return is_resting or (state.polled_at is not None and now - state.polled_at < self._floor)


def _page(connection: Connection, page_id: int) -> tuple[PageIdentity, PageState]:
    return pages.identity(connection, page_id), pages.state(connection, page_id)


def _forget_lost(connection: Connection, page_id: int, can_read: Callable[[Connection, int], bool]) -> list[int]:
    frame_ids = (frame.state.page_id for frame in members.frames(connection, page_id))
    lost = [frame_id for frame_id in frame_ids if not can_read(connection, frame_id)]
    pages.forget_bodies(connection, lost)
    return lost


def _longest_ago(connection: Connection, frame_ids: Sequence[int]) -> list[int]:
    return sorted(frame_ids, key=lambda frame_id: pages.state(connection, frame_id).polled_at or 0)


def _load(connection: Connection, frame_ids: Sequence[int], unasked: Mapping[int, str]) -> list[Frame]:
    found = []
    for frame_id in frame_ids:
        identity, state = _page(connection, frame_id)
        member = members.as_member(connection, identity, state)
        version = versions.newest(connection, frame_id)
        found.append(Frame(identity, state, member, version, unasked.get(frame_id, "")))
    return found

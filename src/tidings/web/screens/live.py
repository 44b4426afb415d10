"""Live updates: a line to each open screen whenever a change is found, with the number of unread
ones.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from tidings.storage.watches import inbox
from tidings.web.api.stream import HEARTBEAT_SECONDS, RETRY_MILLISECONDS, EventStream
from tidings.web.markup.catalogue import say
from tidings.web.problems import ProblemError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response

    from tidings.web.access import Asker
    from tidings.web.screens.desk import Desk

MOST_SCREENS: Final = 1_000


async def show(request: Request, desk: Desk) -> Response:
    """Return the stream of one open screen."""
    if len(desk.arrivals) >= MOST_SCREENS or desk.arrivals.is_over:
        raise ProblemError(
            HTTPStatus.SERVICE_UNAVAILABLE, say("too many screens are open"), headers={"retry-after": "60"}
        )
    return EventStream(OpenScreen(desk, request.state.asker))


class OpenScreen:
    """An open screen, until `leave`."""

    def __init__(self, desk: Desk, asker: Asker, *, heartbeat_seconds: float = HEARTBEAT_SECONDS) -> None:
        self._desk = desk
        self._own = inbox.Filter(viewer=asker.viewer, reader=asker.owner_id)
        self._heartbeat = heartbeat_seconds
        self._stirred = asyncio.Event()
        self._is_gone = False

    def leave(self) -> None:
        """Mark the client as gone."""
        self._is_gone = True
        self._stirred.set()

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the number of unread changes whenever one arrives, and a heartbeat from time to
        time.
        """
        self._stirred = self._desk.arrivals.join()
        try:
            yield f"retry: {RETRY_MILLISECONDS}\nid: 0\n\n".encode()
            while not (self._is_gone or self._desk.arrivals.is_over):
                self._stirred.clear()
                place = (self._own, self._desk.arrivals.count)
                unread = await self._desk.readings.at(place, lambda: self._desk.store.read(inbox.count, self._own))
                yield b"event: unread\ndata: %d\n\n" % unread
                while not self._stirred.is_set():
                    try:
                        await asyncio.wait_for(self._stirred.wait(), self._heartbeat)
                    except TimeoutError:
                        yield b":\n\n"
        finally:
            self._desk.arrivals.leave(self._stirred)

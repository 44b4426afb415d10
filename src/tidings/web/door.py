"""The HTTP server of a running service: bound before it is ready, opened when it is, closed before
it stops.

The request handlers are imported when it opens, so that they do not delay the first polls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from tidings.errors import StoreMissingError
from tidings.service.health.metrics import Meter
from tidings.service.notify.deliver import STREAMED
from tidings.storage.db.database import open_database
from tidings.storage.people import accounts
from tidings.web.inside import Arrivals, Inside
from tidings.web.listening import check, listen, url_of

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.model.observed.unit import Unit
    from tidings.settings import Settings
    from tidings.web.connection import Server
    from tidings.web.inside import Served
    from tidings.web.screens.desk import Desk


class Door:
    """The server's life cycle. Raises `SettingError` for a public address without
    authentication.
    """

    def __init__(self, settings: Settings) -> None:
        check(settings.serve, has_accounts=lambda: has_accounts(settings))
        self._settings = settings
        self.arrivals = Arrivals()
        """wakes those who follow the stream"""
        self.changes = Arrivals()
        """wakes the screens"""
        self.meter = Meter()
        self._desk: Desk | None = None
        self._server: Server | None = None
        self._serving: asyncio.Task[None] | None = None

    def bind(self) -> None:
        """Bind the address. Raises `ListenError` if that fails."""
        self._bound = listen(self._settings.serve)
        self.url = url_of(self._bound)
        self.port: int = self._bound.getsockname()[1]

    async def open(self, served: Served) -> None:
        """Answer requests from now on."""
        make_desk, server_of = await asyncio.to_thread(_import)
        self._desk = make_desk(self._settings, served.clock, self.changes)
        self._server = server_of(self.inside(served), self._desk)
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._bound]))
        listening = asyncio.create_task(self._server.listens.wait())
        await asyncio.wait({listening, self._serving}, return_when=asyncio.FIRST_COMPLETED)
        listening.cancel()
        if self._serving.done():
            self._serving.result()

    def inside(self, served: Served) -> Inside:
        """Return the parts of the service that the handlers use."""
        ways_in = served.ways_in
        self.meter.read_price = lambda: served.price
        self.meter.counts = bool(served.holder)
        return Inside(
            settings=self._settings,
            store=served.store,
            clock=served.clock,
            hooks=ways_in.events,
            signals=ways_in.signals,
            hubs=ways_in.hubs,
            epoch=served.epoch,
            holder=served.holder,
            arrivals=self.arrivals,
            meter=self.meter,
        )

    @property
    def first_code(self) -> str:
        """Return the code that creates the first account, once the server is open."""
        return "" if self._desk is None else self._desk.first_code

    def note(self, unit: Unit) -> None:
        """Handle a committed unit: wake stream followers if it has records of the stream."""
        self.meter.note(unit)
        if any(event.type == STREAMED for event in unit.events):
            self.arrivals.wake()
        if unit.changes:
            self.changes.wake()

    async def close(self) -> None:
        """Stop answering; end the streams."""
        self.arrivals.end()
        self.changes.end()
        if self._server is not None and self._serving is not None:
            self._server.end()
            await self._serving
        self._bound.close()
        if self._desk is not None:
            await self._desk.close()


def has_accounts(settings: Settings) -> bool:
    """Return whether any account exists."""
    try:
        database = open_database(settings, create=False)
    except StoreMissingError:
        return False
    try:
        return database.read(accounts.exist)
    finally:
        database.close()


def _import() -> tuple[Callable[[Settings, Clock, Arrivals], Desk], Callable[[Inside, Desk], Server]]:
    from tidings.web.connection import Server
    from tidings.web.entrances import application
    from tidings.web.screens.desk import Desk

    return Desk, lambda inside, desk: Server(application(inside, desk))

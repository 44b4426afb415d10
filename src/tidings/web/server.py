"""The HTTP server of a running service: its address, its life cycle, and what systemd learns of it.

It is bound before the service is ready, opened when it is, and closed before it stops. The request
handlers are imported when it opens, so that they do not delay the first polls. An address that
others can reach needs a token or accounts (R-13).
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import socket
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Final

from tidings.errors import ListenError, SettingError, StoreMissingError
from tidings.record import dataclass
from tidings.service.health.metrics import Meter
from tidings.service.notify.deliver import STREAMED
from tidings.settings import Supervised, read_supervisor
from tidings.storage.db.database import open_database
from tidings.storage.people import accounts
from tidings.web.inside import Arrivals, Inside

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.model.observed.unit import Unit
    from tidings.settings import ServeSettings, Settings
    from tidings.web.inside import Served
    from tidings.web.screens.desk import Desk
    from tidings.web.uvicorn_server import Server


class HttpServer:
    """The server's life cycle. Raises `SettingError` for a public address without
    authentication.
    """

    def __init__(self, settings: Settings) -> None:
        check_address(settings.serve, has_accounts=lambda: has_accounts(settings))
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
    from tidings.web.routes import application
    from tidings.web.screens.desk import Desk
    from tidings.web.uvicorn_server import Server

    return Desk, lambda inside, desk: Server(application(inside, desk))


LEAST_TOKEN: Final = 24
"""Shortest token, in characters, that cannot be guessed."""
_REASONS: Final = {
    errno.EADDRINUSE: "is taken, perhaps by another `tidings serve`; --port N names another, --port 0 takes any that is free",
    errno.EACCES: "is only given to root; --port N names another, 1024 or more",
    errno.EADDRNOTAVAIL: "is not an address of this machine; give one with --host, usually 127.0.0.1",
}


def check_address(serve: ServeSettings, *, has_accounts: Callable[[], bool] = lambda: False) -> None:
    """Raise `SettingError` for a public server without authentication.

    One that others can reach needs a long token, or accounts.
    """
    for one in serve.proxies:
        try:
            ipaddress.ip_address(one)
        except ValueError as error:
            message = f"serve.proxies has {one!r}, which is not an address; name each proxy, e.g. 127.0.0.1"
            raise SettingError(message) from error
    for name, token in (("serve.token", serve.token), ("serve.edit_token", serve.edit_token)):
        if token and (len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable()):
            message = f"{name} has at least {LEAST_TOKEN} characters, all of them printable ASCII; `openssl rand -hex 24` makes one"
            raise SettingError(message)
    if serve.edit_token and serve.edit_token == serve.token:
        message = "serve.edit_token is the same as serve.token: everybody who may read could then alter sentinels; choose another token"
        raise SettingError(message)
    if not serve.token and not is_loopback(serve.host) and not has_accounts():
        message = (
            f"serve.host is {serve.host or 'empty'}, which others can reach, and serve.token is not set: everybody could read what is"
            " watched here. Set it (`openssl rand -hex 24` makes one; TIDINGS_SERVE_TOKEN, or token in [serve]"
            " of tidings.toml), let people sign in (`tidings user add NAME --role admin`), or"
            " leave serve.host at 127.0.0.1 and let a proxy stand before it"
        )
        raise SettingError(message)


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address; of names, only localhost counts."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def listen(serve: ServeSettings) -> socket.socket:
    """Return a socket bound to the address, not listening yet. Raises `ListenError` with advice."""
    where = f"{serve.host}:{serve.port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            serve.host.strip("[]") or None, serve.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        message = f"serve.host {serve.host} cannot be looked up: {error}; 127.0.0.1 is usual"
        raise ListenError(message) from error
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        bound.close()
        reason = _REASONS.get(error.errno or 0, f"cannot be had: {error.strerror or error}")
        message = f"{where} {reason}"
        raise ListenError(message) from error
    return bound


def url_of(bound: socket.socket) -> str:
    """Return the URL of a bound socket."""
    return url(*bound.getsockname()[:2])


def url(host: str, port: int) -> str:
    """Return the URL of a host, which may be an IPv6 address with or without brackets, and
    a port.
    """
    bare = host.strip("[]")
    return f"http://[{bare}]:{port}" if ":" in bare else f"http://{bare}:{port}"


SHARE: Final = 3
"""Watchdog notifications per watchdog interval."""


@dataclass(frozen=True, slots=True)
class Supervisor:
    """The socket of a supervisor, and its watchdog interval (s, 0: none)."""

    address: str
    patience: float

    def notify(self, state: str) -> None:
        """Send a state, such as `READY=1`; errors are ignored."""
        if not self.address:
            return
        name = f"\0{self.address[1:]}" if self.address.startswith("@") else self.address
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as to:
            to.setblocking(False)
            to.sendto(state.encode(), name)

    @contextlib.asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Notify that the service is ready, then regularly that it lives, and at the end that it
        stops.
        """

        async def beat() -> None:
            while self.patience:
                await asyncio.sleep(self.patience / SHARE)
                self.notify("WATCHDOG=1")

        self.notify("READY=1")
        beating = asyncio.create_task(beat())
        try:
            yield
        finally:
            beating.cancel()
            self.notify("STOPPING=1")


def find_supervisor(found: Supervised | None = None) -> Supervisor:
    """Return the supervisor named in the environment."""
    found = read_supervisor() if found is None else found
    return Supervisor(found.address, found.watchdog_seconds)

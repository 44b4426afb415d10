"""A GET without headers of its own: what most requests are, without the objects that aiohttp's
session makes for each.

Its connection comes from the same pool, and is dialled, guarded and encrypted in the same way. Its
answer passes the same protocol, parser and limits (`connector.ServerConnection`). Only the
session's request, response and writer are left out: they cost half of the CPU of a request.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Mapping
from typing import Any, Final, Protocol

from yarl import URL

from tidings.fetching.http.connector import MAX_FIELD_BYTES, MAX_HEADERS, GuardedConnector
from tidings.fetching.http.routes import aiohttp

MOST_ORIGINS: Final = 512
"""Origins whose headers are remembered."""
_UNSENDABLE = re.compile(r"[\r\n\0]")


class OpenAnswer(Protocol):
    """An answer whose body may still arrive: what is used of aiohttp's response."""

    @property
    def status(self) -> int:
        """Return its status."""
        ...

    @property
    def headers(self) -> Any:
        """Return its headers, a case-insensitive multidict."""
        ...

    @property
    def content(self) -> Any:
        """Return its body, a stream."""
        ...

    def release(self) -> object:
        """Give the connection back, or close it if the body was not read."""
        ...


class PlainAnswer:
    """The answer to a plain GET."""

    __slots__ = ("_connection", "content", "headers", "status")

    def __init__(self, connection: aiohttp.connector.Connection, message: Any, content: Any) -> None:
        self.status: int = message.code
        self.headers = message.headers
        self.content = content
        self._connection: aiohttp.connector.Connection | None = connection
        content.on_eof(self._end)

    def release(self) -> None:
        """Give the connection back, or close it if the body was not read."""
        if self._connection is not None and self.content.exception() is None:
            self.content.set_exception(aiohttp.ClientConnectionError("the answer was released"))
        self._end()

    def _end(self) -> None:
        if self._connection is not None:
            self._connection.release()
            self._connection = None


class _Origin:
    """What is the same in all plain GETs to one origin: the name of its connections in the pool,
    and the headers.

    It stands for a request in `TCPConnector.connect`. The whole one is made when a connection is to
    be opened (`GuardedConnector`).
    """

    __slots__ = ("_made_for", "connection_key", "headers", "proxy")

    def __init__(self, session: aiohttp.ClientSession, url: URL, tls: ssl.SSLContext | None) -> None:
        self._made_for = session, url.origin(), tls
        whole = self.make_whole()
        self.connection_key = whole.connection_key
        self.proxy = None
        self.headers = "".join(f"{name}: {value}\r\n" for name, value in whole.headers.items())

    def make_whole(self) -> aiohttp.ClientRequest:
        """Return a whole request, by which the library opens a connection."""
        session, url, tls = self._made_for
        loop = asyncio.get_running_loop()
        return aiohttp.ClientRequest("GET", url, headers=session.headers, loop=loop, session=session, ssl=tls or True)


class PlainGets:
    """Sends plain GETs over the connections of a session."""

    def __init__(self, session: aiohttp.ClientSession, connector: GuardedConnector) -> None:
        self._session = session
        self._connector = connector
        self._origins: dict[tuple[str, str | None, int | None, ssl.SSLContext | None], _Origin] = {}

    async def get(self, url: URL, conditions: Mapping[str, str], tls: ssl.SSLContext | None) -> PlainAnswer:
        """Return the answer to a GET, its body still to be read. Raises what the session raises.

        Args:
            url: The address.
            conditions: Headers beside those of every request.
            tls: Additional trusted certificates; None: those of the system.
        """
        origin = self._find(url, tls)
        parts = ["GET ", url.raw_path_qs, " HTTP/1.1\r\n", origin.headers]
        for name, value in conditions.items():
            if _UNSENDABLE.search(value):
                message = "a header has a line end"
                raise ValueError(message)
            parts += (name, ": ", value, "\r\n")
        head = "".join([*parts, "\r\n"]).encode()
        try:
            asked: Any = origin
            connection = await self._connector.connect(asked, [], self._session.timeout)
        except TimeoutError as error:
            message = f"no connection to {url.host} in time"
            raise aiohttp.ConnectionTimeoutError(message) from error
        try:
            return PlainAnswer(connection, *await self._ask(connection, url, head))
        except BaseException:
            connection.close()
            raise

    async def _ask(self, connection: aiohttp.connector.Connection, url: URL, head: bytes) -> tuple[Any, Any]:
        """Send a request; return the head of its answer, after informational ones, and its body."""
        protocol, transport = connection.protocol, connection.transport
        if protocol is None or transport is None or transport.is_closing():
            raise aiohttp.ClientConnectionResetError("the connection was closed")
        protocol.set_response_params(
            read_until_eof=True, auto_decompress=False, max_field_size=MAX_FIELD_BYTES, max_headers=MAX_HEADERS
        )
        transport.write(head)
        while True:
            try:
                message, content = await protocol.read()
            except aiohttp.http_exceptions.HttpProcessingError as error:
                asked = aiohttp.RequestInfo(url, "GET", self._session.headers, url)  # type: ignore[arg-type]
                raise aiohttp.ClientResponseError(asked, (), status=error.code, message=error.message) from error
            if not 100 <= message.code < 200 or message.code == 101:
                return message, content

    def _find(self, url: URL, tls: ssl.SSLContext | None) -> _Origin:
        known = (url.scheme, url.raw_host, url.port, tls)
        if (origin := self._origins.get(known)) is None:
            if len(self._origins) >= MOST_ORIGINS:
                self._origins.clear()
            origin = self._origins[known] = _Origin(self._session, url, tls)
        return origin

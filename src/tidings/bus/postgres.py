"""The bus on PostgreSQL: two unlogged tables, SKIP LOCKED, and LISTEN for notifications.

The tables may be empty after a crash of the server: the bus has then lost its content, which only
costs polls.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Final

from tidings.bus.bus import LARGEST_MESSAGE_BYTES, OFFER_SECONDS, hide
from tidings.errors import BusError, SettingError, spell_install

if TYPE_CHECKING:
    from psycopg import AsyncConnection

CONNECT_SECONDS: Final = 5
ANSWER_SECONDS: Final = 20.0
"""A server that has not answered a statement for so long is gone."""
_NETWORK: Final = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 15_000}
"""Parameters by which the system finds a machine that is gone, unless the address has its own."""
BELL_SECONDS: Final = 1.0
"""The interval of polling the tables: a notification may be lost with its connection."""
SWEEP_SECONDS: Final = 30.0

_TABLES: Final = """
CREATE UNLOGGED TABLE IF NOT EXISTS {name}_work
    (id bigserial PRIMARY KEY, lane text, body bytea, at timestamptz DEFAULT now());
CREATE INDEX IF NOT EXISTS {name}_work_lane ON {name}_work (lane, id);
CREATE UNLOGGED TABLE IF NOT EXISTS {name}_mail
    (id bigserial PRIMARY KEY, box text, body bytea, at timestamptz DEFAULT now());
CREATE INDEX IF NOT EXISTS {name}_mail_box ON {name}_mail (box, id)
"""
_OFFER: Final = """
WITH work AS (INSERT INTO {name}_work (lane, body) VALUES (%s, %s)) SELECT pg_notify(%s, %s)
"""
_SEND: Final = """
WITH mail AS (INSERT INTO {name}_mail (box, body) VALUES (%s, %s)) SELECT pg_notify(%s, %s)
"""
_TAKE: Final = """
DELETE FROM {name}_work WHERE id = (
    SELECT id FROM {name}_work WHERE lane = %s AND at > now() - make_interval(secs => %s)
    ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
) RETURNING body
"""
_EMPTY: Final = """
WITH mail AS (DELETE FROM {name}_mail WHERE box = %s RETURNING id, body) SELECT body FROM mail ORDER BY id
"""


class PostgresBus:
    """Two connections to a PostgreSQL server, one for statements and one for notifications
    (`bus.Bus`), opened on first use.

    Args:
        url: `postgresql://`; it may be the database of `store.url`.
        name: The name of the tables and the channel; several installations may use one database.
    """

    def __init__(self, url: str, *, name: str) -> None:
        self._url = url
        self._name = name
        self._turn = asyncio.Lock()
        self._connection: AsyncConnection[Any] | None = None
        self._bells: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._listening: asyncio.Task[None] | None = None
        self._swept_at = 0.0
        self._is_closed = False

    async def offer(self, lane: str, work: bytes) -> None:
        """Queue work in a lane."""
        await self._run(_OFFER, lane, work, self._name, f"work-{lane}")
        await self._sweep()

    async def take(self, lane: str) -> bytes:
        """Wait for work and return it."""
        while True:
            self._bells[f"work-{lane}"].clear()
            if rows := await self._run(_TAKE, lane, OFFER_SECONDS):
                return bytes(rows[0][0])
            await self._wait(f"work-{lane}")

    async def send(self, box: str, message: bytes) -> None:
        """Send a message to a mailbox. It is deleted unread after `OFFER_SECONDS`."""
        if len(message) > LARGEST_MESSAGE_BYTES:
            raise ValueError(f"a message of {len(message):,} bytes is too large")
        await self._run(_SEND, box, message, self._name, f"box-{box}")
        await self._sweep()

    @contextlib.asynccontextmanager
    async def mailbox(self, box: str) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open a mailbox; earlier messages to it are dropped."""
        await self._run("DELETE FROM {name}_mail WHERE box = %s", box)
        yield self._read(box)

    async def close(self) -> None:
        """Close the connections."""
        self._is_closed = True
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.wait({self._listening})
        async with self._turn:
            if self._connection is not None:
                await self._connection.close()

    async def _read(self, box: str) -> AsyncIterator[bytes]:
        while True:
            self._bells[f"box-{box}"].clear()
            rows = await self._run(_EMPTY, box)
            for row in rows:
                yield bytes(row[0])
            if not rows:
                await self._wait(f"box-{box}")

    async def _wait(self, bell: str) -> None:
        """Wait for a notification, or for as long as one may have been missed."""
        if self._listening is None or self._listening.done():
            is_listening = asyncio.Event()
            self._listening = asyncio.create_task(self._listen(is_listening))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(is_listening.wait(), BELL_SECONDS)
            return  # earlier rows are found by reading again
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._bells[bell].wait(), BELL_SECONDS)

    async def _sweep(self) -> None:
        """Delete what was not read in time."""
        now = asyncio.get_running_loop().time()
        if now - self._swept_at < SWEEP_SECONDS:
            return
        self._swept_at = now
        for table in ("work", "mail"):
            old = f"DELETE FROM {{name}}_{table} WHERE at < now() - make_interval(secs => %s)"  # noqa: S608 - two fixed names
            await self._run(old, OFFER_SECONDS)

    async def _listen(self, is_listening: asyncio.Event) -> None:
        """Forward the server's notifications until the connection is lost."""
        import psycopg

        with contextlib.suppress(psycopg.Error, OSError):
            async with await self._connect() as connection:
                await connection.execute(f'LISTEN "{self._name}"'.encode())
                is_listening.set()
                async for bell in connection.notifies():
                    if bell.payload in self._bells:
                        self._bells[bell.payload].set()

    async def _run(self, text: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows. Raises `BusError` if the server does not answer."""
        try:
            import psycopg
        except ImportError:
            raise SettingError(
                f"bus.url names a PostgreSQL server, which needs the extra: {spell_install('postgres')}"
            ) from None
        try:
            async with self._turn, self._answering():
                if self._is_closed:
                    raise BusError("the bus is closed")
                if self._connection is None or self._connection.closed:
                    self._connection = await self._connect()
                    await self._connection.execute("SET synchronous_commit = off")
                    async with self._connection.transaction():
                        await self._connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [self._name])
                        await self._connection.execute(_TABLES.format(name=self._name).encode())
                cursor = await self._connection.execute(text.format(name=self._name).encode(), values, prepare=True)
                return await cursor.fetchall() if cursor.description else []
        except (psycopg.Error, OSError, TimeoutError) as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise BusError(f"the bus at {hide(self._url)} does not answer now: {reason}") from None

    async def _connect(self) -> AsyncConnection[Any]:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict

        given = conninfo_to_dict(self._url)
        network: dict[str, Any] = {name: value for name, value in _NETWORK.items() if name not in given}
        return await psycopg.AsyncConnection.connect(
            self._url, autocommit=True, connect_timeout=CONNECT_SECONDS, **network
        )

    @contextlib.asynccontextmanager
    async def _answering(self) -> AsyncIterator[None]:
        """Close the connection and raise `TimeoutError` if what is done here does not end."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                yield
        except TimeoutError:
            if self._connection is not None:
                await self._connection.close()
            raise TimeoutError(f"no answer for {ANSWER_SECONDS:g} s") from None

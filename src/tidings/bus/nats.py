"""The bus on NATS JetStream: a work queue per lane; messages are plain NATS, split if they exceed
the server's limit.

JetStream may lose acknowledged work at power loss; that only costs a poll. Work is acknowledged as
soon as it is pulled: delivered twice, it would poll a host twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from tidings.bus.bus import LARGEST_MESSAGE_BYTES, OFFER_SECONDS, hide
from tidings.errors import BusError, SettingError

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.js.client import JetStreamContext

PART_BYTES: Final = 512 * 1024
"""The largest payload of one NATS message; servers allow 1 MB by default."""
PULL_SECONDS: Final = 20.0
CONNECT_SECONDS: Final = 5.0
PORT: Final = 4222
_HEAD: Final = 16  # bytes: id of a message, its number of parts, the number of this part


class NatsBus:
    """One connection to a NATS server (`bus.Bus`), opened on first use, with automatic
    reconnection.

    Args:
        url: `nats://` or `tls://`, with user and password or a token if the server requires them.
        name: The prefix of all subjects and of the stream: several installations may use one
            server.
    """

    def __init__(self, url: str, *, name: str) -> None:
        self._url = url
        self._name = name
        self._connecting = asyncio.Lock()
        self._client: Client | None = None
        self._streams: JetStreamContext | None = None
        self._pulls: dict[str, Any] = {}

    async def offer(self, lane: str, work: bytes) -> None:
        """Queue work in a lane."""
        async with self._saying("take work"):
            await (await self._jetstream()).publish(self._subject("work", lane), work, timeout=CONNECT_SECONDS)

    async def take(self, lane: str) -> bytes:
        """Wait for work, acknowledge it and return it."""
        import nats.errors

        async with self._saying("give work"):
            if lane not in self._pulls:
                streams = await self._jetstream()
                self._pulls[lane] = await streams.pull_subscribe(
                    self._subject("work", lane), durable=f"{self._name}-{lane}", stream=self._stream
                )
            while True:
                try:
                    (message,) = await self._pulls[lane].fetch(1, timeout=PULL_SECONDS)
                except (TimeoutError, nats.errors.TimeoutError):
                    continue
                await message.ack()
                return bytes(message.data)

    async def send(self, box: str, message: bytes) -> None:
        """Send a message to a mailbox, in parts if it is large."""
        if len(message) > LARGEST_MESSAGE_BYTES:
            raise ValueError(f"a message of {len(message):,} bytes is too large")
        identity, count = secrets.token_bytes(8), max(1, -(-len(message) // PART_BYTES))
        async with self._saying("take messages"):
            client = await self._connect_once()
            for number in range(count):
                head = identity + count.to_bytes(4, "big") + number.to_bytes(4, "big")
                part = message[number * PART_BYTES : (number + 1) * PART_BYTES]
                await client.publish(self._subject("box", box), head + part)
            if count > 1:
                await client.flush()  # the parts of several large messages must not fill the client's buffer

    @contextlib.asynccontextmanager
    async def mailbox(self, box: str) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open a mailbox."""
        async with self._saying("give messages"):
            client = await self._connect_once()
            subscription = await client.subscribe(self._subject("box", box), pending_bytes_limit=-1)
            await client.flush()
        try:
            yield _join(subscription.messages)
        finally:
            with contextlib.suppress(Exception):  # the connection may be gone, and with it the subscription
                await subscription.unsubscribe()

    async def close(self) -> None:
        """Close the connection."""
        client, self._client, self._streams = self._client, None, None
        self._pulls.clear()
        if client is not None:
            with contextlib.suppress(Exception):
                await client.close()

    @property
    def _stream(self) -> str:
        return f"{self._name}-work"

    def _subject(self, kind: str, name: str) -> str:
        return f"{self._name}.{kind}.{name}"

    @contextlib.asynccontextmanager
    async def _saying(self, what: str) -> AsyncIterator[None]:
        """Raise `BusError` for any error of the client; `what` completes its message."""
        import nats.errors
        import nats.js.errors

        try:
            yield
        except (nats.errors.Error, nats.js.errors.Error, OSError, TimeoutError) as error:
            raise BusError(
                f"the bus at {hide(self._url)} does not {what} now: {str(error) or type(error).__name__}"
            ) from None

    async def _connect_once(self) -> Client:
        async with self._connecting:
            if self._client is None or self._client.is_closed:
                self._pulls.clear()
                self._streams = None
                self._client = await self._connect()
            return self._client

    async def _connect(self) -> Client:
        try:
            import nats
        except ImportError:
            raise SettingError(
                'bus.url names a NATS server: install Tidings with "machines": pip install "tidings[machines]"'
            ) from None

        trouble: list[Exception] = []

        async def note(error: Exception) -> None:
            trouble[:] = [error]

        parts = urlsplit(self._url)
        async with asyncio.timeout(CONNECT_SECONDS):  # the client itself would retry the first connection for ever
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or PORT)
            writer.close()
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await nats.connect(
                    self._url, name="tidings", max_reconnect_attempts=-1, reconnect_time_wait=1, error_cb=note
                )
        except TimeoutError:
            raise (trouble[0] if trouble else TimeoutError("no answer")) from None

    async def _jetstream(self) -> JetStreamContext:
        client = await self._connect_once()
        if self._streams is None:
            from nats.js.api import RetentionPolicy, StorageType, StreamConfig

            streams = client.jetstream(timeout=CONNECT_SECONDS)
            await streams.add_stream(
                StreamConfig(
                    name=self._stream,
                    subjects=[self._subject("work", "*")],
                    retention=RetentionPolicy.WORK_QUEUE,
                    storage=StorageType.MEMORY,
                    max_age=OFFER_SECONDS,
                )
            )
            self._streams = streams
        return self._streams


async def _join(messages: AsyncIterator[Any]) -> AsyncIterator[bytes]:
    """Yield whole messages; one with a missing part is dropped at the next message of its
    sender.
    """
    begun: dict[bytes, list[bytes]] = {}
    async for message in messages:
        data = bytes(message.data)
        if len(data) < _HEAD:
            continue
        identity, count, number = data[:8], int.from_bytes(data[8:12], "big"), int.from_bytes(data[12:_HEAD], "big")
        if count == 1:
            yield data[_HEAD:]
            continue
        parts = begun.setdefault(identity, [])
        if number != len(parts) or count * PART_BYTES > LARGEST_MESSAGE_BYTES + PART_BYTES:
            del begun[identity]
            continue
        parts.append(data[_HEAD:])
        if len(parts) == count:
            yield b"".join(begun.pop(identity))
        while len(begun) > 64:  # beginnings without a rest
            del begun[next(iter(begun))]

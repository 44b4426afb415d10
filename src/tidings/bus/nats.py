"""The bus on NATS JetStream: a work queue per lane; messages are plain NATS, split if they exceed
the server's limit.

JetStream may lose acknowledged work at power loss; that only costs a poll. Work is acknowledged as
soon as it is pulled: delivered twice, it would poll a host twice. A stream that was deleted is made
again, by whoever notices first.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import re
import secrets
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from tidings.bus.bus import LANES, LARGEST_MESSAGE_BYTES, OFFER_SECONDS, hide
from tidings.errors import BusError, SettingError, spell_install

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.subscription import Subscription
    from nats.js.client import JetStreamContext

PART_BYTES: Final = 512 * 1024
"""The largest payload of one NATS message; servers allow 1 MB by default."""
PULL_SECONDS: Final = 5.0
"""How long a taker waits before it asks whether its queue is still there."""
CONNECT_SECONDS: Final = 5.0
PORT: Final = 4222
_HEAD: Final = 16  # bytes: id of a message, its number of parts, the number of this part


class NatsBus:
    """One connection to a NATS server (`bus.Bus`), opened on first use, with automatic
    reconnection.

    Args:
        url: `nats://` or `tls://`, with user and password or a token if the server requires them. A
            user has inboxes of its own, so that the server can keep others from reading them.
        name: The prefix of all subjects and of the stream: several installations may use one
            server.
    """

    def __init__(self, url: str, *, name: str) -> None:
        self._url = url
        self._name = name
        self._connecting = asyncio.Lock()
        self._client: Client | None = None
        self._streams: JetStreamContext | None = None
        self._pulls: dict[str, JetStreamContext.PullSubscription] = {}
        self._boxes: set[Subscription] = set()

    async def offer(self, lane: str, work: bytes) -> None:
        """Queue work in a lane."""
        import nats.js.errors

        async with self._naming_errors("take work"):
            subject = self._subject("work", lane)
            try:
                await (await self._jetstream()).publish(subject, work, timeout=CONNECT_SECONDS)
            except nats.js.errors.NoStreamResponseError:  # it was deleted
                self._streams = None
                await (await self._jetstream()).publish(subject, work, timeout=CONNECT_SECONDS)

    async def take(self, lane: str) -> bytes:
        """Wait for work, acknowledge it and return it."""
        import nats.errors
        import nats.js.errors

        async with self._naming_errors("give work"):
            while True:
                pull = await self._subscribe_once(lane)
                try:
                    (message,) = await pull.fetch(1, timeout=PULL_SECONDS)
                except (TimeoutError, nats.errors.TimeoutError, nats.js.errors.APIError):
                    try:
                        await pull.consumer_info()
                    except nats.js.errors.NotFoundError:  # it was deleted, or the whole stream
                        await self._drop(lane)
                    continue
                await message.ack()
                return bytes(message.data)

    async def _subscribe_once(self, lane: str) -> JetStreamContext.PullSubscription:
        """Return the subscription to a lane. Makes the stream only if it is missing: a poller need
        not be allowed to.
        """
        import nats.js.errors

        if lane not in self._pulls:
            streams = (await self._connect_once()).jetstream(timeout=CONNECT_SECONDS)
            queue = self._queue(lane)
            try:
                await streams.consumer_info(self._stream, queue)
            except nats.js.errors.NotFoundError:
                self._streams = None
                await self._jetstream()
            self._pulls[lane] = await streams.pull_subscribe_bind(
                durable=queue, stream=self._stream, inbox_prefix=f"{self._inbox}.".encode()
            )
        return self._pulls[lane]

    async def _drop(self, lane: str) -> None:
        """Forget the stream, and the queue of a lane."""
        self._streams = None
        with contextlib.suppress(Exception):  # whatever is left of it goes with the connection
            await self._pulls.pop(lane).unsubscribe()

    async def send(self, box: str, message: bytes) -> None:
        """Send a message to a mailbox, in parts if it is large."""
        if len(message) > LARGEST_MESSAGE_BYTES:
            raise ValueError(f"a message of {len(message):,} bytes is too large")
        identity, count = secrets.token_bytes(8), max(1, -(-len(message) // PART_BYTES))
        async with self._naming_errors("take messages"):
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
        async with self._naming_errors("give messages"):
            client = await self._connect_once()
            subscription = await client.subscribe(self._subject("box", box), pending_bytes_limit=-1)
            await client.flush()
        self._boxes.add(subscription)
        try:
            yield _join(subscription.messages)
        finally:
            self._boxes.discard(subscription)
            with contextlib.suppress(Exception):  # the connection may be gone, and with it the subscription
                await subscription.unsubscribe()

    async def close(self) -> None:
        """Close the connection."""
        client, self._client, self._streams = self._client, None, None
        self._pulls.clear()
        if client is not None:
            with contextlib.suppress(Exception):
                await client.close()

    async def _end_mailboxes(self) -> None:
        """Close the mailboxes of a lost connection: what was sent to them meanwhile is lost."""
        for subscription in list(self._boxes):
            with contextlib.suppress(Exception):
                await subscription.unsubscribe()

    @property
    def _inbox(self) -> str:
        user = urlsplit(self._url).username or ""
        return f"_INBOX_{user}" if re.fullmatch("[A-Za-z0-9_-]+", user) else "_INBOX"

    @property
    def _stream(self) -> str:
        return f"{self._name}-work"

    def _queue(self, lane: str) -> str:
        return f"{self._name}-{lane}"

    def _subject(self, kind: str, name: str) -> str:
        return f"{self._name}.{kind}.{name}"

    @contextlib.asynccontextmanager
    async def _naming_errors(self, what: str) -> AsyncIterator[None]:
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
            client: Client = _define_client()(must_encrypt=urlsplit(self._url).scheme == "tls")
        except ImportError:
            raise SettingError(
                f"bus.url names a NATS server, which needs the extra: {spell_install('machines')}"
            ) from None

        trouble: list[Exception] = []

        async def note(error: Exception) -> None:
            trouble[:] = [error]

        parts = urlsplit(self._url)
        async with asyncio.timeout(CONNECT_SECONDS):  # the client itself would retry the first connection for ever
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or PORT)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await client.connect(
                    self._url,
                    name="tidings",
                    max_reconnect_attempts=-1,
                    reconnect_time_wait=1,
                    error_cb=note,
                    disconnected_cb=self._end_mailboxes,
                    inbox_prefix=self._inbox,
                )
        except TimeoutError:
            await client.close()  # the last attempt was interrupted
            raise (trouble[0] if trouble else TimeoutError("no answer")) from None
        return client

    async def _jetstream(self) -> JetStreamContext:
        client = await self._connect_once()
        if self._streams is None:
            from nats.js.api import AckPolicy, ConsumerConfig, RetentionPolicy, StorageType, StreamConfig

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
            for lane in LANES:
                await streams.add_consumer(
                    self._stream,
                    ConsumerConfig(
                        durable_name=self._queue(lane),
                        filter_subject=self._subject("work", lane),
                        ack_policy=AckPolicy.EXPLICIT,
                    ),
                )
            self._streams = streams
        return self._streams


@functools.cache
def _define_client() -> type[Any]:
    """Return the client's class, which connects only as `bus.url` allows. Raises `ImportError`
    without nats-py.

    The class of nats-py believes the server: it sends the password unencrypted, even to `tls://`,
    if the server asks for no TLS, and connects without TLS to other servers that this one names.
    """
    import nats.aio.client
    import nats.errors

    class GuardedClient(nats.aio.client.Client):
        def __init__(self, *, must_encrypt: bool) -> None:
            super().__init__()
            self._must_encrypt = must_encrypt
            self._is_checked = False

        async def _connect_to_server(self, s: Any) -> None:
            """Connect again; nats-py leaves the connection before open if its start failed."""
            if self._transport is not None:
                self._transport.close()  # type: ignore[no-untyped-call]
            await super()._connect_to_server(s)

        async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:
            """Read what a server says of itself; the first time before anything is sent to it."""
            if not self._must_encrypt:
                info = {**info, "connect_urls": []}  # they may be on other machines
            elif initial_connection and not info.get("tls_required"):
                if self._transport is not None:
                    self._transport.close()  # type: ignore[no-untyped-call]
                raise nats.errors.Error("the server does not ask for TLS, and bus.url is tls://")
            self._is_checked = True
            await super()._process_info(info, initial_connection)

        def _connect_command(self) -> bytes:
            """Return the first message to a server, which has the password."""
            if not self._is_checked:
                raise nats.errors.Error("this version of nats-py cannot be used: it does not check for TLS")
            return super()._connect_command()

    return GuardedClient


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

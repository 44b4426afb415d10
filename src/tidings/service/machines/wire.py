"""Messages between a service and its pollers: values as MessagePack, encrypted for the two of them.

A poller takes an offer with a key made for it; both derive the key of the visit from that and from
`bus.secret`. Anybody on the bus without the secret can read no address, password or page, and
cannot impersonate either side.

The mailbox of a process on the bus routes each message to its visit.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import hashlib
import hmac
import logging
import platform
import re
import secrets
import types
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import msgspec

from tidings.errors import BusError, TidingsError
from tidings.model.observed.page import HostState
from tidings.model.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    from tidings.bus.bus import Bus
    from tidings.fetching.robots import Robots

_SECRET: Final = 1
"""The number of the MessagePack extension that holds a `Secret`."""
_NONCE: Final = 12
MOST_OF_NAME: Final = 30
"""Characters of a machine's name in the name of a mailbox."""

T = TypeVar("T")


class WireError(TidingsError):
    """A message that is not ours, or was altered in transit."""


def pack(value: object) -> bytes:
    """Return a value of builtins, dataclasses and secrets as bytes. Raises `WireError` if a text
    cannot be encoded as UTF-8.
    """
    try:
        return msgspec.msgpack.encode(value, enc_hook=_encode)
    except (UnicodeEncodeError, ValueError, TypeError) as error:
        raise WireError(f"it cannot be sent to a poller: {error}") from None


def unpack(data: bytes) -> Any:
    """Decode `pack`'s output, with maps for dataclasses. Raises `WireError`."""
    try:
        return msgspec.msgpack.decode(data, ext_hook=_decode)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WireError(f"a message cannot be read: {error}") from None


def _encode(value: object) -> object:
    if isinstance(value, Secret):
        return msgspec.msgpack.Ext(_SECRET, value.reveal().encode())
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)


def _decode(code: int, data: memoryview) -> Secret:
    if code != _SECRET:
        raise WireError(f"a message has a value of the unknown kind {code}")
    return Secret(bytes(data).decode())


def restore(kind: Any, value: Any) -> Any:
    """Return a value of type `kind` from `unpack`'s output. Raises `WireError` for any other."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if isinstance(value, dict) and isinstance(kind, type) and dataclasses.is_dataclass(kind):
        hints = _hints(kind)
        if not value.keys() <= hints.keys():
            raise WireError(
                f"a {kind.__name__} has the unknown fields {', '.join(map(str, value.keys() - hints.keys()))}"
            )
        try:
            return kind(**{name: restore(hints[name], each) for name, each in value.items()})
        except TypeError as error:
            raise WireError(f"a {kind.__name__} is not whole: {error}") from None
    if origin in {typing.Union, types.UnionType}:
        return _restore_one_of(arguments, value)
    if origin is Literal and value in arguments:
        return value
    if isinstance(value, list) and origin is tuple:
        if arguments[-1] is Ellipsis:
            return tuple(restore(arguments[0], each) for each in value)
        if len(arguments) == len(value):
            return tuple(restore(each, one) for each, one in zip(arguments, value, strict=True))
    if isinstance(value, list) and origin is frozenset:
        return frozenset(restore(arguments[0], each) for each in value)
    if isinstance(value, dict) and origin is Mapping:
        return {restore(arguments[0], key): restore(arguments[1], each) for key, each in value.items()}
    if kind is float and type(value) is int:
        return float(value)
    if isinstance(kind, type) and type(value) is kind:
        return value
    raise WireError(f"expected {getattr(kind, '__name__', kind)}, found {type(value).__name__}")


def _restore_one_of(kinds: tuple[Any, ...], value: Any) -> Any:
    if value is None and types.NoneType in kinds:
        return None
    for kind in kinds:
        if kind is not types.NoneType:
            try:
                return restore(kind, value)
            except WireError:
                continue
    raise WireError(f"found {type(value).__name__} where it cannot be")


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def sign(secret: str, *parts: bytes) -> bytes:
    """Return the HMAC-SHA-256 of these parts under the shared secret."""
    return hmac.digest(secret.encode(), b"".join(len(part).to_bytes(4, "big") + part for part in parts), "sha256")


class VisitCipher:
    """The two directions of one visit. Messages are read in the order in which they were made:
    repeated or older ones are refused.

    Args:
        key: The key of the visit, 32 bytes.
        is_service: Whether this is the service's side.
    """

    def __init__(self, key: bytes, *, is_service: bool) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

        self._cipher = ChaCha20Poly1305(key)
        self._is_service = is_service
        self._sent = self._seen = 0

    def encrypt(self, message: object) -> bytes:
        """Encrypt a message for the other side. Raises `WireError` if it cannot be packed."""
        data = pack(message)
        self._sent += 1
        nonce = self._nonce(self._sent, by_service=self._is_service)
        return nonce + self._cipher.encrypt(nonce, data, None)

    def decrypt(self, data: bytes) -> Any:
        """Decrypt the other side's message. Raises `WireError` if it is not theirs or not newer
        than the last.
        """
        from cryptography.exceptions import InvalidTag

        nonce, number = data[:_NONCE], int.from_bytes(data[4:_NONCE], "big")
        if nonce != self._nonce(number, by_service=not self._is_service) or number <= self._seen:
            raise WireError("a message comes again, or from elsewhere")
        try:
            plain = self._cipher.decrypt(nonce, data[_NONCE:], None)
        except InvalidTag:
            raise WireError(
                "a message was changed on its way, or is not for us: check that bus.secret is the same everywhere"
            ) from None
        self._seen = number
        return unpack(plain)

    @staticmethod
    def _nonce(number: int, *, by_service: bool) -> bytes:
        return (b"serv" if by_service else b"poll") + (number & (2**64 - 1)).to_bytes(8, "big")


def make_key() -> tuple[X25519PrivateKey, bytes]:
    """Return a private key for one visit, and its public key to send."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    key = X25519PrivateKey.generate()
    return key, key.public_key().public_bytes_raw()


def agree(key: X25519PrivateKey, public: bytes, *, secret: str, visit: str) -> bytes:
    """Return the 32-byte key of a visit. Raises `WireError` if `public` is not a key.

    Args:
        key: Our private key of this visit.
        public: The other side's public key, 32 bytes.
        secret: The shared secret (`bus.secret`).
        visit: The name of the visit.
    """
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    try:
        shared = key.exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        raise WireError("a public key is invalid") from None
    salt = hashlib.sha256(secret.encode()).digest()
    return HKDF(SHA256(), 32, salt, b"tidings visit " + visit.encode()).derive(shared)


log = logging.getLogger("tidings.bus")

LOST: Final = None
"""what a visit reads once the bus is lost"""
SIGN: Final = ["done", 0]
"""A poller's sign of life: to a service that knows none, the end of a request that there is not."""


class Mailbox:
    """Sends messages of visits, and routes incoming ones to their visit. Its name begins with the
    name of the machine.
    """

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        machine = re.sub(r"[^a-z0-9]+", "-", platform.node().lower())[:MOST_OF_NAME]
        self.box = f"{machine}-{secrets.token_hex(8)}"
        self._visits: dict[str, asyncio.Queue[Any]] = {}
        self._reading: asyncio.Task[None] | None = None
        self._is_open = asyncio.Event()
        self.is_closed = False

    async def open(self, visit: str) -> asyncio.Queue[Any]:
        """Return the queue of a visit's incoming messages, from now on. Raises `BusError` if the
        bus cannot be reached or the mailbox is closed.
        """
        if self.is_closed:
            raise BusError("the mailbox is closed")
        if self._reading is None or self._reading.done():
            self._is_open.clear()
            self._reading = asyncio.create_task(self._read())
        opening = asyncio.create_task(self._is_open.wait())
        await asyncio.wait({opening, self._reading}, return_when=asyncio.FIRST_COMPLETED)
        opening.cancel()
        if not self._is_open.is_set():
            self._reading.result()
        queue = self._visits[visit] = asyncio.Queue()
        return queue

    def end(self, visit: str) -> None:
        """Drop later messages for a visit."""
        self._visits.pop(visit, None)

    async def send(self, box: str, visit: str, message: object) -> None:
        """Send a message. Raises `BusError`."""
        await self.bus.send(box, pack([visit, message]))

    async def close(self) -> None:
        """Close the mailbox and the bus."""
        self.is_closed = True
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})
            if not self._reading.cancelled():
                self._reading.exception()
        await self.bus.close()

    async def _read(self) -> None:
        try:
            async with self.bus.mailbox(self.box) as messages:
                self._is_open.set()
                async for data in messages:
                    with contextlib.suppress(WireError, ValueError, TypeError):
                        visit, message = unpack(data)
                        if visit in self._visits:
                            self._visits[visit].put_nowait(message)
                        elif isinstance(message, list) and message[:1] == ["take"]:
                            await self._dismiss(visit, message)
            raise BusError("the mailbox on the bus was closed")
        finally:
            for queue in self._visits.values():
                queue.put_nowait(LOST)

    async def _dismiss(self, visit: str, message: list[Any]) -> None:
        """Inform a poller that nobody waits for its check any more."""
        with contextlib.suppress(BusError, IndexError):
            await self.send(message[1], visit, LOST)


class SharedRobots:
    """What is known of robots.txt files, and which of it each mailbox on the bus has already."""

    def __init__(self, robots: Robots) -> None:
        self._robots = robots
        self._given: dict[str, dict[str, int | None]] = {}

    def give(self, box: str, hosts: Iterable[str]) -> list[HostState]:
        """Return what `box` does not have yet of these hosts; it counts as given from now on."""
        given = self._given.setdefault(box, {})
        states = [self._robots.export(HostState(name=host)) for host in hosts]
        new = [state for state in states if state.robots and given.get(state.name) != state.robots_at]
        given.update((state.name, state.robots_at) for state in new)
        return new

    async def take(self, box: str, states: Sequence[HostState]) -> None:
        """Take over what `box` has read; a Crawl-delay in it applies from then on."""
        self._given.setdefault(box, {}).update((state.name, state.robots_at) for state in states)
        await self._robots.learn(states)

    def forget(self, box: str) -> None:
        """Give `box` everything again: what was sent last may be lost."""
        self._given.pop(box, None)

"""The interface between the HTTP server and the service."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol

from tidings.record import dataclass
from tidings.service.health.metrics import Meter

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.model.interval import Instant
    from tidings.model.secret import Secret
    from tidings.settings import Settings
    from tidings.storage.write.store import Store


@dataclass(frozen=True, slots=True)
class StreamRight:
    """Who follows a stream: an owner. `stands` returns whether the same request would be admitted
    now, as the same asker: its token was not revoked, its session not ended, its role not changed.
    """

    owner_id: int
    stands: Callable[[], Awaitable[bool]]


class NumberedEvent(Protocol):
    """An accepted event: its number, and whether it is new."""

    @property
    def seq(self) -> int:
        """Return its number in the log."""
        ...

    @property
    def is_new(self) -> bool:
        """Return False if its key was accepted before."""
        ...


class Hooks(Protocol):
    """Accepts external events; implemented by `sources.outside_events`."""

    async def admit(self, name: str, proves: Callable[[Secret], bool]) -> None:
        """Return if the sender of a webhook `proves` that it has its token."""
        ...

    async def take(self, name: str, params: Mapping[str, Any], *, key: str = "") -> NumberedEvent:
        """Accept an event; durable on return."""
        ...


class AcceptedSignal(Protocol):
    """An accepted signal: how many pages it names, and whether it is new."""

    @property
    def pages(self) -> int:
        """Return how many watched pages it names."""
        ...

    @property
    def is_new(self) -> bool:
        """Return False if its key was accepted before."""
        ...


class KnownPages(Protocol):
    """The watched pages that a signal names."""

    @property
    def by_url(self) -> Mapping[str, Collection[int]]:
        """Return the pages with each address."""
        ...

    @property
    def watched(self) -> Collection[int]:
        """Return all named pages that are watched."""
        ...

    @property
    def weighed(self) -> Collection[int]:
        """Return those for which a hint has an effect."""
        ...


class TakesSignals(Protocol):
    """Accepts hints that pages may have changed; implemented by `Signals` and
    `LeftSignals`.
    """

    async def find(self, urls: Collection[str], page_ids: Collection[int]) -> KnownPages:
        """Return the watched pages with each of these addresses, and those of these pages that are
        watched.
        """
        ...

    async def take(
        self, page_ids: Collection[int], *, kind: str, at: Instant | None = None, key: str = ""
    ) -> AcceptedSignal:
        """Accept a hint about watched pages; durable on return.

        Args:
            page_ids: The pages.
            kind: The kind of hint.
            at: The instant of the change (µs); None for now.
            key: Its idempotency key, empty for none.
        """
        ...


class Hubs(Protocol):
    """Handles callbacks of hubs; implemented by `sources.websub`."""

    async def knows(self, token: str) -> bool:
        """Return whether a callback token belongs to an active subscription."""
        ...

    async def verify(self, token: str, params: Mapping[str, str]) -> str | None:
        """Return the challenge if the hub verifies a request of ours, else None."""
        ...

    async def deliver(self, token: str, body: bytes, signature: str) -> bool:
        """Record a hub's notification if its signature is valid; durable on return."""
        ...


class Arrivals:
    """Wakes stream followers. It passes no data: each follower reads the database."""

    def __init__(self) -> None:
        self._waiting: dict[asyncio.Event, int] = {}
        self.is_over = False
        """whether the service ends, so that nobody waits any more"""
        self.count = 0
        """number of arrivals"""

    def __len__(self) -> int:
        return len(self._waiting)

    def count_of(self, owner_id: int) -> int:
        """Return how many of an owner wait."""
        return sum(owner == owner_id for owner in self._waiting.values())

    def join(self, owner_id: int) -> asyncio.Event:
        """Return an event of an owner that is set at each arrival, until `leave`."""
        waiting = asyncio.Event()
        self._waiting[waiting] = owner_id
        return waiting

    def leave(self, waiting: asyncio.Event) -> None:
        """Remove a waiter."""
        self._waiting.pop(waiting, None)

    def wake(self) -> None:
        """Wake all waiters."""
        self.count += 1
        for waiting in self._waiting:
            waiting.set()

    def end(self) -> None:
        """Wake all waiters for the last time."""
        self.is_over = True
        self.wake()


class InputsOutside(Protocol):
    """The inputs from outside."""

    @property
    def events(self) -> Hooks:
        """Return what accepts external events."""
        ...

    @property
    def signals(self) -> TakesSignals:
        """Return what accepts hints."""
        ...

    @property
    def hubs(self) -> Hubs:
        """Return what handles callbacks of hubs."""
        ...


class Served(Protocol):
    """A process that is served: it polls (`run.monitor`), or only serves (`run.web_only`)."""

    @property
    def clock(self) -> Clock:
        """Return the clock."""
        ...

    @property
    def store(self) -> Store:
        """Return the database."""
        ...

    @property
    def ways_in(self) -> InputsOutside:
        """Return the inputs from outside."""
        ...

    @property
    def holder(self) -> str:
        """Return the name under which this process holds the lease, "" if it polls nothing."""
        ...

    @property
    def epoch(self) -> int:
        """Return the epoch of its lease; 0 if it polls nothing."""
        ...

    @property
    def price(self) -> float | None:
        """Return the price of a poll, None if it is not known here."""
        ...


@dataclass(frozen=True, slots=True)
class Inside:
    """The running service, as far as the server needs it. `epoch` and `holder` are those of its
    lease; without a holder the process only serves.
    """

    settings: Settings
    store: Store
    clock: Clock
    hooks: Hooks
    signals: TakesSignals
    hubs: Hubs
    epoch: int
    holder: str
    arrivals: Arrivals = field(default_factory=Arrivals)
    meter: Meter = field(default_factory=Meter)

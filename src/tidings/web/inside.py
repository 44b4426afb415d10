"""The interface between the HTTP server and the service."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
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


class Told(Protocol):
    """An accepted signal: how many pages it names, and whether it is new."""

    @property
    def pages(self) -> int:
        """Return how many watched pages it names."""
        ...

    @property
    def is_new(self) -> bool:
        """Return False if its key was accepted before."""
        ...


class TakesSignals(Protocol):
    """Accepts hints that pages may have changed; implemented by `sources.signals`."""

    def find(self, urls: Collection[str]) -> Mapping[str, Collection[int]]:
        """Return the watched pages with each of these addresses."""
        ...

    def is_watched(self, page_id: int) -> bool:
        """Return whether a page is watched."""
        ...

    def is_weighed(self, page_id: int) -> bool:
        """Return whether a hint about a page has an effect."""
        ...

    async def take(self, page_ids: Collection[int], *, kind: str, at: Instant | None = None, key: str = "") -> Told:
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

    def knows(self, token: str) -> bool:
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
        self._waiting: set[asyncio.Event] = set()
        self.is_over = False
        """whether the service ends, so that nobody waits any more"""
        self.count = 0
        """number of arrivals"""

    def __len__(self) -> int:
        return len(self._waiting)

    def join(self) -> asyncio.Event:
        """Return an event that is set at each arrival, until `leave`."""
        waiting = asyncio.Event()
        self._waiting.add(waiting)
        return waiting

    def leave(self, waiting: asyncio.Event) -> None:
        """Remove a waiter."""
        self._waiting.discard(waiting)

    def wake(self) -> None:
        """Wake all waiters."""
        self.count += 1
        for waiting in self._waiting:
            waiting.set()

    def end(self) -> None:
        """Wake all waiters for the last time."""
        self.is_over = True
        self.wake()


@dataclass(frozen=True, slots=True)
class Inside:
    """The running service, as far as the server needs it. `epoch` and `holder` are those of its
    lease.
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

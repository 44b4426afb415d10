"""What the door reaches of the service behind it."""

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
    """An event that was taken: its number, and whether it is new."""

    @property
    def seq(self) -> int:
        """Return its number in the log."""
        ...

    @property
    def is_new(self) -> bool:
        """Return False if it had been taken with that key before."""
        ...


class Hooks(Protocol):
    """Takes events that come from outside; `service.outside` does."""

    async def admit(self, name: str, proves: Callable[[Secret], bool]) -> None:
        """Return if whoever brings a webhook `proves` that it has its token."""
        ...

    async def take(self, name: str, params: Mapping[str, Any], *, key: str = "") -> NumberedEvent:
        """Take an event; it is durable then."""
        ...


class Told(Protocol):
    """A signal that was taken: of how many pages it spoke, and whether it is new."""

    @property
    def pages(self) -> int:
        """Return of how many watched pages it spoke."""
        ...

    @property
    def is_new(self) -> bool:
        """Return False if it had been taken with that key before."""
        ...


class TakesSignals(Protocol):
    """Takes hints that pages may have changed; `service.signals` does."""

    def find(self, urls: Collection[str]) -> Mapping[str, Collection[int]]:
        """Return the watched pages with each of these addresses."""
        ...

    def is_watched(self, page_id: int) -> bool:
        """Say whether a page is watched."""
        ...

    def is_weighed(self, page_id: int) -> bool:
        """Say whether a hint about a page has any effect."""
        ...

    async def take(self, page_ids: Collection[int], *, kind: str, at: Instant | None = None, key: str = "") -> Told:
        """Take a hint about watched pages; it is durable then.

        Args:
            page_ids: The pages.
            kind: Which kind of hint.
            at: The instant that it speaks of (µs); None for now.
            key: Its idempotency key, empty for none.
        """
        ...


class Hubs(Protocol):
    """Hears hubs that were asked to tell; `service.websub` does."""

    def knows(self, token: str) -> bool:
        """Say whether a callback is one of ours that still wants to hear."""
        ...

    async def verify(self, token: str, params: Mapping[str, str]) -> str | None:
        """Return the challenge if a hub rightly asks whether we asked it, None if we did not."""
        ...

    async def deliver(self, token: str, body: bytes, signature: str) -> bool:
        """Take what a hub tells, if it is signed as it must be; it is durable then."""
        ...


class Arrivals:
    """Wakes those who follow the stream. Nothing is handed over by it: what there is, everybody reads in the database."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Event] = set()
        self.is_over = False
        """whether the service ends: nobody waits any more"""
        self.count = 0
        """how often something has come"""

    def __len__(self) -> int:
        return len(self._waiting)

    def join(self) -> asyncio.Event:
        """Return what is set at each arrival, until `leave`."""
        waiting = asyncio.Event()
        self._waiting.add(waiting)
        return waiting

    def leave(self, waiting: asyncio.Event) -> None:
        """Forget one who has gone."""
        self._waiting.discard(waiting)

    def wake(self) -> None:
        """Say that something is there."""
        self.count += 1
        for waiting in self._waiting:
            waiting.set()

    def end(self) -> None:
        """Say that nothing more comes."""
        self.is_over = True
        self.wake()


@dataclass(frozen=True, slots=True)
class Inside:
    """The running service, as far as the door needs it. `epoch` and `holder` are those of its lease."""

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

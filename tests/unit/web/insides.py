"""The inside of a service for tests of the web: a real database and real signals, and hooks that
only record.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tidings.clock import ManualClock
from tidings.errors import UnknownNameError
from tidings.model.event_type import EventType
from tidings.model.observed.unit import DeliveryDraft, Event, SentinelMove, Unit
from tidings.model.secret import Secret
from tidings.notification.channels import LaidOut
from tidings.notification.rendering import News, render
from tidings.notification.webhook import make_secret
from tidings.scheduling import index
from tidings.service.notify.deliver import Deliverer
from tidings.service.sentinels import register
from tidings.service.sources.signals import Signals
from tidings.service.watch.watchlist import Watchlist
from tidings.settings import ServeSettings, Settings
from tidings.storage.db import lock
from tidings.storage.db.database import open_database
from tidings.storage.watches import deliveries, endpoints
from tidings.storage.write.store import Store
from tidings.web.inside import Inside

HOLDER = "here:1"


@dataclass(frozen=True)
class Taken:
    """An accepted event."""

    seq: int
    is_new: bool


@dataclass
class Hooks:
    """One hook called `deploy`; `taken` has its events. `fault` is raised instead."""

    token: Secret = field(default_factory=lambda: Secret(make_secret()))
    taken: list[tuple[str, Mapping[str, Any], str]] = field(default_factory=list)
    fault: Exception | None = None

    async def admit(self, name: str, proves: Callable[[Secret], bool]) -> None:
        """Raise UnknownNameError unless the request proves the token."""
        if not proves(self.token) or name != "deploy":
            message = f"there is no webhook {name} with this token"
            raise UnknownNameError(message)

    async def take(self, name: str, params: Mapping[str, Any], *, key: str = "") -> Taken:
        """Record an event; a repeated key is one event."""
        if self.fault is not None:
            raise self.fault
        for place, (_, _, known) in enumerate(self.taken, 1):
            if key and key == known:
                return Taken(place, is_new=False)
        self.taken.append((name, params, key))
        return Taken(len(self.taken), is_new=True)


@dataclass
class Hubs:
    """One callback, `secret-path`; `deliveries` has what it got."""

    deliveries: list[tuple[bytes, str]] = field(default_factory=list)
    fault: Exception | None = None

    async def knows(self, token: str) -> bool:
        """Return whether the token is `secret-path`."""
        return token == "secret-path"

    async def verify(self, token: str, params: Mapping[str, str]) -> str | None:
        """Return the challenge of a known token."""
        if self.fault is not None:
            raise self.fault
        return params.get("hub.challenge") if await self.knows(token) else None

    async def deliver(self, token: str, body: bytes, signature: str) -> bool:
        """Record a delivery."""
        if self.fault is not None:
            raise self.fault
        self.deliveries.append((body, signature))
        return True


class Watched(Signals):
    """Signals about watched pages; load `watchlist` again after a new sentinel."""

    def __init__(self, store: Store, clock: ManualClock, epoch: int, reads: Collection[str]) -> None:
        self.watchlist = Watchlist(store)
        super().__init__(store, self.watchlist.pages, clock, epoch=epoch, reads=reads, on_hint=lambda _: None)


@contextlib.asynccontextmanager
async def inside(
    directory: Path,
    *,
    hooks: Hooks | None = None,
    hubs: Hubs | None = None,
    clock: ManualClock | None = None,
    **serve: Any,
) -> AsyncIterator[Inside]:
    """Yield the inside of a service that has the lease."""
    settings = replace(Settings(), data=directory, serve=ServeSettings(**serve))
    store, clock = Store(open_database(settings), gather_seconds=0), clock or ManualClock()
    now = clock.now()
    epoch = await store.write(lock.acquire_lease, lock.POLLER, HOLDER, at=now, until=now + 30_000_000)
    try:
        yield Inside(
            settings=settings,
            store=store,
            clock=clock,
            hooks=hooks or Hooks(),
            signals=Watched(store, clock, epoch, reads=index.HINTS),
            hubs=hubs or Hubs(),
            epoch=epoch,
            holder=HOLDER,
        )
    finally:
        await store.close()


async def watch(inside: Inside, name: str, notify: str = "feed, stream", more: str = "") -> int:
    """Register an enabled sentinel; return its id."""
    text = f"Create Sentinel {name} Using https://{name}.example/ Monitor all words {more} Notify by {notify}"
    done = await inside.store.write(
        lambda c: register.register(_Open(c), text, settings=inside.settings, now=inside.clock.now())  # type: ignore[arg-type]
    )
    move = SentinelMove(sentinel_id=done.made[0].id, state="enabled", at=inside.clock.now())
    await inside.store.commit([Unit(at=inside.clock.now(), epoch=inside.epoch, sentinels=(move,))])
    assert isinstance(inside.signals, Watched)
    await inside.signals.watchlist.load()
    return done.made[0].id


class _Open:
    """A database within a transaction."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def write(self, fn: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        return fn(self._connection, *arguments, **more)

    read = write


async def notify_by(inside: Inside, kind: str, sentinel_id: int, *records: Mapping[str, Any]) -> list[int]:
    """Deliver records in one message by feed or stream, like the service; return their event numbers."""
    now = inside.clock.now()
    endpoint_id = await inside.store.write(endpoints.ensure, kind, "")
    news = News(sentinel=str(records[0]["sentinel"]), scheme="", records=records, at=now)
    message = render(kind, news)
    event = Event(type=EventType.CHANGE_FOUND, at=now, sentinel_id=sentinel_id)
    (made,) = await inside.store.commit([Unit(at=now, epoch=inside.epoch, events=(event,))])
    (seq,) = made.event_seqs  # type: ignore[union-attr]
    draft = DeliveryDraft(
        endpoint_id=endpoint_id,
        sentinel_id=sentinel_id,
        content_type=message.content_type,
        body=message.body,
        due_at=now,
        first_seq=seq,
        last_seq=seq,
    )
    await inside.store.commit([Unit(at=now, epoch=inside.epoch, deliveries=(draft,))])
    (row,) = await inside.store.read(deliveries.due, now=now)
    unit = await Deliverer({kind: LaidOut()}).attempt(row, epoch=inside.epoch, now=now)
    (done,) = await inside.store.commit([unit])
    inside.arrivals.wake()
    return list(done.event_seqs)  # type: ignore[union-attr]

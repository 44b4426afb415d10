"""Presence: the processes that work on one PostgreSQL database note their roles there, for `tidings
cluster`, and prolong what they have claimed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import secrets as randomness
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from tidings.bus.buses import is_exposed
from tidings.clock import SECOND
from tidings.errors import StoreError, StoreStalledError, UsageError
from tidings.storage.db import lock

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service")
Role = Literal["all", "planner", "notifier", "web", "poller"]
ROLES: Final[tuple[Role, ...]] = ("all", "planner", "notifier", "web", "poller")
SEEN_SECONDS: Final = 60.0
SHARES: Final = 3
"""A process notes its role this many times in the length of a lease."""


def check_role(settings: Settings, role: Role) -> None:
    """Raise `UsageError` if a role needs a database that several machines can use, and there is
    none, or it leads to another machine without TLS.
    """
    if role not in {"all", "poller"} and not settings.store.url:
        message = (
            f"--role {role} needs PostgreSQL, which several processes can use: set store.url"
            " (docs/howto/many-machines.md). With the database in the data directory, `tidings serve` does everything"
        )
        raise UsageError(message)
    if role not in {"all", "poller"} and is_exposed(settings.store.url):
        message = (
            f"--role {role} needs TLS to a database on another machine: add ?sslmode=verify-full to store.url"
            " (docs/howto/many-machines.md)"
        )
        raise UsageError(message)


def name_process() -> str:
    """Return a unique name of this process."""
    return f"{platform.node()}:{os.getpid()}:{randomness.token_hex(4)}"


def length_of(settings: Settings) -> Duration:
    """Return the length of a lease."""
    return round(settings.serve.lease_seconds * SECOND)


class SeenPollers:
    """The pollers that have taken a check from this process lately."""

    def __init__(self) -> None:
        self._seen: dict[str, float] = {}
        self.taken: Counter[str] = Counter()
        """how many checks each has taken"""

    def note(self, name: str) -> None:
        """Note that a poller has taken a check."""
        self.taken[name] += 1
        self._seen[name] = time.monotonic()

    def list_recent(self) -> list[str]:
        """Return the pollers that took one within a minute."""
        since = time.monotonic() - SEEN_SECONDS
        self._seen = {name: at for name, at in self._seen.items() if at >= since}
        return sorted(self._seen)


class Presence:
    """The notes of one process.

    Args:
        store: The database.
        role: The role of the process.
        holder: Its unique name.
        length: How long it counts as working without another note (µs).
        pollers: The pollers that work for it; None: it has none.
    """

    def __init__(
        self,
        store: Store,
        role: str,
        holder: str,
        length: Duration,
        pollers: SeenPollers | None = None,
    ) -> None:
        self._store = store
        self._role = role
        self._holder = holder
        self._length = length
        self.pollers = pollers or SeenPollers()
        self.write_note: Callable[[], Mapping[str, Any]] = dict
        """returns what the process has counted"""
        self.next_due: Instant | None = 0

    async def due(self, now: Instant) -> list[Coroutine[Any, Any, None]]:
        """Return the note to be made, if one is due."""
        if self.next_due is None or now < self.next_due:
            return []
        self.next_due = now + self._length // SHARES
        return [self.note()]

    async def note(self) -> None:
        """Note that this process works, and the pollers that work for it. If the database refuses,
        e.g. because its disk is full, log that; the process continues, and the next note comes in
        time.
        """
        try:
            pollers, counts = self.pollers.list_recent(), self.write_note()
            await self._store.write(_note, self._role, self._holder, pollers, length=self._length, counts=counts)
        except StoreStalledError as error:
            log.warning("`tidings cluster` may not list this process: %s", error)

    async def end(self) -> None:
        """Delete the notes and release the claims. If the database refuses, they end later."""
        with contextlib.suppress(StoreError):
            await self._store.write(lock.retire, self._holder)


def _note(
    c: Connection, role: str, holder: str, pollers: Iterable[str], *, length: Duration, counts: Mapping[str, Any]
) -> None:
    lock.enrol(c, role, holder, length=length, note=counts)
    for name in pollers:
        lock.enrol(c, "poller", name, length=length)


@contextlib.asynccontextmanager
async def present(store: Store, role: str, settings: Settings) -> AsyncIterator[Presence]:
    """Yield the presence of a process with a name of its own, which ends with the context."""
    presence = Presence(store, role, name_process(), length_of(settings))
    await presence.note()
    try:
        yield presence
    finally:
        await presence.end()

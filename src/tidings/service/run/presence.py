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
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Any, Final, Literal

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
    none.
    """
    if role not in {"all", "poller"} and not settings.store.url:
        message = (
            f"--role {role} needs PostgreSQL, which several processes can use: set store.url"
            " (docs/howto/many-machines.md). With the database in the data directory, `tidings serve` does everything"
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

    def note(self, name: str) -> None:
        """Note that a poller has taken a check."""
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
        list_pollers: Returns the pollers that have worked for it lately.
    """

    def __init__(
        self,
        store: Store,
        role: str,
        holder: str,
        length: Duration,
        *,
        list_pollers: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self._store = store
        self._role = role
        self._holder = holder
        self._length = length
        self._list_pollers = list_pollers
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
            await self._store.write(_note, self._role, self._holder, [*self._list_pollers()], length=self._length)
        except StoreStalledError as error:
            log.warning("`tidings cluster` may not list this process: %s", error)

    async def end(self) -> None:
        """Delete the notes and release the claims. If the database refuses, they end later."""
        with contextlib.suppress(StoreError):
            await self._store.write(lock.retire, self._holder)


def _note(c: Connection, role: str, holder: str, pollers: Iterable[str], *, length: Duration) -> None:
    lock.enrol(c, role, holder, length=length)
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

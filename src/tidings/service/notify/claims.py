"""Claims: which endpoints this process may try, where several processes send from one database.

An endpoint is claimed by a lease with an epoch before its first attempt, and released after its
last. While this process works it renews its claims (`Presence`). Those of a process that was killed
or stopped end, and another process then tries the endpoint again: so a message may be sent twice,
with the same id. The result of a late attempt is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.notification.retry import TRIED_EVERY
from tidings.record import dataclass
from tidings.storage.db import lock
from tidings.storage.watches import deliveries

if TYPE_CHECKING:
    from collections.abc import Collection

    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.unit import Claim
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.deliveries import DeliveryRow
    from tidings.storage.write.store import Store


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of one process.

    Args:
        store: The database.
        holder: The unique name of this process.
        length: How long a claim lasts unless it is renewed (µs).
    """

    store: Store
    holder: str
    length: Duration

    async def take(self, busy: Collection[int], now: Instant) -> tuple[dict[int, Claim], list[DeliveryRow]]:
        """Claim the endpoints with a due message, except those in `busy` and those that others have
        claimed. Return the claims, and the first due message of each claimed endpoint.
        """
        if not await self.store.read(_list_free, busy, self.holder, now):
            return {}, []
        return await self.store.write(_take, busy, self.holder, now, length=self.length)

    async def holds(self, claim: Claim) -> bool:
        """Return whether a claim is still the newest of its endpoint."""
        return await self.store.read(lock.is_claimed, claim)

    async def drop(self, claim: Claim) -> None:
        """Release a claim, so that any process may try the endpoint."""
        await self.store.write(lock.drop_claim, claim, self.holder)


def _list_free(c: Connection, busy: Collection[int], holder: str, now: Instant) -> list[DeliveryRow]:
    """Return the first due message of each endpoint that nobody else has claimed."""
    due = [row for row in deliveries.first_due(c, now=now, tried_every=TRIED_EVERY) if row.endpoint_id not in busy]
    taken = lock.list_claimed(c, holder) if due else set()
    return [row for row in due if row.endpoint_id not in taken]


def _take(
    c: Connection, busy: Collection[int], holder: str, now: Instant, *, length: Duration
) -> tuple[dict[int, Claim], list[DeliveryRow]]:
    """Read again what is due, while nobody else writes: another process may have sent it since."""
    free = _list_free(c, busy, holder, now)
    return lock.claim(c, [row.endpoint_id for row in free], holder, length=length), free

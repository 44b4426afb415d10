"""Send: attempt due messages, one at a time per receiver, and commit the result of each attempt.

Where other processes may send too, a receiver is claimed first (`claims`).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from tidings.clock import SECOND
from tidings.errors import ClaimLostError, StoreStalledError
from tidings.notification.retry import TRIED_EVERY
from tidings.record import replace
from tidings.storage.watches import deliveries

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from tidings.clock import Clock
    from tidings.model.interval import Instant
    from tidings.model.observed.unit import Claim, Unit
    from tidings.service.notify.claims import Claims
    from tidings.service.notify.deliver import Deliverer
    from tidings.service.watch.committer import Committer
    from tidings.storage.watches.deliveries import DeliveryRow
    from tidings.storage.write.store import Store


log = logging.getLogger("tidings.service")
MOST_IN_A_ROW: Final = 20
"""Most messages to one receiver in a row before other due messages are looked up."""


class Sending:
    """The messages to send. `next_due` is when there may be one (None: nothing waits).

    Args:
        store: The database.
        committer: Stores the results.
        deliverer: Makes the attempts.
        clock: The clock.
        epoch: The poller's epoch; 0 for a process that only sends.
        claims: The receivers claimed by this process; None: no other process sends.
    """

    def __init__(
        self,
        store: Store,
        committer: Committer,
        deliverer: Deliverer,
        clock: Clock,
        *,
        epoch: int,
        claims: Claims | None = None,
    ) -> None:
        self._store = store
        self._committer = committer
        self.deliverer = deliverer
        self._clock = clock
        self._epoch = epoch
        self._is_left = False
        self._claims = claims
        self._claimed: dict[int, Claim] = {}
        """the claims of receivers with a running attempt"""
        self._unwritten: list[tuple[Unit, DeliveryRow]] = []
        """results of attempts that could not be stored yet"""
        self.next_due: Instant | None = 0

    def leave_to_others(self) -> None:
        """Send nothing from now on: other processes do."""
        self._is_left = True
        self.next_due = None

    @property
    def is_busy(self) -> bool:
        """Return whether an attempt is running."""
        return bool(self.deliverer.in_flight)

    def wake(self) -> None:
        """Signal that there may be something to send."""
        self.next_due = None if self._is_left else 0

    def note(self, unit: Unit) -> None:
        """Record a committed unit."""
        if unit.deliveries:
            self.wake()

    async def due(self, now: Instant) -> list[Coroutine[Any, Any, None]]:
        """Return the attempts to make now."""
        if self.next_due is None or now < self.next_due:
            return []
        self.next_due = None  # new messages and freed receivers set it again
        next_due: Instant | None = 0
        try:
            due = await self._list_due(now)
            chosen = self.deliverer.choose(due)
            self.deliverer.in_flight.update(delivery.endpoint_id for delivery in chosen)
            attempts = [self._attempt(delivery) for delivery in chosen]
            if due:  # the end of an attempt checks again; if all are running, wait a second
                next_due = now + SECOND
            elif (next_due := await self._next_due(now)) is not None and self._claims is not None:
                next_due = max(next_due, now + SECOND)  # what is due is claimed by others
        finally:
            if self.next_due is None:
                self.next_due = next_due
        return attempts

    async def _list_due(self, now: Instant) -> list[DeliveryRow]:
        """Return the first due message of each receiver, as far as this process may try it."""
        if self._claims is None:
            return await self._store.read(deliveries.first_due, now=now, tried_every=TRIED_EVERY)
        claimed, due = await self._claims.take(self.deliverer.in_flight, now)
        self._claimed.update(claimed)
        return due

    async def owes(self, now: Instant) -> bool:
        """Return whether a message is due now."""
        due = await self._next_due(now)
        return due is not None and due <= now

    async def store_again(self) -> None:
        """Store the results of attempts that could not be stored. Raises `StoreStalledError` while
        that still fails.
        """
        while self._unwritten:
            unit, delivery = self._unwritten[0]
            try:
                await self._committer.write(unit)
            except ClaimLostError as error:
                log.warning("the result of message %s was refused: %s", delivery.id, error)
            del self._unwritten[0]
            await self._free(delivery.endpoint_id)

    async def _next_due(self, now: Instant) -> Instant | None:
        return await self._store.read(deliveries.next_due, now=now, tried_every=TRIED_EVERY)

    async def _attempt(self, delivery: DeliveryRow) -> None:
        """Attempt a delivery and, while its receiver accepts them, those that wait behind it."""
        begun, endpoint_id, chain = self._clock.now(), delivery.endpoint_id, [delivery]
        try:
            for _ in range(MOST_IN_A_ROW):
                was_taken = await self._attempt_one(chain[0])
                now = self._clock.now()
                if not was_taken or now - begun > SECOND:
                    break
                chain = await self._store.read(
                    deliveries.first_due, now=now, tried_every=TRIED_EVERY, endpoint_id=endpoint_id
                )
                if not chain or not await self._is_ours(endpoint_id):
                    break
        except ClaimLostError as error:
            log.warning("the result of message %s was refused: %s", chain[0].id, error)
        finally:
            if not any(endpoint_id == unwritten.endpoint_id for _, unwritten in self._unwritten):
                await self._free(endpoint_id)

    async def _is_ours(self, endpoint_id: int) -> bool:
        """Return whether this process may still try a receiver."""
        claim = self._claimed.get(endpoint_id)
        return self._claims is None or (claim is not None and await self._claims.holds(claim))

    async def _attempt_one(self, delivery: DeliveryRow) -> bool:
        """Attempt one delivery and store the result; return whether its receiver accepted it."""
        unit = await self.deliverer.attempt(delivery, epoch=self._epoch, now=self._clock.now())
        if (claim := self._claimed.get(delivery.endpoint_id)) is not None:
            unit = replace(unit, claim=claim)
        try:
            await self._committer.write(unit)
        except StoreStalledError:
            self._unwritten.append((unit, delivery))  # its receiver is not tried again before this is stored
            raise
        return all(result.status == "delivered" for result in unit.results)

    async def _free(self, endpoint_id: int) -> None:
        """Release a receiver for its next message, for all processes that send."""
        claim = self._claimed.pop(endpoint_id, None)
        try:
            if self._claims is not None and claim is not None:
                await self._claims.drop(claim)
        finally:
            self.deliverer.in_flight.discard(endpoint_id)
            self.wake()

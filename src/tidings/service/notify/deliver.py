"""Deliver: from events to deliveries to receivers, with retries that survive a restart (I-3, F-28).

Deliveries are written in the same unit as the change they report, with the bytes of every attempt.
One attempt per endpoint at a time, in order of numbers per sentinel: while one waits for its retry,
later ones wait too. Retries have the same id.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tidings.clock import DAY
from tidings.errors import SecretError
from tidings.model.event_type import EventType
from tidings.model.observed.unit import DeliveryResult, Event, Unit
from tidings.notification.addresses import mask_address
from tidings.notification.channel import Message, Refused, Sender, Sent
from tidings.notification.retry import PATIENT_ATTEMPTS, judge_endpoint, next_attempt
from tidings.record import dataclass, replace
from tidings.service.notify.receivers import judge_receiver

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.service.watch.watchlist import WatchedSentinel
    from tidings.storage.watches.deliveries import DeliveryRow

STREAMED = EventType.STREAM_RECORD
"""The event that puts a record on the stream; `data` has the delivery and the line."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of one attempt at a delivery. `number` counts attempts; one made ahead of its time
    is not counted (None).
    """

    delivery: DeliveryRow
    answer: Sent | Refused
    number: int | None
    at: Instant
    is_awaited: bool = False
    """whether a rule waits for the end of the delivery"""
    users: tuple[WatchedSentinel, ...] = ()
    """the sentinels that notify the endpoint, where its owner may have to be notified"""

    @property
    def is_held(self) -> bool:
        """Return whether later messages of its sentinel wait for it."""
        return isinstance(self.answer, Refused) and self.answer.retry and self.answer.holds


async def _await_nothing(sentinel_id: int, endpoint_id: int) -> bool:  # noqa: ARG001 - nobody waits
    return False


async def _name_nobody(delivery: DeliveryRow) -> Iterable[WatchedSentinel]:  # noqa: ARG001 - nothing is watched
    return ()


class Deliverer:
    """Sends due deliveries.

    Args:
        senders: The senders, by kind of endpoint.
        disable_after: How long an endpoint may fail before it is switched off (µs).
        rng: Spreads retries.
        awaits: Returns whether a rule of a sentinel waits for a message to an endpoint.
        following: Returns what waits behind a delivery, None if nothing does.
        users_of: Returns the sentinels watched now, at least those that notify the endpoint of a
            delivery.
        address_of: Returns the real address for an endpoint's stored one. Raises `SecretError` for
            a secret that cannot be decrypted.
    """

    def __init__(
        self,
        senders: Mapping[str, Sender],
        *,
        disable_after: Instant = 5 * DAY,
        rng: random.Random | None = None,
        awaits: Callable[[int, int], Awaitable[bool]] = _await_nothing,
        following: Callable[[DeliveryRow, Instant], Awaitable[DeliveryRow | None]] | None = None,
        users_of: Callable[[DeliveryRow], Awaitable[Iterable[WatchedSentinel]]] = _name_nobody,
        address_of: Callable[[str], Awaitable[str]] | None = None,
    ) -> None:
        self._senders = senders
        self._address_of = address_of
        self._awaits = awaits
        self._following = following
        self._disable_after = disable_after
        self._rng = rng or random.Random()
        self._users_of = users_of
        self.in_flight: set[int] = set()
        """endpoints with a running attempt"""

    def choose(self, due: Sequence[DeliveryRow]) -> list[DeliveryRow]:
        """Return the first due delivery of each endpoint without a running attempt."""
        return [delivery for delivery in due if delivery.endpoint_id not in self.in_flight]

    async def attempt(self, delivery: DeliveryRow, *, epoch: int, now: Instant) -> Unit:
        """Make one attempt and return its unit.

        If a delivery failed so often that its message may be at fault, the next one of its sentinel
        is tried too: if the receiver accepts or rejects that one, the first no longer blocks
        others.
        """
        tried = await self._try(delivery, now)
        unit = self._unit(tried, epoch=epoch)
        if not tried.is_held or delivery.attempt < PATIENT_ATTEMPTS or self._following is None:
            return unit
        if unit.endpoints[0].held_until is not None or unit.results[0].status == "dead":
            return unit
        behind = await self._following(delivery, now)
        if behind is None:
            return unit
        second = await self._try(behind, now)
        if second.is_held:
            return unit
        passed = (replace(unit.results[0], holds=False),)
        other = self._unit(second, epoch=epoch)
        return replace(
            other, results=(*passed, *other.results), endpoints=(*unit.endpoints, *other.endpoints), events=other.events
        )

    async def _try(self, delivery: DeliveryRow, now: Instant) -> Attempt:
        number = None if delivery.due_at > now else delivery.attempt + 1
        try:
            address = delivery.address if self._address_of is None else await self._address_of(delivery.address)
        except SecretError as error:
            users = tuple(await self._users_of(delivery))
            return Attempt(delivery, Refused(reason=str(error)), number, now, users=users)
        message = Message(
            id=delivery.id,
            address=address,
            subject=delivery.subject,
            content_type=delivery.content_type,
            body=delivery.body,
            attempt=delivery.attempt + 1,
            sent_at=now,
            sequence=delivery.last_seq,
            sentinel=delivery.sentinel,
            thread=str(delivery.sentinel_id),
        )
        answer = await self._senders[delivery.kind].send(message)
        is_awaited = await self._awaits(delivery.sentinel_id, delivery.endpoint_id)
        is_news = isinstance(answer, Refused) or delivery.noticed
        users = tuple(await self._users_of(delivery)) if is_news else ()
        return Attempt(delivery, answer, number, now, is_awaited, users)

    def _unit(self, tried: Attempt, *, epoch: int) -> Unit:
        """Return the unit of an attempt: its result, the endpoint's state, and the notices for
        users.
        """
        delivery, answer, now = tried.delivery, tried.answer, tried.at
        result = self._result(tried)
        is_dead = result.status == "dead"
        move = judge_endpoint(
            delivery.endpoint_id,
            answer,
            attempt=result.attempt,
            now=now,
            failing_since=delivery.failing_since,
            disable_after=self._disable_after,
        )
        events: tuple[Event, ...] = (_dead_letter(delivery, result, now),) if is_dead else ()
        move, notices, drafts = judge_receiver(delivery, move, tried.users, is_dead=is_dead, place=len(events), at=now)
        events += notices
        if result.status != "waiting" and tried.is_awaited:
            events += (_note_done(delivery, now),)
        if result.status == "delivered":
            events += tuple(_stream(delivery, now))
        return Unit(at=now, epoch=epoch, results=(result,), endpoints=(move,), events=events, deliveries=drafts)

    def _result(self, tried: Attempt) -> DeliveryResult:
        delivery, answer, now = tried.delivery, tried.answer, tried.at
        number = delivery.attempt if tried.number is None else tried.number
        if isinstance(answer, Sent):
            number = delivery.attempt + 1
            return DeliveryResult(delivery_id=delivery.id, status="delivered", attempt=number, at=now)
        again: Instant | None = delivery.due_at
        if not answer.retry:
            again, number = None, delivery.attempt + 1
        elif tried.number is not None:
            jitter = self._rng.uniform(-1, 1)
            again = next_attempt(number, now=now, jitter=jitter, retry_after=answer.retry_after)
        return DeliveryResult(
            delivery_id=delivery.id,
            status="dead" if again is None else "waiting",
            attempt=number,
            at=now,
            due_at=again,
            error=answer.reason,
            holds=answer.holds,
        )


def _note_done(delivery: DeliveryRow, now: Instant) -> Event:
    """Return the event that releases messages waiting for this one."""
    data = {"endpoint": delivery.endpoint_id, "last": delivery.last_seq}
    return Event(type=EventType.DELIVERY_DONE, at=now, sentinel_id=delivery.sentinel_id, data=data)


def _dead_letter(delivery: DeliveryRow, result: DeliveryResult, now: Instant) -> Event:
    address = mask_address(delivery.kind, delivery.address)
    data = {"delivery": delivery.id, "endpoint": delivery.endpoint_id, "address": address, "reason": result.error}
    return Event(type=EventType.DELIVERY_DEAD, at=now, sentinel_id=delivery.sentinel_id, data=data)


def _stream(delivery: DeliveryRow, now: Instant) -> Iterator[Event]:
    """Yield an event for each record put on the stream: its number is the position there, in commit
    order.
    """
    if delivery.kind == "stream":
        for line in range(delivery.body.count(b"\n")):
            data = {"delivery": delivery.id, "line": line}
            yield Event(type=STREAMED, at=now, sentinel_id=delivery.sentinel_id, data=data)

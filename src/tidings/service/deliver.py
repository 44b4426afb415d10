"""Deliver: from events to deliveries, from deliveries to people, with retries that survive a restart (trust.md §1).

Deliveries are written in the same unit as the change they tell of, with the bytes that every attempt sends. One attempt an endpoint at a
time, oldest first; the id stays the same over retries.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tidings.clock import DAY
from tidings.model.unit import DeliveryDraft, DeliveryResult, EndpointMove, Event, Unit
from tidings.notification.channel import Message, Refused, Sender
from tidings.notification.retry import judge_endpoint, next_attempt
from tidings.notification.secrecy import shown
from tidings.service.news import draft, is_notice, notices_of
from tidings.service.records import NOTICES, change_record, notice_record

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.model.unit import ChangeRow
    from tidings.service.watchlist import WatchedPage, WatchedSentinel
    from tidings.storage.deliveries import DeliveryRow
    from tidings.storage.instance import Instance

STREAMED = "stream.record"
"""A record is on the stream from here on; `data` says which delivery's and which line of it."""


class Teller:
    """Writes what is told at once; the rest waits for rules (`telling`). `instance` makes ids that no other installation makes."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance

    def drafts(
        self, page: WatchedPage, found: Sequence[ChangeRow], told: Sequence[Event], *, at: Instant
    ) -> tuple[DeliveryDraft, ...]:
        """Return the deliveries of the clauses that tell each change by itself: one per endpoint and change.

        `told` are the unit's events, among them one for each change.
        """
        places = {event.change_id: place for place, event in enumerate(told) if event.change_id is not None}
        made: list[DeliveryDraft] = []
        for row in found:
            owner = page.subscriptions[row.subscription_id].owner
            made += self.of_change(row, owner, page.identity.given, place=places[row.id], at=at)
        return (*made, *self._notices(page, told, at))

    @staticmethod
    def of_change(row: ChangeRow, owner: WatchedSentinel, url: str, *, place: int, at: Instant) -> list[DeliveryDraft]:
        """Return the deliveries that tell a change by itself, its event at `place` of the unit; none for a quiet one."""
        if row.quiet:
            return []
        record = change_record(row, sentinel=owner.row.name, url=url)
        return [draft(target, owner, [record], at, events=(place,)) for target in owner.at_once()]

    @staticmethod
    def _notices(page: WatchedPage, told: Sequence[Event], at: Instant) -> Iterator[DeliveryDraft]:
        """Yield what is told beside changes: to each sentinel on the page, or to the one whose comparison it was."""
        owners = {sub.row.sentinel_id: sub.owner for sub in page.subscriptions.values()}
        for place, event in enumerate(told):
            if event.type not in NOTICES:
                continue
            for owner in owners.values():
                if is_notice(event, owner):
                    record = notice_record(event, sentinel=owner.row.name, url=page.identity.given)
                    targets = owner.at_once() if event.type in notices_of(owner) else owner.error_targets()
                    for target in targets:
                        yield draft(target, owner, [record], at, events=(place,))


class Deliverer:
    """Sends what is due."""

    def __init__(
        self,
        senders: Mapping[str, Sender],
        *,
        disable_after: Instant = 5 * DAY,
        rng: random.Random | None = None,
        awaits: Callable[[int, int], bool] = lambda sentinel_id, endpoint_id: False,  # noqa: ARG005 - nobody waits
    ) -> None:
        self._senders = senders
        self._awaits = awaits
        self._disable_after = disable_after
        self._rng = rng or random.Random()
        self.in_flight: set[int] = set()
        """endpoints with an attempt under way"""

    def choose(self, due: Sequence[DeliveryRow]) -> list[DeliveryRow]:
        """Return of the first due deliveries, one an endpoint, those whose endpoint has no attempt under way."""
        return [delivery for delivery in due if delivery.endpoint_id not in self.in_flight]

    async def attempt(self, delivery: DeliveryRow, *, epoch: int, now: Instant) -> Unit:
        """Try once and return what came of it."""
        message = Message(
            id=delivery.id,
            address=delivery.address,
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
        move = judge_endpoint(
            delivery.endpoint_id,
            answer,
            now=now,
            failing_since=delivery.failing_since,
            disable_after=self._disable_after,
        )
        if isinstance(answer, Refused):
            return self._refused(delivery, answer, move, epoch=epoch, now=now)
        result = DeliveryResult(delivery_id=delivery.id, status="delivered", attempt=message.attempt, at=now)
        told = (*self._done(delivery, now), *_streamed(delivery, now))
        return Unit(at=now, epoch=epoch, results=(result,), endpoints=(move,), events=told)

    def _done(self, delivery: DeliveryRow, now: Instant) -> tuple[Event, ...]:
        """Return the event that lets news go on that waited for a message under way; few wait so."""
        if not self._awaits(delivery.sentinel_id, delivery.endpoint_id):
            return ()
        data = {"endpoint": delivery.endpoint_id, "last": delivery.last_seq}
        return (Event(type="delivery.done", at=now, sentinel_id=delivery.sentinel_id, data=data),)

    def _refused(self, delivery: DeliveryRow, answer: Refused, move: EndpointMove, *, epoch: int, now: Instant) -> Unit:
        attempt = delivery.attempt + 1
        again = (
            next_attempt(attempt, now=now, jitter=self._rng.uniform(-1, 1), retry_after=answer.retry_after)
            if answer.retry
            else None
        )
        result = DeliveryResult(
            delivery_id=delivery.id,
            status="waiting" if again is not None else "dead",
            attempt=attempt,
            at=now,
            due_at=again,
            error=answer.reason,
        )
        told: tuple[Event, ...] = ()
        if again is None or not move.enabled:
            data = {
                "delivery": delivery.id,
                "address": shown(delivery.kind, delivery.address),
                "reason": answer.reason,
                "endpoint_off": not move.enabled,
            }
            told = (
                Event(
                    type="delivery.dead" if again is None else "endpoint.off",
                    at=now,
                    sentinel_id=delivery.sentinel_id,
                    data=data,
                ),
            )
        if again is None:
            told += self._done(delivery, now)
        return Unit(at=now, epoch=epoch, results=(result,), endpoints=(move,), events=told)


def _streamed(delivery: DeliveryRow, now: Instant) -> Iterator[Event]:
    """Yield an event for each record that is laid out on the stream: its number is the place there, in the order of commits."""
    if delivery.kind == "stream":
        for line in range(delivery.body.count(b"\n")):
            data = {"delivery": delivery.id, "line": line}
            yield Event(type=STREAMED, at=now, sentinel_id=delivery.sentinel_id, data=data)

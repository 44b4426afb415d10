"""Deliver: from events to deliveries, from deliveries to people, with retries that survive a restart (trust.md §1).

Deliveries are written in the same unit as the change they tell of, with the bytes that every attempt sends. One attempt an endpoint at a
time, oldest first; the id stays the same over retries.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tidings.clock import DAY
from tidings.detection.states import watches_state
from tidings.model.unit import DeliveryDraft, DeliveryResult, EndpointMove, Event, Timer, Unit
from tidings.notification.channel import Message, Refused, Sender
from tidings.notification.rendering import News, render
from tidings.notification.retry import judge_endpoint, next_attempt
from tidings.notification.secrecy import shown
from tidings.service.records import NOTICES, STATES, Record, change_record, notice_record
from tidings.storage import changes, events, pages, subscriptions

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.model.unit import ChangeRow
    from tidings.service.watchlist import Target, WatchedPage, WatchedSentinel
    from tidings.storage.connection import Connection
    from tidings.storage.deliveries import DeliveryRow
    from tidings.storage.instance import Instance
    from tidings.storage.store import Store

Records = list[Record]


class Teller:
    """Writes what is to be told. `instance` makes ids that no other installation makes."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance

    def drafts(
        self, page: WatchedPage, found: Sequence[ChangeRow], told: Sequence[Event], *, at: Instant
    ) -> tuple[DeliveryDraft, ...]:
        """Return the deliveries of the immediate Notify clauses: one per endpoint and change.

        `told` are the unit's events, among them one for each change.
        """
        places = {event.change_id: place for place, event in enumerate(told) if event.change_id is not None}
        made: list[DeliveryDraft] = []
        for row in found:
            owner = page.subscriptions[row.subscription_id].owner
            record = change_record(row, sentinel=owner.row.name, url=page.identity.given)
            for target in _targets(owner):
                draft = _draft(target, owner, [record], at)
                made.append(replace(draft, events=(places[row.id],)))
        return (*made, *self._notices(page, told, at))

    @staticmethod
    def _notices(page: WatchedPage, told: Sequence[Event], at: Instant) -> Iterator[DeliveryDraft]:
        """Yield what is told beside changes: to each sentinel on the page, or to the one whose comparison it was."""
        owners = {sub.row.sentinel_id: sub.owner for sub in page.subscriptions.values()}
        for place, event in enumerate(told):
            if event.type not in NOTICES:
                continue
            for sentinel_id, owner in owners.items():
                is_change = event.type in STATES and watches_state(owner.sentinel.monitor)
                if event.sentinel_id in {None, sentinel_id} and not is_change:
                    record = notice_record(event, sentinel=owner.row.name, url=page.identity.given)
                    for target in _targets(owner):
                        yield replace(_draft(target, owner, [record], at), events=(place,), changes=0)


def _targets(owner: WatchedSentinel) -> dict[Target, None]:
    return dict.fromkeys(target for _, _, targets in owner.told("immediate") for target in targets)


def _draft(target: Target, owner: WatchedSentinel, records: Records, at: Instant) -> DeliveryDraft:
    news = News(sentinel=owner.row.name, address=target.address, records=records, at=at)
    message = render(target.kind, news)
    return DeliveryDraft(
        endpoint_id=target.endpoint_id,
        sentinel_id=owner.row.id,
        content_type=message.content_type,
        body=message.body,
        due_at=at,
        subject=message.subject,
        changes=len(records),
    )


def digest_targets(held: WatchedSentinel, place: int) -> tuple[Target, ...]:
    """Return where the digest of a Notify clause goes.

    Where the sentinel was altered and that clause is another now, what had gathered goes to whoever is told at all.
    """
    by_place = {p: targets for p, _, targets in held.told("every")}
    everybody = [*by_place.values(), *(targets for _, _, targets in held.told("immediate"))]
    return by_place.get(place, tuple(dict.fromkeys(target for targets in everybody for target in targets)))


def following(due: Instant, interval: Duration, now: Instant) -> Instant:
    """Return the next tick of a digest after `now`, in phase with the one that was due."""
    return due + interval * max(1, -(-(now - due + 1) // interval))


async def digest(
    store: Store, held: WatchedSentinel, timer: Timer, *, place: int, at: Instant, epoch: int, then: Instant | None
) -> Unit:
    """Return the unit of one tick of an `Every DURATION` clause: what has gathered, told once; `then` is the next tick, None for the last.

    Nothing gathered, nothing told.
    """
    gathered, upto = await store.read(_gathered, held, int(timer.data["after"]))
    made: tuple[DeliveryDraft, ...] = ()
    if gathered:
        records: Records = [record for _, record in gathered]
        found = sum(record["record"] == "change" for record in records)
        made = tuple(
            replace(
                _draft(target, held, records, at), first_seq=gathered[0][0], last_seq=gathered[-1][0], changes=found
            )
            for target in digest_targets(held, place)
        )
    moved = Timer(kind=timer.kind, ref=held.row.id, due_at=then, data={"after": upto})
    return Unit(at=at, epoch=epoch, deliveries=made, timers=(moved,))


def _gathered(connection: Connection, held: WatchedSentinel, after: int) -> tuple[list[tuple[int, Record]], int]:
    """Return the (number, record) of all that a sentinel has to tell since event `after`, and the newest event's number."""
    upto = events.last_seq(connection)
    name = held.row.name
    told = [
        (row.event_seq or 0, change_record(row.row, sentinel=name, url=row.url))
        for row in changes.for_events(connection, after + 1, upto, held.row.id)
    ]
    urls = {
        s.page_id: pages.identity(connection, s.page_id).given
        for s in subscriptions.listing(connection, sentinel_id=held.row.id)
    }
    for event in events.listing(connection, after=after, types=NOTICES):
        if event.page_id in urls and event.sentinel_id in {None, held.row.id} and event.seq <= upto:
            told.append((event.seq, notice_record(event, sentinel=name, url=urls[event.page_id])))
    return sorted(told, key=lambda pair: pair[0]), upto


class Deliverer:
    """Sends what is due."""

    def __init__(
        self, senders: Mapping[str, Sender], *, disable_after: Instant = 5 * DAY, rng: random.Random | None = None
    ) -> None:
        self._senders = senders
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
        return Unit(at=now, epoch=epoch, results=(result,), endpoints=(move,))

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
        return Unit(at=now, epoch=epoch, results=(result,), endpoints=(move,), events=told)

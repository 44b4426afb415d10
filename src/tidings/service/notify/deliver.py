"""Deliver: from events to deliveries to receivers, with retries that survive a restart (I-3, F-28).

Deliveries are written in the same unit as the change they report, with the bytes of every attempt.
One attempt per endpoint at a time, in order of numbers per sentinel: while one waits for its retry,
later ones wait too. Retries have the same id.

An owner is notified once per failure of an endpoint: at the first dead letter, after an hour
without an accepted message, when it is switched off, or when nothing can be sent because this
installation lacks a key or a setting; and once more when it works again. The
message goes to the other endpoints of the sentinels that use this one, one message to each. If
there is none, the log of `serve`, `list`, `show` and `doctor` report it.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tidings.clock import DAY, SECOND
from tidings.errors import (
    ClaimLostError,
    SecretError,
    StaleEpochError,
    StoreError,
    StoreStalledError,
    UnitError,
)
from tidings.model.event_type import EventType
from tidings.model.observed.unit import DeliveryDraft, DeliveryResult, EndpointMove, Event, Unit
from tidings.model.watch.notifying import secret_of
from tidings.notification.addresses import mask_address
from tidings.notification.channel import LOCAL, Message, Refused, Sender, Sent
from tidings.notification.retry import PATIENT_ATTEMPTS, SILENT, TRIED_EVERY, judge_endpoint, next_attempt
from tidings.record import dataclass, replace
from tidings.service.notify.news import draft
from tidings.service.show.records import problem_record, rfc3339, spell_gap
from tidings.service.watch.holds import HOLD_AFTER_FAULT, FaultHolds
from tidings.storage.watches import deliveries

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from tidings.clock import Clock
    from tidings.model.interval import Instant
    from tidings.model.observed.unit import Claim
    from tidings.service.notify.claims import Claims
    from tidings.service.show.notices import NoticeEvent
    from tidings.service.show.records import Record
    from tidings.service.watch.committer import Committer
    from tidings.service.watch.watchlist import NotifyTarget, WatchedSentinel
    from tidings.storage.watches.deliveries import DeliveryRow
    from tidings.storage.write.store import Store

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
    users: tuple[WatchedSentinel, ...] | None = ()
    """the sentinels that notify the endpoint, where its owner may have to be notified; None if they
    cannot be read
    """

    @property
    def blocks_later(self) -> bool:
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
        address_of: Returns the real address for a stored one that refers to a secret. Raises
            `SecretError` for a secret that cannot be decrypted.
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
        if not tried.blocks_later or delivery.attempt < PATIENT_ATTEMPTS or self._following is None:
            return unit
        if unit.endpoints[0].paused_until is not None or unit.results[0].status == "dead":
            return unit
        try:
            behind = await self._following(delivery, now)
            second = None if behind is None else await self._try(behind, now)
        except StoreError as error:  # the first message left: its result is stored
            log.error("the message behind %s was not tried: %s", delivery.id, error)  # noqa: TRY400 - the text says all
            return unit
        if second is None or second.blocks_later:
            return unit
        passed = (replace(unit.results[0], holds=False),)
        other = self._unit(second, epoch=epoch)
        return replace(
            other, results=(*passed, *other.results), endpoints=(*unit.endpoints, *other.endpoints), events=other.events
        )

    async def _try(self, delivery: DeliveryRow, now: Instant) -> Attempt:
        number = None if delivery.due_at > now else delivery.attempt + 1
        try:
            address = delivery.address
            if self._address_of is not None and secret_of(address) is not None:
                address = await self._address_of(address)
        except SecretError as error:
            users = await self._list_users(delivery)
            return Attempt(delivery, Refused(reason=str(error), is_ours=True), number, now, users=users)
        # what is read before is not missed after: then the message would be sent again
        is_awaited = await self._awaits(delivery.sentinel_id, delivery.endpoint_id)
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
        answer = await self._send(delivery.kind, message)
        is_news = isinstance(answer, Refused) or delivery.noticed
        users = await self._list_users(delivery) if is_news else ()
        return Attempt(delivery, answer, number, now, is_awaited, users)

    async def _send(self, kind: str, message: Message) -> Sent | Refused:
        """Send a message. An error of the sender is stored as an answer, and the receiver rests."""
        try:
            return await self._senders[kind].send(message)
        except Exception as error:  # any error is that of the attempt, shown to its owner
            log.exception("a fault of Tidings while message %s was sent", message.id)
            reason = f"a fault of Tidings, described in its log: {type(error).__name__}"
            return Refused(reason=reason, retry_after=HOLD_AFTER_FAULT)

    async def _list_users(self, delivery: DeliveryRow) -> tuple[WatchedSentinel, ...] | None:
        """Return the sentinels that notify the endpoint of a delivery, None if unreadable."""
        try:
            return tuple(await self._users_of(delivery))
        except Exception as error:  # the message left: its result is stored in any case
            is_known = isinstance(error, StoreError)
            log.error("the users of the receiver of message %s: %s", delivery.id, error, exc_info=not is_known)  # noqa: TRY400 - a StoreError says all
            return None

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
            tried_at=delivery.tried_at,
            made_at=delivery.created_at,
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
        if answer.is_ours:  # the endpoint is paused: its messages stay in order
            number = delivery.attempt
        elif not answer.retry:
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


log = logging.getLogger("tidings.service")
FAILING = EventType.ENDPOINT_FAILING
OFF = EventType.ENDPOINT_OFF
OK = EventType.ENDPOINT_OK


def endpoint_text(event: NoticeEvent) -> str:
    """Return the text about an endpoint that accepts nothing, or works again."""
    data = event.data
    who, since = f"{data['channel']} {data['address']}", data["since"]
    gap = f" for {spell_gap(event.at - since)}" if since is not None and since < event.at else ""
    replay = "`tidings deliveries --dead` lists what was given up, `tidings deliveries replay ID` sends it again"
    if event.type == OK:
        return f"{who} accepts messages again, after it accepted none{gap}"
    if event.type == OFF:
        return f"{who} is switched off ({data['reason']}): its messages wait until you correct it; {replay}"
    if data.get("ours"):
        return f"{who} gets no messages ({data['reason']}): they wait until you correct it"
    if data["dead"]:
        return f"{who} refused a message permanently ({data['reason']}); {replay}"
    return f"{who} has accepted no message{gap} ({data['reason']}): Tidings keeps trying for three days"


def _record(event: NoticeEvent, sentinel: str) -> Record:
    summary = endpoint_text(event)
    details = {
        "event": event.type,
        "sentinel": sentinel,
        "page": "",
        "url": "",
        "kind": event.data["channel"],
        "summary": summary,
        "since": rfc3339(event.data["since"]),
        "detected_at": rfc3339(event.at),
    }
    return problem_record(summary, where=sentinel, details=details)


def judge_receiver(
    delivery: DeliveryRow,
    move: EndpointMove,
    users: Iterable[WatchedSentinel] | None,
    *,
    is_dead: bool,
    place: int,
    at: Instant,
) -> tuple[EndpointMove, tuple[Event, ...], tuple[DeliveryDraft, ...]]:
    """Return the move with what its owner was notified of, the event of a notice and its
    messages.

    Args:
        delivery: The delivery.
        move: The endpoint's state after the attempt.
        users: The sentinels watched now that notify the endpoint, perhaps among others; None if
            they are unknown: then a later attempt notifies them.
        is_dead: Whether the attempt was the delivery's last.
        place: The event's position in its unit.
        at: When the attempt ended (µs).
    """
    if users is None:
        return replace(move, noticed=delivery.noticed), (), ()
    kind = _kind(delivery, move, is_dead=is_dead, at=at)
    noticed = not _is_accepted(move) and (kind is not None or delivery.noticed)
    move = replace(move, noticed=noticed)
    if kind is None:
        return move, (), ()
    data = {
        "endpoint": delivery.endpoint_id,
        "channel": delivery.kind,
        "address": mask_address(delivery.kind, delivery.address),
        "reason": move.reason,
        "since": move.failing_since if move.failing_since is not None else delivery.failing_since,
        "dead": is_dead,
        **({"ours": True} if move.is_ours else {}),
    }
    event = Event(type=kind, at=at, sentinel_id=delivery.sentinel_id, data=data)
    (log.info if kind == OK else log.warning)("%s", endpoint_text(event))
    made = tuple(
        draft(target, owner, [_record(event, owner.row.name)], at, events=(place,))
        for owner, target in _list_others(delivery, users)
    )
    return move, (event,), made


def _is_accepted(move: EndpointMove) -> bool:
    return move.failing_since is None and not move.is_ours


def _kind(delivery: DeliveryRow, move: EndpointMove, *, is_dead: bool, at: Instant) -> EventType | None:
    """Return the type of the due notice, None if there is nothing new to report."""
    if _is_accepted(move):
        return OK if delivery.noticed else None
    if not move.enabled:
        return OFF
    is_silent = move.failing_since is not None and at - move.failing_since >= SILENT
    is_news = is_dead or move.is_ours or is_silent
    return FAILING if is_news and not delivery.noticed else None


def _list_others(
    delivery: DeliveryRow, users: Iterable[WatchedSentinel]
) -> Iterable[tuple[WatchedSentinel, NotifyTarget]]:
    """Yield the distinct other endpoints of the sentinels that use this one, those of the
    delivery's own sentinel first.
    """
    users = sorted(
        (watched for watched in users if delivery.endpoint_id in watched.endpoints.values()),
        key=lambda watched: (watched.row.id != delivery.sentinel_id, watched.row.id),
    )
    met = {delivery.endpoint_id}
    for watched in users:
        others = [t for t in watched.error_targets() if t.endpoint_id != delivery.endpoint_id] or watched.everybody()
        for target in others:
            if target.endpoint_id not in met:
                met.add(target.endpoint_id)
                yield watched, target


MOST_IN_A_ROW: Final = 20
"""Most messages to one receiver in a row before other due messages are looked up."""


class SendQueue:
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
        """results of attempts that are not stored yet; their receivers get nothing meanwhile"""
        self._holds: FaultHolds[int] = FaultHolds()
        """receivers after a fault, by number"""
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
            await self._store_unwritten(now)
            due = await self._list_due(now)
            chosen = self.deliverer.choose(due)
            self.deliverer.in_flight.update(delivery.endpoint_id for delivery in chosen)
            attempts = [self._attempt(delivery) for delivery in chosen]
            if due:  # the end of an attempt checks again; if all are running, wait a second
                next_due = now + SECOND
            elif (next_due := await self._next_due(now)) is not None and self._claims is not None:
                next_due = max(next_due, now + SECOND)  # what is due is claimed by others
            if (end := self._holds.next_end(now)) is not None:
                next_due = end if next_due is None else min(next_due, end)
        finally:
            if self.next_due is None:
                self.next_due = next_due
        return attempts

    async def _list_due(self, now: Instant) -> list[DeliveryRow]:
        """Return the first due message of each receiver, as far as this process may try it."""
        if self._claims is None:
            due = await self._store.read(deliveries.first_due, now=now, tried_every=TRIED_EVERY)
            return [delivery for delivery in due if not self._holds.has(delivery.endpoint_id, now)]
        claimed, due = await self._claims.take({*self.deliverer.in_flight, *self._holds.list_held(now)}, now)
        self._claimed.update(claimed)
        return due

    async def owes(self, now: Instant) -> bool:
        """Return whether a message is due now, to a receiver that is not held."""
        due = None if self._is_left else await self._next_due(now)
        return due is not None and due <= now

    async def store_again(self) -> None:
        """Store the results of attempts that could not be stored. Raises `StoreStalledError` while
        that still fails.
        """
        await self._store_unwritten(self._clock.now(), even_held=True)

    async def _store_unwritten(self, now: Instant, *, even_held: bool = False) -> None:
        for one in [*self._unwritten]:
            endpoint_id = one[1].endpoint_id
            if self._holds.has(endpoint_id, now) and not even_held:
                continue
            try:
                await self._store_result(*one)
            except (StoreStalledError, StaleEpochError):
                raise
            except StoreError as error:
                log.error("the result of message %s is not stored yet: %s", one[1].id, error)  # noqa: TRY400 - the text says all
                self._holds.begin(endpoint_id, now)
                continue
            self._unwritten.remove(one)
            await self._free_written(endpoint_id)

    async def _store_result(self, unit: Unit, delivery: DeliveryRow) -> None:
        """Write the result of an attempt. If it contradicts what is stored, write it without its
        notices, and drop it if its message is gone.
        """
        try:
            await self._committer.write(unit)
        except ClaimLostError as error:
            log.warning("the result of message %s was refused: %s", delivery.id, error)
        except UnitError:
            stored = [await self._store.read(deliveries.get, result.delivery_id) for result in unit.results]
            left = tuple(r for r, row in zip(unit.results, stored, strict=True) if row is not None)
            if left:
                await self._committer.write(replace(unit, results=left, events=(), deliveries=()))

    async def _next_due(self, now: Instant) -> Instant | None:
        """Return when a message may be tried, to a receiver that is not held."""
        without = {*self._holds.list_held(now), *(delivery.endpoint_id for _, delivery in self._unwritten)}
        return await self._store.read(deliveries.next_due, now=now, tried_every=TRIED_EVERY, without=without)

    async def _attempt(self, delivery: DeliveryRow) -> None:
        """Attempt a delivery and, while its receiver accepts them, those that wait behind it."""
        begun, endpoint_id, left = self._clock.now(), delivery.endpoint_id, MOST_IN_A_ROW
        chain = [delivery]
        try:
            while chain:
                left -= len(chain)
                was_taken = await self._attempt_chain(chain, until=begun + SECOND)
                now = self._clock.now()
                if not was_taken or not left or now > begun + SECOND:
                    break
                chain = await self._store.read(
                    deliveries.first_due, now=now, tried_every=TRIED_EVERY, endpoint_id=endpoint_id, most=left
                )
                if not chain or not await self._is_ours(endpoint_id):
                    break
        except (StoreStalledError, StaleEpochError):
            raise
        except Exception:
            self._holds.begin(endpoint_id, self._clock.now())
            raise
        finally:
            await self._free_written(endpoint_id)

    async def _is_ours(self, endpoint_id: int) -> bool:
        """Return whether this process may still try a receiver."""
        claim = self._claimed.get(endpoint_id)
        return self._claims is None or (claim is not None and await self._claims.holds(claim))

    async def _attempt_chain(self, chain: Sequence[DeliveryRow], *, until: Instant) -> bool:
        """Attempt deliveries to one receiver in order, until it does not accept one; return whether
        more may be tried.

        Each result is stored before the next attempt. What this machine takes at once is stored
        together: after a crash, the console may repeat as many lines. Of a receiver that failed
        before, only the first is attempted: the others were read with that failure.
        """
        step = len(chain) if chain[0].kind in LOCAL else 1
        if chain[0].failing_since is not None:
            chain = chain[:1]
        for place in range(0, len(chain), step):
            if place and (self._clock.now() > until or not await self._is_ours(chain[place].endpoint_id)):
                return False
            if not await self._attempt_some(chain[place : place + step]):
                return False
        return True

    async def _attempt_some(self, some: Sequence[DeliveryRow]) -> bool:
        """Attempt deliveries, store the results together, and return whether all were accepted."""
        made: list[tuple[Unit, DeliveryRow]] = []
        is_taken = True
        try:
            for delivery in some:
                unit = await self.deliverer.attempt(delivery, epoch=self._epoch, now=self._clock.now())
                if (claim := self._claimed.get(delivery.endpoint_id)) is not None:
                    unit = replace(unit, claim=claim)
                made.append((unit, delivery))
                is_taken = all(result.status == "delivered" for result in unit.results)
                if not is_taken:
                    break
        finally:
            stored = await asyncio.gather(*(self._store_result(*one) for one in made), return_exceptions=True)
            self._unwritten += [
                one for one, result in zip(made, stored, strict=True) if isinstance(result, BaseException)
            ]
        for result in stored:
            if isinstance(result, BaseException):
                raise result
        return is_taken

    async def _free_written(self, endpoint_id: int) -> None:
        """Release a receiver for its next message, for all processes that send, if every result is
        stored.
        """
        if any(endpoint_id == unwritten.endpoint_id for _, unwritten in self._unwritten):
            return
        claim = self._claimed.pop(endpoint_id, None)
        try:
            if self._claims is not None and claim is not None:
                await self._claims.drop(claim)
        finally:
            self.deliverer.in_flight.discard(endpoint_id)
            self.wake()

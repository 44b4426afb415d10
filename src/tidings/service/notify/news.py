"""News: what a sentinel has to tell, read from the log of events, and the messages that tell it."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any, Protocol

from tidings.detection.kinds.states import watches_state
from tidings.model.observed.unit import DeliveryDraft
from tidings.notification.rendering import News, render
from tidings.service.show.records import NOTICES, STATES, TROUBLES, Record, change_record, notice_record
from tidings.storage.observed import pages
from tidings.storage.watches import changes, events, subscriptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import tzinfo

    from tidings.model.interval import Instant
    from tidings.model.observed.unit import ChangeRow, Event
    from tidings.model.watch.sentinel import Presentation
    from tidings.service.watch.watchlist import NotifyTarget, WatchedPage, WatchedSentinel
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow


class Happening(Protocol):
    """An event, stored or about to be."""

    @property
    def type(self) -> str:
        """Return its dotted type."""
        ...

    @property
    def data(self) -> Mapping[str, Any]:
        """Return what is said of it; one that is `quiet` is in the log only."""
        ...

    @property
    def sentinel_id(self) -> int | None:
        """Return whose it is, None for all that watch its page."""
        ...


def is_notice(event: Happening, held: WatchedSentinel) -> bool:
    """Say whether a sentinel on the page of an event tells it beside its changes; a state of the page that it monitors is a change."""
    is_change = event.type in STATES and watches_state(held.sentinel.monitor)
    is_meant = event.type in NOTICES and event.sentinel_id in {None, held.row.id} and not event.data.get("quiet")
    return is_meant and not is_change


def notices_of(held: WatchedSentinel) -> tuple[str, ...]:
    """Return the types of notices that a sentinel's Notify clauses tell; an Errors clause takes the troubles of pages to itself."""
    return tuple(kind for kind in NOTICES if kind not in TROUBLES) if held.sentinel.errors else NOTICES


def drafts(
    page: WatchedPage, found: Sequence[ChangeRow], told: Sequence[Event], *, at: Instant
) -> tuple[DeliveryDraft, ...]:
    """Return the deliveries of the clauses that tell each change by itself: one per endpoint and change; the rest waits for rules (`rates`).

    `told` are the unit's events, among them one for each change.

    Args:
        page: The page.
        found: The changes that were found.
        told: The events of the unit, among them one for each change.
        at: When the messages are made (µs).
    """
    places = {event.change_id: place for place, event in enumerate(told) if event.change_id is not None}
    made: list[DeliveryDraft] = []
    for row in found:
        owner = page.subscriptions[row.subscription_id].owner
        if not row.quiet:
            record = change_record(row, sentinel=owner.row.name, url=page.identity.given)
            made += (draft(to, owner, [record], at, events=(places[row.id],)) for to in owner.at_once())
    return (*made, *_notices(page, told, at))


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


def draft(
    target: NotifyTarget, held: WatchedSentinel, records: Sequence[Record], at: Instant, **more: Any
) -> DeliveryDraft:
    """Return a message to one recipient, made at `at` and due then if `more` does not say otherwise."""
    return draft_for(target, held.row, records, at, presentation=held.sentinel.presentation, zone=held.zone, **more)


def draft_for(
    target: NotifyTarget,
    row: SentinelRow,
    records: Sequence[Record],
    at: Instant,
    *,
    presentation: Presentation = "auto",
    zone: tzinfo = UTC,
    **more: Any,
) -> DeliveryDraft:
    """Return a message as `draft` does, of a sentinel whose text need not be known.

    Args:
        target: The receiver.
        row: The sentinel.
        records: What is said: change records and others.
        at: When the message is made (µs).
        presentation: How it is shown.
        zone: The zone of its times.
    """
    news = News(
        sentinel=row.name,
        scheme=target.scheme,
        records=records,
        at=at,
        presentation=presentation,
        zone=zone,
        wording=target.wording,
        tags=row.tags,
    )
    message = render(target.kind, news)
    given: dict[str, Any] = {"due_at": at, "changes": sum(record["record"] == "change" for record in records)}
    return DeliveryDraft(
        endpoint_id=target.endpoint_id,
        sentinel_id=row.id,
        content_type=message.content_type,
        body=message.body,
        subject=message.subject,
        **(given | more),
    )


def gather(
    connection: Connection,
    held: WatchedSentinel,
    after: int,
    upto: int,
    pauses: Sequence[tuple[Instant, Instant]] = (),
) -> list[tuple[int, Record]]:
    """Return the (number, record) of all that a sentinel's Notify clauses have to tell of the events above `after`, up to `upto`.

    What happened to its pages in `pauses` (begin, end) is none of its business: others watched them.

    Args:
        held: The sentinel.
        after: The number of the last event that was reported.
        upto: The number of the last event that counts.
        pauses: When it was disabled: begin and end (µs).
    """
    name = held.row.name
    told = [
        (row.event_seq or 0, change_record(row.row, sentinel=name, url=row.url))
        for row in changes.for_events(connection, after + 1, upto, held.row.id)
    ]
    urls = {
        sub.page_id: pages.identity(connection, sub.page_id).given
        for sub in subscriptions.listing(connection, sentinel_id=held.row.id)
    }
    told += [
        (event.seq, notice_record(event, sentinel=name, url=urls[event.page_id]))
        for event in events.listing(connection, after=after, upto=upto, types=notices_of(held))
        if event.page_id in urls
        and is_notice(event, held)
        and (event.sentinel_id is not None or not any(begun <= event.at < ended for begun, ended in pauses))
    ]
    return sorted(told, key=lambda pair: pair[0])

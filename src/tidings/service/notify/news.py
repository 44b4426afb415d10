"""News: what a sentinel has to report, read from the event log, and its messages.

Bulletins: notices about the whole service, sent once to each recipient, however many sentinels
notify them. A bulletin is about no single page: a problem of this machine's network, clock, disk or
database, or the weekly report. It ignores rates, quiet hours and caps of Notify clauses.
"""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any, Protocol

from tidings.detection.kinds.status import watches_state
from tidings.model.observed.unit import DeliveryDraft, Unit
from tidings.notification.rendering import News, render
from tidings.service.show.notices import NOTICES, STATES, TROUBLES, bulletin_record, notice_record
from tidings.service.show.records import Record, change_record
from tidings.service.watch.watchlist import NotifyTarget
from tidings.storage.observed import pages
from tidings.storage.watches import changes, deliveries, events, sentinels, subscriptions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from tidings.model.interval import Instant
    from tidings.model.observed.unit import ChangeRow, Event
    from tidings.model.watch.sentinel import Presentation
    from tidings.service.watch.watchlist import WatchedPage, WatchedSentinel, Watchlist
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
        """Return its data; a `quiet` event is in the log only."""
        ...

    @property
    def sentinel_id(self) -> int | None:
        """Return its sentinel, None for all that watch its page."""
        ...

    @property
    def page_id(self) -> int | None:
        """Return the page that it is about."""
        ...


def is_notice(event: Happening, watched: WatchedSentinel) -> bool:
    """Return whether a sentinel on the page of an event reports it beside its changes; a page state
    that it monitors is a change instead.

    Of a collection only the pages that its text names are reported as failing: the others come and
    go.
    """
    is_change = event.type in STATES and watches_state(watched.sentinel.monitor)
    is_meant = event.type in NOTICES and event.sentinel_id in {None, watched.row.id} and not event.data.get("quiet")
    is_of_many = (
        watched.sentinel.scope is not None and event.type in TROUBLES and event.page_id not in watched.first_pages
    )
    return is_meant and not is_change and not is_of_many


def notices_of(watched: WatchedSentinel) -> tuple[str, ...]:
    """Return the types of notices that a sentinel's Notify clauses report; an Errors clause takes
    over the errors of pages.
    """
    return tuple(kind for kind in NOTICES if kind not in TROUBLES) if watched.sentinel.errors else NOTICES


def drafts(
    page: WatchedPage, found: Sequence[ChangeRow], logged: Sequence[Event], *, at: Instant
) -> tuple[DeliveryDraft, ...]:
    """Return the deliveries of the clauses that report each change by itself: one per endpoint and
    change; other clauses wait for rules (`rates`).

    Args:
        page: The page.
        found: The changes that were found.
        logged: The events of the unit, including one for each change.
        at: When the messages are made (µs).
    """
    places = {event.change_id: place for place, event in enumerate(logged) if event.change_id is not None}
    made: list[DeliveryDraft] = []
    for row in found:
        owner = page.subscriptions[row.subscription_id].owner
        if not row.quiet and (targets := owner.at_once()):
            record = change_record(row, sentinel=owner.row.name, url=page.identity.given)
            made += (draft(to, owner, [record], at, events=(places[row.id],)) for to in targets)
    return (*made, *_notices(page, logged, at))


def list_texts(page: WatchedPage, found: Sequence[ChangeRow], logged: Sequence[Event]) -> tuple[tuple[int, int], ...]:
    """Return (sentinel, revision) of the texts that decide who is notified at once; arguments as
    those of `drafts`.
    """
    notices = {event.sentinel_id for event in logged if event.type in NOTICES}
    concerned = notices | {row.sentinel_id for row in found if not row.quiet}
    rows = {sub.row.sentinel_id: sub.owner.row for sub in page.subscriptions.values()}
    return tuple((id_, row.revision) for id_, row in sorted(rows.items()) if None in notices or id_ in concerned)


def _notices(page: WatchedPage, logged: Sequence[Event], at: Instant) -> Iterator[DeliveryDraft]:
    """Yield the notices beside changes: to each sentinel on the page, or to the one whose
    comparison it was.
    """
    owners = {sub.row.sentinel_id: sub.owner for sub in page.subscriptions.values()}
    for place, event in enumerate(logged):
        if event.type not in NOTICES:
            continue
        for owner in owners.values():
            if is_notice(event, owner):
                record = notice_record(event, sentinel=owner.row.name, url=page.identity.given)
                targets = owner.at_once() if event.type in notices_of(owner) else owner.error_targets()
                for target in targets:
                    yield draft(target, owner, [record], at, events=(place,))


def draft(
    target: NotifyTarget, watched: WatchedSentinel, records: Sequence[Record], at: Instant, **more: Any
) -> DeliveryDraft:
    """Return a message to one recipient, made at `at` and due then unless `more` says otherwise.

    Args:
        target: The recipient.
        watched: The sentinel.
        records: The change records or notices.
        at: When it is made and due (µs).
        more: Other fields of the draft.
    """
    return draft_for(
        target,
        watched.row,
        records,
        at,
        presentation=watched.sentinel.presentation,
        zone=watched.zone,
        web=watched.web,
        **more,
    )


def draft_for(
    target: NotifyTarget,
    row: SentinelRow,
    records: Sequence[Record],
    at: Instant,
    *,
    presentation: Presentation = "auto",
    zone: tzinfo = UTC,
    web: str = "",
    **more: Any,
) -> DeliveryDraft:
    """Return a message like `draft`, for a sentinel whose text need not be readable. A message
    about the whole service names no sentinel.

    Args:
        target: The receiver.
        row: The sentinel.
        records: Its content: change records and others.
        at: When the message is made (µs).
        presentation: Its presentation.
        zone: The time zone of its times.
        web: The address of the screens, for links; empty if there is none.
    """
    news = News(
        sentinel=row.name if any(record.get("sentinel", row.name) for record in records) else "",
        scheme=target.scheme,
        records=records,
        at=at,
        presentation=presentation,
        zone=zone,
        wording=target.wording,
        tags=row.tags,
        web=web,
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
    watched: WatchedSentinel,
    after: int,
    upto: int,
    pauses: Sequence[tuple[Instant, Instant]] = (),
) -> list[tuple[int, Record]]:
    """Return (number, record) of all that a sentinel's Notify clauses report of the events above
    `after`, up to `upto`.

    Events of its pages during `pauses` (begin, end) are skipped: others watched them.

    Args:
        watched: The sentinel.
        after: The number of the last event that was reported.
        upto: The number of the last event to report.
        pauses: When it was disabled: begin and end (µs).
    """
    name = watched.row.name
    logged = [
        (row.event_seq or 0, change_record(row.row, sentinel=name, url=row.url))
        for row in changes.for_events(connection, after + 1, upto, watched.row.id)
    ]
    urls = {
        sub.page_id: pages.identity(connection, sub.page_id).given
        for sub in subscriptions.listing(connection, sentinel_id=watched.row.id)
    }
    logged += [
        (event.seq, notice_record(event, sentinel=name, url=urls[event.page_id]))
        for event in events.listing(connection, after=after, upto=upto, types=notices_of(watched))
        if event.page_id in urls
        and is_notice(event, watched)
        and (event.sentinel_id is not None or not any(begun <= event.at < ended for begun, ended in pauses))
    ]
    return sorted(logged, key=lambda pair: pair[0])


class Bulletins:
    """Writes bulletins for the sentinels of a watchlist."""

    def __init__(self, watchlist: Watchlist) -> None:
        self._watchlist = watchlist

    def unit(
        self,
        event: Event,
        *,
        epoch: int,
        concerned: Collection[int] | None = None,
        unread: Iterable[tuple[SentinelRow, Sequence[NotifyTarget]]] = (),
    ) -> Unit:
        """Return the unit that stores an event of the whole service (`notices.BULLETINS`) and
        notifies each recipient of it.

        Args:
            event: The event of the whole service.
            epoch: The poller's epoch.
            concerned: The sentinels whose receivers are notified; None for all.
            unread: Sentinels whose text cannot be read, with their earlier receivers.
        """
        drafts = list(self.drafts(event, concerned=concerned))
        notified = {draft.endpoint_id for draft in drafts}
        for row, targets in unread:
            drafts += [
                draft_for(target, row, [bulletin_record(event)], event.at, events=(0,))
                for target in targets
                if target.endpoint_id not in notified
            ]
            notified.update(target.endpoint_id for target in targets)
        return Unit(at=event.at, epoch=epoch, events=(event,), deliveries=tuple(drafts))

    def drafts(
        self, event: Event, *, place: int = 0, concerned: Collection[int] | None = None
    ) -> Iterator[DeliveryDraft]:
        """Yield a message to each recipient of enabled sentinels; the event is at `place` in its
        unit. A problem goes to the receivers of Errors clauses, a report to those of changes.
        """
        record = bulletin_record(event)
        is_problem = record["record"] == "problem"
        notified: set[int] = set()
        for watched in self._watchlist.sentinels.values():
            if watched.row.state != "enabled" or (concerned is not None and watched.row.id not in concerned):
                continue
            for target in (watched.error_targets() if is_problem else ()) or watched.everybody():
                if target.endpoint_id not in notified:
                    notified.add(target.endpoint_id)
                    yield draft(target, watched, [record], event.at, events=(place,))


def recipients_before(
    connection: Connection, sentinel_ids: Iterable[int]
) -> list[tuple[SentinelRow, tuple[NotifyTarget, ...]]]:
    """Return sentinels with the endpoints that each has sent to."""
    return [
        (
            sentinels.get(connection, id_),
            tuple(NotifyTarget(kind, at, scheme) for at, kind, scheme in deliveries.endpoints_of(connection, id_)),
        )
        for id_ in sorted(sentinel_ids)
    ]

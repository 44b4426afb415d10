"""Receivers: handle an endpoint that accepts nothing, and notify its owner by another route (F-28).

An owner is notified once per failure of an endpoint: at the first dead letter, after an hour
without an accepted message, or when it is switched off; and once more when it works again. The
message goes to the other endpoints of the sentinels that use this one, one message to each. If
there is none, the log of `serve`, `list`, `show` and `doctor` report it.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from tidings.model.event_type import EventType
from tidings.model.observed.unit import DeliveryDraft, EndpointMove, Event
from tidings.notification.addresses import mask_address
from tidings.notification.retry import SILENT
from tidings.record import replace
from tidings.service.notify.news import draft
from tidings.service.show.records import problem_record, rfc3339, spell_gap

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidings.model.interval import Instant
    from tidings.service.show.notices import NoticeEvent
    from tidings.service.show.records import Record
    from tidings.service.watch.watchlist import NotifyTarget, WatchedSentinel
    from tidings.storage.watches.deliveries import DeliveryRow

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
    users: Iterable[WatchedSentinel],
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
        users: The sentinels watched now that notify the endpoint, perhaps among others.
        is_dead: Whether the attempt was the delivery's last.
        place: The event's position in its unit.
        at: When the attempt ended (µs).
    """
    kind = _kind(delivery, move, is_dead=is_dead, at=at)
    noticed = move.failing_since is not None and (kind is not None or delivery.noticed)
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
    }
    event = Event(type=kind, at=at, sentinel_id=delivery.sentinel_id, data=data)
    (log.info if kind == OK else log.warning)("%s", endpoint_text(event))
    made = tuple(
        draft(target, owner, [_record(event, owner.row.name)], at, events=(place,))
        for owner, target in _list_others(delivery, users)
    )
    return move, (event,), made


def _kind(delivery: DeliveryRow, move: EndpointMove, *, is_dead: bool, at: Instant) -> EventType | None:
    """Return the type of the due notice, None if there is nothing new to report."""
    if move.failing_since is None:
        return OK if delivery.noticed else None
    if not move.enabled:
        return OFF
    is_news = is_dead or at - move.failing_since >= SILENT
    return FAILING if is_news and not delivery.noticed else None


def _list_others(
    delivery: DeliveryRow, users: Iterable[WatchedSentinel]
) -> Iterable[tuple[WatchedSentinel, NotifyTarget]]:
    """Yield the distinct other endpoints of the sentinels that use this one, those of the
    delivery's own sentinel first.
    """
    users = sorted(
        (held for held in users if delivery.endpoint_id in held.endpoints.values()),
        key=lambda held: (held.row.id != delivery.sentinel_id, held.row.id),
    )
    met = {delivery.endpoint_id}
    for held in users:
        others = [t for t in held.error_targets() if t.endpoint_id != delivery.endpoint_id] or held.everybody()
        for target in others:
            if target.endpoint_id not in met:
                met.add(target.endpoint_id)
                yield held, target

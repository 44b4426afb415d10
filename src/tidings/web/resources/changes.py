"""Changes: list, read, mark as read or kept (the marks are the asker's own); their log as numbered
CloudEvents, the stored ones since a number, then new ones while the client listens; and deliveries:
messages and their receivers, of which dead letters can be sent again.

The log is sent as server-sent events or JSON lines, by the Accept header. Unlike the channel
`stream` it has every change, whether or not a clause notifies anybody of it.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET

from tidings.errors import UnknownNameError
from tidings.model.event_type import EventType
from tidings.service.health.receivers import Receiver
from tidings.service.show.records import change_record, delivery_record, rfc3339
from tidings.storage.db import instance
from tidings.storage.watches import changes, deliveries, events, inbox
from tidings.storage.watches.sentinels import is_seen
from tidings.web.api.stream import EventStream, Follower, begin_at, check_room
from tidings.web.problems import ProblemError
from tidings.web.resources.operation import after_number, foreign, moment, page

if TYPE_CHECKING:
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.deliveries import DeliveryRow
    from tidings.storage.watches.inbox import Filter, InboxItem
    from tidings.web.resources.operation import Call
    from tidings.web.resources.shapes import ChangeQuery


def record_of(item: InboxItem) -> dict[str, Any]:
    """Return a change as the API returns it."""
    change = item.change
    return {
        **change_record(change.row, sentinel=change.sentinel, url=change.url),
        "sequence": change.event_seq,
        "read": item.read_at is not None,
        "kept": item.kept_at is not None,
    }


def filter_of(call: Call, query: ChangeQuery) -> Filter:
    """Return the filter for a query."""
    return inbox.Filter(
        shown=query.shown,
        sentinel=query.sentinel,
        tag=query.tag,
        kind=query.kind,
        text=query.q.strip(),
        since=moment(query.since),
        before=query.cursor,
        viewer=call.asker.viewer,
        reader=call.asker.owner_id,
    )


async def listing(call: Call) -> Any:
    """Return changes, the newest first."""
    wanted = filter_of(call, call.query)

    def read(c: Connection) -> dict[str, Any]:
        if wanted.before and not changes.exists(c, wanted.before):
            raise foreign()
        found = inbox.listing(c, wanted, limit=call.query.limit + 1)
        return page(found, call.query.limit, record_of, lambda item: item.change.row.id)

    return await call.read(read)


def _get(c: Connection, call: Call) -> dict[str, Any]:
    item = inbox.get(c, call.get_parameter("id"), reader=call.asker.owner_id)
    if item is None:
        raise UnknownNameError("there is no such change")
    return record_of(item)


async def get(call: Call) -> Any:
    """Return a change."""
    return await call.read(_get, call)


async def mark(call: Call) -> Any:
    """Mark a change as read or kept, or undo that."""

    def write(c: Connection) -> dict[str, Any]:
        _mark(c, call, [call.get_parameter("id")])
        return _get(c, call)

    return await call.write(write)


async def mark_many(call: Call) -> Any:
    """Mark the named changes; those that the asker may not see are skipped."""

    def write(c: Connection) -> int:
        found = changes.of(c, call.body.ids)
        seen = [id_ for id_, one in found.items() if is_seen(c, one.row.sentinel_id, call.asker.viewer)]
        return _mark(c, call, seen)

    return {"marked": await call.write(write)}


async def mark_all_read(call: Call) -> Any:
    """Mark everything unread as read."""
    at, asker = call.desk.clock.wall(), call.asker
    everything = inbox.Filter(viewer=asker.viewer, reader=asker.owner_id)
    marked = await call.write(inbox.mark_all_read, everything, at=at)
    return {"marked": marked}


def _mark(c: Connection, call: Call, ids: list[str]) -> int:
    read, kept = (None if value is UNSET else value for value in (call.body.read, call.body.kept))
    at, reader = call.desk.clock.wall(), call.asker.owner_id
    return inbox.mark(c, ids, at=at, is_read=read, is_kept=kept, reader=reader)


async def list_deliveries(call: Call) -> Any:
    """Return deliveries, the newest first."""
    query = call.query

    def read(c: Connection) -> dict[str, Any]:
        if query.cursor and deliveries.get(c, query.cursor) is None:
            raise foreign()
        found = deliveries.listing(
            c,
            status=query.status or None,
            sentinel=query.sentinel or None,
            limit=query.limit + 1,
            after=query.cursor,
            viewer=call.asker.viewer,
        )
        return page(found, query.limit, delivery_record, lambda row: row.id)

    return await call.read(read)


def _find_delivery(c: Connection, id: str) -> DeliveryRow:
    if (row := deliveries.get(c, id)) is None:
        raise UnknownNameError(f"there is no delivery {id[:64]}")
    return row


async def get_delivery(call: Call) -> Any:
    """Return a delivery."""
    return delivery_record(await call.read(_find_delivery, call.get_parameter("delivery")))


async def replay(call: Call) -> Any:
    """Send a delivery again: the same bytes under the same id."""

    def write(c: Connection, id: str) -> DeliveryRow:
        return deliveries.replay(c, _find_delivery(c, id).id, call.desk.clock.wall())

    row = await call.write(write, call.get_parameter("delivery"))
    call.desk.forget_recent()
    return delivery_record(row)


async def list_receivers(call: Call) -> Any:
    """Return the receivers of sentinels, in the order of their numbers."""
    after_id = after_number(call.query.cursor, first=0)
    found = [one for one in await call.desk.receivers_for(call.asker) if one.row.id > after_id]
    return page(found, call.query.limit, Receiver.record, lambda one: one.row.id)


async def test_receiver(call: Call) -> Any:
    """Send a test message to a receiver."""
    tested = await call.desk.test_receiver(call.get_parameter("receiver"), call.asker)
    return {"channel": tested.kind, "address": tested.address, "accepted": not tested.reason, "reason": tested.reason}


TYPE: Final = "tidings.change.found.v1"
SSE: Final = "text/event-stream"
LINES: Final = "application/x-ndjson"
BATCH: Final = 100
SPAN: Final = 50_000


def cloud_event(c: Connection, seq: int, change_id: str) -> dict[str, Any] | None:
    """Return the CloudEvent (1.0) of a change, None if the change is no longer stored."""
    found = changes.get(c, change_id)
    if found is None:
        return None
    return {
        "specversion": "1.0",
        "id": found.row.id,
        "source": f"urn:tidings:{instance.load(c).id}",
        "type": TYPE,
        "subject": found.sentinel,
        "time": rfc3339(found.row.detected_at),
        "datacontenttype": "application/json",
        "sequence": str(seq),
        "data": change_record(found.row, sentinel=found.sentinel, url=found.url),
    }


def after(c: Connection, number: int, viewer: int | None) -> tuple[list[tuple[int, str]], int, bool]:
    """Return the first events above a number that an owner sees, as lines of JSON, the last number
    scanned, and whether that was all.
    """
    newest = events.last_seq(c)
    upto = min(newest, number + SPAN)
    rows = events.listing(c, after=number, upto=upto, types=(EventType.CHANGE_FOUND,), limit=BATCH)
    found = []
    for row in rows:
        if row.change_id is None or row.sentinel_id is None or not is_seen(c, row.sentinel_id, viewer):
            continue
        if (event := cloud_event(c, row.seq, row.change_id)) is not None:
            found.append((row.seq, json.dumps(event, ensure_ascii=True, separators=(",", ":"))))
    reached = rows[-1].seq if len(rows) == BATCH else max(number, upto)
    return found, reached, reached >= newest


async def stream(call: Call) -> EventStream:
    """Return the stream from the requested number or, without one, from now on."""
    newest = await call.read(events.last_seq)
    given = call.request.headers.get("last-event-id", "")
    begin = call.query.after
    if given.isascii() and given.isdecimal() and len(given) < 19:
        begin = int(given)
    if begin is not None and begin > newest:
        message = (
            f"the newest event has the number {newest}: {begin} is of another service, or of an older state of this one"
        )
        raise ProblemError(HTTPStatus.CONFLICT, message, hint="begin again: with after=0 for all stored events")
    check_room(call.desk.arrivals, call.request.state.stream_right)
    is_sse = LINES not in call.request.headers.get("accept", "")
    listener = Listener(call, newest if begin is None else begin, is_sse=is_sse, follows=call.query.follow)
    return EventStream(listener, media_type=SSE if is_sse else LINES)


class Listener(Follower):
    """One client reading the log from a number on."""

    def __init__(self, call: Call, begin: int, *, is_sse: bool, follows: bool) -> None:
        super().__init__(
            call.desk.arrivals,
            call.request.state.stream_right,
            begin=begin_at(begin) if is_sse else b"",
            heartbeat=b":\n\n" if is_sse else b"\n",
            follows=follows,
        )
        self._call = call
        self._after = begin
        self._is_sse = is_sse

    async def _read(self) -> tuple[bytes, bool]:
        number, viewer = self._after, self._call.asker.viewer
        found, self._after, is_all = await self._call.desk.readings.at(
            (number, viewer, self.arrivals.count), lambda: self._call.read(after, number, viewer)
        )
        return b"".join(self._write(seq, line) for seq, line in found), is_all

    def _write(self, seq: int, line: str) -> bytes:
        return (f"id: {seq}\nevent: {TYPE}\ndata: {line}\n\n" if self._is_sse else f"{line}\n").encode()

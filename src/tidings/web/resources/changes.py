"""Changes: list, read, mark as read or kept (the marks are the asker's own); and deliveries:
messages and their receivers, of which dead letters can be sent again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from tidings.errors import UnknownNameError
from tidings.service.show.records import change_record, delivery_record
from tidings.storage.watches import changes, deliveries, inbox
from tidings.storage.watches.sentinels import is_seen
from tidings.web.resources.operation import foreign, moment, page

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
    marked = await call.write(inbox.mark_all_read, at=at, viewer=asker.viewer, reader=asker.owner_id)
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
    call.desk.forget_health()
    return delivery_record(row)

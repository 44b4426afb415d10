"""Deliveries: messages and their receivers; dead letters can be sent again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidings.errors import UnknownNameError
from tidings.service.show.records import delivery_record
from tidings.storage.watches import deliveries
from tidings.web.resources.pages_of_lists import foreign, page

if TYPE_CHECKING:
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.deliveries import DeliveryRow
    from tidings.web.resources.operation import Call


async def listing(call: Call) -> Any:
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


def _get(c: Connection, id: str) -> DeliveryRow:
    if (row := deliveries.get(c, id)) is None:
        raise UnknownNameError(f"there is no delivery {id[:64]}")
    return row


async def get(call: Call) -> Any:
    """Return a delivery."""
    return delivery_record(await call.read(_get, call.get_parameter("delivery")))


async def replay(call: Call) -> Any:
    """Send a delivery again: the same bytes under the same id."""

    def write(c: Connection, id: str) -> DeliveryRow:
        return deliveries.replay(c, _get(c, id).id, call.desk.clock.wall())

    row = await call.write(write, call.get_parameter("delivery"))
    call.desk.forget_health()
    return delivery_record(row)

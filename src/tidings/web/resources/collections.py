"""Collections: whole sites, how far they are found, and their pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidings.service.collections.report import NO_SCOPE, page_record, report
from tidings.service.watch import by_name
from tidings.service.watch.watchlist import meaning
from tidings.storage.watches import collections
from tidings.web.resources.pages_of_lists import after_number

if TYPE_CHECKING:
    from tidings.storage.db.connection import Connection
    from tidings.web.resources.operation import Call


async def get(call: Call) -> Any:
    """Return a collection as it stands, with its pages, those that changed last first; a sentinel
    that is none has an empty scope and no pages.
    """
    offset = after_number(call.query.cursor, first=0)
    return await call.read(_read, call.get_parameter("name"), call.query.q, call.query.limit, offset)


def _read(c: Connection, name: str, text: str, limit: int, offset: int) -> dict[str, Any]:
    row = by_name.find_past(c, name)
    scope = meaning(row.text).scope or NO_SCOPE
    pages = collections.list_watched(c, row.id, text=text, limit=limit + 1, offset=offset)
    return {
        "name": row.name,
        **report(c, row.id, scope).record(),
        "items": [page_record(page) for page in pages[:limit]],
        "next": str(offset + limit) if len(pages) > limit else None,
    }

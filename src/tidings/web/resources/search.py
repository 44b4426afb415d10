"""Search over stored versions, as on the screen: only pages that the asker may see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidings.service.search import asking
from tidings.web.resources.operation import after_number, moment

if TYPE_CHECKING:
    from tidings.web.resources.operation import Call

FARTHEST = 10_000
"""Most results that can be paged through."""


async def find(call: Call) -> Any:
    """Return the results, the best first, and their counts by facet."""
    query, desk = call.query, call.desk
    offset = min(after_number(query.cursor, first=0), FARTHEST)
    wanted = asking.SearchRequest(
        text=query.q,
        site=query.site,
        sentinel=query.sentinel,
        tag=query.tag,
        kind=query.kind,
        at=moment(query.at),
        changed_since=moment(query.changed_since),
        viewer=call.asker.viewer,
        reader=call.asker.owner_id,
        limit=query.limit,
        offset=offset,
    )
    answer = await asking.ask(desk.store, desk.index, wanted, now=desk.clock.wall())
    end = offset + query.limit
    return {
        "items": [asking.record(result) for result in answer.results],
        "next": str(end) if answer.count > end and end <= FARTHEST else None,
        "count": answer.count,
        "sites": dict(answer.sites),
        "kinds": dict(answer.kinds),
        "changed_within": dict(answer.times),
        "behind": await asking.behind(desk.store, desk.index) if call.asker.sees_all else None,
    }

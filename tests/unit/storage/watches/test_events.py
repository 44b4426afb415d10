from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.stores import World
from tidings.model.event_type import EventType
from tidings.storage.db.connection import Connection
from tidings.storage.watches import events

BY_TYPE = "ix_event_type (type=?"
BY_NUMBER = "PRIMARY KEY (owner_id=? AND seq"
BY_PAGE = "ix_event_first (page_id=?)"
ASKS: dict[str, tuple[str, Callable[[Connection], Any]]] = {
    "since": (BY_TYPE, lambda c: events.since(c, EventType.SERVICE_STALLED, 5)),
    "problems": (BY_TYPE, lambda c: events.listing(c, types=(EventType.PROBLEM_UNIT,))),
    "stream": (BY_TYPE, lambda c: events.listing(c, after=3, upto=90, types=(EventType.STREAM_RECORD,), limit=5)),
    "applied": (BY_TYPE, lambda c: events.listing(c, types=(EventType.SENTINEL_APPLIED, EventType.EVENT_APPLIED))),
    "newest": (BY_TYPE, lambda c: events.newest(c, EventType.PLAN_PRICED)),
    "newest of a sentinel": (BY_TYPE, lambda c: events.newest(c, EventType.SENTINEL_ENDED, sentinel_id=1)),
    "first of a page": (BY_PAGE, lambda c: events.newest(c, EventType.PAGE_FIRST, page_id=1)),
    "media": (BY_PAGE, lambda c: events.media_of(c, 1)),
    "after a number": (BY_NUMBER, lambda c: events.listing(c, after=7, types=list(EventType))),
}


@pytest.mark.parametrize("name", ASKS)
def test_no_question_reads_the_whole_log(world: World, name: str):
    """SQLite searches by type, page or number. PostgreSQL counts rows, and is left to itself."""
    if world.database.dialect != "sqlite":
        pytest.skip("SQLite only")
    index, ask = ASKS[name]
    plans: list[str] = []

    def explain(c: Connection) -> None:
        def run(text: str, given: Any) -> Any:
            if "FROM event" in text:
                plans.extend(row[3] for row in c.rows(f"EXPLAIN QUERY PLAN {text}", **given))
            return c._run(text, given)

        ask(Connection(c.dialect, run, c._run_many))

    world.read(explain)

    searches = [plan for plan in plans if plan.startswith(("SEARCH", "SCAN"))]
    assert searches
    assert [] == [plan for plan in searches if index not in plan]

"""Subscriptions at hubs (W3C WebSub): a row for each page whose feed names one."""

from __future__ import annotations

from typing import Literal, cast

from tidings.model.interval import Instant
from tidings.record import dataclass
from tidings.storage.db.connection import Connection
from tidings.storage.db.values import plain

State = Literal["asked", "active", "refused", "leaving"]


@dataclass(frozen=True, slots=True)
class HubRow:
    """A subscription at a `hub` to the `topic` of a page. `token` is the unguessable part of the
    callback.

    `asked_at` is the last request to the hub, `until` the end of its lease, `due_at` the next
    request; `attempts` counts requests without a usable answer, `problem` is the last error (empty:
    none).
    """

    page_id: int
    hub: str
    topic: str
    token: str
    state: State
    asked_at: Instant | None = None
    until: Instant | None = None
    due_at: Instant | None = None
    attempts: int = 0
    problem: str = ""


_SELECT = (
    "SELECT page_id, hub, topic, token, state, asked_at, until, due_at, attempts, problem FROM websub ORDER BY page_id"
)
_PUT = (
    "INSERT INTO websub (page_id, hub, topic, token, state, asked_at, until, due_at, attempts, problem)"
    " VALUES (:page_id, :hub, :topic, :token, :state, :asked_at, :until, :due_at, :attempts, :problem)"
    " ON CONFLICT (page_id) DO UPDATE SET hub = excluded.hub, topic = excluded.topic, token = excluded.token, state = excluded.state,"
    " asked_at = excluded.asked_at, until = excluded.until, due_at = excluded.due_at, attempts = excluded.attempts, problem = excluded.problem"
)


def listing(c: Connection) -> list[HubRow]:
    """Return all rows, by page."""
    return [
        HubRow(page_id, hub, topic, token, cast("State", state), *rest)
        for page_id, hub, topic, token, state, *rest in c.rows(_SELECT)
    ]


def put(c: Connection, row: HubRow) -> None:
    """Store a row."""
    c.execute(
        _PUT,
        page_id=row.page_id,
        hub=plain(row.hub),
        topic=plain(row.topic),
        token=row.token,
        state=row.state,
        asked_at=row.asked_at,
        until=row.until,
        due_at=row.due_at,
        attempts=row.attempts,
        problem=plain(row.problem),
    )


def drop(c: Connection, page_id: int) -> None:
    """Delete a row."""
    c.execute("DELETE FROM websub WHERE page_id = :page_id", page_id=page_id)

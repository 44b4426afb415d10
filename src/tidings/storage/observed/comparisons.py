"""Comparisons that are pending or were given up (contracts §1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tidings.model.interval import Instant
from tidings.model.observed.unit import ComparisonRow
from tidings.storage.db.connection import Connection
from tidings.storage.db.values import plain

_SELECT = "SELECT subscription_id, page_id, from_seq, to_seq, revision, status, attempt, reason FROM comparison"
_PUT = (
    "INSERT INTO comparison (subscription_id, page_id, from_seq, to_seq, revision, status, attempt, reason, at)"
    " VALUES (:subscription_id, :page_id, :from_seq, :to_seq, :revision, :status, :attempt, :reason, :at)"
    " ON CONFLICT (subscription_id, from_seq, to_seq, revision) DO UPDATE SET status = excluded.status, attempt = excluded.attempt,"
    " reason = excluded.reason"
)
_DONE = (
    "DELETE FROM comparison WHERE subscription_id = :subscription_id AND from_seq = :from_seq AND to_seq = :to_seq"
    " AND revision = :revision"
)
# Once the newest of several versions is compared or given up, pending comparisons of earlier ones
# are deleted.
_OVERTAKEN = (
    "DELETE FROM comparison WHERE subscription_id = :subscription_id AND from_seq = :from_seq AND to_seq <= :to_seq"
    " AND revision <= :revision AND status = 'pending'"
)


def pending(c: Connection) -> list[ComparisonRow]:
    """Return the pending comparisons, the oldest first."""
    return [_to_row(row) for row in c.rows(f"{_SELECT} WHERE status = 'pending' ORDER BY at, subscription_id, to_seq")]


def list_given_up(c: Connection, *, since: Instant = 0) -> list[ComparisonRow]:
    """Return the comparisons that were given up, by subscription, pending since `since` (µs) or
    later.
    """
    text = f"{_SELECT} WHERE status = 'could_not_compare' AND at >= :since ORDER BY subscription_id, to_seq"
    return [_to_row(row) for row in c.rows(text, since=since)]


def put(c: Connection, comparisons: Sequence[ComparisonRow], *, at: Instant) -> None:
    """Store comparisons. A finished one is deleted, and with a settled one go the pending ones of
    earlier versions.
    """
    keys = ("subscription_id", "from_seq", "to_seq", "revision")
    done = [{key: getattr(row, key) for key in keys} for row in comparisons if row.status == "done"]
    settled = [{key: getattr(row, key) for key in keys} for row in comparisons if row.status != "pending"]
    owed = [
        {
            "subscription_id": row.subscription_id,
            "page_id": row.page_id,
            "from_seq": row.from_seq,
            "to_seq": row.to_seq,
            "revision": row.revision,
            "status": row.status,
            "attempt": row.attempt,
            "reason": plain(row.reason),
            "at": at,
        }
        for row in comparisons
        if row.status != "done"
    ]
    c.many(_PUT, owed)
    c.many(_DONE, done)
    c.many(_OVERTAKEN, settled)


def _to_row(row: tuple[Any, ...]) -> ComparisonRow:
    subscription_id, page_id, from_seq, to_seq, revision, status, attempt, reason = row
    return ComparisonRow(
        subscription_id=subscription_id,
        page_id=page_id,
        from_seq=from_seq,
        to_seq=to_seq,
        revision=revision,
        status=status,
        attempt=attempt,
        reason=reason,
    )

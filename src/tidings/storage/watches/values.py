"""The history of watched values: a row per change of a value, not per check."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from tidings.model.interval import ALWAYS, Instant, Period
from tidings.model.observed.version import ValueRow
from tidings.storage.db.connection import UNLIMITED, Connection, plain, select

_LAST = (
    "SELECT label, text, amount, unit, at FROM watched_value v WHERE sentinel_id = :sentinel_id AND page_id = :page_id"
    " AND at = (SELECT max(at) FROM watched_value w WHERE w.sentinel_id = v.sentinel_id AND w.page_id = v.page_id AND w.label = v.label)"
)
_ADD = (
    "INSERT INTO watched_value (sentinel_id, page_id, label, at, seq, text, amount, unit)"
    " VALUES (:sentinel_id, :page_id, :label, :at, :seq, :text, :amount, :unit)"
    " ON CONFLICT (sentinel_id, page_id, label, at) DO NOTHING"
)
_LISTING = "SELECT v.page_id, p.given, v.label, v.at, v.seq, v.text, v.amount, v.unit FROM watched_value v JOIN page p ON p.id = v.page_id"
_EXTREMES = (
    "SELECT MIN(CAST(amount AS DOUBLE PRECISION)), MAX(CAST(amount AS DOUBLE PRECISION)) FROM watched_value"
    " WHERE sentinel_id = :sentinel_id AND page_id = :page_id AND label = :label AND seq < :before AND amount <> ''"
    " AND at >= (SELECT COALESCE(MAX(at), 0) FROM watched_value WHERE sentinel_id = :sentinel_id AND page_id = :page_id"
    " AND label = :label AND seq < :before AND amount <> '' AND at <= :since)"
)
_FORGET = (
    "DELETE FROM watched_value WHERE at < :before AND EXISTS (SELECT 1 FROM watched_value w WHERE w.sentinel_id = watched_value.sentinel_id"
    " AND w.page_id = watched_value.page_id AND w.label = watched_value.label AND w.at > watched_value.at AND w.at < :before)"
)
_FORGET_ENDED = "DELETE FROM watched_value WHERE sentinel_id IN (SELECT id FROM sentinel WHERE state = 'ended' AND ended_at < :ended)"


class StoredValue(NamedTuple):
    """A value from `at` (µs) on, as it stood in version `seq` of a page; `amount` is its decimal
    number, empty for none.
    """

    page_id: int
    url: str
    label: str
    at: Instant
    seq: int
    text: str
    amount: str
    unit: str


def add(c: Connection, rows: Iterable[ValueRow]) -> None:
    """Store values that differ from the last ones of their names; equal numbers in another notation
    do not differ.
    """
    found: dict[tuple[int, int], list[ValueRow]] = {}
    for row in rows:
        found.setdefault((row.sentinel_id, row.page_id), []).append(row)
    for (sentinel_id, page_id), own in found.items():
        last = {
            label: (at, _meaning(text, amount, unit))
            for label, text, amount, unit, at in c.rows(_LAST, sentinel_id=sentinel_id, page_id=page_id)
        }
        for row in own:
            label, means = plain(row.label), _meaning(plain(row.text), row.amount, plain(row.unit))
            before = last.get(label)
            if before is not None and (before[1] == means or before[0] >= row.at):
                continue
            last[label] = row.at, means
            c.execute(
                _ADD,
                sentinel_id=sentinel_id,
                page_id=page_id,
                label=label,
                at=row.at,
                seq=row.seq,
                text=plain(row.text),
                amount=row.amount,
                unit=plain(row.unit),
            )


def listing(
    c: Connection,
    sentinel_id: int,
    *,
    page_ids: Collection[int] | None = None,
    period: Period = ALWAYS,
    limit: int = UNLIMITED,
) -> Sequence[StoredValue]:
    """Return the newest values of a sentinel, the oldest first, including those of pages that it
    has left.

    Args:
        c: The connection.
        sentinel_id: The sentinel.
        page_ids: Its pages; None for all.
        period: When the values began.
        limit: How many of these at most.
    """
    given = {"sentinel_id": sentinel_id, "limit": limit}
    conditions = ["v.sentinel_id = :sentinel_id"]
    if page_ids is not None:
        conditions.append(f"v.page_id IN ({', '.join(map(str, page_ids)) or 'NULL'})")
    for name, compared, at in (("since", ">=", period.since), ("until", "<=", period.until)):
        if at is not None:
            conditions.append(f"v.at {compared} :{name}")
            given[name] = at
    text = select(_LISTING, conditions, "ORDER BY v.at DESC, v.page_id DESC, v.label DESC LIMIT :limit")
    return [StoredValue(*row) for row in reversed(c.rows(text, **given))]


def extremes(
    c: Connection, sentinel_id: int, page_id: int, label: str, *, before: int, since: Instant | None
) -> tuple[float, float] | None:
    """Return the lowest and the highest number that a value had, None if it had none.

    Args:
        c: The connection.
        sentinel_id: The sentinel.
        page_id: The page.
        label: The name of the value.
        before: Only versions before this one.
        since: Values current at this instant (µs) or later; None for all that are stored.
    """
    found = c.one(
        _EXTREMES,
        sentinel_id=sentinel_id,
        page_id=page_id,
        label=plain(label),
        before=before,
        since=-1 if since is None else since,
    )
    return None if found is None or found[0] is None else (float(found[0]), float(found[1]))


def forget(c: Connection, *, before: Instant, ended: Instant) -> int:
    """Delete values that ended before `before` (µs), so that the value at that instant is still
    known, and all of sentinels that ended before `ended`. Return how many rows that were.
    """
    return c.execute(_FORGET, before=before) + c.execute(_FORGET_ENDED, ended=ended)


def _meaning(text: str, amount: str, unit: str) -> tuple[str, ...]:
    return (amount, unit) if amount else (text,)

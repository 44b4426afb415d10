"""Timers: due instants that survive a restart (sentinels §2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tidings.model.interval import Instant
from tidings.model.observed.unit import Timer
from tidings.storage.db.connection import Connection
from tidings.storage.db.values import from_json, to_json

_SELECT = "SELECT kind, ref, due_at, data FROM timer"
_SET = (
    "INSERT INTO timer (kind, ref, due_at, data) VALUES (:kind, :ref, :due_at, :data)"
    " ON CONFLICT (kind, ref) DO UPDATE SET due_at = excluded.due_at, data = excluded.data"
)


def due(c: Connection, now: Instant) -> list[Timer]:
    """Return the due timers, in the order in which they were due."""
    return [_to_timer(row) for row in c.rows(f"{_SELECT} WHERE due_at <= :now ORDER BY due_at, kind, ref", now=now)]


def next_due(c: Connection) -> Instant | None:
    """Return when the next timer is due, or None."""
    found: Instant | None = c.value("SELECT min(due_at) FROM timer")
    return found


def get(c: Connection, kind: str, ref: int) -> Timer | None:
    """Return a timer, or None."""
    row = c.one(f"{_SELECT} WHERE kind = :kind AND ref = :ref", kind=kind, ref=ref)
    return None if row is None else _to_timer(row)


def set(c: Connection, *timers: Timer) -> None:  # noqa: A001 - said as `timers.set`
    """Store timers; one without `due_at` is deleted."""
    put(c, timers)


def cancel(c: Connection, kind: str, ref: int) -> None:
    """Delete a timer, if it exists."""
    c.execute("DELETE FROM timer WHERE kind = :kind AND ref = :ref", kind=kind, ref=ref)


def put(c: Connection, timers: Sequence[Timer]) -> None:
    """Store timers in their order; one without `due_at` is deleted."""
    for timer in timers:
        if timer.due_at is None:
            cancel(c, timer.kind, timer.ref)
        else:
            c.execute(_SET, kind=timer.kind, ref=timer.ref, due_at=timer.due_at, data=to_json(dict(timer.data)))


def _to_timer(row: tuple[Any, ...]) -> Timer:
    kind, ref, due_at, data = row
    return Timer(kind=kind, ref=ref, due_at=due_at, data=from_json(data))

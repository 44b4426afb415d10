"""The states of sentinels' rules (plain JSON), how far they have followed the log of events, and
timers: due instants that survive a restart (sentinels §2.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tidings.model.interval import Instant
from tidings.model.observed.unit import RuleState, Timer
from tidings.storage.db.connection import Connection
from tidings.storage.db.values import from_json, to_json
from tidings.storage.watches.events import OWNER

_GET = "SELECT state FROM rule_state WHERE sentinel_id = :sentinel_id AND name = :name"
_PUT = (
    "INSERT INTO rule_state (sentinel_id, name, state) VALUES (:sentinel_id, :name, :state)"
    " ON CONFLICT (sentinel_id, name) DO UPDATE SET state = excluded.state"
)
_DELETE = "DELETE FROM rule_state WHERE sentinel_id = :sentinel_id AND name = :name"


def get(c: Connection, sentinel_id: int, name: str) -> Mapping[str, Any] | None:
    """Return the state of a rule, or None."""
    state = c.value(_GET, sentinel_id=sentinel_id, name=name)
    if state is None:
        return None
    found: Mapping[str, Any] = from_json(state)
    return found


def listing(c: Connection, name: str) -> list[tuple[int, Mapping[str, Any]]]:
    """Return (sentinel, state) of all rules of that name, in the order of the sentinels."""
    text = "SELECT sentinel_id, state FROM rule_state WHERE name = :name ORDER BY sentinel_id"
    return [(sentinel_id, from_json(state)) for sentinel_id, state in c.rows(text, name=name)]


def get_followed(c: Connection) -> int:
    """Return the number of the last event that all rules have processed."""
    return int(c.value("SELECT rules_seq FROM owner WHERE id = :owner_id", owner_id=OWNER) or 0)


def follow(c: Connection, seq: int, *, forget: str) -> None:
    """Store how far all rules have followed the log, and delete the states of name `forget`, which
    were needed until then.
    """
    c.execute("UPDATE owner SET rules_seq = :seq WHERE id = :owner_id", seq=seq, owner_id=OWNER)
    c.execute("DELETE FROM rule_state WHERE name = :name", name=forget)


def put(c: Connection, states: Sequence[RuleState]) -> None:
    """Store states; None deletes one."""
    for rule in states:
        key = {"sentinel_id": rule.sentinel_id, "name": rule.name}
        if rule.state is None:
            c.execute(_DELETE, **key)
        else:
            c.execute(_PUT, **key, state=to_json(dict(rule.state)))


_SELECT_TIMER = "SELECT kind, ref, due_at, data FROM timer"
_PUT_TIMER = (
    "INSERT INTO timer (kind, ref, due_at, data) VALUES (:kind, :ref, :due_at, :data)"
    " ON CONFLICT (kind, ref) DO UPDATE SET due_at = excluded.due_at, data = excluded.data"
)


def due_timers(c: Connection, now: Instant) -> list[Timer]:
    """Return the due timers, in the order in which they were due."""
    return [
        _to_timer(row) for row in c.rows(f"{_SELECT_TIMER} WHERE due_at <= :now ORDER BY due_at, kind, ref", now=now)
    ]


def next_due(c: Connection) -> Instant | None:
    """Return when the next timer is due, or None."""
    found: Instant | None = c.value("SELECT min(due_at) FROM timer")
    return found


def cancel_timer(c: Connection, kind: str, ref: int) -> None:
    """Delete a timer, if it exists."""
    c.execute("DELETE FROM timer WHERE kind = :kind AND ref = :ref", kind=kind, ref=ref)


def put_timers(c: Connection, timers: Sequence[Timer]) -> None:
    """Store timers in their order; one without `due_at` is deleted."""
    for timer in timers:
        if timer.due_at is None:
            cancel_timer(c, timer.kind, timer.ref)
        else:
            c.execute(_PUT_TIMER, kind=timer.kind, ref=timer.ref, due_at=timer.due_at, data=to_json(dict(timer.data)))


def _to_timer(row: tuple[Any, ...]) -> Timer:
    kind, ref, due_at, data = row
    return Timer(kind=kind, ref=ref, due_at=due_at, data=from_json(data))

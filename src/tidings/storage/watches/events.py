"""The event log: numbered without a gap in the order of commits (contracts §3).

Rules follow the log: their states are plain JSON, and timers are due instants that survive a
restart (sentinels §2.3).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tidings.model.event_type import EventType
from tidings.model.interval import Instant
from tidings.model.observed.unit import Event, RuleState, Timer
from tidings.record import dataclass
from tidings.storage.db.connection import UNLIMITED, Connection, from_json, select, to_json

OWNER = 1


@dataclass(frozen=True, slots=True)
class EventRow:
    """A numbered event."""

    seq: int
    type: str
    at: Instant
    sentinel_id: int | None
    page_id: int | None
    change_id: str | None
    data: Mapping[str, Any]


_SELECT = "SELECT seq, type, at, sentinel_id, page_id, change_id, data FROM event"
_NUMBER = "UPDATE owner SET last_seq = last_seq + :n WHERE id = :owner_id RETURNING last_seq"
_INSERT = (
    "INSERT INTO event (owner_id, seq, type, at, sentinel_id, page_id, change_id, data)"
    " VALUES (:owner_id, :seq, :type, :at, :sentinel_id, :page_id, :change_id, :data)"
)
_BY_TYPE = "+owner_id = :owner_id"
"""The condition on the owner for which SQLite reads the index on types: it would read all events of
the one owner.
"""
_FEW_TYPES = 2
"""So many types are looked up by themselves; others among the events after a number."""


def append(c: Connection, events: Sequence[Event], *, owner_id: int = OWNER) -> list[int]:
    """Store events and return their numbers, consecutive and in the order given."""
    if not events:
        return []
    last: int = c.value(_NUMBER, n=len(events), owner_id=owner_id)
    numbers = list(range(last - len(events) + 1, last + 1))
    c.many(_INSERT, [_parameters(event, seq, owner_id) for event, seq in zip(events, numbers, strict=True)])
    return numbers


def _parameters(event: Event, seq: int, owner_id: int) -> dict[str, Any]:
    return {
        "owner_id": owner_id,
        "seq": seq,
        "type": event.type,
        "at": event.at,
        "sentinel_id": event.sentinel_id,
        "page_id": event.page_id,
        "change_id": event.change_id,
        "data": to_json(dict(event.data)) if event.data else "{}",
    }


def listing(
    c: Connection,
    *,
    after: int = 0,
    upto: int | None = None,
    types: Collection[str] | None = None,
    limit: int | None = None,
) -> list[EventRow]:
    """Return events numbered above `after`, up to `upto`, oldest first.

    Args:
        after: The number after which events are listed.
        upto: The last number; None for no end.
        types: Exactly these types; None for all.
        limit: How many at most; None for all.
    """
    if types is not None and not types:
        return []
    names = {f"type_{i}": name for i, name in enumerate(types or ())}
    given: dict[str, Any] = {"owner_id": OWNER, "after": after, "limit": UNLIMITED if limit is None else limit, **names}
    is_narrow = types is not None and len(types) <= _FEW_TYPES
    conditions = [_BY_TYPE if is_narrow else "owner_id = :owner_id", "seq > :after"]
    if upto is not None:
        conditions.append("seq <= :upto")
        given["upto"] = upto
    if names:
        conditions.append(f"type IN ({', '.join(':' + name for name in names)})")
    text = select(_SELECT, conditions, "ORDER BY seq LIMIT :limit")
    return [_to_row(row) for row in c.rows(text, **given)]


def read_new(c: Connection, *, after: int, types: Collection[str]) -> tuple[list[EventRow], int]:
    """Return the events of these types after an event, and the number of the last event of all, to
    go on after it.
    """
    return listing(c, after=after, types=types), last_seq(c)


def since(c: Connection, type: str, at: Instant) -> list[EventRow]:
    """Return the events of a type that happened at `at` or later, oldest first."""
    conditions = (_BY_TYPE, "type = :type", "at >= :at")
    return [
        _to_row(row) for row in c.rows(select(_SELECT, conditions, "ORDER BY seq"), owner_id=OWNER, type=type, at=at)
    ]


def newest(c: Connection, type: str, *, page_id: int | None = None, sentinel_id: int | None = None) -> EventRow | None:
    """Return the newest event of a type (about a page, a sentinel), or None.

    Args:
        page_id: The page; None for any.
        sentinel_id: The sentinel; None for any.
    """
    about = {"page_id": page_id, "sentinel_id": sentinel_id}
    given: dict[str, Any] = {k: v for k, v in about.items() if v is not None}
    # the type stands in the text: SQLite reads an index of one type for no other words
    conditions = [f"type = '{EventType(type)}'", _BY_TYPE, *(f"{name} = :{name}" for name in given)]
    order = "ORDER BY seq DESC LIMIT 1" if page_id is None else "ORDER BY +seq DESC LIMIT 1"  # a page has few
    row = c.one(select(_SELECT, conditions, order), owner_id=OWNER, **given)
    return None if row is None else _to_row(row)


def media_of(c: Connection, page_id: int) -> str:
    """Return what kind of content a page had when it was first seen (html, feed, json …), empty if
    unknown.
    """
    first = newest(c, EventType.PAGE_FIRST, page_id=page_id)
    return "" if first is None else str(first.data.get("media_type", ""))


def _to_row(row: tuple[Any, ...]) -> EventRow:
    seq, type_, at, sentinel_id, page_id, change_id, data = row
    return EventRow(seq, type_, at, sentinel_id, page_id, change_id, from_json(data))


def instant(c: Connection, seq: int) -> Instant | None:
    """Return when event number `seq` happened, None if there is none."""
    found: Instant | None = c.value(
        "SELECT at FROM event WHERE owner_id = :owner_id AND seq = :seq", owner_id=OWNER, seq=seq
    )
    return found


def has_newer(c: Connection, type: str, seq: int) -> bool:
    """Return whether there is an event of a type with a number above `seq`."""
    conditions = (_BY_TYPE, "type = :type", "seq > :seq")
    return c.one(select(_SELECT, conditions, "ORDER BY seq LIMIT 1"), owner_id=OWNER, type=type, seq=seq) is not None


def last_seq(c: Connection) -> int:
    """Return the number of the newest event, 0 if there is none."""
    return int(c.value("SELECT last_seq FROM owner WHERE id = :owner_id", owner_id=OWNER) or 0)


_GET_STATE = "SELECT state FROM rule_state WHERE sentinel_id = :sentinel_id AND name = :name"
_PUT_STATE = (
    "INSERT INTO rule_state (sentinel_id, name, state, changed) VALUES (:sentinel_id, :name, :state, :changed)"
    " ON CONFLICT (sentinel_id, name) DO UPDATE SET state = excluded.state, changed = excluded.changed"
)
_COUNT_STORED = "UPDATE owner SET states_stored = states_stored + 1 WHERE id = :owner_id RETURNING states_stored"
_DELETE_STATE = "DELETE FROM rule_state WHERE sentinel_id = :sentinel_id AND name = :name"


def get_rule_state(c: Connection, sentinel_id: int, name: str) -> Mapping[str, Any] | None:
    """Return the state of a rule, or None."""
    state = c.value(_GET_STATE, sentinel_id=sentinel_id, name=name)
    if state is None:
        return None
    found: Mapping[str, Any] = from_json(state)
    return found


def list_rule_states(c: Connection, name: str) -> list[tuple[int, Mapping[str, Any]]]:
    """Return (sentinel, state) of all rules of that name, in the order of the sentinels."""
    text = "SELECT sentinel_id, state FROM rule_state WHERE name = :name ORDER BY sentinel_id"
    return [(sentinel_id, from_json(state)) for sentinel_id, state in c.rows(text, name=name)]


def list_new_states(
    c: Connection, name: str, *, after: int, known: Collection[int]
) -> list[tuple[int, Mapping[str, Any] | None, int]]:
    """Return (sentinel, state, number) of the rules of that name that were stored since number
    `after`, in their order, and first, with the state None, those of `known` sentinels that are
    gone.
    """
    text = "SELECT sentinel_id, state, changed FROM rule_state WHERE changed > :after AND name = :name ORDER BY changed"
    gone = [(id, None, after) for id in sorted(known) if get_rule_state(c, id, name) is None]
    return [*gone, *((id, from_json(state), number) for id, state, number in c.rows(text, after=after, name=name))]


def get_followed(c: Connection) -> int:
    """Return the number of the last event that all rules have processed."""
    return int(c.value("SELECT rules_seq FROM owner WHERE id = :owner_id", owner_id=OWNER) or 0)


def set_followed(c: Connection, seq: int, *, forget: str) -> None:
    """Store how far all rules have followed the log, and delete the states of name `forget`, which
    were needed until then.
    """
    c.execute("UPDATE owner SET rules_seq = :seq WHERE id = :owner_id", seq=seq, owner_id=OWNER)
    c.execute("DELETE FROM rule_state WHERE name = :name", name=forget)


def put_rule_states(c: Connection, states: Sequence[RuleState]) -> None:
    """Store states; None deletes one."""
    changed = c.value(_COUNT_STORED, owner_id=OWNER) if states else 0
    for rule in states:
        key = {"sentinel_id": rule.sentinel_id, "name": rule.name}
        if rule.state is None:
            c.execute(_DELETE_STATE, **key)
        else:
            c.execute(_PUT_STATE, **key, state=to_json(dict(rule.state)), changed=changed)


_SELECT_TIMER = "SELECT kind, ref, due_at, data FROM timer"
_PUT_TIMER = (
    "INSERT INTO timer (kind, ref, due_at, data) VALUES (:kind, :ref, :due_at, :data)"
    " ON CONFLICT (kind, ref) DO UPDATE SET due_at = excluded.due_at, data = excluded.data"
)


def list_timers(c: Connection) -> list[Timer]:
    """Return all timers, in the order in which they are due."""
    return [_to_timer(row) for row in c.rows(f"{_SELECT_TIMER} ORDER BY due_at, kind, ref")]


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

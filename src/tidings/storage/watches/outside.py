"""Outside events: their sources, and the keys received, so that each event counts once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from tidings.errors import UnknownNameError, UsageError
from tidings.model.event_type import EventType, Origin
from tidings.model.interval import Instant
from tidings.model.observed.unit import Event
from tidings.record import dataclass
from tidings.storage.db.connection import Connection, from_json, plain, to_json
from tidings.storage.watches import events

HAPPENED = EventType.EVENT_HAPPENED
"""The type, in the log, of an outside event; `data` has its name as `event` and its `params`."""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A source of events: its statement as the language prints it, how often and when its event
    last happened.

    `due_at` is the next poll of a file or command, `checked_at` the last; `state` is what it found,
    `problem` why it failed (empty: it succeeded).
    """

    id: int
    name: str
    origin: Origin
    text: str
    created_at: Instant
    due_at: Instant | None
    checked_at: Instant | None
    state: Mapping[str, Any]
    happened: int
    happened_at: Instant | None
    problem: str
    owner_id: int = events.OWNER


_SELECT = (
    "SELECT id, name, origin, text, created_at, due_at, checked_at, state, happened, happened_at, problem,"
    " owner_id FROM event_source"
)
_INSERT = (
    "INSERT INTO event_source (owner_id, name, origin, text, created_at, due_at)"
    " VALUES (:owner_id, :name, :origin, :text, :at, :due_at) ON CONFLICT (owner_id, name) DO NOTHING RETURNING id"
)
_SEEN = "INSERT INTO event_key (source_id, taken_key, seq, at) VALUES (:id, :key, :seq, :at)"


def create(
    c: Connection,
    name: str,
    origin: Origin,
    *,
    text: str,
    at: Instant,
    due_at: Instant | None,
    owner_id: int = events.OWNER,
) -> SourceRow:
    """Store a source. Raise `UsageError` if its name is taken, by any owner.

    Args:
        name: What sentinels call the event.
        origin: The source.
        text: The statement, as printed.
        at: When it is created (µs).
        due_at: The first poll (µs); None for a webhook.
        owner_id: The owner.
    """
    is_taken = c.value("SELECT 1 FROM event_source WHERE name = :name", name=name) is not None
    given = {"owner_id": owner_id, "name": name, "origin": origin, "text": text, "at": at, "due_at": due_at}
    found = None if is_taken else c.value(_INSERT, **given)
    if found is None:
        message = f"there is an event {name} already; use another name, or `Drop Event {name}` first"
        raise UsageError(message)
    return find(c, name)


def find(c: Connection, name: str) -> SourceRow:
    """Return the source of that name. Raise `UnknownNameError` if there is none."""
    row = c.one(f"{_SELECT} WHERE name = :name", name=name)
    if row is None:
        message = f'there is no event "{name}"; `tidings list` shows all'
        raise UnknownNameError(message)
    return _to_row(row)


def listing(c: Connection) -> list[SourceRow]:
    """Return all sources by name."""
    return [_to_row(row) for row in c.rows(f"{_SELECT} ORDER BY name")]


def due(c: Connection, now: Instant, *, limit: int) -> list[SourceRow]:
    """Return the sources due by now, the longest due first."""
    text = f"{_SELECT} WHERE due_at <= :now ORDER BY due_at, id LIMIT :limit"
    return [_to_row(row) for row in c.rows(text, now=now, limit=limit)]


def next_due(c: Connection) -> Instant | None:
    """Return the next due instant of a source, None if none is due."""
    found: Instant | None = c.value("SELECT min(due_at) FROM event_source")
    return found


def drop(c: Connection, id: int) -> None:
    """Delete a source and its received keys; its events stay in the log."""
    c.execute("DELETE FROM event_key WHERE source_id = :id", id=id)
    c.execute("DELETE FROM event_source WHERE id = :id", id=id)


def rewrite(c: Connection, id: int, origin: Origin, *, text: str, due_at: Instant | None) -> None:
    """Replace the source of an event; the state of the old one is deleted.

    Args:
        id: The source's number.
        origin: The new source.
        text: The statement, as printed.
        due_at: The next poll (µs); None for a webhook.
    """
    c.execute(
        "UPDATE event_source SET origin = :origin, text = :text, due_at = :due_at, state = '{}', problem = '' WHERE id = :id",
        id=id,
        origin=origin,
        text=text,
        due_at=due_at,
    )


def find_taken(c: Connection, id: int, key: str) -> int | None:
    """Return the number of the event received with this key, None if there is none."""
    text = "SELECT seq FROM event_key WHERE source_id = :id AND taken_key = :key"
    found: int | None = c.value(text, id=id, key=plain(key))
    return found


def happen(c: Connection, row: SourceRow, params: Mapping[str, Any], *, at: Instant, key: str = "") -> int:
    """Store that an event happened, and its key; return its number.

    Args:
        row: The source.
        params: What the event carries, plain JSON.
        at: When it happened (µs).
        key: The key that makes it count once; empty for none.
    """
    data = {"event": row.name, "params": dict(params)}
    (seq,) = events.append(c, [Event(type=HAPPENED, at=at, data=data)])
    if key:
        c.execute(_SEEN, id=row.id, key=plain(key), seq=seq, at=at)
    c.execute("UPDATE event_source SET happened = happened + 1, happened_at = :at WHERE id = :id", id=row.id, at=at)
    return seq


def forget_keys(c: Connection, *, before: Instant) -> None:
    """Delete the keys received before an instant."""
    c.execute("DELETE FROM event_key WHERE at < :before", before=before)


def note_check(c: Connection, id: int, *, at: Instant, due_at: Instant) -> None:
    """Store, before a source is polled, that it was polled at `at`, and when it is due next.

    Args:
        id: The number of the source.
        due_at: When it is polled next (µs).
    """
    c.execute("UPDATE event_source SET checked_at = :at, due_at = :due_at WHERE id = :id", id=id, at=at, due_at=due_at)


def settle(c: Connection, id: int, *, state: Mapping[str, Any], problem: str) -> None:
    """Store the state of a source after a poll, or why it failed.

    Args:
        id: The number of the source.
        state: What it is compared with next time, plain JSON.
        problem: Why the poll failed; empty if it did not.
    """
    text = "UPDATE event_source SET state = :state, problem = :problem WHERE id = :id"
    c.execute(text, id=id, state=to_json(dict(state)), problem=plain(problem))


def _to_row(row: tuple[Any, ...]) -> SourceRow:
    number, name, origin, text, created_at, due_at, checked_at, state, *rest = row
    return SourceRow(
        number, name, cast("Origin", origin), text, created_at, due_at, checked_at, from_json(state), *rest
    )


def pause(c: Connection, name: str, *, why: str) -> None:
    """Stop polling a file or command."""
    text = "UPDATE event_source SET due_at = NULL, problem = :why WHERE name = :name"
    c.execute(text, name=name, why=plain(why))

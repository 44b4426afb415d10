"""Hosts: what must be remembered so that their limits hold across a crash (trust.md I-4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tidings.model.interval import Instant
from tidings.model.page import HostState
from tidings.storage.connection import Connection
from tidings.storage.values import plain

_SELECT = "SELECT name, started_at, paused_until, failures, robots, robots_status, robots_at FROM host"
# A charge may have written a later start than the unit knows of; the later one holds.
_UPSERT = (
    "INSERT INTO host (name, started_at, paused_until, failures, robots, robots_status, robots_at)"
    " VALUES (:name, :started_at, :paused_until, :failures, :robots, :robots_status, :robots_at)"
    " ON CONFLICT (name) DO UPDATE SET started_at = CASE WHEN excluded.started_at IS NULL OR host.started_at > excluded.started_at"
    " THEN host.started_at ELSE excluded.started_at END, paused_until = excluded.paused_until, failures = excluded.failures,"
    " robots = excluded.robots, robots_status = excluded.robots_status, robots_at = excluded.robots_at"
)
_START = (
    "INSERT INTO host (name, started_at) VALUES (:name, :at)"
    " ON CONFLICT (name) DO UPDATE SET started_at = excluded.started_at"
    " WHERE host.started_at IS NULL OR host.started_at < excluded.started_at"
)


def states(c: Connection) -> list[HostState]:
    """Return all hosts, by name."""
    return [_to_state(row) for row in c.rows(f"{_SELECT} ORDER BY name")]


def state(c: Connection, name: str) -> HostState:
    """Return a host; one never asked is one without any history."""
    row = c.one(f"{_SELECT} WHERE name = :name", name=plain(name))
    return HostState(name=name) if row is None else _to_state(row)


def put(c: Connection, states: Sequence[HostState]) -> None:
    """Write hosts; a start never moves back."""
    c.many(
        _UPSERT,
        [
            {
                "name": plain(host.name),
                "started_at": host.started_at,
                "paused_until": host.paused_until,
                "failures": host.failures,
                "robots": host.robots,
                "robots_status": plain(host.robots_status),
                "robots_at": host.robots_at,
            }
            for host in states
        ],
    )


def start(c: Connection, names: Sequence[str], at: Instant) -> None:
    """Remember that a request to each of these hosts begins at `at`."""
    c.batch(_START, [(plain(name), at) for name in names])


def _to_state(row: tuple[Any, ...]) -> HostState:
    name, started_at, paused_until, failures, robots, robots_status, robots_at = row
    return HostState(
        name=name,
        started_at=started_at,
        paused_until=paused_until,
        failures=failures,
        robots=None if robots is None else bytes(robots),
        robots_status=robots_status,
        robots_at=robots_at,
    )

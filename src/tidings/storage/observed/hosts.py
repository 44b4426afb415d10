"""Hosts: the state that keeps their limits across a crash (I-4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tidings.model.interval import Duration, Instant
from tidings.model.observed.page import HostState
from tidings.record import replace
from tidings.storage.db.connection import Connection, check_numbers, plain, readable

_SELECT = (
    "SELECT name, started_at, paused_until, failures, robots, robots_status, robots_at, unconditional_at FROM host"
)
# A charge may have stored a later start than the unit knows of, and another planner a later pause
# or robots.txt; of each the later one wins.
_LATER_ROBOTS = (
    "CASE WHEN excluded.robots_at IS NULL OR host.robots_at > excluded.robots_at THEN host.{0} ELSE excluded.{0} END"
)
_UPSERT = (
    "INSERT INTO host (name, started_at, paused_until, failures, robots, robots_status, robots_at, unconditional_at)"
    " VALUES (:name, :started_at, :paused_until, :failures, :robots, :robots_status, :robots_at, :unconditional_at)"
    " ON CONFLICT (name) DO UPDATE SET started_at = CASE WHEN excluded.started_at IS NULL OR host.started_at > excluded.started_at"
    " THEN host.started_at ELSE excluded.started_at END, failures = excluded.failures,"
    " paused_until = CASE WHEN excluded.paused_until IS NULL OR host.paused_until > excluded.paused_until"
    " THEN host.paused_until ELSE excluded.paused_until END,"
    f" robots = {_LATER_ROBOTS.format('robots')}, robots_status = {_LATER_ROBOTS.format('robots_status')},"
    f" robots_at = {_LATER_ROBOTS.format('robots_at')},"
    " unconditional_at = CASE WHEN excluded.unconditional_at IS NULL OR host.unconditional_at > excluded.unconditional_at"
    " THEN host.unconditional_at ELSE excluded.unconditional_at END"
)
_START = (
    "INSERT INTO host (name, started_at) VALUES (:name, :at)"
    " ON CONFLICT (name) DO UPDATE SET started_at = excluded.started_at"
    " WHERE host.started_at IS NULL OR host.started_at < excluded.started_at"
)
_LATEST_POLLS = "SELECT charged_at, finished_at FROM poll ORDER BY id DESC LIMIT 1024"


def states(c: Connection) -> list[HostState]:
    """Return all hosts, by name."""
    return readable(c.rows(f"{_SELECT} ORDER BY name"), _to_state, "host")


def state(c: Connection, name: str) -> HostState:
    """Return a host; an unknown one has no history."""
    row = c.one(f"{_SELECT} WHERE name = :name", name=plain(name))
    return HostState(name=name) if row is None else _to_state(row)


def as_left(c: Connection, *, now: Instant, longest: Duration) -> list[HostState]:
    """Return all hosts for a new process: with the latest start that each may have had.

    A request leaves some time after its charge; the exact instant was lost with the process. It
    lies before the end of its poll, or before `now` if the poll never ended, and at most `longest`
    (the deadline of a fetch) after its charge.
    """
    spans = [
        (charged_at, finished_at if finished_at is not None else min(now, charged_at + longest))
        for charged_at, finished_at in c.rows(_LATEST_POLLS)
    ]
    return [_latest(state, spans, now) for state in states(c)]


def _latest(state: HostState, spans: Sequence[tuple[Instant, Instant]], now: Instant) -> HostState:
    if state.started_at is None:
        return state
    ends = [end for charged_at, end in spans if charged_at <= state.started_at <= end]
    return replace(state, started_at=min(max(ends, default=state.started_at), now))


def put(c: Connection, states: Sequence[HostState]) -> None:
    """Store hosts; what was stored later, or lasts longer, stays."""
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
                "unconditional_at": host.unconditional_at,
            }
            for host in states
        ],
    )


class Refusals(NamedTuple):
    """The hosts that may not be asked now: when those were asked last, or are next, whose gap is
    not over; until when the others are paused.
    """

    asked: dict[str, Instant]
    paused: dict[str, Instant]

    @property
    def names(self) -> set[str]:
        """Return the names of all."""
        return {*self.asked, *self.paused}


def find_refusals(c: Connection, gaps: Mapping[str, Duration], at: Instant) -> Refusals:
    """Return which of some hosts may not be asked now. A start further away than the gap is of a
    wrong clock.

    Args:
        gaps: The least time between two requests to each host (µs).
        at: The present (µs).
    """
    found = Refusals({}, {})
    for name, gap in gaps.items():
        row = c.one("SELECT started_at, paused_until FROM host WHERE name = :name", name=plain(name))
        started, paused_until = (None, None) if row is None else row
        if started is not None and abs(at - started) < gap:
            found.asked[name] = started
        if paused_until is not None and paused_until > at:
            found.paused[name] = paused_until
    return found


def claim_turn(c: Connection, name: str, gap: Duration, at: Instant) -> tuple[Instant, Instant]:
    """Store the next turn to ask a host; return it, and until when the host is paused, 0 if it is
    not.

    Args:
        name: The name of the host.
        gap: How long after all other turns it is at least (µs).
        at: The first instant at which it may be (µs).
    """
    row = c.one("SELECT started_at, paused_until FROM host WHERE name = :name", name=plain(name))
    started_at, paused_until = (None, None) if row is None else row
    turn = at if started_at is None else max(at, started_at + gap)
    start(c, [name], turn)
    return turn, paused_until or 0


def start(c: Connection, names: Sequence[str], at: Instant) -> None:
    """Store that a request to each of these hosts begins at `at`."""
    c.batch(_START, [(plain(name), at) for name in names])


def _to_state(row: tuple[Any, ...]) -> HostState:
    name, started_at, paused_until, failures, robots, robots_status, robots_at, unconditional_at = row
    check_numbers(started_at=started_at, paused_until=paused_until, failures=failures, robots_at=robots_at)
    return HostState(
        name=name,
        started_at=started_at,
        paused_until=paused_until,
        failures=failures,
        robots=None if robots is None else bytes(robots),
        robots_status=robots_status,
        robots_at=robots_at,
        unconditional_at=unconditional_at,
    )

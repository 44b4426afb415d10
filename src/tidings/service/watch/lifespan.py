"""Lifespan: when a sentinel starts and ends, as far as past events fix it (sentinels §2).

A start or end that depends on another sentinel is computed each time, since that one may be
altered, and with it all that depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tidings.record import dataclass

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.model.watch.sentinel import Point, Sentinel, State
    from tidings.storage.watches.sentinels import SentinelRow

DEEPEST = 64
"""Depth limit for dependencies by a time *before* an end or start; cycles were refused earlier
(E35).
"""
REPORTED = "its first change was reported"
"""Why a sentinel with `To first change` has ended."""


@dataclass(slots=True)
class Life:
    """A sentinel and its position in life; `state`, `started_at` and `ended_at` advance while steps
    are computed.
    """

    row: SentinelRow
    sentinel: Sentinel
    state: State
    started_at: Instant | None
    ended_at: Instant | None

    @staticmethod
    def of(row: SentinelRow, sentinel: Sentinel) -> Life:
        """Return the life of a stored sentinel."""
        return Life(row, sentinel, row.state, row.started_at, row.ended_at)

    @property
    def has_begun(self) -> bool:
        """Return whether it has started."""
        return self.state not in {"created", "waiting"}

    def awaits(self) -> set[str]:
        """Return the names of the sentinels that its start or end depends on."""
        points = (self.sentinel.start, self.sentinel.end)
        return {point.sentinel for point in points if point is not None and point.sentinel is not None}


Find = Callable[[str], Life | None]


def starts(life: Life, find: Find, depth: int = 0) -> Instant | None:
    """Return when a sentinel started or will start; None: not known yet."""
    point, row = life.sentinel.start, life.row
    if life.started_at is not None:
        return life.started_at
    if row.start_at is not None or point.sentinel is None:
        return row.start_at
    return _by_another(life, point, find, depth)


def ends(life: Life, find: Find, depth: int = 0) -> Instant | None:
    """Return when a sentinel ended or will end; None: never, or not known yet."""
    point, row = life.sentinel.end, life.row
    if life.ended_at is not None:
        return life.ended_at
    if life.sentinel.span is not None:
        start = starts(life, find, depth)
        return None if start is None else start + life.sentinel.span
    if row.end_at is not None or point is None or point.base == "change":
        return row.end_at
    if point.base == "at":
        return None if point.instant is None else point.instant + point.offset
    if point.base == "now":
        start = starts(life, find, depth)
        return None if start is None else start + point.offset
    return _by_another(life, point, find, depth)


def never_starts(life: Life, find: Find) -> Instant | None:
    """Return since when it is certain that a sentinel never starts: the one whose start it waits
    for has ended without one.
    """
    point = life.sentinel.start
    if life.has_begun or point.base != "start" or life.row.start_at is not None:
        return None
    awaited = find(point.sentinel or "")
    if awaited is None:
        return life.row.created_at
    if awaited.ended_at is None or awaited.started_at is not None:
        return None
    return max(life.row.created_at, awaited.ended_at)


def _by_another(life: Life, point: Point, find: Find, depth: int) -> Instant | None:
    """Return the instant of a point that depends on another sentinel: after a past event, or before
    a planned one.
    """
    awaited = find(point.sentinel or "")
    if awaited is None or depth > DEEPEST:
        return None
    at = awaited.ended_at if point.base == "end" else awaited.started_at
    if at is None and point.offset < 0:
        at = (ends if point.base == "end" else starts)(awaited, find, depth + 1)
    return None if at is None else max(life.row.created_at, at + point.offset)

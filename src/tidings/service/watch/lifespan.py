"""Lifespan: when a sentinel starts and ends, as far as that is fixed by what has happened (sentinels §2).

A start or an end that hangs on another sentinel is found out anew each time: that one may be altered, and with it all that wait for it.
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
"""Sentinels that hang on one another by a time *before* an end or start are followed no further: circles were refused (E35)."""


@dataclass(slots=True)
class Life:
    """A sentinel and where it stands; `state`, `started_at` and `ended_at` go on while steps are worked out."""

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
        """Return whether its start is past."""
        return self.state not in {"created", "waiting"}

    def awaits(self) -> set[str]:
        """Return the names of the sentinels that its start or its end hangs on."""
        points = (self.sentinel.start, self.sentinel.end)
        return {point.sentinel for point in points if point is not None and point.sentinel is not None}


Find = Callable[[str], Life | None]


def starts(life: Life, find: Find, depth: int = 0) -> Instant | None:
    """Return when a sentinel started or will start; None: it waits for something of which nobody knows when it comes."""
    point, row = life.sentinel.start, life.row
    if life.started_at is not None:
        return life.started_at
    if row.start_at is not None or point.sentinel is None:
        return row.start_at
    return _by_another(life, point, find, depth)


def ends(life: Life, find: Find, depth: int = 0) -> Instant | None:
    """Return when a sentinel ended or will end; None: never, or nobody knows when."""
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
    """Return since when it is sure that a sentinel never starts: the one whose start it waits for has ended without one."""
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
    """Return when a point comes that hangs on another sentinel: after what happened, or before what is planned."""
    awaited = find(point.sentinel or "")
    if awaited is None or depth > DEEPEST:
        return None
    at = awaited.ended_at if point.base == "end" else awaited.started_at
    if at is None and point.offset < 0:
        at = (ends if point.base == "end" else starts)(awaited, find, depth + 1)
    return None if at is None else max(life.row.created_at, at + point.offset)

"""Activate: the steps in a sentinel's life that time or another sentinel brings (sentinels_and_events §2).

`created → waiting → enabled → ended`. A start or an end may hang on another sentinel's start or end; such a one waits until that step
is committed and is judged again then. End steps go before start steps, then creation order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.language.dates import ends_at, starts_at
from tidings.language.verify import Known
from tidings.model.unit import SentinelMove, Timer, Unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tidings.model.interval import Instant
    from tidings.service.watchlist import WatchedSentinel, Watchlist
    from tidings.storage.sentinels import SentinelRow


def steps(watchlist: Watchlist, ended: Callable[[str], Known | None], *, now: Instant) -> list[SentinelMove]:
    """Return the life steps that are due at `now`, ends first."""
    ends: list[SentinelMove] = []
    starts: list[SentinelMove] = []

    def known(name: str) -> Known | None:
        for held in watchlist.sentinels.values():
            if held.row.name == name:
                return _known(held)
        return ended(name)

    for held in watchlist.sentinels.values():
        move = _step(held, known, now)
        if move is not None:
            (ends if move.state == "ended" else starts).append(move)
    return ends + starts


def next_step(watchlist: Watchlist, *, now: Instant) -> Instant | None:
    """Return the earliest start or end after `now` that is known."""
    instants = [i for held in watchlist.sentinels.values() for i in _instants(held.row) if i > now]
    return min(instants, default=None)


def _instants(row: SentinelRow) -> Iterable[Instant]:
    if row.state in {"created", "waiting"} and row.start_at is not None:
        yield row.start_at
    if row.end_at is not None:
        yield row.end_at


def _known(held: WatchedSentinel) -> Known:
    row = held.row
    return Known(held.sentinel, row.state, row.started_at or row.start_at, row.end_at, row.ended_at)


def _step(held: WatchedSentinel, known: Callable[[str], Known | None], now: Instant) -> SentinelMove | None:
    row, sentinel = held.row, held.sentinel
    if row.state in {"created", "waiting"}:
        start = row.start_at if row.start_at is not None else starts_at(sentinel, row.created_at, known)
        if start is None:
            awaited = sentinel.start.sentinel
            if sentinel.start.base == "start" and awaited and _never_started(known(awaited)):
                return SentinelMove(sentinel_id=row.id, state="ended", at=now, reason="never started")
            return None if row.state == "waiting" else SentinelMove(sentinel_id=row.id, state="waiting", at=now)
        end = ends_at(sentinel, start, known)
        if end is not None and end <= now:
            return SentinelMove(
                sentinel_id=row.id,
                state="ended",
                at=now,
                reason="missed" if row.started_at is None else "its end has come",
            )
        if start <= now:
            return SentinelMove(sentinel_id=row.id, state="enabled", at=now)
        return None if row.state == "waiting" else SentinelMove(sentinel_id=row.id, state="waiting", at=now)
    if row.state in {"enabled", "disabled"}:
        end = row.end_at if row.end_at is not None else ends_at(sentinel, row.started_at or row.created_at, known)
        if end is not None and end <= now:
            return SentinelMove(sentinel_id=row.id, state="ended", at=now, reason="its end has come")
    return None


def _never_started(awaited: Known | None) -> bool:
    return awaited is None or awaited.state == "ended"


def digest_timers(held: WatchedSentinel, *, now: Instant, after: int) -> tuple[Timer, ...]:
    """Return the timers of the `Every DURATION` clauses of a sentinel that starts at `now`.

    They are counted from the sentinel's start, not from the first change (W of 1.2 row 7); `after` is the last event number told.
    """
    return tuple(
        Timer(kind=digest_kind(place), ref=held.row.id, due_at=now + clause.rate.interval, data={"after": after})
        for place, clause, _ in held.told("every")
    )


def digest_kind(place: int) -> str:
    """Return the timer kind of the Notify clause at `place`."""
    return f"digest.{place}"


def unit_for(move: SentinelMove, *, epoch: int, timers: tuple[Timer, ...] = ()) -> Unit:
    """Return the unit that carries one step."""
    return Unit(at=move.at, epoch=epoch, sentinels=(move,), timers=timers)

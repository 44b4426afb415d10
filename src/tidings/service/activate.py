"""Activate: the steps in a sentinel's life that time or another sentinel brings (sentinels_and_events §2).

`created → waiting → enabled → ended`. A start or an end may hang on another sentinel's start or end; such a one waits until that step
is committed and is judged again then. End steps go before start steps, then creation order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tidings.language.dates import ends_at, starts_at
from tidings.language.verify import Known
from tidings.model.unit import SentinelMove, Timer, Unit

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.service.watchlist import WatchedSentinel, Watchlist


Lookup = Callable[[str], Known | None]


def steps(watchlist: Watchlist, *, now: Instant) -> list[SentinelMove]:
    """Return the life steps that are due at `now`, ends first."""
    moves = [move for held in watchlist.sentinels.values() if (move := _step(held, watchlist.known, now)) is not None]
    return sorted(moves, key=lambda move: move.state != "ended")


def next_step(watchlist: Watchlist, *, now: Instant) -> Instant | None:
    """Return the earliest instant after `now` at which time alone brings a step; what another sentinel brings comes with its step."""
    later = (
        i
        for held in watchlist.sentinels.values()
        for i in _life(held, watchlist.known, now)
        if i is not None and i > now
    )
    return min(later, default=None)


def _life(held: WatchedSentinel, known: Lookup, now: Instant) -> tuple[Instant | None, Instant | None]:
    """Return when a sentinel starts and ends as far as that is fixed by now; the start of one that runs is past."""
    row, sentinel = held.row, held.sentinel
    start = row.started_at if row.started_at is not None else row.start_at
    if start is None:
        start = starts_at(sentinel, now, known)
    end = row.end_at if row.end_at is not None else ends_at(sentinel, start, known)
    return start, end


def _step(held: WatchedSentinel, known: Lookup, now: Instant) -> SentinelMove | None:
    row = held.row
    start, end = _life(held, known, now)
    if end is not None and end <= now:
        reason = "missed" if row.started_at is None else "its end has come"
        return SentinelMove(sentinel_id=row.id, state="ended", at=now, reason=reason, before=row.state)
    if row.state not in {"created", "waiting"}:
        return None
    if (
        start is None
        and held.sentinel.start.base == "start"
        and _never_starts(known(held.sentinel.start.sentinel or ""))
    ):
        return SentinelMove(sentinel_id=row.id, state="ended", at=now, reason="never started", before=row.state)
    if start is not None and start <= now:
        return SentinelMove(sentinel_id=row.id, state="enabled", at=now, before=row.state)
    if row.state == "waiting":
        return None
    return SentinelMove(sentinel_id=row.id, state="waiting", at=now, before=row.state)


def _never_starts(awaited: Known | None) -> bool:
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


def digest_place(timer: Timer) -> int | None:
    """Return the place of the Notify clause that a timer belongs to, None if it is no digest's."""
    kind, _, place = timer.kind.partition(".")
    return int(place) if kind == "digest" else None


def unit_for(move: SentinelMove, *, epoch: int, timers: tuple[Timer, ...] = ()) -> Unit:
    """Return the unit that carries one step."""
    return Unit(at=move.at, epoch=epoch, sentinels=(move,), timers=timers)

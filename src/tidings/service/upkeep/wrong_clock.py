"""Wrong clock: repair the stored times of a clock that was ahead, once it is right again (F-21).

While the clock is ahead, everything happens "in the future": a page checked then would not be
checked until that day comes. So at each start, and whenever the clock is set back while the service
runs (it then restarts), no instant that schedules anything may be after now. Pages wait no longer
than their own interval from now on; dates set by users stay. An event records when the clock was
wrong, and owners are notified once if it was wrong by an hour or more.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import UTC
from typing import TYPE_CHECKING, Final

from tidings.clock import DAY, HOUR, MINUTE, PLAUSIBLE
from tidings.language.times import zone_of
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event, Unit
from tidings.record import dataclass, replace
from tidings.service.sentinels.alter import calendar
from tidings.service.show.finding import spell_instant
from tidings.service.show.notices import CLOCK_WRONG
from tidings.service.show.records import spell_gap
from tidings.service.watch import lifespan
from tidings.service.watch.cursors import ticks_of
from tidings.service.watch.lifespan import Life
from tidings.service.watch.watchlist import Subscription, WatchedSentinel, read_meaning
from tidings.storage.db import lock, planners
from tidings.storage.watches import events, sentinels, subscriptions
from tidings.storage.write import instants

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.model.interval import Duration, Instant
    from tidings.model.watch.sentinel import Sentinel, State
    from tidings.service.notify.news import Bulletins
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow

log = logging.getLogger("tidings.service")
LOGGED_FROM: Final[Duration] = MINUTE
"""A clock that was ahead by less is corrected without a log entry."""
NOTIFY_FROM: Final[Duration] = HOUR
"""Owners are notified of a clock that was ahead by this much, which may have delayed checks,
messages or a sentinel's life.
"""
NOTIFY_EVERY: Final[Duration] = DAY
"""Shortest time between two notices: the clock of some machines is wrong at each start."""
UNLEARNED_FROM: Final[Duration] = DAY
"""A page's rate learned by a clock this far ahead is deleted: a page that did not change "for
twelve years" would hardly be checked any more.
"""
MEND: Final = "date -u; timedatectl set-ntp true"


@dataclass(frozen=True, slots=True)
class Wrong:
    """The clock was ahead by up to `ahead` µs, at some time after `since` (the last poll with a
    right clock; None: unknown), until `until`.
    """

    ahead: Duration
    since: Instant | None
    until: Instant

    @property
    def text(self) -> str:
        """Return the text for users."""
        since, until = (None if at is None else spell_instant(at)[:16] for at in (self.since, self.until))
        when = f"between {since} and {until} UTC" if since else f"until {until} UTC"
        return (
            f"the machine's clock was ahead by up to {spell_gap(self.ahead)} {when}, and is right again: checks and messages may have come too early or"
            " too late meanwhile; now each page is checked within its interval"
        )


def start(connection: Connection, clock: Clock) -> Instant:
    """Start a clock from the machine's time; from the last stored instant if the machine's clock
    was not set since boot.
    """
    if clock.wall() >= PLAUSIBLE:
        return clock.restart()
    wall_time = clock.wall()
    now = clock.restart(max(instants.latest(connection) or 0, PLAUSIBLE))
    log.warning(
        "the machine's clock says %s and is not set: time continues from %s until it is (%s)",
        spell_instant(wall_time),
        spell_instant(now),
        MEND,
    )
    return now


def mend(
    connection: Connection, *, now: Instant, epoch: int, zone: str, policy: str, shares: bool = False
) -> Wrong | None:
    """Repair what a clock that was ahead has stored; return the error, None if it was right or
    almost.

    All is written or nothing. Raises `StaleEpochError`.

    Args:
        now: The correct time (µs).
        epoch: The epoch of the lease.
        zone: The default time zone of sentinels.
        policy: The name under which rates are learned.
        shares: Whether other planners work. They have measured the time, too, so that a small
            difference says nothing. After a large one their runs are ended: they load anew.
    """
    lock.check_epoch(connection, epoch)
    last = instants.latest(connection)
    if last is None or last - now <= (LOGGED_FROM if shares else 0):
        return None
    if shares:
        planners.end_others(connection, epoch)
    since = instants.last_right(connection, now)
    ticking = connection.rows(_TICKING, now=now)
    if last - now >= UNLEARNED_FROM:
        connection.execute("DELETE FROM estimate WHERE name = :policy AND at > :now", policy=policy, now=now)
    _bring_lives_back(connection, now)
    instants.bring_back(connection, now)
    _tick_anew(connection, [number for (number,) in ticking], now, zone)
    return Wrong(last - now, since, now) if last - now >= LOGGED_FROM else None


_TICKING = (
    "SELECT u.id FROM subscription u JOIN sentinel s ON s.id = u.sentinel_id WHERE u.next_tick > :now AND"
    " (u.ticked_at > :now OR u.since > :now OR u.altered_at > :now OR s.created_at > :now OR s.started_at > :now OR u.next_tick = s.start_at)"
)
"""Subscriptions whose next tick may come from a wrong clock."""


_LIVES = "SELECT id FROM sentinel WHERE dropped = 0 AND (created_at > :now OR start_at > :now OR started_at > :now OR ended_at > :now)"
_WAIT = "UPDATE sentinel SET state = 'waiting', started_at = NULL WHERE id = :id"
_REVIVE = "UPDATE sentinel SET state = :state, reason = '', ended_at = NULL WHERE id = :id"


def _tick_anew(connection: Connection, numbers: Iterable[int], now: Instant, zone: str) -> None:
    """Reset subscriptions to the first tick after now, which no check by the wrong clock has
    served.
    """
    wanted, affected = set(numbers), dict[int, WatchedSentinel]()
    for row in subscriptions.listing(connection) if wanted else ():
        if row.id not in wanted or row.next_tick is None:
            continue
        if row.sentinel_id not in affected:
            affected[row.sentinel_id] = _load(sentinels.get(connection, row.sentinel_id), zone)
        sub = Subscription(row, affected[row.sentinel_id])
        if sub.interval is None:
            continue
        ticks = ticks_of(sub)
        first = ticks.first_tick(now) if row.ticked_at is None else ticks.next_tick(now)
        tick = min(first, row.next_tick)
        connection.execute(_TICK, tick=tick, id=row.id)
        connection.execute(_BEFORE, before=tick - ticks.slack - 1, page_id=row.page_id)


_TICK = "UPDATE subscription SET next_tick = :tick WHERE id = :id"
_BEFORE = "UPDATE page SET checked_at = :before WHERE id = :page_id AND checked_at > :before"


def _load(row: SentinelRow, zone: str) -> WatchedSentinel:
    sentinel = read_meaning(row)
    return WatchedSentinel(row, sentinel, {}, zone=zone_of(sentinel.zone or zone) or UTC)


def _bring_lives_back(connection: Connection, now: Instant) -> None:
    """Restore the starts and ends that users set, evaluated again where the wrong clock evaluated
    them; undo premature ones.
    """
    for (number,) in connection.rows(_LIVES, now=now):
        row = sentinels.get(connection, number)
        sentinel = read_meaning(row)
        start, end = calendar(sentinel, min(row.revised_at, now))
        start_at, end_at = _earlier(row.start_at, start, now), row.end_at
        if row.revised_at > now:
            end_at = _earlier(row.end_at, end, now)
        if (start_at, end_at) != (row.start_at, row.end_at):
            sentinels.settle(connection, number, start_at=start_at, end_at=end_at, at=now)
        if row.state == "enabled" and (row.started_at or 0) > now and (start_at or 0) > now:
            connection.execute(_WAIT, id=number)
            subscriptions.activate(connection, number, active=False, at=now)
        if row.state == "ended" and (row.ended_at or 0) > now:
            _revive(connection, replace(row, start_at=start_at, end_at=end_at), sentinel, now)


def _earlier(stored: Instant | None, anew: Instant | None, now: Instant) -> Instant | None:
    """Return the earlier of a stored instant and its new evaluation, for one after now."""
    return stored if stored is None or anew is None or stored <= now else min(stored, max(anew, now))


def _revive(connection: Connection, row: SentinelRow, sentinel: Sentinel, now: Instant) -> None:
    """Revive a sentinel that ended only because of the wrong clock."""
    started_at = None if row.started_at is None else min(row.started_at, now)
    ends = lifespan.ends(Life(row, sentinel, "enabled", started_at, None), lambda name: None)  # noqa: ARG005 - it waits for no other
    if ends is None or ends <= now:
        return
    state: State = "created" if started_at is None else "enabled"
    connection.execute(_REVIVE, id=row.id, state=state)
    subscriptions.activate(connection, row.id, active=state == "enabled", at=now)
    data = {"name": row.name, "before": "ended", "state": state, "reason": "it ended only because the clock was ahead"}
    kind = EventType.SENTINEL_ENABLED if state == "enabled" else EventType.SENTINEL_ALTERED
    events.append(connection, [Event(type=kind, at=now, sentinel_id=row.id, data=data)])


def find_last_notified(connection: Connection) -> Instant | None:
    """Return when recipients were last notified of a wrong clock."""
    newest = events.newest(connection, CLOCK_WRONG)
    return None if newest is None else newest.data.get("told_at")


def unit(wrong: Wrong, bulletins: Bulletins, *, epoch: int, noticed_at: Instant | None) -> Unit:
    """Return the unit with the event that the clock was wrong, and a message to each recipient if
    it was by much.

    Args:
        wrong: The error of the clock.
        bulletins: Writes messages to all recipients.
        epoch: The epoch of the lease.
        noticed_at: When the last notice was sent (µs); None if there was none.
    """
    now = wrong.until
    is_announced = wrong.ahead >= NOTIFY_FROM and (noticed_at is None or not 0 <= now - noticed_at < NOTIFY_EVERY)
    data = {
        "ahead": wrong.ahead,
        "since": wrong.since,
        "until": now,
        "told_at": now if is_announced else noticed_at,
        "summary": wrong.text,
    }
    event = Event(type=CLOCK_WRONG, at=now, data=data)
    return bulletins.unit(event, epoch=epoch) if is_announced else Unit(at=now, epoch=epoch, events=(event,))

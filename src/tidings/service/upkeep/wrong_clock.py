"""Wrong clock: what a clock that was ahead has left behind is brought back, once it is right again
(F-21).

While the clock is ahead, everything happens "in the future": a page that was checked then would not
be checked until that day comes. So at each start, and whenever the clock is set back while the
service runs (it starts again then), no instant that decides anything may lie after now. Pages wait
no longer than their own interval from now on; dates of people stay. An event says from when to when
the clock was wrong, and owners are told once if it was wrong by an hour or more.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import UTC
from typing import TYPE_CHECKING, Final

from tidings.clock import DAY, HOUR, MINUTE, PLAUSIBLE
from tidings.language.dates import zone_of
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event, Unit
from tidings.record import dataclass, replace
from tidings.service.sentinels.alter import calendar
from tidings.service.show.finding import spell_instant
from tidings.service.show.records import CLOCK_WRONG, spell_gap
from tidings.service.watch import lifespan
from tidings.service.watch.cursors import ticks_of
from tidings.service.watch.lifespan import Life
from tidings.service.watch.watchlist import Subscription, WatchedSentinel, meaning
from tidings.storage.db import leases
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
"""A clock that was ahead by less is set right without a word."""
TOLD_FROM: Final[Duration] = HOUR
"""Owners are told of a clock that was ahead by so much: it may have kept checks, messages or a sentinel's life from them."""
TOLD_EVERY: Final[Duration] = DAY
"""Owners are told no more often: the clock of some machines is wrong at each start."""
UNLEARNED_FROM: Final[Duration] = DAY
"""What was learned of a page's rate by a clock that was so far ahead is forgotten: a page that did not change "for twelve years" would hardly be
checked any more."""
MEND: Final = "date -u; timedatectl set-ntp true"


@dataclass(frozen=True, slots=True)
class Wrong:
    """The clock was ahead by up to `ahead` µs, at some time after `since` (the last poll by a right clock; None: none is known), until `until`."""

    ahead: Duration
    since: Instant | None
    until: Instant

    @property
    def text(self) -> str:
        """Return what people are told of it."""
        since, until = (None if at is None else spell_instant(at)[:16] for at in (self.since, self.until))
        when = f"between {since} and {until} UTC" if since else f"until {until} UTC"
        return (
            f"the machine's clock was ahead by up to {spell_gap(self.ahead)} {when}, and is right again: checks and messages may have come too early or"
            " too late meanwhile; from now on each page is checked within its interval"
        )


def start(connection: Connection, clock: Clock) -> Instant:
    """Let a clock start by what the machine says; one that nobody has set since the machine started goes on from the last instant that is stored."""
    if clock.wall() >= PLAUSIBLE:
        return clock.restart()
    said = clock.wall()
    now = clock.restart(max(instants.latest(connection) or 0, PLAUSIBLE))
    log.warning(
        "the machine's clock says %s and is not set: time goes on from %s until it is (%s)",
        spell_instant(said),
        spell_instant(now),
        MEND,
    )
    return now


def mend(connection: Connection, *, now: Instant, epoch: int, zone: str, policy: str) -> Wrong | None:
    """Bring back what a clock that was ahead has left behind; return what it was, None if it was right, or wrong by next to nothing.

    All is written or nothing. `zone` is that of sentinels which name none, `policy` the name under which rates are learned. Raises `StaleEpochError`.
    """
    leases.check_epoch(connection, epoch)
    last = instants.latest(connection)
    if last is None or last <= now:
        return None
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
"""Subscriptions whose next tick a wrong clock may have said."""


_LIVES = "SELECT id FROM sentinel WHERE dropped = 0 AND (created_at > :now OR start_at > :now OR started_at > :now OR ended_at > :now)"
_WAIT = "UPDATE sentinel SET state = 'waiting', started_at = NULL WHERE id = :id"
_REVIVE = "UPDATE sentinel SET state = :state, reason = '', ended_at = NULL WHERE id = :id"


def _tick_anew(connection: Connection, numbers: Iterable[int], now: Instant, zone: str) -> None:
    """Let subscriptions wait for the first tick after now, which no check by the wrong clock has served."""
    wanted, held = set(numbers), dict[int, WatchedSentinel]()
    for row in subscriptions.listing(connection) if wanted else ():
        if row.id not in wanted or row.next_tick is None:
            continue
        if row.sentinel_id not in held:
            held[row.sentinel_id] = _load(sentinels.get(connection, row.sentinel_id), zone)
        sub = Subscription(row, held[row.sentinel_id])
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
    sentinel = meaning(row.text)
    return WatchedSentinel(row, sentinel, {}, zone=zone_of(sentinel.zone or zone) or UTC)


def _bring_lives_back(connection: Connection, now: Instant) -> None:
    """Let lives begin and end as people said, read anew where that was said in the future; who began or ended too early for that has not."""
    for (number,) in connection.rows(_LIVES, now=now):
        row = sentinels.get(connection, number)
        sentinel = meaning(row.text)
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


def _earlier(said: Instant | None, anew: Instant | None, now: Instant) -> Instant | None:
    """Return when something is to be that was to be then, and by a right clock earlier."""
    return said if said is None or anew is None or said <= now else min(said, max(anew, now))


def _revive(connection: Connection, row: SentinelRow, sentinel: Sentinel, now: Instant) -> None:
    """Let a sentinel go on that ended only since the clock said that its time was over."""
    started_at = None if row.started_at is None else min(row.started_at, now)
    ends = lifespan.ends(Life(row, sentinel, "enabled", started_at, None), lambda name: None)  # noqa: ARG005 - it waits for no other
    if ends is None or ends <= now:
        return
    state: State = "created" if started_at is None else "enabled"
    connection.execute(_REVIVE, id=row.id, state=state)
    subscriptions.activate(connection, row.id, active=state == "enabled", at=now)
    data = {"name": row.name, "before": "ended", "state": state, "reason": "it ended only since the clock was ahead"}
    kind = EventType.SENTINEL_ENABLED if state == "enabled" else EventType.SENTINEL_ALTERED
    events.append(connection, [Event(type=kind, at=now, sentinel_id=row.id, data=data)])


# -- what is said of it ------------------------------------------------------------------------------------------------------------


def find_last_notified(connection: Connection) -> Instant | None:
    """Return when recipients were last notified of a wrong clock."""
    newest = events.newest(connection, CLOCK_WRONG)
    return None if newest is None else newest.data.get("told_at")


def unit(wrong: Wrong, bulletins: Bulletins, *, epoch: int, told: Instant | None) -> Unit:
    """Return the event that the clock was wrong, with a message to each recipient if it was so by much; `told` is when there was one last."""
    now = wrong.until
    is_announced = wrong.ahead >= TOLD_FROM and (told is None or not 0 <= now - told < TOLD_EVERY)
    data = {
        "ahead": wrong.ahead,
        "since": wrong.since,
        "until": now,
        "told_at": now if is_announced else told,
        "summary": wrong.text,
    }
    event = Event(type=CLOCK_WRONG, at=now, data=data)
    return bulletins.unit(event, epoch=epoch) if is_announced else Unit(at=now, epoch=epoch, events=(event,))

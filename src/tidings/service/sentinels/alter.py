"""Alter a sentinel without resetting its cursors (sentinels §2.2).

Class A (receivers, importance) takes effect at once; class B (schedule) restarts the ticks; class C
(comparison, request) compares the reference once more with the new meaning at the next poll, which
is unconditional. The switch itself is never reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tidings.detection.find import window
from tidings.detection.find.window import Window
from tidings.language.times import ends_at, starts_at
from tidings.model.event_type import EventType
from tidings.model.interval import Instant
from tidings.model.observed.unit import Event, SentinelMove
from tidings.service.notify import life_steps
from tidings.service.watch import lifespan
from tidings.service.watch.lifespan import Life
from tidings.service.watch.watchlist import meaning, read_meaning
from tidings.storage.watches import events, sentinels, subscriptions

if TYPE_CHECKING:
    from tidings.model.watch.sentinel import Compare, Point, Sentinel
    from tidings.service.sentinels.author import RequestRights
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow

COMPARED = ("monitor", "window", "select", "exclude", "transform", "compare")
"""The fields of a sentinel that define its comparison."""


def alter(
    connection: Connection, row: SentinelRow, after: Sentinel, *, text: str, requests: RequestRights, now: Instant
) -> SentinelRow:
    """Change the meaning of a sentinel to `after`, written out in `text`, and return its row,
    unchanged if it means that already.

    Raises `AddressError`, and `UsageError` for a secret that the author may not use.

    Args:
        row: The stored sentinel.
        after: Its new meaning.
        text: That meaning as canonical text.
        requests: How its pages are requested.
        now: When it is altered (µs).
    """
    if text == row.text:
        return row
    before = meaning(row.text)
    pages = [
        (page, requests.find_held(was.url, before.asking), requests.identify(page.url, after.asking))
        for was, page in zip(before.pages, after.pages, strict=True)
    ]
    _compare_otherwise(connection, row, before.compare, after.compare)
    start_at, end_at = row.start_at, row.end_at
    if (before.start, before.end, before.span) != (after.start, after.end, after.span):
        start_at, end_at = _life(row, after, now)
    return sentinels.alter(
        connection,
        row.id,
        after,
        text=text,
        pages=pages,
        start_at=start_at,
        end_at=end_at,
        ticks_anew=(before.fetch, before.during, before.zone) != (after.fetch, after.during, after.zone),
        compares_anew=any(getattr(before, name) != getattr(after, name) for name in COMPARED)
        or any(was.key != now_.key for _, was, now_ in pages),
        at=now,
    )


def calendar(sentinel: Sentinel, now: Instant) -> tuple[Instant | None, Instant | None]:
    """Return when a sentinel starts and ends by the calendar; what depends on another sentinel is
    computed on demand (`lifespan`).
    """
    start = starts_at(sentinel, now, _nobody) if sentinel.start.sentinel is None else None
    return start, ends_at(sentinel, start, _nobody)


def _nobody(name: str) -> None:  # noqa: ARG001 - no sentinel is asked
    return None


def _life(row: SentinelRow, after: Sentinel, now: Instant) -> tuple[Instant | None, Instant | None]:
    """Return the life of a sentinel altered now: a past start stays, and a future one is not moved
    into the past.
    """
    start, end = calendar(after, now)
    if row.started_at is not None:
        start = row.start_at if row.start_at is not None else row.started_at
        end = ends_at(after, row.started_at, _nobody)
    return start, end


def enable(connection: Connection, row: SentinelRow, *, fresh: bool, find: lifespan.Find, now: Instant) -> None:
    """Enable a paused sentinel; `fresh`: with a new baseline, else its next comparison spans the
    pause.

    Args:
        row: The stored sentinel.
        fresh: Whether it starts with a new baseline.
        find: Finds other sentinels by name.
        now: When it is enabled (µs).
    """
    sentinel = meaning(row.text)
    if row.state == "disabled" and row.started_at is not None:
        sentinels.move(connection, SentinelMove(sentinel_id=row.id, state="enabled", at=now))
    elif row.state == "disabled":
        start = lifespan.starts(Life.of(row, sentinel), find)
        if start is not None and start < now:  # its start fell into the pause: it starts now
            sentinels.settle(connection, row.id, start_at=now, end_at=row.end_at, at=now)
        sentinels.move(connection, SentinelMove(sentinel_id=row.id, state="created", at=now))
    if fresh and row.state != "ended":
        sentinels.renew(connection, row.id, sentinel, now)


def confirm(connection: Connection, row: SentinelRow, *, now: Instant) -> None:
    """Make the newest version that a sentinel has taken of each page its reference from now on
    (`Compare first`).
    """
    if meaning(row.text).compare.mode != "first":
        return
    for sub in subscriptions.listing(connection, sentinel_id=row.id):
        if sub.seen:
            subscriptions.rewrite(connection, sub.id, base=sub.seen, taken=(sub.seen,), number=1)
    data = {"name": row.name}
    events.append(connection, [Event(type=EventType.SENTINEL_CONFIRMED, at=now, sentinel_id=row.id, data=data)])


def _compare_otherwise(connection: Connection, row: SentinelRow, before: Compare, after: Compare) -> None:
    """Set the stored versions with which an altered Compare clause begins (sentinels §4.4)."""
    for sub in subscriptions.listing(connection, sentinel_id=row.id):
        now = window.switch(before, after, Window(sub.number, sub.taken), sub.seen)
        if now.needed != sub.taken or now.number != sub.number:
            base = (
                sub.seen if now.number == window.TO_BEGIN else sub.base
            )  # newer than that of a running poll, which then leaves it
            subscriptions.rewrite(connection, sub.id, base=base, taken=now.needed, number=now.number)


def undo_followers(connection: Connection, gone: SentinelRow, *, now: Instant) -> None:
    """Undo the starts and ends of other sentinels that followed the end of a dropped one, which is
    restored, and those that followed them.

    Args:
        connection: The transaction.
        gone: The sentinel as it was dropped.
        now: When it is restored (µs).
    """
    undone = [] if gone.ended_at is None else [_Cause(gone.name, "end", gone.ended_at)]
    numbers = [row.id for row in sentinels.listing(connection, ended=True) if row.reason != "dropped"]
    while undone:
        cause = undone.pop()
        for row in (sentinels.get(connection, number) for number in numbers):
            if f"({cause.name})" not in row.text:
                continue
            sentinel = read_meaning(row)
            never = row.reason == life_steps.NEVER_STARTED and sentinel.start.sentinel == cause.name
            if row.ended_at is not None and (never or cause.has_moved(row, sentinel.end, row.ended_at)):
                sentinels.revive(connection, row.id, now)
                undone.append(_Cause(row.name, "end", row.ended_at))
            has_begun = row.started_at is not None and row.state in {"enabled", "disabled"}
            if has_begun and cause.has_moved(row, sentinel.start, row.started_at):
                sentinels.undo_start(connection, row.id, sentinel, now)
                undone.append(_Cause(row.name, "start", row.started_at or 0))


class _Cause(NamedTuple):
    """The start or end of a sentinel, which others followed and which is undone."""

    name: str
    base: str
    at: Instant

    def has_moved(self, row: SentinelRow, point: Point | None, moved_at: Instant | None) -> bool:
        """Return whether a sentinel started or ended at `moved_at` because of it."""
        if point is None or (point.sentinel, point.base) != (self.name, self.base):
            return False
        due = max(row.created_at, self.at + point.offset)
        return moved_at in {due, max(due, row.revised_at)}


def sever(connection: Connection, name: str, *, now: Instant) -> None:
    """Fix the dates that depend on a dropped sentinel, before its name is used again."""
    gone = sentinels.last_holder(connection, name)
    if gone is None:
        return
    past = Life.of(gone, read_meaning(gone))

    def find(other: str) -> Life | None:
        return past if other == name else None

    for row in sentinels.listing(connection):
        if f"({name})" not in row.text:
            continue
        life = Life.of(row, read_meaning(row))
        start_at, end_at = row.start_at, row.end_at
        if life.sentinel.start.sentinel == name and life.started_at is None:
            if lifespan.never_starts(life, find) is not None:
                step = SentinelMove(
                    sentinel_id=row.id, state="ended", at=now, reason=life_steps.NEVER_STARTED, before=row.state
                )
                sentinels.move(connection, step)
                continue
            start_at = lifespan.starts(life, find)
        if life.sentinel.end is not None and life.sentinel.end.sentinel == name:
            end_at = lifespan.ends(life, find)
        if (start_at, end_at) != (row.start_at, row.end_at):
            sentinels.settle(connection, row.id, start_at=start_at, end_at=end_at, at=now)

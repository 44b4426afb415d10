"""Activate: lifecycle steps of sentinels that time or another sentinel brings (sentinels §2).

`created → waiting → enabled → ended`, and the end of a pause with a date. All due steps are
computed at once, in the order in which they fell due: at one instant ends before starts, then in
order of creation. Each has the instant at which it fell due, not that at which it was found, so
that downtime shifts no life.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event, Premise, SentinelMove, Unit
from tidings.record import replace
from tidings.service.notify import news
from tidings.service.show.notices import life_record
from tidings.service.watch.lifespan import REPORTED, Life, ends, never_starts, starts

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.model.observed.unit import ChangeRow
    from tidings.service.watch.watchlist import Subscription, WatchedSentinel

OVER = "its end has come"
MISSED = "missed"
UNSTARTED = "its end came first"
NEVER_STARTED = "never started"
RESUMED = "its pause is over"

_END, _RESUME, _START, _WAIT = range(4)
"""the order of steps at one instant"""


class DueSteps(NamedTuple):
    """The due steps, in order, and the next instant at which time alone brings one (None:
    never).
    """

    moves: tuple[SentinelMove, ...]
    next_at: Instant | None


def play_lives(lives: Iterable[Life], *, now: Instant) -> DueSteps:
    """Return the steps that `lives`, all present and past sentinels, take until `now`. Updates
    `lives` to their state then.
    """
    return _Play(lives, now).run()


class _Step(NamedTuple):
    """A step that falls due; of a sentinel's steps only the `number`th counts."""

    at: Instant
    order: int
    sentinel_id: int
    number: int
    reason: str


class _Play:
    """Simulates the lives of sentinels step by step."""

    def __init__(self, lives: Iterable[Life], now: Instant) -> None:
        self._now = now
        self._lives: dict[int, Life] = {}
        self._names: dict[str, Life] = {}
        for life in lives:
            self._lives[life.row.id] = life
            if (other := self._names.get(life.row.name)) is None or other.state == "ended":
                self._names[life.row.name] = life
        self._waiting: dict[str, list[Life]] = {}
        self._numbers = dict.fromkeys(self._lives, 0)
        self._due: list[_Step] = []
        for life in self._lives.values():
            if life.state != "ended":
                for name in life.awaits():
                    self._waiting.setdefault(name, []).append(life)

    def run(self) -> DueSteps:
        moves: list[SentinelMove] = []
        for life in self._lives.values():
            if life.state != "ended":
                self._expect(life, 0)
        while self._due and self._due[0].at <= self._now:
            step = heapq.heappop(self._due)
            if step.number == self._numbers[step.sentinel_id]:
                moves += self._take(self._lives[step.sentinel_id], step)
        return DueSteps(
            tuple(moves), min((s.at for s in self._due if s.number == self._numbers[s.sentinel_id]), default=None)
        )

    def _take(self, life: Life, step: _Step) -> Iterator[SentinelMove]:
        before = life.state
        premises = (_premise(life, states=True), *map(_premise, self._rests_on(life)))
        if step.order == _END:
            life.state, life.ended_at = "ended", step.at
        elif step.order == _RESUME:
            life.state = "created" if life.started_at is None else "enabled"
        elif step.order == _START:
            life.state, life.started_at = "enabled", step.at
        else:
            life.state = "waiting"
        yield SentinelMove(
            sentinel_id=life.row.id,
            state=life.state,
            at=step.at,
            reason=step.reason,
            before=before,
            premises=premises,
        )
        self._numbers[life.row.id] += 1
        concerned = [life] if step.order == _WAIT else [life, *self._waiting.get(life.row.name, ())]
        for other in concerned:
            if other.state != "ended":
                self._expect(other, step.at)

    def _rests_on(self, life: Life) -> list[Life]:
        """Return the lives on whose starts and ends the steps of a life depend, also by others."""
        found: dict[int, Life] = {}
        names = sorted(life.awaits())
        while names:
            other = self._names.get(names.pop())
            if other is not None and other is not life and other.row.id not in found:
                found[other.row.id] = other
                names += sorted(other.awaits())
        return list(found.values())

    def _expect(self, life: Life, at: Instant) -> None:
        """Schedule the next step of a life, not before an instant."""
        found = self._next(life)
        self._numbers[life.row.id] += 1
        if found is not None:
            due, order, reason = found
            due = max(due, at, life.row.revised_at)
            heapq.heappush(self._due, _Step(due, order, life.row.id, self._numbers[life.row.id], reason))

    def _next(self, life: Life) -> tuple[Instant, int, str] | None:
        start, end, never = (
            starts(life, self._names.get),
            ends(life, self._names.get),
            never_starts(life, self._names.get),
        )
        if never is not None:
            return never, _END, NEVER_STARTED
        is_over = end is not None and end <= self._now
        resume = life.row.resume_at if life.state == "disabled" else None
        if resume is not None and (end is None or resume < end):
            return resume, _RESUME, RESUMED
        if life.has_begun:
            return None if end is None else (end, _END, OVER)
        if end is not None and (is_over or (start is not None and end <= start)):
            return end, _END, _explain_end(life, start, end)
        if start is not None and (start <= self._now or life.state == "waiting"):
            return start, _START, ""
        if life.state == "created":
            return self._now, _WAIT, ""
        return None if end is None else (end, _END, _explain_end(life, start, end))


def _explain_end(life: Life, start: Instant | None, end: Instant) -> str:
    """Return why a sentinel ends that has not begun: its author wrote an end in the past, or an end
    before its start; or nothing ran between the two.
    """
    if end <= life.row.revised_at:
        return OVER
    return UNSTARTED if start is None or end <= start else MISSED


def _premise(life: Life, *, states: bool = False) -> Premise:
    """Return what a step assumes of a life: what is stored of it, or what earlier steps have made
    of it.
    """
    row = life.row
    return Premise(
        sentinel_id=row.id,
        revision=row.revision,
        states=(row.state, life.state) if states else (),
        started_at=(row.started_at, life.started_at),
        ended_at=(row.ended_at, life.ended_at),
        resume_at=(row.resume_at, None) if states else (),
    )


def too_late(found: Iterable[ChangeRow], subscriptions: dict[int, Subscription]) -> frozenset[str]:
    """Return the ids of changes of sentinels that have already made their only report."""
    return frozenset(
        row.id
        for row in found
        if row.subscription_id in subscriptions and subscriptions[row.subscription_id].owner.has_reported
    )


def first_report(
    found: Iterable[ChangeRow], subscriptions: dict[int, Subscription], at: Instant
) -> tuple[SentinelMove, ...]:
    """Return the ends of the sentinels with `To first change` that have one now, to be written in
    the same unit.
    """
    owners = {
        row.sentinel_id: subscriptions[row.subscription_id].owner
        for row in found
        if row.subscription_id in subscriptions and not row.quiet
    }
    return tuple(end_with_report(id_, at) for id_, owner in owners.items() if owner.ends_with_report)


def end_with_report(sentinel_id: int, at: Instant) -> SentinelMove:
    """Return the end of a sentinel whose first change is reported."""
    return SentinelMove(sentinel_id=sentinel_id, state="ended", at=at, reason=REPORTED, before="enabled", is_sole=True)


def unit_for(move: SentinelMove, watched: WatchedSentinel, *, epoch: int) -> Unit:
    """Return the unit with one step. An end that no user asked for is reported at once to all
    receivers of the sentinel.
    """
    unit = Unit(at=move.at, epoch=epoch, sentinels=(move,))
    if move.reason not in {MISSED, NEVER_STARTED, UNSTARTED}:
        return unit
    event = Event(type=EventType.LIFE_NOTIFIED, at=move.at, sentinel_id=move.sentinel_id, data={"reason": move.reason})
    record = life_record(move, sentinel=watched.row.name, url=watched.sentinel.pages[0].url)
    drafts = tuple(news.draft(target, watched, [record], move.at, events=(0,)) for target in watched.everybody())
    return replace(unit, events=(event,), deliveries=drafts)

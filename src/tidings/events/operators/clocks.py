"""P, P* and PLUS: timers that an event starts (sentinels §3.2).

A timer fires when time passes its due instant; the result is a point at that instant. Occurrences
at the same instant come first: a terminator at t suppresses the tick at t.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tidings.events.expression import INITIATOR, Expression, Periodic, PeriodicStar, Plus
from tidings.events.occurrence import NO_PARAMS, Occurrence
from tidings.events.operators.node import NONE, Bounds, Context, Node, join
from tidings.events.timers import Timers
from tidings.model.interval import Duration, Instant


class RunningClock(NamedTuple):
    """A running timer: its initiators, its last tick (or its beginning), its due instant, and the
    ticks so far (P*).

    `place` is its order among timers of one instant, across copies and restarts (`Timer`); `depth`
    is the depth of the chain of events in which it fires at once (`Timers.depth`).
    """

    initiators: tuple[Occurrence, ...]
    last: Instant
    due: Instant
    place: int
    depth: int = 0
    ticks: tuple[Occurrence, ...] = ()


class ClockNode(Node):
    """The common part of P, P* and PLUS. Timers are in the order in which they were started."""

    __slots__ = ("_clocks", "period")

    def __init__(self, number: int, expression: Expression, context: Context, bounds: Bounds, timers: Timers) -> None:
        super().__init__(number, expression, context, bounds, timers)
        self.period = _period(expression)
        self._clocks: dict[int, RunningClock] = {}

    @property
    def is_idle(self) -> bool:
        """Return whether no timer runs, and the period is that of the expression."""
        return not self._clocks and self.period == _period(self.expression)

    def receive(self, role: int, occurrence: Occurrence) -> Sequence[Occurrence]:
        """Start a timer, or stop those that a terminator stops."""
        if role == INITIATOR:
            self._begin(occurrence)
            return NONE
        return self._stop(occurrence)

    def next_due(self) -> Instant | None:
        """Return when the next timer fires."""
        return min((clock.due for clock in self._clocks.values()), default=None)

    def catch_up(self, now: Instant) -> None:
        """Do nothing: a single due timer stays due, however late."""

    def save(self) -> Any:
        """Return a copy of the timers."""
        return self._clocks.copy(), self.period

    def restore(self, saved: Any) -> None:
        """Restore the timers; if another node runs them, too, they get numbers of their own."""
        for number in self._clocks:
            self.timers.cancel(number)
        clocks, self.period = saved
        self._clocks = {}
        self._run(clocks.items())

    def clear(self) -> None:
        """Stop all timers."""
        for number in self._clocks:
            self.timers.cancel(number)
        self._clocks.clear()

    def dump(self) -> Any:
        """Return the timers, and the period if it was changed."""
        if self.is_idle:
            return None
        clocks = [
            [
                clock.place,
                clock.last,
                clock.due,
                clock.depth,
                [part.to_json() for part in clock.initiators],
                [tick.end for tick in clock.ticks],
            ]
            for clock in self._clocks.values()
        ]
        return [self.period, clocks]

    def load(self, data: Any) -> None:
        """Restore dumped timers."""
        self.period, clocks = data or (_period(self.expression), ())
        self._run((place, self._from_json(place, *rest)) for place, *rest in clocks)

    def _begin(self, initiator: Occurrence) -> None:
        if self.context is Context.RECENT:
            self.clear()
        elif self.context is Context.CUMULATIVE and self._clocks:
            self._join(initiator)
            return
        elif len(self._clocks) >= self.bounds.max_waiting:
            oldest = next(iter(self._clocks))
            self._cancel(oldest)
            self.dropped += 1
        due = self._due(initiator)
        depth = self.timers.depth + 1 if due <= self.timers.now else 0
        number = self.timers.number()
        self._set(number, RunningClock((initiator,), initiator.end, due, number, depth))

    def _due(self, initiator: Occurrence) -> Instant:
        """Return when a timer with this initiator fires first."""
        return initiator.end + self.period

    def _join(self, initiator: Occurrence) -> None:
        """Add an initiator to the one timer of the cumulative context."""
        ((number, clock),) = self._clocks.items()
        initiators = (*clock.initiators, initiator)
        if len(initiators) > self.bounds.max_waiting:
            initiators = initiators[1:]
            self.dropped += 1
        self._clocks[number] = clock._replace(initiators=initiators)

    def _stop(self, last: Occurrence) -> Sequence[Occurrence]:
        """Stop the timers whose first initiator had ended when the terminator started; in the
        chronicle context one.
        """
        stopped = [number for number, clock in self._clocks.items() if clock.initiators[0].end <= last.start]
        if self.context is Context.CHRONICLE:
            stopped = stopped[:1]
        return [occurrence for number in stopped for occurrence in self._end_clock(self._cancel(number), last)]

    def _end_clock(self, clock: RunningClock, last: Occurrence) -> Sequence[Occurrence]:  # noqa: ARG002 - P* does
        return NONE

    def _tick(self, clock: RunningClock) -> Occurrence:
        """Return the occurrence of a firing timer: at its due instant, or now if that passed during
        a pause.
        """
        at = max(clock.due, self.timers.now)
        return Occurrence(self.type, at, at, NO_PARAMS, clock.initiators)

    def _set(self, number: int, clock: RunningClock) -> None:
        self._clocks[number] = clock
        self.timers.set(number, self.number, clock.due, clock.depth, clock.place)

    def _cancel(self, number: int) -> RunningClock:
        self.timers.cancel(number)
        return self._clocks.pop(number)

    def _run(self, clocks: Iterable[tuple[int, RunningClock]]) -> None:
        for number, clock in clocks:
            self._set(self.timers.number() if number in self.timers else number, clock)

    def _from_json(
        self, place: int, last: Instant, due: Instant, depth: int, initiators: Any, ticks: Any
    ) -> RunningClock:
        points = tuple(Occurrence.at(self.type, tick) for tick in ticks)
        return RunningClock(tuple(map(Occurrence.from_json, initiators)), last, due, place, depth, points)


class PeriodicNode(ClockNode):
    """P: each tick is an occurrence, made of the initiators of its timer."""

    __slots__ = ()

    def fire(self, clock: int) -> Sequence[Occurrence]:
        """Return the tick, and set the timer to the next."""
        running = self._clocks[clock]
        self._set(clock, running._replace(last=running.due, due=running.due + self.period))
        return (self._tick(running),)

    def set_period(self, period: Duration) -> None:
        """Change the period of the timers, from their last tick on; a tick that is then overdue is
        due now.
        """
        self.period = period
        for number, clock in self._clocks.items():
            self._set(number, clock._replace(due=max(clock.last + period, self.timers.now)))

    def catch_up(self, now: Instant) -> None:
        """Skip all owed ticks of each timer but the newest: it keeps its phase."""
        for number, clock in self._clocks.items():
            missed = max(0, now - clock.due) // self.period
            if missed:
                due = clock.due + missed * self.period
                self._set(number, clock._replace(last=due - self.period, due=due))


class PeriodicStarNode(PeriodicNode):
    """P*: ticks are collected and reported when the timer is stopped."""

    __slots__ = ()

    def fire(self, clock: int) -> Sequence[Occurrence]:
        """Collect the tick."""
        (tick,) = super().fire(clock)
        running = self._clocks[clock]
        ticks = (*running.ticks, Occurrence.at(self.type, tick.end))
        if len(ticks) > self.bounds.max_waiting:
            ticks = ticks[1:]
            self.dropped += 1
        self._clocks[clock] = running._replace(ticks=ticks)
        return NONE

    def _end_clock(self, clock: RunningClock, last: Occurrence) -> Sequence[Occurrence]:
        ticks = [tick for tick in clock.ticks if tick.end <= last.start]
        return (join(self, [*clock.initiators, *ticks], last),) if ticks else NONE


class PlusNode(ClockNode):
    """PLUS: the timer fires once. Recent: a later event restarts it (debounce); cumulative: it
    joins (batch).
    """

    __slots__ = ()

    def fire(self, clock: int) -> Sequence[Occurrence]:
        """Return the occurrence, made of its initiators."""
        running = self._cancel(clock)
        return (self._tick(running),)

    def _due(self, initiator: Occurrence) -> Instant:
        """Return the instant given by the initiator, if the expression asks for it; else the end of
        the delay.
        """
        duration = initiator.params.get(getattr(self.expression, "until", None) or "")
        return max(duration, initiator.end) if isinstance(duration, int) else super()._due(initiator)


def _period(expression: Expression) -> Duration:
    match expression:
        case Periodic(_, period, _) | PeriodicStar(_, period, _):
            return period
        case Plus(_, delay):
            return delay
        case _:
            raise TypeError(expression)

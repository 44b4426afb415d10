"""Day by day: EDD, MEDD and its demand-bound form, and the alternatives of MMEDD (003 §4).

Readings of what the paper leaves open (scheduling §4): "choose the top" continues with what still
fits; wasteness is (due − today)/w · c, least first (with the printed negative lateness the most
wasteful would come first); ties go to the smaller cost, then the longer window, then the lower
number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from tidings.lab.gardener.garden import Capacity, Costs, Days, Garden, Measures, excess, measure, overload
from tidings.model.interval import HOUR, MINUTE, Duration, Instant
from tidings.record import dataclass, replace
from tidings.scheduling.paced.turns import TURNS, due_after, lateness
from tidings.scheduling.policy import (
    UNPOLLED,
    Columns,
    Floats,
    Instants,
    Market,
    Observation,
    Population,
    Rows,
    Signal,
)

_EVEN = 1e-9


@dataclass(frozen=True, slots=True)
class Morning:
    """The input of a rule: the garden, when each plant is due, today's number, the capacity, and
    what today may spend at most.
    """

    garden: Garden
    due: Days
    today: int
    capacity: Capacity
    level: float

    @property
    def room(self) -> float:
        """Return what today may cost."""
        return min(self.capacity.peak, self.level)


Rule: TypeAlias = Callable[[Morning], list[int]]
"""Chooses the plants of a day."""


def edd(morning: Morning) -> list[int]:
    """Choose the earliest due, late or not, until the day is full: never later than necessary, and
    never idle (003 §4).
    """
    order = _by_lateness(morning.garden, morning.due, np.arange(morning.garden.size))
    return _fill(morning.garden, order, morning.room)


def medd(morning: Morning) -> list[int]:
    """Choose what is due, and ahead of time as much as the next `max(w)` days could not take
    otherwise (Algorithm 1).
    """
    return _maintain(morning, np.array([morning.garden.windows.max()]), covers=False)


def medd_dbf(morning: Morning) -> list[int]:
    """Choose as MEDD does, with the overload of every horizon up to `max(w)` days: peaks are seen
    before they come.

    The overload is covered, the last plant exceeding it if necessary: otherwise a rest smaller than
    any plant would stay.
    """
    return _maintain(morning, np.arange(1, int(morning.garden.windows.max()) + 1), covers=True)


def tend(garden: Garden, rule: Rule, capacity: Capacity, days: int) -> list[list[int]]:
    """Return the choices of a rule on each of `days` days, from day 1 on.

    Args:
        garden: The plants.
        rule: Chooses the plants of a day.
        capacity: What can be spent.
    """
    due = garden.windows.copy()
    level = 0.0
    schedule: list[list[int]] = []
    for today in range(1, days + 1):
        level = capacity.refill(level)
        chosen = rule(Morning(garden, due, today, capacity, level))
        due[chosen] = today + garden.windows[chosen]
        level -= garden.workload(chosen)
        schedule.append(chosen)
    return schedule


@dataclass(frozen=True, slots=True)
class Alternative:
    """One undominated schedule: the capacity that it was made with, and its measures."""

    capacity: float
    measures: Measures


def mmedd(garden: Garden, capacity: float, days: int, *, rule: Rule = medd_dbf, most: int = 64) -> list[Alternative]:
    """Return mutually undominated schedules for capacities of `capacity` and less, the least
    average workload first.

    Capacities are bisected between two whose schedules differ, until `most` were tried: so every
    distinct outcome that is further apart is found (MMEDD, 003 §4).

    Args:
        garden: The plants.
        days: How many days are played.
        rule: Chooses the plants of a day.
    """
    tried: dict[float, Measures] = {}

    def outcome(k: float) -> Measures:
        if k not in tried:
            tried[k] = measure(garden, tend(garden, rule, Capacity(k), days))
        return tried[k]

    least = float(garden.costs.max())
    spans = [(least, max(least, capacity))]
    while spans and len(tried) < most:
        low, high = spans.pop(0)
        if outcome(low) != outcome(high) and high - low > _EVEN * high:
            spans += [(low, (low + high) / 2), ((low + high) / 2, high)]
    best = [
        Alternative(k, found)
        for k, found in sorted(tried.items())
        if not any(other.dominates(found) for other in tried.values())
    ]
    distinct = {alternative.measures: alternative for alternative in reversed(best)}
    return sorted(distinct.values(), key=lambda alternative: alternative.measures.values())


def _maintain(morning: Morning, horizons: Days, *, covers: bool) -> list[int]:
    def measure_need(due: Days, spent: float) -> float:
        return overload(morning.garden, due, morning.today, morning.capacity, morning.level - spent, horizons)

    late, early = maintain(morning.garden, morning.due, morning.today, morning.room, measure_need, covers=covers)
    return late + early


def maintain(
    garden: Garden, due: Days, today: int, room: float, needed: Callable[[Days, float], float], *, covers: bool = True
) -> tuple[list[int], list[int]]:
    """Return M₁ and M₂ of Algorithm 1: what is due and fits into `room`, and what is done ahead of
    time.

    `needed` returns the overload to come if plants are due at given days and so much of the room is
    spent. `covers`: the last plant done ahead of time may exceed it.

    Args:
        garden: The plants.
        due: The day on which each is due.
        today: The number of today.
    """
    chosen = _fill(garden, _by_lateness(garden, due, np.flatnonzero(due <= today)), room)
    spent = garden.workload(chosen)
    coming = np.flatnonzero(due > today)
    if room - spent <= _EVEN or not coming.size:
        return chosen, []
    after = due.copy()
    after[chosen] = today + garden.windows[chosen]
    overloaded = needed(after, spent)
    if overloaded <= _EVEN:
        return chosen, []
    waste = wasteness(garden.costs[coming], garden.windows[coming], due[coming] - today)
    order = coming[np.lexsort((coming, -garden.windows[coming], garden.costs[coming], waste))]
    if covers:
        return chosen, _fill(garden, order, room - spent, until=overloaded)
    return chosen, _fill(garden, order, min(overloaded, room - spent))


def wasteness(costs: Costs, windows: Days, left: Days) -> Costs:
    """Return the waste of each plant's care if it comes so many days before it is due: days/w ·
    c.
    """
    return np.asarray(left / windows * costs, dtype=np.float64)


def _by_lateness(garden: Garden, due: Days, plants: Days) -> Days:
    return plants[np.lexsort((plants, -garden.windows[plants], garden.costs[plants], due[plants]))]


def _fill(garden: Garden, order: Days, room: float, *, until: float = np.inf) -> list[int]:
    """Take in order what fits into `room`, until it costs `until`."""
    chosen: list[int] = []
    for plant in order.tolist():
        if min(room, until) <= _EVEN:
            break
        if (cost := float(garden.costs[plant])) <= room + _EVEN:
            chosen.append(plant)
            room -= cost
            until -= cost
    return chosen


_TIE = 1e-6
"""Ties in lateness, which is given in µs, go to the smaller cost, then to the longer window."""


@dataclass(frozen=True, slots=True)
class MeddState:
    """The pages, and the latest known instant: of a poll, plus the time advanced since (`UNPOLLED`:
    none).
    """

    population: Population
    now: Instant


@dataclass(frozen=True, slots=True)
class Medd:
    """A page's window is `pace` (µs), within its own shortest and longest interval; its cost is
    that of a poll.

    The bid of a due page is 1 plus the seconds of lateness, that of one worked ahead between 0 and
    1, the higher the less it wastes. Overload is tested for every horizon up to the longest window
    (the demand bound); the paper's own MEDD, which tests the longest only, is `medd`.
    """

    reads: ClassVar[frozenset[str]] = TURNS | {"cost"}
    pace: Duration = HOUR
    step: Duration = 10 * MINUTE

    def begin(self, population: Population, rng: np.random.Generator) -> MeddState:  # noqa: ARG002 - deterministic
        """Return the state in which each page is due a window after its last poll."""
        return MeddState(population, _latest(population))

    def advance(self, state: MeddState, dt: Duration) -> MeddState:
        """Return the state a duration later."""
        return replace(state, now=state.now if state.now == UNPOLLED else state.now + dt)

    def bid(self, state: MeddState, now: Instant, price: float, *, rows: Rows | None = None) -> Floats:
        """Return the bids; pages worked ahead bid less than all late ones."""
        where: Rows | slice = slice(None) if rows is None else rows
        population = state.population
        window, due = self._windows(population, where), self._due(population, slice(None))
        cost = population["cost"][where]
        late = lateness(population, due, now, rows)
        tie = _TIE / 2 / (1 + cost) + _TIE * 1e-4 * window / (window + self.pace)
        ahead = 1 / (1 + wasteness(cost, window, np.maximum(due[where], now) - now)) - _TIE + tie
        is_ahead = (late <= 0) & (self._turn(population, price, where) <= now)
        return np.where(late > 0, 1 + late + tie, np.where(is_ahead, ahead, 0.0))

    def on_update(self, state: MeddState, ids: ArrayLike, columns: Columns) -> MeddState:
        """Return the state with other pages or bounds."""
        population = state.population.update(ids, columns)
        return MeddState(population, max(state.now, _latest(population)))

    def on_poll(self, state: MeddState, ids: ArrayLike, observation: Observation) -> MeddState:
        """Return the state in which the polled pages are due a window later."""
        rows, here = state.population.present(ids)
        at = observation.at[here]
        return MeddState(state.population.set(rows, {"last_polled": at}), max(state.now, int(at.max(initial=UNPOLLED))))

    def on_signal(self, state: MeddState, ids: ArrayLike, signal: Signal) -> MeddState:  # noqa: ARG002 - hints are ignored
        """Return the same state."""
        return replace(state)

    def next_due(self, state: MeddState, ids: ArrayLike, now: Instant, price: float) -> Instants:
        """Return when each page is due or may be worked ahead, `now` if it is already."""
        due: Instants = np.maximum(self._turn(state.population, price, state.population.rows(ids)), now)
        return due

    def market(self, state: MeddState, budget: float, *, open_share: Floats | float = 1.0) -> Market:  # noqa: ARG002 - windows run on while pages are closed
        """Return the wasteness up to which work is done ahead, so that a budget per µs meets the
        coming demand (lines 5 to 8).
        """
        known = np.flatnonzero(state.population["last_polled"] != UNPOLLED)
        if not known.size:
            return Market(0.0, 0.0, floor=0.0)
        garden = Garden(state.population["cost"][known], self._windows(state.population, known))
        due, today = self._due(state.population, known), state.now

        def measure_need(after: Days, spent: float) -> float:  # noqa: ARG001 - what is spent of this step is not of the next
            return excess(garden, after, today + self.step, today, budget)

        room = max(budget * self.step, float(garden.costs.max()) if budget > 0 else 0.0)
        ahead = maintain(garden, due, today, room, measure_need)[1]
        waste = wasteness(garden.costs[ahead], garden.windows[ahead], due[ahead] - today)
        price = float(waste.max(initial=0.0))
        return Market(price, garden.density, floor=price)

    def stretch(self, factor: float) -> Medd:  # noqa: ARG002 - late pages stay late
        """Return the same policy: windows stay what they are."""
        return self

    def _windows(self, population: Population, rows: Rows | slice) -> Days:
        window: Days = np.clip(self.pace, population["shortest"][rows], population["longest"][rows])
        return window

    def _due(self, population: Population, rows: Rows | slice) -> Instants:
        return due_after(population, self._windows(population, rows), rows)

    def _turn(self, population: Population, price: float, rows: Rows | slice) -> Instants:
        """Return when pages are due or waste no more than the price, each at most once a step."""
        due, window = self._due(population, rows), self._windows(population, rows)
        if price <= 0:
            return due
        ahead = np.rint(np.minimum(price / population["cost"][rows], 1.0) * window)
        rested = due_after(population, np.maximum(population["shortest"][rows], self.step), rows)
        return np.asarray(np.minimum(due, np.maximum(np.maximum(due, 0) - ahead.astype(np.int64), rested)))


def _latest(population: Population) -> Instant:
    return int(population["last_polled"].max(initial=UNPOLLED))

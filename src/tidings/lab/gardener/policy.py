"""`medd`: every page at its interval, and work done ahead where more will fall due than the budget
can pay for (003 §4, Algorithm 1).

Algorithm 1 chooses for a day; here a day is a step of ten minutes, the budget's step. It works
ahead on the plants of least wasteness, as many as the overload requires: the wasteness of the last
of them is the *price*, and a page that wastes no more is due early. So a page's turn depends on its
own columns and one number, and is recomputed with it.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tidings.lab.gardener.garden import Days, Garden, excess
from tidings.lab.gardener.medd import maintain, wasteness
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

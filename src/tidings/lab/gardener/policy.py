"""`medd`: every page at its interval, and work done ahead where more will fall due than the budget can pay for (003 §4, Algorithm 1).

Algorithm 1 chooses for a day; here a day is a step of ten minutes, at which the budget is spoken of. What it works ahead are the plants of
least wasteness, as many as the overload asks for: the wasteness of the last of them is the *price*, and who wastes no more is due before its time.
So a page's turn hangs on its own columns and one number, and is found anew with that.
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
"""Ties in lateness, which is told to the µs, go to the smaller cost, then to the longer window."""


@dataclass(frozen=True, slots=True)
class MeddState:
    """The pages, and the latest instant that is known to have come: of a poll, and what has passed since (`UNPOLLED`: none)."""

    population: Population
    now: Instant


@dataclass(frozen=True, slots=True)
class Medd:
    """A page's window is `pace` (µs), within its own shortest and longest interval; its cost is that of a poll.

    The bid of what is due is 1 and the seconds of lateness, that of what is worked ahead between 0 and 1, the more the less it wastes. Overload is
    asked of every horizon up to the longest window (the demand bound); the paper's own MEDD, which asks of the longest alone, is `medd`.
    """

    reads: ClassVar[frozenset[str]] = TURNS | {"cost"}
    pace: Duration = HOUR
    step: Duration = 10 * MINUTE

    def begin(self, population: Population, rng: np.random.Generator) -> MeddState:  # noqa: ARG002 - nothing here is left to chance
        """Return the state in which each page is due a window after its last poll."""
        return MeddState(population, _latest(population))

    def advance(self, state: MeddState, dt: Duration) -> MeddState:
        """Return the state a duration later."""
        return replace(state, now=state.now if state.now == UNPOLLED else state.now + dt)

    def bid(self, state: MeddState, now: Instant, price: float, *, rows: Rows | None = None) -> Floats:
        """Return the bids; what is due only because little is wasted bids less than all that is late."""
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

    def on_signal(self, state: MeddState, ids: ArrayLike, signal: Signal) -> MeddState:  # noqa: ARG002 - windows hear no hints
        """Return the same state."""
        return replace(state)

    def next_due(self, state: MeddState, ids: ArrayLike, now: Instant, price: float) -> Instants:
        """Return when each page is due or may be worked ahead, `now` if it is already."""
        due: Instants = np.maximum(self._turn(state.population, price, state.population.rows(ids)), now)
        return due

    def market(self, state: MeddState, budget: float, *, open_share: Floats | float = 1.0) -> Market:  # noqa: ARG002 - windows run on while pages are closed
        """Return the wasteness up to which work is done ahead, so that a budget of so much per µs meets what is to come (lines 5 to 8)."""
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

    def stretch(self, factor: float) -> Medd:  # noqa: ARG002 - who cannot be in time is late
        """Return the same policy: windows stay what they are."""
        return self

    def _windows(self, population: Population, rows: Rows | slice) -> Days:
        window: Days = np.clip(self.pace, population["shortest"][rows], population["longest"][rows])
        return window

    def _due(self, population: Population, rows: Rows | slice) -> Instants:
        return due_after(population, self._windows(population, rows), rows)

    def _turn(self, population: Population, price: float, rows: Rows | slice) -> Instants:
        """Return when pages are due or waste no more than the price, each once a step at most."""
        due, window = self._due(population, rows), self._windows(population, rows)
        if price <= 0:
            return due
        ahead = np.rint(np.minimum(price / population["cost"][rows], 1.0) * window)
        rested = due_after(population, np.maximum(population["shortest"][rows], self.step), rows)
        return np.asarray(np.minimum(due, np.maximum(np.maximum(due, 0) - ahead.astype(np.int64), rested)))


def _latest(population: Population) -> Instant:
    return int(population["last_polled"].max(initial=UNPOLLED))

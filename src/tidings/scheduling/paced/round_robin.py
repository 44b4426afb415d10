"""Round robin: every page is polled a fixed time after its last poll.

It ignores history. It is the baseline for all other policies, and needs no estimate.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tidings.model.interval import HOUR, Duration, Instant
from tidings.record import dataclass, replace
from tidings.scheduling.paced.lateness import TURNS, due_after, lateness
from tidings.scheduling.policy import Columns, Floats, Instants, Observation, Population, Rows, Signal


@dataclass(frozen=True, slots=True)
class RoundRobinState:
    """The pages, and when each is due (µs): `UNPOLLED` at once, `NEVER` not at all."""

    population: Population
    due: Instants


@dataclass(frozen=True, slots=True)
class RoundRobin:
    """A page is due `pace` (µs) after its last poll, within its own shortest and longest interval;
    a new page at once.

    The bid is the time overdue in seconds, independent of the cost.
    """

    reads: ClassVar[frozenset[str]] = TURNS
    pace: Duration = HOUR

    def __post_init__(self) -> None:
        if self.pace <= 0:
            message = f"the pace must be above 0 µs, it is {self.pace}"
            raise ValueError(message)

    def begin(self, population: Population, rng: np.random.Generator) -> RoundRobinState:  # noqa: ARG002 - nothing here is left to chance
        """Return the state in which each page is due from its last poll."""
        return RoundRobinState(population, self._due(population, slice(None)))

    def advance(self, state: RoundRobinState, dt: Duration) -> RoundRobinState:  # noqa: ARG002 - dues are instants
        """Return the same dues: they do not depend on time."""
        return replace(state)

    def bid(self, state: RoundRobinState, now: Instant, price: float, *, rows: Rows | None = None) -> Floats:  # noqa: ARG002 - turns have no price
        """Return the seconds that each page is overdue, at least one µs once it is due, else 0."""
        return lateness(state.population, state.due, now, rows)

    def on_update(self, state: RoundRobinState, ids: ArrayLike, columns: Columns) -> RoundRobinState:
        """Return the dues with other pages or other bounds."""
        population = state.population.update(ids, columns)
        if population.ids is not state.population.ids:
            return RoundRobinState(population, self._due(population, slice(None)))
        return self._again(state, population, population.present(ids)[0])

    def on_poll(self, state: RoundRobinState, ids: ArrayLike, observation: Observation) -> RoundRobinState:
        """Return the dues in which the polled pages wait again."""
        rows, here = state.population.present(ids)
        population = state.population.set(rows, {"last_polled": observation.at[here]})
        return self._again(state, population, rows)

    def on_signal(self, state: RoundRobinState, ids: ArrayLike, signal: Signal) -> RoundRobinState:  # noqa: ARG002 - hints move no turn
        """Return the same dues."""
        return replace(state)

    def next_due(self, state: RoundRobinState, ids: ArrayLike, now: Instant, price: float) -> Instants:  # noqa: ARG002 - turns have no price
        """Return when each page is due, `now` if it is already."""
        due: Instants = np.maximum(state.due[state.population.rows(ids)], now)
        return due

    def _again(self, state: RoundRobinState, population: Population, rows: Rows) -> RoundRobinState:
        """Return the dues with new ones for the pages at `rows`."""
        due = state.due.copy()
        due[rows] = self._due(population, rows)
        due.setflags(write=False)
        return RoundRobinState(population, due)

    def _due(self, population: Population, rows: Rows | slice) -> Instants:
        return due_after(population, self._gaps(population, rows), rows)

    def _gaps(self, population: Population, rows: Rows | slice) -> Instants:
        gap: Instants = np.clip(self.pace, population["shortest"][rows], population["longest"][rows])
        return gap

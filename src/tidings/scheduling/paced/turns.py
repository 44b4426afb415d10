"""Policies of fixed turns: a page is due some time after its last poll, and bids how late it is
(scheduling §8).

Policies that propose an interval for each page and have no value of a poll share this. Round robin
polls every page a fixed time after its last poll. It ignores history, is the baseline for all other
policies, and needs no estimate.
"""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidings.model.interval import HOUR, SECOND, Duration, Instant
from tidings.record import dataclass, replace
from tidings.scheduling.policy import Observation, Signal
from tidings.scheduling.population import NEVER, UNPOLLED, Columns, Floats, Ids, Instants, Population, Rows

FIRST: Final = 1e12
"""Added to the bid of a page that was never polled: before all others, and among those the oldest
request first.
"""
TURNS: Final = frozenset({"added", "last_polled", "not_before", "shortest", "longest"})
"""The columns that determine when a page is due."""
_GOLDEN: Final = (5**0.5 - 1) / 2
_FAR: Final = 2**61
"""Intervals of this length or more have no instants of their own."""


def due_after(population: Population, gap: NDArray[np.int64], rows: Rows | slice) -> Instants:
    """Return when the pages at `rows` are due: `gap` (µs, one per row) after their last poll, and
    not before they may be asked.

    A page that was never polled is due at once (`UNPOLLED`); a sum beyond all instants is `NEVER`.
    """
    last = population["last_polled"][rows]
    due = np.where(last == UNPOLLED, UNPOLLED, last + np.minimum(gap, NEVER - np.maximum(last, 0)))
    due = np.maximum(due, population["not_before"][rows])
    due.setflags(write=False)
    return due


def lateness(population: Population, due: Instants, now: Instant, rows: Rows | None) -> Floats:
    """Return the seconds that each page is overdue, at least one µs once it is due, else 0; `FIRST`
    more for a new page.

    Args:
        population: The pages.
        due: When each page of the population is due (µs).
        now: The present (µs).
        rows: Places in the population; None for all.
    """
    where = slice(None) if rows is None else rows
    due = due[where]
    bids = np.zeros(len(due))
    ripe = np.flatnonzero(due <= now)
    new = population["last_polled"][where][ripe] == UNPOLLED
    since = np.where(new, np.minimum(population["added"][where][ripe], now), due[ripe])
    bids[ripe] = (now - since + 1) / SECOND + FIRST * new
    return bids


def phases(ids: Ids) -> Floats:
    """Return a phase for each page, from 0 to 1: consecutive pages are spread evenly (multiples of
    the golden ratio).
    """
    return np.asarray(np.mod(ids * _GOLDEN, 1.0))


def wait_in_phase(last: Instants, gap: NDArray[np.int64], phase: Floats) -> NDArray[np.int64]:
    """Return the time after a poll until the next of the instants (k + phase)·gap (µs): the one
    after the nearest, which the poll served.

    So a late poll delays no later one, and no two polls are closer together than half a gap because
    of it.
    """
    gap_in_phase = np.minimum(gap, _FAR)
    since = np.mod(
        np.where(last == UNPOLLED, 0, last) - (phase * gap_in_phase).astype(np.int64) + gap_in_phase // 2, gap_in_phase
    )
    return np.asarray(np.where(gap < _FAR, gap_in_phase + gap_in_phase // 2 - since, gap))


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

    def begin(self, population: Population, rng: np.random.Generator) -> RoundRobinState:  # noqa: ARG002 - deterministic
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

"""Baseline policies: polls drawn by lot, or in turn at fixed instants.

With the lottery each page waits an exponential time from one poll to the next, with the same mean
for all: at any instant all are equally likely to be next (purely random order, Cho and
Garcia-Molina 2000). It is the lower bound for policies. Draws are a function of a seed, the page
and its last poll, so that nothing depends on the order of calls, nor on restored memories.
"""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidings.model.interval import HOUR, Duration, Instant
from tidings.record import dataclass, replace
from tidings.scheduling.paced.turns import TURNS, RoundRobin, due_after, lateness, phases, wait_in_phase
from tidings.scheduling.policy import Market, Observation, Signal
from tidings.scheduling.population import Columns, Floats, Instants, Population, Rows
from tidings.scheduling.price.market import clear

_LONGEST: Final = 2.0**61
_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX: Final = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)


@dataclass(frozen=True, slots=True)
class LotteryState:
    """The pages, and the seed of all draws."""

    population: Population
    seed: int


@dataclass(frozen=True, slots=True)
class Lottery:
    """Pages wait `pace` (µs) on average if the budget suffices, within their own shortest and
    longest interval; a new page not at all.

    The price is the multiple of the pace, at least 1. The bid is the time overdue in seconds,
    independent of the cost.
    """

    reads: ClassVar[frozenset[str]] = TURNS
    pace: Duration = HOUR

    def begin(self, population: Population, rng: np.random.Generator) -> LotteryState:
        """Return the state with a seed from `rng`."""
        return LotteryState(population, int(rng.integers(2**63)))

    def advance(self, state: LotteryState, dt: Duration) -> LotteryState:  # noqa: ARG002 - dues are instants
        """Return the same state."""
        return replace(state)

    def bid(self, state: LotteryState, now: Instant, price: float, *, rows: Rows | None = None) -> Floats:
        """Return the seconds that each page is overdue."""
        return lateness(state.population, self._due(state, price, slice(None)), now, rows)

    def on_update(self, state: LotteryState, ids: ArrayLike, columns: Columns) -> LotteryState:
        """Return the state with other pages or bounds."""
        return replace(state, population=state.population.update(ids, columns))

    def on_poll(self, state: LotteryState, ids: ArrayLike, observation: Observation) -> LotteryState:
        """Return the state with new draws for the polled pages."""
        rows, here = state.population.present(ids)
        return replace(state, population=state.population.set(rows, {"last_polled": observation.at[here]}))

    def on_signal(self, state: LotteryState, ids: ArrayLike, signal: Signal) -> LotteryState:  # noqa: ARG002 - hints are ignored
        """Return the same state."""
        return replace(state)

    def next_due(self, state: LotteryState, ids: ArrayLike, now: Instant, price: float) -> Instants:
        """Return when each page is due, `now` if it is already."""
        due: Instants = np.maximum(self._due(state, price, state.population.rows(ids)), now)
        return due

    def market(self, state: LotteryState, budget: float, *, open_share: Floats | float = 1.0) -> Market:
        """Return the multiple of the pace that pages must wait on average, apart from their bounds,
        so that they cost `budget` per µs.
        """
        population = state.population
        return clear(
            lambda price: self._means(population, price), population["cost"], 1.0, budget, open_share=open_share
        )

    def stretch(self, factor: float) -> Lottery:  # noqa: ARG002 - it has no longest wait
        """Return the same policy: waits depend on the budget and on the pages' own bounds."""
        return self

    def _means(self, population: Population, price: float) -> Floats:
        """Return the mean wait of pages (µs): an exponential time cut off at their bounds, s +
        m(e^{−s/m} − e^{−l/m}).
        """
        mean, least = self.pace * price, population["shortest"].astype(np.float64)
        longer = np.expm1(-least / mean) - np.expm1(-population["longest"] / mean)
        return np.asarray(least + mean * longer)

    def _due(self, state: LotteryState, price: float, rows: Rows | slice) -> Instants:
        population = state.population
        drawn = _exponential(state.seed, population.ids[rows], population["last_polled"][rows])
        wished = np.minimum(np.ceil(drawn * (float(self.pace) * max(price, 1.0))), _LONGEST).astype(np.int64)
        return due_after(population, np.clip(wished, population["shortest"][rows], population["longest"][rows]), rows)


def _exponential(seed: int, ids: NDArray[np.int64], last: Instants) -> Floats:
    """Return a draw of mean 1 for each page and last poll."""
    mixed = np.full(len(ids), seed, dtype=np.uint64)
    for part in (ids, last):
        mixed = _mix(mixed ^ part.astype(np.uint64))
    return np.asarray(-np.log((mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54))


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return each number with all its bits mixed (SplitMix64, Steele, Lea and Flood 2014)."""
    numbers = numbers + _STEP
    for shift, factor in _MIX:
        numbers = (numbers ^ (numbers >> shift)) * factor
    return numbers ^ (numbers >> np.uint64(31))


@dataclass(frozen=True, slots=True)
class PeriodicPolling(RoundRobin):
    """Periodic polling: every page at instants that are `pace` apart, those of different pages
    evenly spread (fixed order, Cho and Garcia-Molina 2000). A late poll delays none of the
    following.
    """

    def _gaps(self, population: Population, rows: Rows | slice) -> Instants:
        gap = RoundRobin._gaps(self, population, rows)  # noqa: SLF001 - our own
        wait = wait_in_phase(population["last_polled"][rows], gap, phases(population.ids[rows]))
        waited: Instants = np.clip(wait, population["shortest"][rows], population["longest"][rows])
        return waited

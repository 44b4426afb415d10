"""Crawlers' policies: an interval for each page that grows or shrinks with the result of a poll
(scheduling §6).

Rules as implemented: Nutch's AdaptiveFetchSchedule (its class comment differs in one place; the
code is reproduced), and StormCrawler's AdaptiveScheduler.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tidings.model.interval import DAY, SECOND, Duration, Instant
from tidings.record import dataclass, replace
from tidings.scheduling.paced.turns import TURNS, due_after, lateness
from tidings.scheduling.policy import (
    UNPOLLED,
    Beside,
    Columns,
    Floats,
    Instants,
    Observation,
    Population,
    Rows,
    Signal,
    carry_over,
    freeze,
    recall,
)


@dataclass(frozen=True, slots=True, eq=False)
class CrawlerState(Beside):
    """For each page: its interval and its rest after the last poll (both µs), and when it was last
    seen to change (`UNPOLLED`: never).
    """

    interval: Floats
    rest: Floats
    modified: Instants


@dataclass(frozen=True, slots=True)
class _Crawler:
    """A page is due when the rest of its interval is over; the bid is the time overdue."""

    reads: ClassVar[frozenset[str]] = TURNS
    pace: Duration = 3_600 * SECOND
    least: Duration = 60 * SECOND
    most: Duration = 365 * DAY

    def begin(self, population: Population, rng: np.random.Generator) -> CrawlerState:  # noqa: ARG002 - deterministic
        """Return the state in which every page has the pace as its interval."""
        return self._fresh(population)

    def advance(self, state: CrawlerState, dt: Duration) -> CrawlerState:  # noqa: ARG002 - dues are instants
        """Return the same state."""
        return replace(state)

    def bid(self, state: CrawlerState, now: Instant, price: float, *, rows: Rows | None = None) -> Floats:  # noqa: ARG002 - turns have no price
        """Return the seconds that each page is overdue."""
        return lateness(state.population, self._due(state, slice(None)), now, rows)

    def on_update(self, state: CrawlerState, ids: ArrayLike, columns: Columns) -> CrawlerState:
        """Return the state with other pages or bounds; new pages begin with the pace."""
        population = state.population.update(ids, columns)
        if population.ids is state.population.ids:
            return replace(state, population=population)
        return carry_over(state, self._fresh(population))

    def on_poll(self, state: CrawlerState, ids: ArrayLike, observation: Observation) -> CrawlerState:
        """Return the state after polls, by the crawler's rule. A first poll changes no interval."""
        rows, here = state.population.present(ids)
        at, changed = observation.at[here], observation.changed[here]
        known = state.population["last_polled"][rows] != UNPOLLED
        told = observation.modified_at[here] if observation.modified_at is not None else np.full(len(rows), UNPOLLED)
        modified = state.modified.copy()
        modified[rows] = np.where(
            changed | ~known, np.where(told != UNPOLLED, np.minimum(told, at), at), state.modified[rows]
        )
        since = np.where(modified[rows] == UNPOLLED, 0, at - np.where(modified[rows] == UNPOLLED, at, modified[rows]))
        interval, rest = state.interval.copy(), state.rest.copy()
        stepped, left = self.step(state.interval[rows], changed, since.astype(np.float64))
        interval[rows] = np.where(known, stepped, interval[rows])
        rest[rows] = np.where(known, left, rest[rows])
        population = state.population.set(rows, {"last_polled": at})
        return freeze(CrawlerState(population, interval, rest, modified))

    def step(
        self, interval: Floats, changed: np.ndarray[Any, np.dtype[np.bool_]], since: Floats
    ) -> tuple[Floats, Floats]:
        """Return the next interval and the time from this poll to the next; `since` is the time
        since the page last changed (all µs).
        """
        raise NotImplementedError

    def on_signal(self, state: CrawlerState, ids: ArrayLike, signal: Signal) -> CrawlerState:  # noqa: ARG002 - hints are ignored
        """Return the same state."""
        return replace(state)

    def next_due(self, state: CrawlerState, ids: ArrayLike, now: Instant, price: float) -> Instants:  # noqa: ARG002 - turns have no price
        """Return when each page is due, `now` if it is already."""
        rows = state.population.rows(ids)
        due: Instants = np.maximum(self._due(state, rows), now)
        return due

    def remember(self, state: CrawlerState, page: int) -> dict[str, Any]:
        """Return the interval of a page, and its `period` (s) for people. Raises KeyError."""
        row = int(state.population.rows([page])[0])
        return {
            "period": float(state.rest[row]) / SECOND,
            "interval": float(state.interval[row]),
            "rest": float(state.rest[row]),
            "modified": int(state.modified[row]),
        }

    def recall(self, state: CrawlerState, memories: Mapping[int, Mapping[str, Any]]) -> CrawlerState:
        """Return the state with these intervals restored; unreadable memories are skipped."""
        return recall(state, memories, ("interval", "rest", "modified"), _is_readable)

    def _fresh(self, population: Population) -> CrawlerState:
        pace = np.full(population.size, float(self.pace))
        return freeze(CrawlerState(population, pace, pace.copy(), np.full(population.size, UNPOLLED)))

    def _due(self, state: CrawlerState, rows: Rows | slice) -> Instants:
        least, most = state.population["shortest"][rows], state.population["longest"][rows]
        gap = np.clip(np.round(state.rest[rows]).astype(np.int64), least, most)
        return due_after(state.population, gap, rows)


@dataclass(frozen=True, slots=True)
class Nutch(_Crawler):
    """×0.8 after a change, ×1.2 without; never shorter than the time since the last change, of
    which a fifth is subtracted (sync_delta).
    """

    shrinks: float = 0.8
    grows: float = 1.2
    synced: float = 0.2

    def step(
        self, interval: Floats, changed: np.ndarray[Any, np.dtype[np.bool_]], since: Floats
    ) -> tuple[Floats, Floats]:
        """Return interval and rest."""
        stepped = np.clip(
            np.maximum(interval * np.where(changed, self.shrinks, self.grows), since), self.least, self.most
        )
        return stepped, np.clip(stepped - self.synced * since, self.least, self.most)


@dataclass(frozen=True, slots=True)
class StormCrawler(_Crawler):
    """Halfway to the least interval after a change, ×1.5 without."""

    most: Duration = 14 * DAY

    def step(
        self,
        interval: Floats,
        changed: np.ndarray[Any, np.dtype[np.bool_]],
        since: Floats,  # noqa: ARG002 - stateless rule
    ) -> tuple[Floats, Floats]:
        """Return interval and rest, which are the same."""
        stepped = np.where(changed, 0.5 * interval + 0.5 * self.least, np.minimum(1.5 * interval, self.most))
        return stepped, stepped


def _is_readable(memory: Mapping[str, Any]) -> bool:
    interval, rest = memory.get("interval"), memory.get("rest")
    return (
        isinstance(interval, int | float)
        and isinstance(rest, int | float)
        and isinstance(memory.get("modified"), int)
        and 0 < interval < 2**62
        and 0 < rest < 2**62
    )

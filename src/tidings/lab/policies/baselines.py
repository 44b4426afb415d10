"""Policies to compare with: polls drawn by lot, in turn at fixed instants, or by CAM (000 §5.4);
and those of crawlers, whose interval for each page grows or shrinks with the result of a poll
(scheduling §6).

With the lottery each page waits an exponential time from one poll to the next, with the same mean
for all: at any instant all are equally likely to be next (purely random order, Cho and
Garcia-Molina 2000). It is the lower bound for policies. Draws are a function of a seed, the page
and its last poll, so that nothing depends on the order of calls, nor on restored memories.

The rules of crawlers are as implemented: Nutch's AdaptiveFetchSchedule (its class comment differs
in one place; the code is reproduced), and StormCrawler's AdaptiveScheduler.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidings.lab.policies.freshness import STALENESS
from tidings.model.interval import DAY, HOUR, SECOND, Duration, Instant
from tidings.record import dataclass, replace
from tidings.scheduling.paced.turns import TURNS, RoundRobin, due_after, lateness, phases, wait_in_phase
from tidings.scheduling.policy import (
    UNPOLLED,
    Columns,
    Floats,
    Ids,
    Instants,
    Market,
    Observation,
    PageArrays,
    Population,
    Rows,
    Signal,
    carry_over,
    freeze,
    recall,
)
from tidings.scheduling.price.hours import HOURS, HoursState, PriceHours
from tidings.scheduling.price.market import clear
from tidings.scheduling.price.policy import Price, PriceState
from tidings.scheduling.price.value import Values, values

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


_IMPORTANCE: Final = 0.5
"""The default importance of a page."""


@dataclass(frozen=True, slots=True)
class Cam(PriceHours):
    """Of all instants of the week, buy those at which a page is most likely to change, by W·ρ.

    The paper plans an epoch whose updates are forecast; here the epoch is the week, its instants
    are a pace long, and the forecast is the page's rate in its host's learned hours. The resource
    allocation, the most W·ρ that can be paid for, is the price: it buys what reaches it. A change
    is worth nothing after its instant, so a page that is not bought waits its longest; that is
    CAM's objective, not an oversight. Simultaneous polls are served by W·ρ of a mean hour, where
    the paper's list is first come, first served.
    """

    reads: ClassVar[frozenset[str]] = STALENESS
    weighs_hints: ClassVar[bool] = False

    @property
    def floor(self) -> float:
        """Return W·ρ of the page that defines the pace, in one pace."""
        return float(_IMPORTANCE * -np.expm1(-self.pace / DAY))

    def waits(self, worth: Values, price: float) -> Floats:
        """Return one pace if a page with uniform hours is bought, else inf."""
        return np.where(self._find_needed(worth, price) <= 1, float(self.pace), np.inf)

    def gather(self, worth: Values, age: Floats, price: float) -> Floats:  # noqa: ARG002 - what is older than an instant is lost
        """Return W·ρ of one instant of a mean hour, per unit of cost."""
        return np.asarray(worth.importance * -np.expm1(-worth.rate * self.pace) / worth.cost)

    def gaps(
        self, state: PriceState, price: float, rows: Rows | slice = slice(None), *, worth: Values | None = None
    ) -> Instants:
        """Return how long each page waits after its last poll: until its first bought instant.

        Args:
            state: The state.
            price: The price of a poll.
            rows: The places of the pages.
            worth: What their changes are worth; computed if None.
        """
        even = Price.gaps(self, state, price, rows, worth=worth)
        population = state.population
        last = population["last_polled"][rows]
        weights, which = _profiles(state)
        which = which[rows]
        needed = self._find_needed(values(population, rows), max(price, self.floor))
        waiting = (last != UNPOLLED) & ~state.saturated[rows] & (weights.max(axis=1)[which] >= needed)
        most = np.maximum(np.minimum(population["longest"][rows], self.oldest), population["shortest"][rows])
        found = even.copy()
        found[waiting] = np.clip(
            self._wait(last[waiting], phases(population.ids[rows][waiting]), weights, which[waiting], needed[waiting]),
            population["shortest"][rows][waiting],
            most[waiting],
        )
        return found

    def market(self, state: PriceState, budget: float, *, open_share: Floats | float = 1.0) -> Market:
        """Return the price at which the pages cost `budget` per µs over a week."""
        weights, which = _profiles(state)
        heavier, worth = np.sort(weights, axis=1), values(state.population)
        of = {profile: np.flatnonzero(which == profile) for profile in np.unique(which).tolist()}
        least, longest = state.population["shortest"], state.population["longest"]
        most = np.maximum(np.minimum(longest, self.oldest), least)

        def gaps(price: float) -> Instants:
            needed, bought = self._find_needed(worth, price), np.zeros(state.population.size)
            for profile, rows in of.items():
                bought[rows] = 1 - np.searchsorted(heavier[profile], needed[rows]) / HOURS
            wished = np.minimum(self.pace / np.maximum(bought, 1e-9), most)
            return np.asarray(np.maximum(wished.astype(np.int64), least))

        return clear(gaps, state.population["cost"], self.floor, budget, open_share=open_share)

    def _find_needed(self, worth: Values, price: float) -> Floats:
        """Return the least weight of an hour whose instants are bought: W(1 − e^{−μ·m·pace}) ≥
        c·price.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(worth.importance > 0, worth.cost * price / worth.importance, np.inf)
            needed = -np.log1p(-np.minimum(share, 1.0)) / (worth.rate * self.pace)
        return np.where(share < 1, needed, np.inf)

    def _wait(self, last: Instants, phase: Floats, weights: Floats, which: Ids, needed: Floats) -> Instants:
        at = last + wait_in_phase(last, np.full(len(last), self.pace), phase)
        offset = (phase * self.pace).astype(np.int64)
        for _ in range(HOURS + 1):
            passed = weights[which, (at // HOUR) % HOURS] < needed
            if not passed.any():
                break
            later = np.maximum(at + self.pace, (at // HOUR + 1) * HOUR)
            at = np.where(passed, later + (offset - later) % self.pace, at)
        return np.asarray(at - last)


def _profiles(state: PriceState) -> tuple[Floats, Ids]:
    """Return the hourly weights of profiles, and the profile of each page: the last, uniform one if
    none is known.
    """
    if not isinstance(state, HoursState):
        return np.ones((1, HOURS)), np.full(state.population.size, -1)
    return np.vstack([state.weights, np.ones((1, HOURS))]), state.which


@dataclass(frozen=True, slots=True, eq=False)
class CrawlerState(PageArrays):
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
        modified_at = (
            observation.modified_at[here] if observation.modified_at is not None else np.full(len(rows), UNPOLLED)
        )
        modified = state.modified.copy()
        modified[rows] = np.where(
            changed | ~known, np.where(modified_at != UNPOLLED, np.minimum(modified_at, at), at), state.modified[rows]
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

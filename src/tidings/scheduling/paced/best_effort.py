"""Best Effort Algorithm: each page's interval follows the intervals at which it was seen to change.

Paper: 004 §4.7, figure 4.5; with the corrections of scheduling §5 (eleven). Per page there is a
period P and the last H observed intervals h:

```
no change, alpha cycles in a row       P ← 2·P
change, h_n = h_(n−1) (constant)       P ← h_n, and every beta-th time as for a random one
change otherwise (random)              P ← mean(h), or weight·mean(h) where mean(h) > P
```

always within [Pmin, Pmax]. Symbols: P → `period`, H → `history`, w → `weight`, Pmin and Pmax → the
population's `shortest` and `longest`, by default the policy's own.

The observed interval is the difference of the instants of change if the server gives both, else the
time since the poll that began the cycle (004 §4.7.2). A poll well before its time that finds
nothing (on request, or for another sentinel's fixed interval) ends no cycle: otherwise polls for
others would double the period.

Beyond the paper: a page that differs at each of `saturation` polls in a row, all hardly more than
Pmin apart, is *saturated*. Polling faster shows no more of it, so it waits the pace, except for one
poll after Pmin in seven; two polls without a change end the state (bid §4, guard 6).

Also beyond the paper, mean(h) may weigh every interval `fading` times as much as the next newer one
(W-125). With the plain mean (1, the paper's) a page that was quick for H changes is polled too
often for as many more after it has become slow.

Two more guards beyond the paper. A poll after an outage (`Observation.interrupted`) that comes more
than half a period too late shows no interval: that time was not the page's. And if `trial` polls in
a row found a change, the remembered intervals are those of our own polls: they are forgotten, and
weight·P is tried. Otherwise a period that was once too long stays so while every poll finds a
change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidings.model.interval import DAY, HOUR, MINUTE, SECOND, Duration, Instant
from tidings.record import dataclass, replace
from tidings.scheduling.paced.turns import TURNS, due_after, lateness
from tidings.scheduling.policy import (
    NEVER,
    UNPOLLED,
    Column,
    Columns,
    Floats,
    Instants,
    Mask,
    Observation,
    Population,
    Rows,
    Signal,
)

WHOLE: Final = 0.9
"""The share of the period after which a poll ends its cycle: a tenth is the slack of fixed
intervals, too.
"""
NEAR: Final = 1.5
"""The multiple of Pmin below which polls are close, so that a page that differs at all of them may
be saturated.
"""
ROUND: Final = 7
"""One of so many polls of a saturated page comes after Pmin: with a pace of an hour about every 6
h.
"""
QUIET_ROUNDS: Final = 2
"""Polls without a change that end a saturation."""
LATE: Final = 1.5
"""The multiple of the period beyond which a poll after an outage shows no interval of the page."""
FURTHEST: Final = float(2**62)
"""A gap (µs) beyond all use that still fits an integer."""

Counts = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class BestEffortState:
    """The knowledge of each page, in the order of the population.

    `due`, `polled_at` (the poll that began the running cycle) and `modified` (the instant of the
    last change if the server gave it) are instants, `UNPOLLED` if there is none. `period` is in
    seconds. `misses` counts cycles without a change, `steady` changes at a constant interval,
    `streak` changes in a row at close polls, `unbroken` changes in a row at any; of a saturated
    page `steady` counts the polls of its round, `misses` those without a change.
    `intervals[page]` (seconds) has the newest last and 0 if none was seen yet.
    """

    population: Population
    due: Instants
    period: Floats
    polled_at: Instants
    modified: Instants
    misses: Counts
    steady: Counts
    streak: Counts
    unbroken: Counts
    intervals: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class BestEffort:
    """The policy of 004 §4.7. Durations in µs; `alpha`, `beta`, `weight` and `history` have the
    values of 004 §4.8.

    A page starts at the interval `pace`. `shortest` and `longest` are the defaults of pages without
    their own, widened to include `pace`. Two intervals are equal if they differ by at most
    `tolerance` (Last-Modified has whole seconds). `fading`, above 0 and at most 1, is the weight of
    an interval relative to the next newer one. A `saturation` or `trial` of 0 turns that guard off,
    as in the paper.
    """

    reads: ClassVar[frozenset[str]] = TURNS
    pace: Duration = HOUR
    shortest: Duration = 5 * MINUTE
    longest: Duration = DAY
    alpha: int = 6
    beta: int = 2
    weight: float = 0.6
    history: int = 20
    tolerance: Duration = SECOND
    saturation: int = 20
    trial: int = 20
    fading: float = 1.0

    def __post_init__(self) -> None:
        if self.pace <= 0:
            message = f"the pace must be above 0 µs, it is {self.pace}"
            raise ValueError(message)
        if not 0 < self.shortest <= self.longest:
            message = (
                f"the shortest interval must be above 0 µs and not above the longest: {self.shortest}, {self.longest}"
            )
            raise ValueError(message)
        if not (1 <= self.alpha <= 255 and 1 <= self.beta <= 255 and 2 <= self.history <= 255):
            message = (
                f"alpha and beta must be 1 to 255 and the history 2 to 255: {self.alpha}, {self.beta}, {self.history}"
            )
            raise ValueError(message)
        if not (0 <= self.saturation <= 255 and 0 <= self.trial <= 255):
            message = f"saturation and trial must be 0 to 255 polls: {self.saturation}, {self.trial}"
            raise ValueError(message)
        if not (0 < self.weight <= 1 and 0 < self.fading <= 1 and self.tolerance >= 0):
            message = (
                "weight and fading must be above 0 and at most 1, the tolerance 0 or more:"
                f" {self.weight}, {self.fading}, {self.tolerance}"
            )
            raise ValueError(message)

    def begin(self, population: Population, rng: np.random.Generator) -> BestEffortState:  # noqa: ARG002 - deterministic
        """Return the state in which each page waits its first interval from its last poll."""
        return BestEffortState(
            population=population,
            due=self._due(population, slice(None), np.full(population.size, self.pace / SECOND)),
            **self._unknown(population["last_polled"]),
        )

    def advance(self, state: BestEffortState, dt: Duration) -> BestEffortState:  # noqa: ARG002 - dues are instants
        """Return the same periods: they do not depend on time."""
        return replace(state)

    def bid(self, state: BestEffortState, now: Instant, price: float, *, rows: Rows | None = None) -> Floats:  # noqa: ARG002 - a period has no price
        """Return the seconds that each page is overdue, at least one µs once it is due, else 0
        (scheduling §8).
        """
        return lateness(state.population, state.due, now, rows)

    def next_due(self, state: BestEffortState, ids: ArrayLike, now: Instant, price: float) -> Instants:  # noqa: ARG002 - a period has no price
        """Return when each page is due, `now` if it is already."""
        due: Instants = np.maximum(state.due[state.population.rows(ids)], now)
        return due

    def on_update(self, state: BestEffortState, ids: ArrayLike, columns: Columns) -> BestEffortState:
        """Return the state with other pages or other bounds; the knowledge of pages that stay is
        kept.
        """
        population = state.population.update(ids, columns)
        if population.ids is state.population.ids:
            return self._due_again(replace(state, population=population), population.present(ids)[0])
        rows, _ = state.population.present(population.ids)  # pages that stay keep their order, new ones come last
        unknown = self._unknown(population["last_polled"][len(rows) :])
        rows_kept = slice(None) if len(rows) == state.population.size else rows
        learned = {name: _freeze(np.concatenate([getattr(state, name)[rows_kept], unknown[name]])) for name in unknown}
        due = self._due(population, slice(None), learned["period"])
        return BestEffortState(population=population, due=due, **learned)

    def on_signal(self, state: BestEffortState, ids: ArrayLike, signal: Signal) -> BestEffortState:  # noqa: ARG002 - hints move no period
        """Return the same periods."""
        return replace(state)

    def on_poll(self, state: BestEffortState, ids: ArrayLike, observation: Observation) -> BestEffortState:
        """Return the state after polls: one step of the algorithm for each page.

        The first poll of a page is its baseline and teaches nothing; a poll that is not after the
        last is skipped.
        """
        rows, here = state.population.present(ids)
        at, changed = observation.at[here], observation.changed[here]
        last = state.population["last_polled"][rows]
        population = state.population.set(rows, {"last_polled": at})
        page = _Pages(state, rows)
        low, high = self._bounds(population, rows)
        page.period = _within(low, page.period, high)
        baseline = page.polled_at == UNPOLLED
        since = np.where(baseline, 0, at - np.where(baseline, 0, page.polled_at)) / SECOND
        found = changed & (since > 0)
        lost = found & _is_lost(observation.interrupted, here, at - np.where(baseline, at, last), page.period)
        quiet = ~changed & (since > 0) & (since >= WHOLE * page.period)
        saturated = self._find_saturated(page)
        if saturated.any():
            self._watch(page, np.flatnonzero((found | quiet) & saturated), changed, low)
        self._learn_quiet(page, np.flatnonzero(quiet & ~saturated))
        if learned := bool((found | saturated).any()):
            modified = np.full(len(at), UNPOLLED) if observation.modified_at is None else observation.modified_at[here]
            learns = np.flatnonzero(found & ~saturated & ~lost)
            page.misses[found & lost & ~saturated] = 0
            self._learn_change(page, learns, _observe(page, at, since, modified))
            self._try_sooner(page, learns)
            self._saturate(page, learns, since <= NEAR * low)
            page.modified = np.where(
                found, np.where(modified > page.polled_at, np.minimum(modified, at), UNPOLLED), page.modified
            )
        page.polled_at = np.where(baseline | found | quiet, at, page.polled_at)
        page.period = _within(low, page.period, high)
        return self._due_again(page.put(state, population, learned=learned), rows)

    def remember(self, state: BestEffortState, page: int) -> dict[str, Any]:
        """Return the knowledge of a page as plain JSON, for `recall`. Raises `KeyError` for an
        unknown page.
        """
        row = int(state.population.rows([page])[0])
        intervals, polled_at, modified = state.intervals[row], int(state.polled_at[row]), int(state.modified[row])
        return {
            "period": float(state.period[row]),
            "misses": int(state.misses[row]),
            "steady": int(state.steady[row]),
            "streak": int(state.streak[row]),
            "unbroken": int(state.unbroken[row]),
            "intervals": intervals[intervals > 0].tolist(),
            "looked": None if polled_at == UNPOLLED else polled_at,
            "modified": None if modified == UNPOLLED else modified,
        }

    def recall(self, state: BestEffortState, memories: Mapping[int, Mapping[str, Any]]) -> BestEffortState:
        """Return the state with the knowledge that `remember` returned.

        Unknown pages are skipped, and so are unreadable memories: their pages learn anew.
        """
        rows, here = state.population.present(np.fromiter(memories, dtype=np.int64, count=len(memories)))
        known = [memory for memory, is_here in zip(memories.values(), here.tolist(), strict=True) if is_here]
        readable = [place for place, memory in enumerate(known) if _is_memory(memory)]
        if not readable:
            return replace(state)
        page = _Pages(state, rows[readable])
        self._recall(page, [known[place] for place in readable])
        return self._due_again(page.put(state, state.population, learned=True), rows)

    def _recall(self, page: _Pages, memories: Sequence[Mapping[str, Any]]) -> None:
        def column(name: str) -> list[Any]:
            return [memory[name] for memory in memories]

        page.period[:] = column("period")
        page.streak[:] = np.minimum(column("streak"), self.saturation)
        page.unbroken[:] = [min(memory.get("unbroken", 0), max(self.trial - 1, 0)) for memory in memories]
        saturated = self._find_saturated(page)
        page.misses[:] = np.minimum(column("misses"), np.where(saturated, QUIET_ROUNDS, self.alpha) - 1)
        page.steady[:] = np.minimum(column("steady"), np.where(saturated, ROUND, self.beta) - 1)
        page.polled_at[:] = [UNPOLLED if at is None else at for at in column("looked")]
        page.modified[:] = [UNPOLLED if at is None else at for at in column("modified")]
        page.intervals[:] = [
            [*[0.0] * (self.history - len(recent)), *recent]
            for recent in (intervals[-self.history :] for intervals in column("intervals"))
        ]

    def _learn_quiet(self, page: _Pages, quiet: Rows) -> None:
        """Count a cycle without a change; double the period after `alpha` of them (corrections a,
        g).
        """
        page.streak[quiet] = page.unbroken[quiet] = 0
        page.misses[quiet] += 1
        tired = quiet[page.misses[quiet] >= self.alpha]
        page.misses[tired] = 0
        page.period[tired] *= 2

    def _learn_change(self, page: _Pages, found: Rows, observed: NDArray[np.float32]) -> None:
        """Store the observed interval; use it as the period if it equals the previous one, else
        estimate (corrections b to f).
        """
        new = observed[found]
        before = page.intervals[found, -1]
        constant = (before > 0) & (np.abs(new - before) <= self.tolerance / SECOND)
        page.misses[found] = 0
        page.intervals[found, :-1] = page.intervals[found, 1:]
        page.intervals[found, -1] = new
        page.steady[found] = np.where(constant, page.steady[found] + 1, 0)
        doubted = page.steady[found] >= self.beta
        page.steady[found[doubted]] = 0
        estimate = self._mean(page.intervals[found])
        estimate = np.where(estimate > page.period[found], estimate * self.weight, estimate)
        page.period[found] = np.where(constant & ~doubted, new, estimate)

    def _mean(self, known: NDArray[np.float32]) -> Floats:
        """Return the mean of the observed intervals, weighted by `fading`."""
        if self.fading == 1:
            mean: Floats = known.sum(axis=1, dtype=np.float64) / np.maximum((known > 0).sum(axis=1), 1)
            return mean
        weights = self.fading ** np.arange(self.history - 1, -1, -1.0)
        seen = (weights * (known > 0)).sum(axis=1)
        faded: Floats = (weights * known).sum(axis=1) / np.where(seen > 0, seen, 1.0)
        return faded

    def _try_sooner(self, page: _Pages, found: Rows) -> None:
        """Count changes in a row; after `trial` of them forget their intervals, which are our own,
        and try a shorter period.
        """
        if not self.trial:
            return
        page.unbroken[found] += 1
        tried = found[page.unbroken[found] >= self.trial]
        page.unbroken[tried] = page.steady[tried] = 0
        page.intervals[tried] = 0
        page.period[tried] *= self.weight

    def _find_saturated(self, page: _Pages) -> Mask:
        return (page.streak >= self.saturation) & (self.saturation > 0)

    def _saturate(self, page: _Pages, found: Rows, near: Mask) -> None:
        """Count changes in a row at close polls; a page with enough of them is saturated and waits
        the pace.
        """
        page.streak[found] = np.where(near[found], np.minimum(page.streak[found] + 1, self.saturation), 0)
        now = found[self._find_saturated(page)[found]]
        page.steady[now] = 0
        page.period[now] = self.pace / SECOND

    def _watch(self, page: _Pages, rows: Rows, changed: Mask, low: Floats) -> None:
        """Count the polls of saturated pages; the last of each round comes after Pmin, and quiet
        ones end the saturation.
        """
        page.steady[rows] = (page.steady[rows] + 1) % ROUND
        page.misses[rows] += ~changed[rows]
        page.period[rows] = np.where(page.steady[rows] == ROUND - 1, low[rows], self.pace / SECOND)
        free = rows[page.misses[rows] >= QUIET_ROUNDS]
        page.streak[free] = page.misses[free] = page.steady[free] = 0
        page.intervals[free] = 0
        page.period[free] = self.pace / SECOND

    def _bounds(self, population: Population, rows: Rows | slice) -> tuple[Floats, Floats]:
        """Return Pmin and Pmax (seconds) of the pages at `rows`."""
        low, high = population["shortest"][rows], population["longest"][rows]
        high = np.where(high < NEVER, high, np.maximum(max(self.longest, self.pace), low))
        low = np.where(low > 0, low, np.minimum(min(self.shortest, self.pace), high))
        return low / SECOND, high / SECOND

    def _unknown(self, last_polled: Instants) -> dict[str, Column]:
        """Return the columns of unknown pages."""
        size = len(last_polled)
        columns: dict[str, Column] = {
            "period": np.full(size, self.pace / SECOND),
            "polled_at": last_polled.copy(),
            "modified": np.full(size, UNPOLLED),
            **{name: np.zeros(size, dtype=np.uint8) for name in ("misses", "steady", "streak", "unbroken")},
            "intervals": np.zeros((size, self.history), dtype=np.float32),
        }
        return {name: _freeze(column) for name, column in columns.items()}

    def _due_again(self, state: BestEffortState, rows: Rows) -> BestEffortState:
        """Return the state with new dues for the pages at `rows`."""
        due = state.due.copy()
        due[rows] = self._due(state.population, rows, state.period[rows])
        return replace(state, due=_freeze(due))

    def _due(self, population: Population, rows: Rows | slice, period: Floats) -> Instants:
        """Return when the pages at `rows` are due: their period, within its bounds, after their
        last poll.
        """
        low, high = self._bounds(population, rows)
        gap = np.ceil(np.minimum(_within(low, period, high) * SECOND, FURTHEST)).astype(np.int64)
        return due_after(population, gap, rows)


class _Pages:
    """Copies of the knowledge of some pages, writable within one call."""

    __slots__ = ("_rows", "intervals", "misses", "modified", "period", "polled_at", "steady", "streak", "unbroken")

    def __init__(self, state: BestEffortState, rows: Rows) -> None:
        self._rows = rows
        self.period = state.period[rows]
        self.polled_at = state.polled_at[rows]
        self.modified = state.modified[rows]
        self.misses = state.misses[rows]
        self.steady = state.steady[rows]
        self.streak = state.streak[rows]
        self.unbroken = state.unbroken[rows]
        self.intervals = state.intervals[rows]

    def put(self, state: BestEffortState, population: Population, *, learned: bool) -> BestEffortState:
        """Return the state with these pages' values; histories are copied only if something was
        `learned`.
        """
        names = _QUIET + _CHANGED if learned else _QUIET
        joined: dict[str, Any] = {name: self._join(getattr(state, name), getattr(self, name)) for name in names}
        return replace(state, population=population, **joined)

    def _join(self, column: Column, values: Column) -> Column:
        joined = column.copy()
        joined[self._rows] = values
        return _freeze(joined)


_QUIET: Final = ("period", "polled_at", "misses", "streak", "unbroken")
_CHANGED: Final = ("modified", "steady", "intervals")


def _observe(page: _Pages, at: Instants, since: Floats, modified: Instants) -> NDArray[np.float32]:
    """Return the interval (seconds) that a change shows: from the last change to this one if both
    are known, else `since`.

    An instant is trusted if it is after the last poll, and not after this one (sentinels §4.2).
    """
    both = (modified > page.polled_at) & (page.modified != UNPOLLED)
    between = (np.minimum(modified, at) - np.where(both, page.modified, 0)) / SECOND
    observed: NDArray[np.float32] = np.where(both, between, since).astype(np.float32)
    return observed


def _is_lost(interrupted: Mask | None, here: Mask, waited: Instants, period: Floats) -> Mask:
    """Return which polls came so late, after `waited` (µs), because of an outage, that they show no
    interval.
    """
    if interrupted is None:
        return np.zeros(len(waited), dtype=np.bool_)
    late: Mask = interrupted[here] & (waited > LATE * SECOND * period)
    return late


def _is_memory(memory: Mapping[str, Any]) -> bool:
    """Return whether this is a valid result of `remember`, whatever the parameters were."""
    counts = [*(memory.get(name) for name in ("misses", "steady", "streak")), memory.get("unbroken", 0)]
    instants = [at for name in ("looked", "modified") if (at := memory.get(name, "")) is not None]
    return (
        _is_positive([memory.get("period")])
        and (memory.get("intervals") == [] or _is_positive(memory.get("intervals")))
        and all(type(count) is int and 0 <= count < FURTHEST for count in counts)
        and all(type(at) is int and UNPOLLED < at < NEVER for at in instants)
    )


def _is_positive(numbers: Any) -> bool:
    """Return whether this is a list of positive numbers that an array can hold."""
    if not isinstance(numbers, list):
        return False
    try:
        return min(numbers) > 0 and sum(numbers) < FURTHEST  # a sum with nan is not below anything
    except TypeError:
        return False


def _within(low: Floats, values: Floats, high: Floats) -> Floats:
    """Return the result of `numpy.clip`, faster for few pages."""
    inside: Floats = np.minimum(np.maximum(values, low), high)
    return inside


def _freeze(column: Column) -> Column:
    column.setflags(write=False)
    return column

"""Best Effort Algorithm: each page's interval follows the intervals at which it was seen to change.

Paper: 004 §4.7, figure 4.5; read as `scheduling.md` §5 mends it (eleven corrections). Per page there is a period P and the
last H observed intervals h:

```
no change, alpha cycles in a row       P ← 2·P
change, h_n = h_(n−1) (constant)       P ← h_n, and every beta-th time as for a random one
change otherwise (random)              P ← mean(h), or weight·mean(h) where mean(h) > P
```

always within [Pmin, Pmax]. Symbols: P → `period`, H → `history`, w → `weight`, Pmin and Pmax → the population's
`shortest` and `longest`, where it names none the policy's own.

The observed interval is the difference of the instants of change where the server tells both, else the time since the
look that began the cycle (004 §4.7.2). A look well before its time that shows nothing (somebody asked, or another
sentinel has a fixed interval) ends no cycle: else looks for others' sake would double the period.

Beyond the paper: a page that differs at each of `saturation` looks in a row, all hardly more than Pmin apart, is
*saturated*. Looking closer shows no more of it, so it waits the pace, but for one look after Pmin in seven; two looks
without a change set it free (bid_and_defaults §4, guard 6).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidings.model.interval import Duration, Instant
from tidings.scheduling.lateness import SECOND, due_after, lateness
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

MINUTE: Final[Duration] = 60 * SECOND
HOUR: Final[Duration] = 60 * MINUTE
DAY: Final[Duration] = 24 * HOUR
WHOLE: Final = 0.9
"""Share of the period after which a look ends its cycle: a tenth is the slack that fixed intervals have, too."""
NEAR: Final = 1.5
"""Multiple of Pmin up to which looks are so near that a page which differs at all of them may be saturated."""
ROUND: Final = 7
"""Looks at a saturated page of which one comes after Pmin: with a pace of an hour about every 6 h."""
QUIET_ROUNDS: Final = 2
"""Looks without a change that set a saturated page free."""
FURTHEST: Final = float(2**62)
"""A gap (µs) beyond all use that still fits an integer."""

Counts = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class BestEffortState:
    """What is known of each page, in the order of the population.

    `due` and `looked` (the look that began the running cycle) and `modified` (the instant of the last change if the
    server told it) are instants, `UNPOLLED` where there is none. `period` is in seconds. `misses` counts cycles
    without a change, `steady` changes at a constant interval, `streak` changes in a row at looks near each other; of a
    saturated page `steady` counts the looks of its round, `misses` those without a change. `intervals[page]` (seconds) has the newest last and 0
    where none was seen yet.
    """

    population: Population
    due: Instants
    period: Floats
    looked: Instants
    modified: Instants
    misses: Counts
    steady: Counts
    streak: Counts
    intervals: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class BestEffort:
    """The policy of 004 §4.7. Durations in µs; `alpha`, `beta`, `weight` and `history` are those that §4.8 settles on.

    A page starts at the interval `pace`. `shortest` and `longest` hold for pages that name none, widened to hold `pace`.
    Two intervals are equal if they differ by at most `tolerance` (Last-Modified has whole seconds). A `saturation` of 0
    leaves that guard out, as the paper does.
    """

    pace: Duration = HOUR
    shortest: Duration = 5 * MINUTE
    longest: Duration = DAY
    alpha: int = 6
    beta: int = 2
    weight: float = 0.6
    history: int = 20
    tolerance: Duration = SECOND
    saturation: int = 20

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
        if not 0 <= self.saturation <= 255:
            message = f"the saturation must be 0 to 255 looks, it is {self.saturation}"
            raise ValueError(message)
        if not (0 < self.weight <= 1 and self.tolerance >= 0):
            message = (
                f"the weight must be above 0 and at most 1, the tolerance 0 or more: {self.weight}, {self.tolerance}"
            )
            raise ValueError(message)

    def begin(self, population: Population, rng: np.random.Generator) -> BestEffortState:  # noqa: ARG002 - nothing here is left to chance
        """Return the state in which each page waits its first interval from its last look."""
        return self._fresh(population)

    def advance(self, state: BestEffortState, dt: Duration) -> BestEffortState:  # noqa: ARG002 - dues are instants
        """Return the same periods: time alone changes none."""
        return replace(state)

    def bid(self, state: BestEffortState, now: Instant, price: float, *, rows: Rows | None = None) -> Floats:  # noqa: ARG002 - a period has no price
        """Return the seconds that each page is overdue, at least one µs once it is due, else 0 (scheduling §8)."""
        return lateness(state.population, state.due, now, rows)

    def next_due(self, state: BestEffortState, ids: ArrayLike, now: Instant, price: float) -> Instants:  # noqa: ARG002 - a period has no price
        """Return when each page is due, `now` if it is already."""
        due: Instants = np.maximum(state.due[state.population.rows(ids)], now)
        return due

    def on_update(self, state: BestEffortState, ids: ArrayLike, columns: Columns) -> BestEffortState:
        """Return the state with other pages or other bounds; what was learned of a page that stays is kept."""
        population = state.population.update(ids, columns)
        if population.ids is state.population.ids:
            return self._due_again(replace(state, population=population), population.present(ids)[0])
        fresh = self._fresh(population)
        rows, here = state.population.present(population.ids)
        return self._due_again(_Pages(state, rows).moved(fresh, np.flatnonzero(here)), np.arange(population.size))

    def on_signal(self, state: BestEffortState, ids: ArrayLike, signal: Signal) -> BestEffortState:  # noqa: ARG002 - hints move no period
        """Return the same periods."""
        return replace(state)

    def on_poll(self, state: BestEffortState, ids: ArrayLike, observation: Observation) -> BestEffortState:
        """Return the state after looks: one step of the algorithm for each page.

        The first look at a page is its baseline and teaches nothing; one that is not after the last is passed over.
        """
        rows, here = state.population.present(ids)
        at, changed = observation.at[here], observation.changed[here]
        told = np.full(len(at), UNPOLLED) if observation.modified_at is None else observation.modified_at[here]
        population = state.population.set(rows, {"last_polled": at})
        page = _Pages(state, rows)
        low, high = self._bounds(population, rows)
        page.period = np.clip(page.period, low, high)
        baseline = page.looked == UNPOLLED
        since = np.where(baseline, 0, at - np.where(baseline, 0, page.looked)) / SECOND
        found = changed & (since > 0)
        quiet = ~changed & (since > 0) & (since >= WHOLE * page.period)
        saturated = self._saturated(page)
        self._learn_quiet(page, np.flatnonzero(quiet & ~saturated))
        self._learn_change(page, np.flatnonzero(found & ~saturated), _observed(page, at, since, told))
        self._watch(page, np.flatnonzero((found | quiet) & saturated), changed, low)
        self._saturate(page, np.flatnonzero(found & ~saturated), since <= NEAR * low)
        page.modified = np.where(found, np.where(told > page.looked, np.minimum(told, at), UNPOLLED), page.modified)
        page.looked = np.where(baseline | found | quiet, at, page.looked)
        page.period = np.clip(page.period, low, high)
        learned = bool((found | saturated).any())
        return self._due_again(page.put(replace(state, population=population), learned=learned), rows)

    def remember(self, state: BestEffortState, page: int) -> dict[str, Any]:
        """Return what was learned of a page as plain JSON, for `recall`. Raises `KeyError` for a page that is not here."""
        row = int(state.population.rows([page])[0])
        intervals, looked, modified = state.intervals[row], int(state.looked[row]), int(state.modified[row])
        return {
            "period": float(state.period[row]),
            "misses": int(state.misses[row]),
            "steady": int(state.steady[row]),
            "streak": int(state.streak[row]),
            "intervals": intervals[intervals > 0].tolist(),
            "looked": None if looked == UNPOLLED else looked,
            "modified": None if modified == UNPOLLED else modified,
        }

    def recall(self, state: BestEffortState, memories: Mapping[int, Mapping[str, Any]]) -> BestEffortState:
        """Return the state in which pages know again what `remember` told of them.

        Pages that are not here are passed over, and so is a memory that cannot be read: its page learns anew.
        """
        rows, here = state.population.present(np.fromiter(memories, dtype=np.int64, count=len(memories)))
        page = _Pages(state, rows)
        for i, memory in enumerate(memory for memory, is_here in zip(memories.values(), here, strict=True) if is_here):
            if _is_memory(memory):
                self._recall(page, i, memory)
        return self._due_again(page.put(state, learned=True), rows)

    def _recall(self, page: _Pages, i: int, memory: Mapping[str, Any]) -> None:
        recent = memory["intervals"][-self.history :]
        page.period[i] = memory["period"]
        page.streak[i] = min(memory["streak"], self.saturation)
        saturated = bool(self._saturated(page)[i])
        page.misses[i] = min(memory["misses"], (QUIET_ROUNDS if saturated else self.alpha) - 1)
        page.steady[i] = min(memory["steady"], (ROUND if saturated else self.beta) - 1)
        page.intervals[i] = 0
        page.intervals[i, self.history - len(recent) :] = recent
        if memory["looked"] is not None:
            page.looked[i] = memory["looked"]
        if memory["modified"] is not None:
            page.modified[i] = memory["modified"]

    def _learn_quiet(self, page: _Pages, quiet: Rows) -> None:
        """Count a cycle without a change; double the period after `alpha` of them (corrections a, g)."""
        page.streak[quiet] = 0
        page.misses[quiet] += 1
        tired = quiet[page.misses[quiet] >= self.alpha]
        page.misses[tired] = 0
        page.period[tired] *= 2

    def _learn_change(self, page: _Pages, found: Rows, observed: NDArray[np.float32]) -> None:
        """Keep the observed interval; take it as the period if it is that of last time, else estimate (corrections b to f)."""
        new = observed[found]
        before = page.intervals[found, -1]
        constant = (before > 0) & (np.abs(new - before) <= self.tolerance / SECOND)
        page.misses[found] = 0
        page.intervals[found, :-1] = page.intervals[found, 1:]
        page.intervals[found, -1] = new
        page.steady[found] = np.where(constant, page.steady[found] + 1, 0)
        doubted = page.steady[found] >= self.beta
        page.steady[found[doubted]] = 0
        known = page.intervals[found]
        estimate = known.sum(axis=1, dtype=np.float64) / np.maximum((known > 0).sum(axis=1), 1)
        estimate = np.where(estimate > page.period[found], estimate * self.weight, estimate)
        page.period[found] = np.where(constant & ~doubted, new, estimate)

    def _saturated(self, page: _Pages) -> Mask:
        return (page.streak >= self.saturation) & (self.saturation > 0)

    def _saturate(self, page: _Pages, found: Rows, near: Mask) -> None:
        """Count changes in a row at looks near each other; who has enough of them is saturated and waits the pace."""
        page.streak[found] = np.where(near[found], np.minimum(page.streak[found] + 1, self.saturation), 0)
        now = found[self._saturated(page)[found]]
        page.steady[now] = 0
        page.period[now] = self.pace / SECOND

    def _watch(self, page: _Pages, rows: Rows, changed: Mask, low: Floats) -> None:
        """Count the looks at saturated pages; the last of each round comes after Pmin, and quiet ones set a page free."""
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

    def _fresh(self, population: Population) -> BestEffortState:
        """Return the state in which nothing was learned of any page."""
        size = population.size
        return BestEffortState(
            population=population,
            due=due_after(
                population, self._gap(population, np.full(size, self.pace / SECOND), slice(None)), slice(None)
            ),
            period=_frozen(np.full(size, self.pace / SECOND)),
            looked=population["last_polled"],
            modified=_frozen(np.full(size, UNPOLLED)),
            misses=_frozen(np.zeros(size, dtype=np.uint8)),
            steady=_frozen(np.zeros(size, dtype=np.uint8)),
            streak=_frozen(np.zeros(size, dtype=np.uint8)),
            intervals=_frozen(np.zeros((size, self.history), dtype=np.float32)),
        )

    def _due_again(self, state: BestEffortState, rows: Rows) -> BestEffortState:
        """Return the state in which the pages at `rows` are due anew."""
        due = state.due.copy()
        due[rows] = due_after(state.population, self._gap(state.population, state.period[rows], rows), rows)
        return replace(state, due=_frozen(due))

    def _gap(self, population: Population, period: Floats, rows: Rows | slice) -> Instants:
        """Return the period within its bounds in whole µs, never less than it says."""
        low, high = self._bounds(population, rows)
        return np.ceil(np.minimum(np.clip(period, low, high) * SECOND, FURTHEST)).astype(np.int64)


class _Pages:
    """Own copies of what is known of some pages, to be written to within one call."""

    __slots__ = ("_rows", "intervals", "looked", "misses", "modified", "period", "steady", "streak")

    def __init__(self, state: BestEffortState, rows: Rows) -> None:
        self._rows = rows
        self.period = state.period[rows]
        self.looked = state.looked[rows]
        self.modified = state.modified[rows]
        self.misses = state.misses[rows]
        self.steady = state.steady[rows]
        self.streak = state.streak[rows]
        self.intervals = state.intervals[rows]

    def moved(self, state: BestEffortState, rows: Rows) -> BestEffortState:
        """Return another state in which these pages, there at `rows`, have these values."""
        self._rows = rows
        return self.put(state, learned=True)

    def put(self, state: BestEffortState, *, learned: bool) -> BestEffortState:
        """Return the state with these pages' values; histories are copied only if something was `learned`."""
        names = _QUIET + _CHANGED if learned else _QUIET
        joined: dict[str, Any] = {name: self._joined(getattr(state, name), getattr(self, name)) for name in names}
        return replace(state, **joined)

    def _joined(self, column: Column, values: Column) -> Column:
        joined = column.copy()
        joined[self._rows] = values
        return _frozen(joined)


_QUIET: Final = ("period", "looked", "misses", "streak")
_CHANGED: Final = ("modified", "steady", "intervals")


def _observed(page: _Pages, at: Instants, since: Floats, told: Instants) -> NDArray[np.float32]:
    """Return the interval (seconds) that a change shows: from the last change to this one if both are told, else `since`.

    An instant is believed if it is after the last look, and never beyond this one (sentinels §4.2).
    """
    both = (told > page.looked) & (page.modified != UNPOLLED)
    between = (np.minimum(told, at) - np.where(both, page.modified, 0)) / SECOND
    observed: NDArray[np.float32] = np.where(both, between, since).astype(np.float32)
    return observed


def _is_memory(memory: Mapping[str, Any]) -> bool:
    """Say whether a page can be told this: made by `remember` of any history, `alpha` and `beta`."""
    numbers = [memory.get("period"), *(memory["intervals"] if isinstance(memory.get("intervals"), list) else [None])]
    counts = [memory.get(name) for name in ("misses", "steady", "streak")]
    instants = [memory.get(name, 0) for name in ("looked", "modified") if memory.get(name, 0) is not None]
    return (
        all(isinstance(n, (int, float)) and 0 < n < FURTHEST for n in numbers)
        and all(type(n) is int and n >= 0 for n in counts)
        and all(type(n) is int and UNPOLLED < n < NEVER for n in instants)
    )


def _frozen(column: Column) -> Column:
    column.setflags(write=False)
    return column

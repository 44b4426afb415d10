"""`price`: poll a page when its index reaches the price of a poll, within the limits of users and
politeness (bid §1, §4).

For a page whose changes come at a steady rate this is exact: poll iff age ≥ T*. One human number,
the pace, fixes the price at which polls are worth it when the budget does not bind; a budget only
raises it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidings.model.interval import DAY, HOUR, MINUTE, NEVER, SECOND, Duration, Instant
from tidings.record import dataclass, replace
from tidings.scheduling import index
from tidings.scheduling.paced.turns import FIRST, TURNS, due_after
from tidings.scheduling.policy import (
    UNPOLLED,
    Columns,
    Floats,
    Instants,
    Market,
    Mask,
    Observation,
    PageArrays,
    Population,
    Rows,
    Signal,
    carry_over,
    freeze,
    recall,
)
from tidings.scheduling.price.market import clear
from tidings.scheduling.price.value import COLUMNS, Values, floor_price, values

SATURATED_AFTER: Final = 20
"""Consecutive polls that found a change, all as soon as allowed, after which a page counts as
saturated (guard 6).
"""
REPOLL_EVERY: Final[Duration] = 6 * HOUR
QUIET_REPOLLS: Final = 2
"""Re-polls without a change that end a saturation."""
_SATURATED, _REPOLLS = 64, 8
_PLAINLY: Final = 1 + 1e-6
"""The factor by which the backlog exceeds the price when the wait is over, against rounding."""
_CENTURY: Final[Duration] = 36_525 * DAY
_MOST: Final = REPOLL_EVERY // SECOND


@dataclass(frozen=True, slots=True, eq=False)
class PriceState(PageArrays):
    """The pages, and the saturation state of each (guard 6).

    `suspicion` is the number of consecutive polls that found a change soon after the last; of a
    saturated page 64, plus the re-polls that found none, plus 8 if the next poll is one. `steady`
    is, of a saturated page, the time of its last poll after the last re-poll, in seconds up to six
    hours.
    """

    suspicion: NDArray[np.uint8]
    steady: NDArray[np.uint16]

    @property
    def saturated(self) -> Mask:
        """Return which pages are saturated."""
        return np.asarray(self.suspicion >= _SATURATED)

    @property
    def repolls(self) -> Mask:
        """Return which of them are re-polled next."""
        return np.asarray(self.suspicion >= _SATURATED + _REPOLLS)


P = TypeVar("P", bound=PriceState)


@dataclass(frozen=True, slots=True)
class Price:
    """`pace` (µs): a page of default importance that changes once a day is polled so often.
    `longest`: no page waits longer.

    `shortest` is the default least time between polls. Prices below the floor are raised to it.
    Without `guarded` (laboratory only) an urgent rare page may starve, and waits have no end but
    the page's own `longest` (guard 5 is off).
    """

    reads: ClassVar[frozenset[str]] = TURNS | COLUMNS | index.HINTS
    weighs_hints: ClassVar[bool] = True
    """Whether ages are effective ages; hints do not move fixed instants."""
    follows_index: ClassVar[bool] = True
    """Whether the wait ends when the backlog is worth the price, and depends on nothing else."""
    spares_rare: ClassVar[bool] = True
    """Whether this policy has guard 5: urgent rare pages do not starve if it is `guarded`."""
    pace: Duration = HOUR
    longest: Duration = DAY
    shortest: Duration = MINUTE
    guarded: bool = True

    def __post_init__(self) -> None:
        if self.pace <= 0 or self.longest <= 0 or self.shortest <= 0:
            message = (
                f"pace, longest and shortest must be above 0 µs; they are {self.pace}, {self.longest}, {self.shortest}"
            )
            raise ValueError(message)

    @property
    def floor(self) -> float:
        """Return the price of polls if the budget does not bind."""
        return floor_price(self.pace)

    @property
    def oldest(self) -> Duration:
        """Return the longest wait of any page: in the laboratory a hundred years."""
        return self.longest if self.guarded else _CENTURY

    def waits(self, worth: Values, price: float) -> Floats:
        """Return the time after a poll at which the next one is worth its price (µs), inf if it
        never is.
        """
        return worth.gaps(price)

    def gather(self, worth: Values, age: Floats, price: float) -> Floats:
        """Return the value per unit of cost of a poll after `age` (µs): the price when the wait is
        over.
        """
        return worth.bids(age, price)

    def worth(self, state: PriceState, price: float, rows: Rows | slice) -> Values:  # noqa: ARG002 - what is worth the same at each price
        """Return the values of some pages' changes, and the cost of their polls."""
        return values(state.population, rows, guarded=self.guarded and self.spares_rare)

    def age(self, population: Population, now: Instant | Instants, rows: Rows | slice) -> Floats:
        """Return the age of each page, effective if hints are weighed (µs); `now` is an instant, or
        one per row.
        """
        age = (now - np.maximum(population["last_polled"][rows], 0)).astype(np.float64)
        return index.effective_age(population, age, rows) if self.weighs_hints else age

    def gaps(
        self, state: PriceState, price: float, rows: Rows | slice = slice(None), *, worth: Values | None = None
    ) -> Instants:
        """Return how long each page waits after a poll at this price (µs), within its bounds.

        Args:
            state: The policy's state.
            price: The price per unit of cost.
            rows: Places in the population.
            worth: The result of `worth` at this price, if known already.
        """
        population = state.population
        least = population["shortest"][rows]
        most = np.maximum(np.minimum(population["longest"][rows], self.oldest), least)
        level = max(price, self.floor)
        wished = self.waits(self.worth(state, level, rows) if worth is None else worth, level)
        if self.weighs_hints:
            wished = index.wait_to_age(population, wished, rows)
        if (suspicion := state.suspicion[rows]).any():
            differs, repolls = suspicion >= _SATURATED, suspicion >= _SATURATED + _REPOLLS
            wished = np.where(differs, np.where(repolls, self.shortest, self.pace), wished)
        gap: Instants = np.maximum(np.ceil(np.minimum(wished, most)).astype(np.int64), least)
        return gap

    def market(self, state: PriceState, budget: float, *, open_share: Floats | float = 1.0) -> Market:
        """Return the price at which the pages cost `budget` per µs, and the resulting spend.

        Waits are those at mean rates: hours, fixed instants and new pages say nothing about the
        long run.
        """
        calm = without_hints(state)
        return clear(
            lambda price: Price.gaps(self, calm, price),
            calm.population["cost"],
            self.floor,
            budget,
            open_share=open_share,
        )

    def price(self, state: PriceState, budget: float) -> float:
        """Return only the price."""
        return self.market(state, budget).price

    def stretch(self, factor: float) -> Price:
        """Return the policy under which pages may wait `factor` times as long."""
        return replace(self, longest=round(self.longest * factor))

    def begin(self, population: Population, rng: np.random.Generator) -> PriceState:  # noqa: ARG002 - deterministic
        """Return the state in which no page is known to be saturated."""
        return _fresh(population)

    def advance(self, state: PriceState, dt: Duration) -> PriceState:  # noqa: ARG002 - backlogs are functions of the instant
        """Return the same state."""
        return state

    def bid(self, state: PriceState, now: Instant, price: float, *, rows: Rows | None = None) -> Floats:
        """Return the index of each page whose wait is over, at least the price; `FIRST` and more
        for a new page, the oldest request first.
        """
        where: Rows | slice = slice(None) if rows is None else rows
        population, level = state.population, max(price, self.floor)
        worth = self.worth(state, level, where)
        gathered = self.gather(worth, self.age(population, now, where), level)
        bids = np.maximum(gathered, level)
        if (new := population["last_polled"][where] == UNPOLLED).any():
            waited = (now - np.minimum(population["added"][where], now) + 1) / SECOND
            bids = np.where(new, FIRST + waited, bids)
        if self.follows_index and (gathered > level * _PLAINLY).all() and self._may_all(state, now, where):
            return bids  # bids of pages taken from a due queue need no waits
        due = due_after(population, self.gaps(state, level, where, worth=worth), where)
        return np.where(due <= now, bids, 0.0)

    def _may_all(self, state: PriceState, now: Instant, rows: Rows | slice) -> bool:
        """Return whether all these pages may be polled as soon as it is worth it: past their least
        wait, and not saturated.
        """
        population = state.population
        rested = due_after(population, population["shortest"][rows], rows) <= now
        return bool((rested & (state.suspicion[rows] < _SATURATED)).all())

    def on_update(self, state: PriceState, ids: ArrayLike, columns: Columns) -> PriceState:
        """Return the state with other pages or other values."""
        population = state.population.update(ids, columns)
        if population.ids is state.population.ids:
            return replace(state, population=population)
        return carry_over(state, _fresh(population))

    def on_poll(self, state: PriceState, ids: ArrayLike, observation: Observation) -> PriceState:
        """Return the state after polls, with saturation detected or ended (guard 6)."""
        rows, here = state.population.present(ids)
        at, changed = observation.at[here], observation.changed[here]
        answered = {"hinted": 0} if index.has_hints(state.population) else {}
        population = state.population.set(rows, {"last_polled": at, **answered})
        if not (changed | state.suspicion[rows]).any():
            return replace(state, population=population)
        before = state.population["last_polled"][rows]
        gap = np.where((before != UNPOLLED) & (before < at), at - np.maximum(before, 0), NEVER // 4)
        is_soon = 2 * gap <= 3 * np.maximum(state.population["shortest"][rows], self.shortest)
        if not ((changed & is_soon) | state.suspicion[rows]).any():
            return replace(state, population=population)
        suspicion, steady = state.suspicion.copy(), state.steady.copy()
        suspicion[rows], steady[rows] = _suspect(state, rows, changed, is_soon, gap)
        return freeze(replace(state, population=population, suspicion=suspicion, steady=steady))

    def on_signal(self, state: PriceState, ids: ArrayLike, signal: Signal) -> PriceState:
        """Return the state in which the pages are older by the weight of the hints, until they are
        polled.
        """
        rows, here = state.population.present(ids)
        return replace(state, population=index.hint(state.population, rows, signal.age[here]))

    def next_due(self, state: PriceState, ids: ArrayLike, now: Instant, price: float) -> Instants:
        """Return when the wait of each page is over, `now` if it is already."""
        rows = state.population.rows(ids)
        due: Instants = np.maximum(due_after(state.population, self.gaps(state, price, rows), rows), now)
        return due

    def remember(self, state: PriceState, page: int) -> dict[str, Any]:
        """Return the saturation state of a page, and its `period` (s) at the floor price, for
        people. Raises KeyError.
        """
        row = int(state.population.rows([page])[0])
        return {
            "period": float(self.gaps(state, self.floor, np.array([row]))[0]) / SECOND,
            "saturated": bool(state.suspicion[row] >= _SATURATED),
            "suspicion": int(state.suspicion[row]),
            "steady": int(state.steady[row]),
        }

    def recall(self, state: PriceState, memories: Mapping[int, Mapping[str, Any]]) -> PriceState:
        """Return the state with restored pages; unreadable memories are skipped."""
        return recall(state, memories, ("suspicion", "steady"), _is_readable)


def without_hints(state: P) -> P:
    """Return the state without pending hints: the next polls consume them, so they do not affect
    the long-run cost.
    """
    return replace(state, population=index.without_hints(state.population))


def _suspect(
    state: PriceState, rows: Rows, changed: Mask, is_soon: Mask, gap: Instants
) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
    """Return suspicion and steadiness of pages after polls that came `gap` after the ones
    before.
    """
    suspicion, steady = state.suspicion[rows], state.steady[rows]
    was_saturated, was_repoll = suspicion >= _SATURATED, suspicion >= _SATURATED + _REPOLLS
    streak = np.where(changed & is_soon & ~was_saturated, np.minimum(suspicion + 1, SATURATED_AFTER), 0)
    enters = streak >= SATURATED_AFTER
    quiet = np.where(was_saturated, suspicion % _REPOLLS + (was_repoll & ~changed), 0)
    saturated = enters | (was_saturated & (quiet < QUIET_REPOLLS))
    since = np.minimum(steady + np.minimum(gap // SECOND, _MOST), _MOST)
    since = np.where(saturated & ~enters & ~was_repoll, since, 0)
    after = np.where(saturated, _SATURATED + quiet + _REPOLLS * (since >= _MOST), np.where(was_saturated, 0, streak))
    return after.astype(np.uint8), since.astype(np.uint16)


def _is_readable(memory: Mapping[str, Any]) -> bool:
    suspicion, steady = memory.get("suspicion"), memory.get("steady")
    return (
        isinstance(suspicion, int)
        and isinstance(steady, int)
        and 0 <= suspicion < _SATURATED + 2 * _REPOLLS
        and 0 <= steady <= _MOST
    )


def _fresh(population: Population) -> PriceState:
    size = population.size
    return freeze(PriceState(population, np.zeros(size, dtype=np.uint8), np.zeros(size, dtype=np.uint16)))


Rule = Literal["new", "saturated", "shortest", "longest", "price"]
"""Why a page waits as long as it does: never polled; saturated; its least or longest time between
polls; its price.
"""


@dataclass(frozen=True, slots=True)
class BidParts:
    """The parts of a page's bid: importance W, `rate` μ (changes a day), the effective `half_life`
    (µs) of its urgency at this price, the cost of a poll; its `age` (µs, None: never polled), the
    backlog `gathered` since, and the `index`, per unit of cost.

    The index reaches the price after `wait` µs (T*, None: never); with its bounds the page waits
    `gap`, by `rule`.
    """

    importance: float
    rate: float
    half_life: float
    cost: float
    age: Duration | None
    gathered: float
    index: float
    wait: float | None
    gap: Duration
    rule: Rule


def explain(policy: Price, state: PriceState, now: Instant, price: float) -> list[BidParts]:
    """Return the parts of the bid of each page at a price, in the order of the population.

    Args:
        policy: The policy.
        state: Its state.
        now: The present (µs).
        price: The price per unit of cost.
    """
    population, everything = state.population, slice(None)
    level = max(price, policy.floor)
    worth = policy.worth(state, level, everything)
    last = population["last_polled"]
    age = np.where(last == UNPOLLED, 0.0, policy.age(population, now, everything))
    decay = worth.compute_effective_price(level)
    kappa = decay + worth.overwritten
    gathered = worth.inflow / kappa * -np.expm1(-kappa * age)
    index, waits, gaps = policy.gather(worth, age, level), policy.waits(worth, level), policy.gaps(state, level)
    rules = _rules(policy, state, waits, gaps)
    return [
        BidParts(
            float(worth.importance[row]),
            float(worth.rate[row] * DAY),
            math.log(2) / float(decay[row]),
            float(worth.cost[row]),
            None if last[row] == UNPOLLED else int(now - last[row]),
            float(gathered[row]),
            float(index[row]),
            float(waits[row]) if np.isfinite(waits[row]) else None,
            int(gaps[row]),
            rules[row],
        )
        for row in range(population.size)
    ]


def _rules(policy: Price, state: PriceState, waits: np.ndarray, gaps: np.ndarray) -> list[Rule]:
    population = state.population
    most = np.maximum(np.minimum(population["longest"], policy.oldest), population["shortest"])
    conditions = [
        population["last_polled"] == UNPOLLED,
        state.saturated,
        (waits < gaps) & (gaps <= population["shortest"]),
        (waits > gaps) & (gaps >= most),
    ]
    rules: list[Rule] = np.select(conditions, ["new", "saturated", "shortest", "longest"], default="price").tolist()
    return rules

"""`price_hours`: the price policy with hours of the week (bid §1; scheduling §9).

Profiles of pages, 168 hourly weights each, come from their learner (`on_hours`); a poll then waits
for the hour in which it is worth most. The next due instant is computed once, in a batch, for the
pages asked for, and cached while none of its inputs changes. Pages without a profile, saturated
ones, those with hints and those of unknown rate are handled exactly as by `price`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike

from tidings.model.interval import SECOND, Duration
from tidings.record import dataclass
from tidings.scheduling.policy import (
    UNPOLLED,
    Column,
    Columns,
    Floats,
    Ids,
    Instants,
    Mask,
    Observation,
    Population,
    Rows,
    widen,
)
from tidings.scheduling.price.lookahead import Ticks, plan
from tidings.scheduling.price.policy import Price, PriceState
from tidings.scheduling.price.value import Values

TICK: Final[Duration] = 60 * SECOND
HOURS: Final = 168
_HOUR: Final = 60
_WEEK: Final = HOURS * _HOUR
_NEAR: Final = 16
"""A planned poll is accepted when at most this part of the whole wait is left: plans see far
instants coarsely.
"""
_STEPS: Final = tuple(1 << step for step in range(HOURS.bit_length()))
_ROUNDS: Final = 24
_ENTRIES_A_PAGE: Final = 4
_BATCH: Final = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class WeekGathering:
    """How changes gather over a week of hours; time in ticks of a minute since 1970 UTC. Within an
    hour all is exponential.

    Pages that differ in W·μ only gather alike: they share a `week`, a row of the tables, computed
    for an inflow of 1.
    """

    inflow: Floats
    decay: Floats
    overwritten: Floats
    _week: Rows
    _weights: Floats
    _kappa: Floats
    _level: Floats
    _faded: Floats

    @classmethod
    def of(
        cls, weights: Floats, inflow: Floats, decay: Floats, overwritten: Floats, *, which: Ids | None = None
    ) -> WeekGathering:
        """Return how W·μ, θ and overwriting (all per tick, one per page) gather under `weights`,
        shape (profiles, 168), of mean 1.

        `which` is the profile of each page; by default they are in the order of the pages.

        Args:
            weights: The weights of the hours of the week, one row per profile.
            inflow: The worth of the changes of each page per tick (W·μ).
            decay: By how much a waiting change loses worth per tick (θ).
            overwritten: The rate at which a waiting change is replaced, per tick.
            which: The profile of each page.
        """
        profile = np.arange(len(inflow)) if which is None else which
        first, week = _alike(profile, decay, overwritten)
        own = weights[profile[first]]
        kappa = decay[first, None] + overwritten[first, None] * own
        most = own / kappa
        level, remaining = most * -np.expm1(-kappa * _HOUR), np.exp(-kappa * _HOUR)
        for (
            step
        ) in _STEPS:  # what each hour leaves and adds, joined with the one before it, with the two before, with four, …
            level[:, step:], remaining[:, step:] = (
                remaining[:, step:] * level[:, :-step] + level[:, step:],
                remaining[:, step:] * remaining[:, :-step],
            )
        faded = np.cumsum(kappa * _HOUR, axis=1)
        start = level[:, -1] / -np.expm1(-faded[:, -1])
        level, faded = (np.concatenate([np.zeros((len(own), 1)), table], axis=1) for table in (level, faded))
        level += np.exp(-faded) * start[:, None]
        return cls(inflow, decay, overwritten, week, own, kappa, level, faded)

    def at(self, rows: Rows) -> WeekGathering:
        """Return the tables of some pages."""
        return WeekGathering(
            self.inflow[rows],
            self.decay[rows],
            self.overwritten[rows],
            self._week[rows],
            self._weights,
            self._kappa,
            self._level,
            self._faded,
        )

    def read(self, at: Ticks) -> tuple[Floats, Floats]:
        """Return F and S at ticks, one per page or rows of them."""
        turns, tick = np.divmod(at, _WEEK)
        hour, rest = np.divmod(tick, _HOUR)
        kappa = self._kappa[self._week, hour]
        gone = kappa * rest
        fades = np.exp(-gone)
        level = fades * self._level[self._week, hour] + self._weights[self._week, hour] / kappa * (1 - fades)
        return self.inflow * level, turns * self._faded[self._week, -1] + self._faded[self._week, hour] + gone


def _alike(*columns: Column) -> tuple[Rows, Rows]:
    """Return one row of each group of equal rows, and the group of each row."""
    order = np.lexsort(columns)
    begins = np.ones(len(order), dtype=np.bool_)
    begins[1:] = np.any([column[order[1:]] != column[order[:-1]] for column in columns], axis=0)
    kinds = np.empty(len(order), dtype=np.intp)
    kinds[order] = np.cumsum(begins) - 1
    return order[begins], kinds


def find_first_poll(
    gathering: WeekGathering, cost: Floats, price: float, last: Ticks, *, shortest: Ticks, longest: Ticks
) -> Ticks:
    """Return the tick of each page's next poll: from `shortest` to `longest` ticks after its last
    poll.

    A waiting plan is recomputed three quarters of the way to its poll, until that is near; if it
    has none, at its review.

    Args:
        gathering: How worth gathers on each page.
        cost: The cost of a poll of each page.
        price: The price per unit of cost.
        last: The tick of the last poll of each page.
        shortest: The shortest wait, in ticks.
        longest: The longest wait, in ticks.
    """
    due, now = last + longest, last + shortest
    open_rows = np.flatnonzero(now < due)
    for _ in range(_ROUNDS):
        if not open_rows.size:
            break
        then, seen = now[open_rows], last[open_rows]
        found = plan(
            gathering.at(open_rows),
            cost[open_rows],
            price,
            seen,
            then,
            longest=longest[open_rows],
            shortest=np.maximum(shortest[open_rows], 1),
            review=_WEEK // 28,
            day=24 * _HOUR,
        )
        at_once = found.bids >= price
        is_polled = found.is_polled | at_once
        wished = np.where(at_once, then, found.due)
        due[open_rows] = np.where(is_polled, wished, seen + longest[open_rows])
        is_near = is_polled & ((wished - then) * _NEAR <= wished - seen)
        now[open_rows] = np.where(is_polled, then + np.maximum(3 * (wished - then) // 4, 1), wished)
        open_rows = open_rows[~is_near & (now[open_rows] < seen + longest[open_rows])]
    return due


@dataclass(frozen=True, slots=True, eq=False)
class HoursState(PriceState):
    """The state of `price`; the profiles, the profile of each page (−1: none), and the cached
    waits, by all their inputs.
    """

    weights: Floats
    which: Ids
    _known: dict[Hashable, int] = field(repr=False)


@dataclass(frozen=True, slots=True)
class PriceHours(Price):
    """`Price`, with the hours of the week. `profile` is the default profile of every page (None:
    none).
    """

    follows_index: ClassVar[bool] = False
    profile: tuple[float, ...] | None = None

    def begin(self, population: Population, rng: np.random.Generator) -> HoursState:
        """Return the state in which each page has the policy's default profile, if there is one."""
        weights = np.empty((0, HOURS)) if self.profile is None else np.array([self.profile], dtype=np.float64)
        state = _add_profiles(Price.begin(self, population, rng), weights, np.empty(0, dtype=np.int64), {})
        return _add_profiles(state, weights, self._unknown(population.size), {})

    def on_hours(self, state: HoursState, weights: Floats, which: Ids) -> HoursState:
        """Return the state with other profiles, each of mean 1, shape (profiles, 168); `which` is
        that of each page, −1 for none.
        """
        return _add_profiles(state, weights, which, state._known)  # noqa: SLF001 - private to this module

    def on_update(self, state: PriceState, ids: ArrayLike, columns: Columns) -> HoursState:
        """Return the state with other pages or values; a new page has the policy's default
        profile.
        """
        before = _own(state)
        after = Price.on_update(self, state, ids, columns)
        if after.population.ids is state.population.ids:
            return _add_profiles(after, before.weights, before.which, before._known)  # noqa: SLF001 - one of our own
        places, here = state.population.present(after.population.ids)
        which = self._unknown(after.population.size)
        which[here] = before.which[places]
        return _add_profiles(after, before.weights, which, before._known)  # noqa: SLF001 - private to this module

    def on_poll(self, state: PriceState, ids: ArrayLike, observation: Observation) -> HoursState:
        """Return the state after polls."""
        before = _own(state)
        return _add_profiles(Price.on_poll(self, state, ids, observation), before.weights, before.which, before._known)  # noqa: SLF001 - one of our own

    def gaps(
        self, state: PriceState, price: float, rows: Rows | slice = slice(None), *, worth: Values | None = None
    ) -> Instants:
        """Return how long each page waits after its last poll at this price (µs): until the hour of
        the best plan.

        Args:
            state: The state.
            price: The price of a poll.
            rows: The places of the pages.
            worth: What their changes are worth; computed if None.
        """
        flat = Price.gaps(self, state, price, rows, worth=worth)
        hours = _own(state)
        last = state.population["last_polled"][rows]
        planned = (
            (hours.which[rows] >= 0)
            & ~state.saturated[rows]
            & (last != UNPOLLED)
            & ~_find_announced(state.population, rows)
        )
        if not planned.any():
            return flat
        places = rows[planned] if isinstance(rows, np.ndarray) else np.arange(state.population.size)[rows][planned]
        found = flat.copy()
        found[planned] = self._plan(hours, max(price, self.floor), places)
        return found

    def _unknown(self, size: int) -> Ids:
        return np.full(size, -1 if self.profile is None else 0, dtype=np.int64)

    def _plan(self, state: HoursState, level: float, rows: Rows) -> Instants:
        """Return the waits of pages with a profile, computing missing ones in one batch."""
        known = state._known  # noqa: SLF001 - private to this module
        columns = self._columns(state, level, rows)
        marks = {number: hash(state.weights[number].tobytes()) for number in np.unique(state.which[rows]).tolist()}
        inputs = zip(*(column.tolist() for column in columns.values()), strict=True)
        of = [marks[number] for number in state.which[rows].tolist()]
        keys: list[Hashable] = [(level, mark, *each) for mark, each in zip(of, inputs, strict=True)]
        lacking = np.array([key not in known for key in keys])
        if lacking.any():
            if len(known) > _ENTRIES_A_PAGE * state.population.size + HOURS:
                known.clear()
                lacking[:] = True
            for places in np.array_split(np.flatnonzero(lacking), -(-int(lacking.sum()) // _BATCH)):
                waits = self._waits(state, level, rows[places], {name: c[places] for name, c in columns.items()})
                known.update(zip((keys[place] for place in places.tolist()), waits, strict=True))
        return np.array([known[key] for key in keys], dtype=np.int64)

    def _columns(self, state: HoursState, level: float, rows: Rows) -> dict[str, Any]:
        """Return all inputs of waits, beside price and profile."""
        population = state.population
        worth = self.worth(state, level, rows)
        least = population["shortest"][rows]
        return {
            "last": population["last_polled"][rows],
            "least": least,
            "most": np.maximum(np.minimum(population["longest"][rows], self.oldest), least),
            "inflow": worth.inflow,
            "decay": worth.compute_effective_price(level),
            "overwritten": worth.overwritten,
            "cost": worth.cost,
        }

    def _waits(self, state: HoursState, level: float, rows: Rows, of: dict[str, Any]) -> list[int]:
        gathering = WeekGathering.of(
            state.weights,
            of["inflow"] * TICK,
            of["decay"] * TICK,
            of["overwritten"] * TICK,
            which=state.which[rows],
        )
        last = of["last"] // TICK
        shortest, longest = np.maximum(of["least"] // TICK, 1), np.maximum(of["most"] // TICK, 1)
        due = find_first_poll(gathering, of["cost"], level, last, shortest=shortest, longest=longest)
        waits: list[int] = np.clip((due - last) * TICK, of["least"], of["most"]).tolist()
        return waits


def _find_announced(population: Population, rows: Rows | slice) -> Mask:
    """Return which pages have a pending hint or a source: these are polled by their effective
    age.
    """
    return np.asarray((population["hinted"][rows] > 0) | (population["unannounced"][rows] < 1))


def _own(state: PriceState) -> HoursState:
    if not isinstance(state, HoursState):
        message = f"price_hours needs a state of its own, not {type(state).__name__}"
        raise TypeError(message)
    return state


def _add_profiles(state: PriceState, weights: Floats, which: Ids, known: dict[Hashable, int]) -> HoursState:
    weights.setflags(write=False)
    which.setflags(write=False)
    return widen(HoursState, state, weights=weights, which=which, _known=known)

"""A policy that reads rates, combined with the learner of these rates from the same polls
(contracts §5: estimates are columns).

The learner is passed in: this package knows arrays, not statistics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from tidings.model.interval import Duration, Instant
from tidings.record import dataclass, replace
from tidings.scheduling.policy import (
    UNPOLLED,
    Columns,
    Floats,
    HeedsHosts,
    HeedsHours,
    Ids,
    Instants,
    Market,
    Mask,
    Observation,
    Policy,
    Population,
    Prices,
    Remembers,
    Rows,
    Signal,
    State,
)
from tidings.scheduling.timetable import RATE


class Learner(Protocol):
    """Learns how often each page changes, in the order of a population (`estimation.learner`)."""

    def begin(self, hosts: Ids) -> Any:
        """Return the knowledge of pages that were never polled."""
        ...

    def rates(self, known: Any, rows: Rows | slice = ...) -> Floats:
        """Return the assumed rate of each page, changes a day; of all unless `rows` are named."""
        ...

    def chances(self, known: Any, rows: Rows, days: Floats) -> Floats:
        """Return the probability that each page changes within so many days."""
        ...

    def observe(
        self,
        known: Any,
        rows: Rows,
        at: Instants,
        changed: Mask,
        modified_at: Instants,
        interrupted: Mask,
        changes: Floats | None = None,
    ) -> Any:
        """Return the knowledge after polls.

        Args:
            known: The knowledge before.
            rows: Places in the population, each once.
            at: When each page was polled (µs).
            changed: Whether the poll found a change.
            modified_at: The trusted instant of the last change (µs), `NEVER_SEEN` if there is none.
            interrupted: Whether the time before was no interval.
            changes: How many changes there were, nan if unknown; None for all.
        """
        ...

    def fit(self, known: Any, now: Instant) -> Any | None:
        """Return the knowledge after comparing all pages with each other again, None while that is
        not due.
        """
        ...

    def arrange(self, known: Any, rows: Rows, hosts: Ids) -> Any:
        """Return the knowledge of other pages: those at `rows` of the old ones, −1 for a new
        one.
        """
        ...

    def remember(self, known: Any, row: int) -> dict[str, Any]:
        """Return the knowledge of one page, as plain JSON."""
        ...

    def recall(self, known: Any, rows: Rows, memories: Sequence[Mapping[str, Any]]) -> Any:
        """Return the knowledge with restored pages, a memory each."""
        ...


@runtime_checkable
class KnowsHours(Protocol):
    """A learner that also learns when in the week pages change (`estimation.hourly`)."""

    def profiles(self, known: Any) -> tuple[Floats, Ids]:
        """Return the profiles, 168 hourly weights each, and the profile of each page, −1 for
        none.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class LearnedState:
    """The policy's own state, the learner's knowledge of the same pages, and how often it has
    compared all of them with each other.
    """

    inner: State
    known: Any
    compared: int = 0

    @property
    def population(self) -> Population:
        """Return the pages."""
        return self.inner.population


@dataclass(frozen=True, slots=True)
class Learned:
    """`policy`, with the column `rate` maintained by `learner`."""

    policy: Policy[Any]
    learner: Learner

    @property
    def reads(self) -> frozenset[str]:
        """Return the columns that the policy reads, without rates, which are learned."""
        return self.policy.reads - {RATE}

    def begin(self, population: Population, rng: np.random.Generator) -> LearnedState:
        """Return the first state, in which every page has the rate of an unknown one."""
        known = self.learner.begin(population["host"])
        rated = population.set(np.arange(population.size), {RATE: self.learner.rates(known)})
        return LearnedState(self.policy.begin(rated, rng), known)

    def advance(self, state: LearnedState, dt: Duration) -> LearnedState:
        """Return the state a duration later."""
        return replace(state, inner=self.policy.advance(state.inner, dt))

    def bid(self, state: LearnedState, now: Instant, price: float, *, rows: Rows | None = None) -> Floats:
        """Return the policy's bids."""
        return self.policy.bid(state.inner, now, price, rows=rows)

    def on_update(self, state: LearnedState, ids: ArrayLike, columns: Columns) -> LearnedState:
        """Return the state with other pages or values; a new page is assumed to be like others of
        its host.
        """
        before = state.population
        inner = self.policy.on_update(
            state.inner, ids, {name: value for name, value in columns.items() if name != RATE}
        )
        after: Population = inner.population
        if after.ids is before.ids:
            return replace(state, inner=inner)
        rows = np.full(after.size, -1, dtype=np.intp)
        places, here = before.present(after.ids)
        rows[here] = places
        known = self.learner.arrange(state.known, rows, after["host"])
        new = np.flatnonzero(rows < 0)
        return replace(state, inner=self._add_profiles(self._rate(inner, known, new), known), known=known)

    def on_poll(self, state: LearnedState, ids: ArrayLike, observation: Observation) -> LearnedState:
        """Return the state after polls, with the learned rates; now and then also of all other
        pages (`has_compared`).
        """
        rows, here = state.population.present(ids)
        at, changed = observation.at[here], observation.changed[here]
        dated = observation.modified_at
        modified = np.full(len(rows), UNPOLLED) if dated is None else dated[here]
        broken = observation.interrupted
        interrupted = np.zeros(len(rows), dtype=np.bool_) if broken is None else broken[here]
        counted = None if observation.changes is None else observation.changes[here]
        known = self.learner.observe(state.known, rows, at, changed, modified, interrupted, counted)
        inner = self.policy.on_poll(state.inner, ids, observation)
        is_compared = self._has_other_hours(state.known, known)
        if (fitted := self.learner.fit(known, int(at.max(initial=0)))) is not None:
            known, rows, is_compared = fitted, np.arange(inner.population.size), True
        return LearnedState(
            self._add_profiles(self._rate(inner, known, rows), known), known, state.compared + is_compared
        )

    def on_signal(self, state: LearnedState, ids: ArrayLike, signal: Signal) -> LearnedState:
        """Return the policy's state after a hint."""
        return replace(state, inner=self.policy.on_signal(state.inner, ids, signal))

    def next_due(self, state: LearnedState, ids: ArrayLike, now: Instant, price: float) -> Instants:
        """Return the policy's dues."""
        return self.policy.next_due(state.inner, ids, now, price)

    def remember(self, state: LearnedState, page: int) -> dict[str, Any]:
        """Return the learner's and the policy's knowledge of a page. Raises KeyError."""
        row = int(state.population.rows([page])[0])
        own = self.policy.remember(state.inner, page) if isinstance(self.policy, Remembers) else {}
        return {**own, RATE: self.learner.remember(state.known, row)}

    def recall(self, state: LearnedState, memories: Mapping[int, Mapping[str, Any]]) -> LearnedState:
        """Return the state with restored pages."""
        inner, known = state.inner, state.known
        if isinstance(self.policy, Remembers):
            inner = self.policy.recall(inner, memories)
        rated = {page: memory[RATE] for page, memory in memories.items() if isinstance(memory.get(RATE), Mapping)}
        rows, here = state.population.present(list(rated))
        known = self.learner.recall(known, rows, list(compress(rated.values(), here)))
        return replace(state, inner=self._rate(inner, known, rows), known=known)

    def chances(self, state: LearnedState, ids: ArrayLike, days: Floats) -> Floats:
        """Return the probability that each page changes within so many days. Its rate is not
        assumed to be high, as it is for bids.
        """
        return self.learner.chances(state.known, state.population.rows(ids), days)

    def market(self, state: LearnedState, budget: float, *, open_share: Floats | float = 1.0) -> Market:
        """Return the policy's price and the resulting spend, 0 if it has none."""
        if not isinstance(self.policy, Prices):
            return Market(0.0, 0.0, 0.0)
        return self.policy.market(state.inner, budget, open_share=open_share)

    def price(self, state: LearnedState, budget: float) -> float:
        """Return only the price."""
        return self.market(state, budget).price

    def on_hosts(self, state: LearnedState, gaps: Mapping[int, Duration]) -> LearnedState:
        """Return the state with the limits of hosts, if the policy uses them."""
        return (
            replace(state, inner=self.policy.on_hosts(state.inner, gaps))
            if isinstance(self.policy, HeedsHosts)
            else state
        )

    def stretch(self, factor: float) -> Learned:
        """Return the policy under which pages may wait `factor` times as long."""
        return replace(self, policy=self.policy.stretch(factor)) if isinstance(self.policy, Prices) else self

    def _add_profiles(self, inner: State, known: Any) -> State:
        """Return the policy's state with the learned profiles, if it uses any."""
        if not (isinstance(self.policy, HeedsHours) and isinstance(self.learner, KnowsHours)):
            return inner
        timed: State = self.policy.on_hours(inner, *self.learner.profiles(known))
        return timed

    def _has_other_hours(self, before: Any, after: Any) -> bool:
        return isinstance(self.learner, KnowsHours) and (
            self.learner.profiles(before)[0] is not self.learner.profiles(after)[0]
        )

    def _rate(self, inner: State, known: Any, rows: Rows) -> State:
        if not len(rows):
            return inner
        ids = inner.population.ids[rows]
        updated: State = self.policy.on_update(inner, ids, {RATE: self.learner.rates(known, rows)})
        return updated


def has_compared(before: State, after: State) -> bool:
    """Return whether polls have changed the knowledge of pages that were not polled: then all dues
    may differ.
    """
    return isinstance(before, LearnedState) and isinstance(after, LearnedState) and before.compared != after.compared

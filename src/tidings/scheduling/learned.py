"""A policy that is told rates, beside what learns them from the same polls (contracts §5: estimates come to policies as columns).

The learner comes from outside: this room knows arrays, not statistics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from tidings.model.interval import Duration, Instant
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
from tidings.scheduling.timetable.expected import RATE


class Learner(Protocol):
    """Learns of each page, in the order of a population, how often it changes (`estimation.learner`)."""

    def begin(self, hosts: Ids) -> Any:
        """Return what is known of pages that nobody polled."""
        ...

    def rates(self, known: Any, rows: Rows | slice = ...) -> Floats:
        """Return the rate that each page is taken to have, changes a day; of all unless `rows` are named."""
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
        """Return what is known after polls.

        Args:
            known: What was known.
            rows: Places in the population, each once.
            at: When each page was polled (µs).
            changed: Whether the poll found a change.
            modified_at: The trusted instant of the last change (µs), `NEVER_SEEN` where there is none.
            interrupted: Whether the time before was no interval.
            changes: How many changes there were, nan where nobody knows; None for all.
        """
        ...

    def fit(self, known: Any, now: Instant) -> Any | None:
        """Return what is known of all pages once they were compared with each other again, None while that is not due."""
        ...

    def arrange(self, known: Any, rows: Rows, hosts: Ids) -> Any:
        """Return what is known of other pages: those at `rows` of the old ones, −1 for a new one."""
        ...

    def remember(self, known: Any, row: int) -> dict[str, Any]:
        """Return what is known of one page, as plain JSON."""
        ...

    def recall(self, known: Any, rows: Rows, memories: Sequence[Mapping[str, Any]]) -> Any:
        """Return what is known with pages that are remembered, a memory each."""
        ...


@runtime_checkable
class KnowsHours(Protocol):
    """A learner that also learns when in the week pages change (`estimation.hourly`)."""

    def profiles(self, known: Any) -> tuple[Floats, Ids]:
        """Return profiles, 168 weights of an hour each, and which of them each page has, −1 for none."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class LearnedState:
    """The policy's own state, what the learner knows of the same pages, and how often it has compared all of them with each other."""

    inner: State
    known: Any
    compared: int = 0

    @property
    def population(self) -> Population:
        """Return the pages."""
        return self.inner.population


@dataclass(frozen=True, slots=True)
class Learned:
    """`policy`, with the column `rate` kept by `learner`."""

    policy: Policy[Any]
    learner: Learner

    @property
    def reads(self) -> frozenset[str]:
        """Return what the policy reads; rates are learned, nobody sets them."""
        return self.policy.reads - {RATE}

    def begin(self, population: Population, rng: np.random.Generator) -> LearnedState:
        """Return the first state, in which every page has the rate of one that nobody knows."""
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
        """Return the state with other pages or values; new pages are taken for others of their host."""
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
        """Return the state after polls, with the rates that they taught; now and then also of all other pages (`has_compared`)."""
        rows, here = state.population.present(ids)
        at, changed = observation.at[here], observation.changed[here]
        told = observation.modified_at
        modified = np.full(len(rows), UNPOLLED) if told is None else told[here]
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
        """Return what learner and policy know of a page. Raises KeyError."""
        row = int(state.population.rows([page])[0])
        own = self.policy.remember(state.inner, page) if isinstance(self.policy, Remembers) else {}
        return {**own, RATE: self.learner.remember(state.known, row)}

    def recall(self, state: LearnedState, memories: Mapping[int, Mapping[str, Any]]) -> LearnedState:
        """Return the state in which pages are known again."""
        inner, known = state.inner, state.known
        if isinstance(self.policy, Remembers):
            inner = self.policy.recall(inner, memories)
        told = {page: memory[RATE] for page, memory in memories.items() if isinstance(memory.get(RATE), Mapping)}
        rows, here = state.population.present(list(told))
        known = self.learner.recall(known, rows, list(compress(told.values(), here)))
        return replace(state, inner=self._rate(inner, known, rows), known=known)

    def market(self, state: LearnedState, budget: float, *, open_share: Floats | float = 1.0) -> Market:
        """Return the policy's price and what it leads to, 0 if it has none."""
        if not isinstance(self.policy, Prices):
            return Market(0.0, 0.0, 0.0)
        return self.policy.market(state.inner, budget, open_share=open_share)

    def price(self, state: LearnedState, budget: float) -> float:
        """Return that price alone."""
        return self.market(state, budget).price

    def on_hosts(self, state: LearnedState, gaps: Mapping[int, Duration]) -> LearnedState:
        """Return the state in which the policy knows how much hosts take, if it heeds that."""
        return (
            replace(state, inner=self.policy.on_hosts(state.inner, gaps))
            if isinstance(self.policy, HeedsHosts)
            else state
        )

    def stretch(self, factor: float) -> Learned:
        """Return the policy under which pages may wait so many times as long."""
        return replace(self, policy=self.policy.stretch(factor)) if isinstance(self.policy, Prices) else self

    def _add_profiles(self, inner: State, known: Any) -> State:
        """Return the policy's state with the profiles that were learned, if it heeds any."""
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
    """Return whether polls have taught something of pages that nobody polled: then dues of all may be others."""
    return isinstance(before, LearnedState) and isinstance(after, LearnedState) and before.compared != after.compared

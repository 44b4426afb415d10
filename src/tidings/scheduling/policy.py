"""The contract of all policies: read the whole population, bid for each page, learn from polls
(contracts §5).

A policy is an immutable value without state of its own; its knowledge is in the state that each
call takes and returns: arrays in the order of the population, as fields of a frozen dataclass.
Inputs are never changed. The same object serves the live planner, the simulator and the laboratory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from tidings.model.interval import Duration, Instant
from tidings.record import dataclass, replace
from tidings.scheduling.population import (
    NEVER,
    PRESENT,
    UNPOLLED,
    Column,
    Columns,
    Floats,
    Ids,
    Instants,
    LifeKind,
    Mask,
    Population,
    Rows,
    UrgencyKind,
)

__all__ = [
    "NEVER",
    "PRESENT",
    "UNPOLLED",
    "Column",
    "Columns",
    "Floats",
    "HeedsHosts",
    "HeedsHours",
    "Ids",
    "Instants",
    "LifeKind",
    "Market",
    "Mask",
    "Observation",
    "Policy",
    "Population",
    "Prices",
    "Remembers",
    "Rows",
    "Signal",
    "State",
    "UrgencyKind",
]


@dataclass(frozen=True, slots=True)
class Observation:
    """The results of successful polls, one value per poll: `at` the instant (µs), `changed` whether
    the masked text differs.

    Failures and quarantine are no observation (contracts §5); pass them by `on_update` of
    `not_before`. `modified_at` is the trusted instant of the last change, `UNPOLLED` if there is
    none; None: none is known. `interrupted` is True if the page could not be polled for some of the
    time since the last poll, because the service did not run or the page failed: such time is no
    interval of the page. None: never. `changes` is the expected number of changes since the last
    poll, if hints say more than whether there were any; nan: unknown. None: none is known.
    """

    at: Instants
    changed: Mask
    modified_at: Instants | None = None
    interrupted: Mask | None = None
    changes: Floats | None = None

    @classmethod
    def of(
        cls,
        at: ArrayLike,
        changed: ArrayLike,
        modified_at: ArrayLike | None = None,
        interrupted: ArrayLike | None = None,
        changes: ArrayLike | None = None,
    ) -> Observation:
        """Return an observation from anything that numpy makes an array of.

        Args:
            at: When each page was polled (µs).
            changed: Whether the poll found a change.
            modified_at: The trusted instant of the last change (µs).
            interrupted: Whether the time before was no interval.
            changes: How many changes there were.
        """
        return cls(
            np.atleast_1d(np.asarray(at, dtype=np.int64)),
            np.atleast_1d(np.asarray(changed, dtype=np.bool_)),
            None if modified_at is None else np.atleast_1d(np.asarray(modified_at, dtype=np.int64)),
            None if interrupted is None else np.atleast_1d(np.asarray(interrupted, dtype=np.bool_)),
            None if changes is None else np.atleast_1d(np.asarray(changes, dtype=np.float64)),
        )


@dataclass(frozen=True, slots=True)
class Signal:
    """External hints that pages may have changed, of a `kind` (websub, sitemap, api): `age` is by
    how much they make each page older (µs).

    `estimation.evidence` computes it from the trust in the source: a hint is weighed, never obeyed.
    """

    kind: str
    age: Instants


class State(Protocol):
    """The knowledge of a policy: at least the population."""

    @property
    def population(self) -> Population:
        """Return the pages; every array that the policy returns follows their order."""
        ...


S = TypeVar("S", bound=State)
S_contra = TypeVar("S_contra", bound=State, contravariant=True)


class Policy(Protocol[S]):
    """A way to choose pages. Every method is pure and returns a new state; ties go to the lower
    place in the population.
    """

    @property
    def reads(self) -> frozenset[str]:
        """Return the columns of the population that bids and dues depend on: no other column
        changes any of them.

        With them the service can warn about clauses without effect under this policy.
        """
        ...

    def begin(self, population: Population, rng: np.random.Generator) -> S:
        """Return the first state; all randomness that the policy will ever use comes from `rng`."""
        ...

    def advance(self, state: S, dt: Duration) -> S:
        """Return the state a duration (µs, 0 or more) later, without polls or updates."""
        ...

    def bid(self, state: S, now: Instant, price: float, *, rows: Rows | None = None) -> Floats:
        """Return the value of polling each page now per unit of its cost; 0 or less: not at this
        price.

        The result is as long as `rows`.

        Args:
            state: The policy's state.
            now: The present (µs).
            price: The price per unit of cost, 0 for the floor.
            rows: Places in the population; None for all.
        """
        ...

    def on_update(self, state: S, ids: ArrayLike, columns: Columns) -> S:
        """Return the state with other values for the pages `ids`; unknown pages are added,
        `present` False removes them.
        """
        ...

    def on_poll(self, state: S, ids: ArrayLike, observation: Observation) -> S:
        """Return the state after successful polls of `ids`, each page once; pages that have left
        are skipped.

        `last_polled` of the population follows.
        """
        ...

    def on_signal(self, state: S, ids: ArrayLike, signal: Signal) -> S:
        """Return the state after a hint about `ids`."""
        ...

    def next_due(self, state: S, ids: ArrayLike, now: Instant, price: float) -> Instants:
        """Return for each of `ids` the first instant from `now` on at which its bid must be asked
        again if nothing happens.

        `now` if it bids already, `NEVER` if it never will. Before that instant the bid is 0 or
        less.

        Args:
            state: The policy's state.
            ids: The pages.
            now: The present (µs).
            price: The price per unit of cost, 0 for the floor.
        """
        ...


def _spend_nothing(price: float) -> float:  # noqa: ARG001 - there are no pages
    return 0.0


@dataclass(frozen=True, slots=True)
class Market:
    """The `price` of a poll per unit of cost, the resulting `spend` per µs, and the `floor` of
    prices.

    `load` is the part of the budget that the pages cost if all wait their longest: above 1 no price
    is high enough. `wished` is their spend at the floor price. `spends` returns their spend at any
    price, and is known only where the price is found by it.
    """

    price: float
    spend: float
    floor: float
    load: float = 0.0
    wished: float = 0.0
    spends: Callable[[float], float] = field(default=_spend_nothing, compare=False)

    @property
    def binds(self) -> bool:
        """Return whether the budget sets the price, not the floor."""
        return self.price > self.floor


@runtime_checkable
class Prices(Protocol[S_contra]):
    """The optional interface of a policy that bids against a price: the price of a poll under a
    budget.
    """

    def market(self, state: S_contra, budget: float, *, open_share: Floats | float = 1.0) -> Market:
        """Return the price at which the pages cost `budget` per µs (bid §2).

        `open_share` is the part of the time in which each page may be polled.
        """
        ...

    def stretch(self, factor: float) -> Policy[Any]:
        """Return the policy under which pages may wait `factor` times as long, for a budget that is
        otherwise too small.
        """
        ...


@runtime_checkable
class HeedsHours(Protocol[S]):
    """The optional interface of a policy that plans over the hours of the week."""

    def on_hours(self, state: S, weights: Floats, which: Ids) -> S:
        """Return the state with other profiles: 168 weights of mean 1 per row, from Thursday 00:00
        UTC on; `which` is the profile of each page, −1 for none.
        """
        ...


@runtime_checkable
class HeedsHosts(Protocol[S]):
    """The optional interface of a policy that uses the limits of hosts. The dues of all pages may
    change.
    """

    def on_hosts(self, state: S, gaps: Mapping[int, Duration]) -> S:
        """Return the state with the least time between two polls of a host (µs, 0: no limit), by
        its number; hosts left out have no limit.
        """
        ...


@runtime_checkable
class Remembers(Protocol[S]):
    """The optional interface of a policy whose knowledge of pages is stored across a restart
    (`estimate` rows).

    Test for it with `isinstance(policy, Remembers)`. A memory is plain JSON and does not depend on
    the order of pages.
    """

    def remember(self, state: S, page: int) -> dict[str, Any]:
        """Return the knowledge of a page. Raise `KeyError` for an unknown page."""
        ...

    def recall(self, state: S, memories: Mapping[int, Mapping[str, Any]]) -> S:
        """Return the state with the knowledge that `remember` returned, by page.

        Unknown pages are skipped, and so are unreadable memories: their pages learn anew.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class PageArrays:
    """The pages; subclasses add arrays."""

    population: Population


B = TypeVar("B", bound=PageArrays)


def freeze(state: B) -> B:
    """Return the state with read-only arrays."""
    for name in _arrays(state):
        getattr(state, name).setflags(write=False)
    return state


def carry_over(before: B, fresh: B) -> B:
    """Return `fresh`, a state of unknown pages, with the values of `before` for pages that stay."""
    places, here = before.population.present(fresh.population.ids)
    columns = {}
    for name in _arrays(fresh):
        column = getattr(fresh, name).copy()
        column[here] = getattr(before, name)[places]
        columns[name] = column
    return freeze(replace(fresh, **columns))


def recall(
    state: B,
    memories: Mapping[int, Mapping[str, Any]],
    names: Sequence[str],
    is_readable: Callable[[Mapping[str, Any]], bool],
) -> B:
    """Return the state with the remembered values of pages; unknown pages and unreadable memories
    are skipped.

    Args:
        state: The policy's state.
        memories: The remembered values of each page.
        names: The names of the arrays.
        is_readable: Whether a memory is valid.
    """
    readable = {page: memory for page, memory in memories.items() if is_readable(memory)}
    rows, here = state.population.present(np.fromiter(readable, dtype=np.int64, count=len(readable)))
    known = [memory for memory, is_here in zip(readable.values(), here.tolist(), strict=True) if is_here]
    columns = {}
    for name in names:
        column = getattr(state, name).copy()
        column[rows] = [memory[name] for memory in known]
        columns[name] = column
    return freeze(replace(state, **columns))


def widen(kind: type[B], state: PageArrays, **more: Any) -> B:
    """Return a state of another kind, with the fields of `state` and more."""
    names = {each.name for each in fields(kind)} - more.keys()
    return kind(**{name: getattr(state, name) for name in names}, **more)


def _arrays(state: PageArrays) -> list[str]:
    return [each.name for each in fields(state) if isinstance(getattr(state, each.name), np.ndarray)]

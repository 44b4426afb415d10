"""The contract of all policies: see the whole population, bid for each page, learn from polls (contracts §5).

A policy is a frozen value without state of its own; what it knows is in the state that each call takes and returns.
The inputs are never changed. The same object serves the live planner, the simulator and the laboratory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from tidings.model.interval import Duration, Instant
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
    """What successful polls showed, one value a poll: `at` the instant (µs), `changed` whether the masked text differs.

    Failures and quarantine are no observation (contracts §5); tell them by `on_update` of `not_before`.
    `modified_at` is the trusted instant of the last change, `UNPOLLED` where there is none; None: nobody knows any.
    `interrupted` is True where nobody could look for some of the time since the last poll, because the service did not run
    or the page failed: such time is not an interval of the page's. None: nowhere.
    `changes` is how many changes are to be expected since the last poll, where hints say more of that than whether there were any; nan:
    nobody knows. None: nowhere.
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
    """Hints from outside that pages may have changed, of a `kind` (websub, sitemap, api): `age` is by how much they make each page older (µs).

    Who knows what the source is worth says so (`estimation.evidence`): a hint is weighed, never obeyed.
    """

    kind: str
    age: Instants


class State(Protocol):
    """What a policy knows: at least the population."""

    @property
    def population(self) -> Population:
        """Return the pages; every array that the policy returns follows their order."""
        ...


S = TypeVar("S", bound=State)
S_contra = TypeVar("S_contra", bound=State, contravariant=True)


class Policy(Protocol[S]):
    """A way to choose. Every method is pure and returns a new state; ties go to the lower place in the population."""

    @property
    def reads(self) -> frozenset[str]:
        """Return the columns of the population that bids and dues depend on: no other column changes any of them.

        So the service can tell users which clauses of theirs have no effect under this policy.
        """
        ...

    def begin(self, population: Population, rng: np.random.Generator) -> S:
        """Return the first state; all randomness that the policy will ever use comes from `rng`."""
        ...

    def advance(self, state: S, dt: Duration) -> S:
        """Return the state a duration (µs, 0 or more) later, when nothing was polled or told."""
        ...

    def bid(self, state: S, now: Instant, price: float, *, rows: Rows | None = None) -> Floats:
        """Return the value of polling each page now per unit of its cost; 0 or less: not at this price.

        `rows` asks for some pages only; the answer is then as long as `rows`.

        Args:
            state: What the policy knows.
            now: The present (µs).
            price: The price per unit of cost, 0 for the floor.
            rows: Places in the population; None for all.
        """
        ...

    def on_update(self, state: S, ids: ArrayLike, columns: Columns) -> S:
        """Return the state with other values for the pages `ids`; unknown pages come in, `present` False takes them out."""
        ...

    def on_poll(self, state: S, ids: ArrayLike, observation: Observation) -> S:
        """Return the state after successful polls of `ids`, each page once; pages that have left meanwhile are passed over.

        `last_polled` of the population follows.
        """
        ...

    def on_signal(self, state: S, ids: ArrayLike, signal: Signal) -> S:
        """Return the state after a hint about `ids`."""
        ...

    def next_due(self, state: S, ids: ArrayLike, now: Instant, price: float) -> Instants:
        """Return for each of `ids` the first instant from `now` on at which its bid must be polled again if nothing happens.

        `now` itself where it bids already, `NEVER` where it never will. Before that instant the bid is 0 or less.

        Args:
            state: What the policy knows.
            ids: The pages.
            now: The present (µs).
            price: The price per unit of cost, 0 for the floor.
        """
        ...


@dataclass(frozen=True, slots=True)
class Market:
    """The `price` of a poll per unit of cost, the `spend` per µs that it leads to, and the `floor` below which no price falls.

    `load` is the part of the budget that they cost if all wait their longest: above 1 no price is high enough. `wished` is what they would
    spend at the floor.
    """

    price: float
    spend: float
    floor: float
    load: float = 0.0
    wished: float = 0.0

    @property
    def binds(self) -> bool:
        """Say whether the budget makes the price, not the floor."""
        return self.price > self.floor


@runtime_checkable
class Prices(Protocol[S_contra]):
    """What a policy can do beside that bids against a price: say what the price of a poll is under a budget."""

    def market(self, state: S_contra, budget: float, *, open_share: Floats | float = 1.0) -> Market:
        """Return the price at which the pages cost `budget` per µs (bid §2).

        `open_share` is the part of the time in which each page may be asked.
        """
        ...

    def stretch(self, factor: float) -> Policy[Any]:
        """Return the policy under which pages may wait so many times as long as it lets them, for a budget that cannot keep that."""
        ...


@runtime_checkable
class HeedsHours(Protocol[S]):
    """What a policy can do beside that plans over the hours of the week."""

    def on_hours(self, state: S, weights: Floats, which: Ids) -> S:
        """Return the state with other profiles: 168 weights of mean 1 a row, from Thursday 00:00 UTC on; `which` is that of each page, −1 for none."""
        ...


@runtime_checkable
class HeedsHosts(Protocol[S]):
    """What a policy can do beside that knows how much hosts take. Dues may be others afterwards, of all pages."""

    def on_hosts(self, state: S, gaps: Mapping[int, Duration]) -> S:
        """Return the state with the least time between two polls of a host (µs, 0: any), by its number; who is left out takes any."""
        ...


@runtime_checkable
class Remembers(Protocol[S]):
    """What a policy can do beside that learns of each page something worth keeping over a restart (`estimate` rows).

    `isinstance(policy, Remembers)` says whether it does. What it tells is plain JSON and never needs the order of pages.
    """

    def remember(self, state: S, page: int) -> dict[str, Any]:
        """Return what was learned of a page. Raises `KeyError` for a page that is not here."""
        ...

    def recall(self, state: S, memories: Mapping[int, Mapping[str, Any]]) -> S:
        """Return the state in which pages know again what `remember` told of them, by page.

        Pages that are not here are passed over, and so is a memory that cannot be read: its page learns anew.
        """
        ...

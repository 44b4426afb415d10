"""`lambda_crawl_polite`: LambdaCrawl where hosts take only so many polls (Kolobov et al., SIGIR 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tidings.lab.policies.index_and_rates import STALENESS, LambdaCrawl
from tidings.lab.refresh.rates import host_prices
from tidings.model.interval import Duration
from tidings.record import dataclass, replace
from tidings.scheduling.beside import widen
from tidings.scheduling.effective import HINTS
from tidings.scheduling.policy import Columns, Floats, Observation, Population, Rows
from tidings.scheduling.price.policy import Price, PriceState
from tidings.scheduling.price.value import Values, values


@dataclass(frozen=True, slots=True, eq=False)
class PoliteState(PriceState):
    """What `price` knows, and at what price each page's host is just full (0: never)."""

    full: Floats


@dataclass(frozen=True, slots=True)
class PoliteLambdaCrawl(LambdaCrawl):
    """One price for all, and a surcharge for each host that is full: its polls go to the pages that need them most, what it leaves over to other hosts.

    Before it hears of hosts it is `LambdaCrawl`. A surcharge stands until hosts are spoken of again; a page that comes
    in meanwhile has that of its host.
    """

    reads: ClassVar[frozenset[str]] = STALENESS | HINTS | {"host"}

    def worth(self, state: PriceState, price: float, rows: Rows | slice) -> Values:
        """Return what polls cost: more where the host's price is above that of all."""
        plain = values(state.population, rows)
        return replace(plain, cost=plain.cost * np.maximum(_own(state).full[rows] / price, 1.0))

    def begin(self, population: Population, rng: np.random.Generator) -> PoliteState:
        """Return the state in which hosts take any number of polls."""
        return _price(Price.begin(self, population, rng), np.zeros(population.size))

    def on_hosts(self, state: PriceState, gaps: Mapping[int, Duration]) -> PoliteState:
        """Return the state with the surcharges that these gaps (µs) ask for."""
        population = state.population
        names, hosts = np.unique(population["host"], return_inverse=True)
        told = [gaps.get(name, 0) for name in names.tolist()]
        limits = np.array([1 / gap if gap > 0 else np.inf for gap in told])
        worth = values(population)
        return _price(state, host_prices(worth.rate, worth.importance, hosts, limits, worth.cost)[hosts])

    def on_update(self, state: PriceState, ids: ArrayLike, columns: Columns) -> PoliteState:
        """Return the state with other pages or values."""
        before = _own(state)
        after = Price.on_update(self, state, ids, columns)
        if after.population.ids is state.population.ids:
            return _price(after, before.full)
        names, first = np.unique(state.population["host"], return_index=True)
        full = np.zeros(after.population.size)
        if names.size:
            places = np.minimum(np.searchsorted(names, after.population["host"]), names.size - 1)
            full = np.where(names[places] == after.population["host"], before.full[first[places]], 0.0)
        return _price(after, full)

    def on_poll(self, state: PriceState, ids: ArrayLike, observation: Observation) -> PoliteState:
        """Return the state after polls."""
        return _price(Price.on_poll(self, state, ids, observation), _own(state).full)


def _own(state: PriceState) -> PoliteState:
    if not isinstance(state, PoliteState):
        message = f"lambda_crawl_polite needs a state of its own, not {type(state).__name__}"
        raise TypeError(message)
    return state


def _price(state: PriceState, full: Floats) -> PoliteState:
    full.setflags(write=False)
    return widen(PoliteState, state, full=full)

"""Other policies for freshness: at memoryless instants, by whole numbers of polls in a cycle, and
`lambda_crawl_polite`: LambdaCrawl with limited polls per host (Kolobov et al., SIGIR 2019).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidings.lab.refresh import divergence, ebr_polls, fresh_wait, harmonic, host_prices, memoryless, staleness
from tidings.model.interval import DAY, Duration
from tidings.record import dataclass, replace
from tidings.scheduling.index import HINTS, wait
from tidings.scheduling.index import worth as index
from tidings.scheduling.paced.turns import TURNS, phases, wait_in_phase
from tidings.scheduling.policy import Observation, recall, widen
from tidings.scheduling.population import UNPOLLED, Columns, Floats, Instants, Population, Rows
from tidings.scheduling.price.policy import Price, PriceState
from tidings.scheduling.price.value import NOTHING, Values, values
from tidings.scheduling.price.wic import Other

STALENESS: Final = TURNS | {"cost", "importance", "rate"}
"""The columns of policies that ask only whether the last seen version is current: urgency is
ignored.
"""


@dataclass(frozen=True, slots=True)
class Index(Other):
    """The bare index G − t·G′ of `Price`, without its guard of urgent rare pages, plus a share of
    the backlog.

    A change that keeps its worth can be delayed at no cost, and its index hardly grows: the share ε
    of G gives each poll some value, growing with the delay, and `longest` ends every wait (bid §4,
    guard 1).
    """

    spares_rare: ClassVar[bool] = False
    share: float = 0.05

    def waits(self, worth: Values, price: float) -> Floats:
        """Return when the index plus ε·G is c·price: 1 + ε − e^−x(1 + ε + x) = y is a wait from ε
        on.
        """
        kappa = worth.decay + worth.overwritten
        worthless = worth.cost * price * kappa / np.maximum(worth.inflow, NOTHING)
        x = wait(np.maximum(1 - (1 + self.share - worthless) * math.exp(-self.share), 0.0)) - self.share
        return np.where(worthless < 1 + self.share, np.maximum(x, 0.0) / kappa, np.inf)

    def gather(self, worth: Values, age: Floats, price: float) -> Floats:  # noqa: ARG002 - independent of the price
        """Return the index and ε·G, per unit of cost."""
        kappa = worth.decay + worth.overwritten
        x = kappa * np.maximum(age, 0.0)
        return np.asarray(worth.inflow / (kappa * worth.cost) * (index(x) - self.share * np.expm1(-x)))


@dataclass(frozen=True, slots=True)
class LambdaCrawl(Other):
    """Rates of least harmonic penalty: no page is abandoned (Kolobov et al., NeurIPS 2019)."""

    reads: ClassVar[frozenset[str]] = STALENESS | HINTS

    def waits(self, worth: Values, price: float) -> Floats:
        """Return 1/ρ."""
        return 1 / np.maximum(harmonic(worth.rate, worth.importance, worth.cost * price), 1e-300)

    def gather(self, worth: Values, age: Floats, price: float) -> Floats:
        """Return the lateness of a page, in waits, at this price."""
        return np.asarray(price * np.maximum(age, 0.0) / self.waits(worth, price))


@dataclass(frozen=True, slots=True)
class Sbr(Other):
    """Most freshness at fixed intervals; pages that change too quickly wait their longest (002 §5,
    SBR; Cho and Garcia-Molina 2000).
    """

    reads: ClassVar[frozenset[str]] = STALENESS | HINTS

    def waits(self, worth: Values, price: float) -> Floats:
        """Return the interval at which one more poll is worth its price."""
        return fresh_wait(worth.rate, worth.importance, worth.cost * price)

    def gather(self, worth: Values, age: Floats, price: float) -> Floats:  # noqa: ARG002 - independent of the price
        """Return Olston and Pandey's divergence at an age, per unit of cost."""
        rate = np.maximum(worth.rate, 1e-300)
        return np.asarray(worth.importance * divergence(rate, np.maximum(age, 0.0)) / worth.cost)


PACES: Final = 24
"""The length of an EBR cycle in paces, at least a day."""


@dataclass(frozen=True, slots=True)
class Azar(Other):
    """Most freshness with memoryless polls; pages that change too quickly wait their longest (Azar
    et al., PNAS 2018).

    The rates are those of the paper; the instants are evenly spaced instead of random.
    """

    reads: ClassVar[frozenset[str]] = STALENESS | HINTS

    def waits(self, worth: Values, price: float) -> Floats:
        """Return 1/ρ."""
        rates = memoryless(worth.rate, worth.importance, worth.cost * price)
        with np.errstate(divide="ignore"):
            return np.asarray(1 / rates)

    def gather(self, worth: Values, age: Floats, price: float) -> Floats:
        """Return the lateness of a page, in waits, at this price."""
        return np.asarray(price * np.maximum(age, 0.0) / self.waits(worth, price))


@dataclass(frozen=True, slots=True)
class Ebr(Price):
    """The least embarrassment: each page gets a whole number of a cycle's polls, evenly spaced (002
    §5, EBR; Wolf et al., WWW 2002).

    The embarrassment of a stale page is its importance. A page's ideal instants are fixed, and
    those of different pages are spread, so that little is left for the transportation step, which
    the allocator does: late polls are served in the order of ideal instants, and delay nothing
    after them.
    """

    reads: ClassVar[frozenset[str]] = STALENESS
    weighs_hints: ClassVar[bool] = False
    follows_index: ClassVar[bool] = False

    @property
    def floor(self) -> float:
        """Return the gain of the last poll of a cycle at the page that defines the pace."""
        return _floor(self._cycle, round(self._cycle / self.pace))

    def waits(self, worth: Values, price: float) -> Floats:
        """Return the cycle over the number of polls in it, inf if that is 0."""
        most = int(self._cycle // self.shortest)
        polls = ebr_polls(worth.rate, worth.importance / worth.cost, price, self._cycle, most)
        with np.errstate(divide="ignore"):
            return np.asarray(self._cycle / polls)

    def gather(self, worth: Values, age: Floats, price: float) -> Floats:
        """Return the lateness of a page, in waits, at this price."""
        return np.asarray(price * np.maximum(age, 0.0) / self.waits(worth, price))

    def gaps(
        self, state: PriceState, price: float, rows: Rows | slice = slice(None), *, worth: Values | None = None
    ) -> Instants:
        """Return how long each page waits after its last poll: until the ideal instant after the
        one that this poll served.

        Args:
            state: The state.
            price: The price of a poll.
            rows: The places of the pages.
            worth: What their changes are worth; computed if None.
        """
        even = Price.gaps(self, state, price, rows, worth=worth)
        population = state.population
        last = population["last_polled"][rows]
        least = population["shortest"][rows]
        most = np.maximum(np.minimum(population["longest"][rows], self.oldest), least)
        ideal = np.clip(wait_in_phase(last, even, phases(population.ids[rows])), least, most)
        return np.where((last == UNPOLLED) | state.saturated[rows], even, ideal)

    @property
    def _cycle(self) -> float:
        return float(max(PACES * self.pace, DAY))


@lru_cache(maxsize=64)
def _floor(cycle: float, polls: int) -> float:
    worth = values(Population({"id": [0], "rate": [1.0]}))
    before, after = (staleness(worth.rate, np.array([float(number)]), cycle) for number in (polls - 1, polls))
    return float((worth.importance * (before - after))[0]) * (1 - 1e-9)


@dataclass(frozen=True, slots=True, eq=False)
class PoliteState(PriceState):
    """The state of `price`, and the price at which each page's host is just full (0: never)."""

    full: Floats


@dataclass(frozen=True, slots=True)
class PoliteLambdaCrawl(LambdaCrawl):
    """One price for all, and a surcharge for each full host: its polls go to the pages that need
    them most, the rest to other hosts.

    Without host limits it is `LambdaCrawl`. A surcharge holds until the next host update; a new
    page has that of its host.
    """

    reads: ClassVar[frozenset[str]] = STALENESS | HINTS | {"host"}

    def worth(self, state: PriceState, price: float, rows: Rows | slice) -> Values:
        """Return the costs of polls: higher where the host's price is above the common one."""
        plain = values(state.population, rows)
        return replace(plain, cost=plain.cost * np.maximum(_own(state).full[rows] / price, 1.0))

    def begin(self, population: Population, rng: np.random.Generator) -> PoliteState:
        """Return the state without limits of hosts."""
        return _price(Price.begin(self, population, rng), np.zeros(population.size))

    def on_hosts(self, state: PriceState, gaps: Mapping[int, Duration]) -> PoliteState:
        """Return the state with the surcharges for these gaps (µs)."""
        population = state.population
        names, hosts = np.unique(population["host"], return_inverse=True)
        known = [gaps.get(name, 0) for name in names.tolist()]
        limits = np.array([1 / gap if gap > 0 else np.inf for gap in known])
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


@dataclass(frozen=True, slots=True, eq=False)
class LongevityState(PriceState):
    """The state of `price`, and how often each page has been polled."""

    polls: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class OlstonPandey(Sbr):
    """The online curve-fitting policy (Olston and Pandey, WWW 2008): poll when U(t) = t·D(t) − ∫D
    reaches the threshold, here the price.

    Divergence is holistic staleness, since polls show that a page changed and not how much; its
    curve is 1 − e^{−λt} with the learned rate, so that in the long run this is `Sbr` (their
    appendix). It adds the learning phase: after n polls a page waits at most n paces, however
    seldom it seems to change.
    """

    def gaps(
        self, state: PriceState, price: float, rows: Rows | slice = slice(None), *, worth: Values | None = None
    ) -> Instants:
        """Return how long each page waits: until the threshold, at most n paces.

        Args:
            state: The state.
            price: The price of a poll.
            rows: The places of the pages.
            worth: What their changes are worth; computed if None.
        """
        wished = Price.gaps(self, state, price, rows, worth=worth)
        polls = np.clip(_counts_of(state).polls[rows], 1, self._known)
        learning: Instants = np.maximum(polls * self.pace, state.population["shortest"][rows])
        return np.minimum(wished, np.maximum(learning, 1))

    @property
    def _known(self) -> int:
        """Return after how many polls a page counts as known."""
        return self.oldest // self.pace + 1

    def begin(self, population: Population, rng: np.random.Generator) -> LongevityState:
        """Return the state in which no page has been polled."""
        return _count_polls(Price.begin(self, population, rng), np.zeros(population.size, dtype=np.int64))

    def on_update(self, state: PriceState, ids: ArrayLike, columns: Columns) -> LongevityState:
        """Return the state with other pages or values."""
        before = _counts_of(state)
        after = Price.on_update(self, state, ids, columns)
        polls = np.zeros(after.population.size, dtype=np.int64)
        places, here = state.population.present(after.population.ids)
        polls[here] = before.polls[places]
        return _count_polls(after, polls)

    def on_poll(self, state: PriceState, ids: ArrayLike, observation: Observation) -> LongevityState:
        """Return the state after polls."""
        polls = _counts_of(state).polls.copy()
        polls[state.population.present(ids)[0]] += 1
        return _count_polls(Price.on_poll(self, state, ids, observation), polls)

    def remember(self, state: PriceState, page: int) -> dict[str, Any]:
        """Return the knowledge of a page. Raises KeyError."""
        row = int(state.population.rows([page])[0])
        return {**Price.remember(self, state, page), "polls": int(_counts_of(state).polls[row])}

    def recall(self, state: PriceState, memories: Mapping[int, Mapping[str, Any]]) -> PriceState:
        """Return the state with restored pages."""
        return recall(Price.recall(self, state, memories), memories, ("polls",), _is_readable)


def _counts_of(state: PriceState) -> LongevityState:
    if not isinstance(state, LongevityState):
        message = f"olston_pandey needs a state of its own, not {type(state).__name__}"
        raise TypeError(message)
    return state


def _count_polls(state: PriceState, polls: NDArray[np.int64]) -> LongevityState:
    polls.setflags(write=False)
    return widen(LongevityState, state, polls=polls)


def _is_readable(memory: Mapping[str, Any]) -> bool:
    polls = memory.get("polls")
    return isinstance(polls, int) and not isinstance(polls, bool) and 0 <= polls < 2**62

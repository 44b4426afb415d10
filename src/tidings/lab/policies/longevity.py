"""`olston_pandey`: poll a page when its divergence reaches a threshold, and often while it is new
(Olston and Pandey, WWW 2008).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidings.lab.policies.index_and_rates import Sbr
from tidings.record import dataclass
from tidings.scheduling.policy import Columns, Instants, Observation, Population, Rows, recall, widen
from tidings.scheduling.price.policy import Price, PriceState
from tidings.scheduling.price.value import Values


@dataclass(frozen=True, slots=True, eq=False)
class LongevityState(PriceState):
    """The state of `price`, and how often each page has been polled."""

    looks: NDArray[np.int64]


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
        """Return how long each page waits: until the threshold, at most n paces."""
        wished = Price.gaps(self, state, price, rows, worth=worth)
        looks = np.clip(_own(state).looks[rows], 1, self._known)
        learning: Instants = np.maximum(looks * self.pace, state.population["shortest"][rows])
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
        before = _own(state)
        after = Price.on_update(self, state, ids, columns)
        looks = np.zeros(after.population.size, dtype=np.int64)
        places, here = state.population.present(after.population.ids)
        looks[here] = before.looks[places]
        return _count_polls(after, looks)

    def on_poll(self, state: PriceState, ids: ArrayLike, observation: Observation) -> LongevityState:
        """Return the state after polls."""
        looks = _own(state).looks.copy()
        looks[state.population.present(ids)[0]] += 1
        return _count_polls(Price.on_poll(self, state, ids, observation), looks)

    def remember(self, state: PriceState, page: int) -> dict[str, Any]:
        """Return the knowledge of a page. Raises KeyError."""
        row = int(state.population.rows([page])[0])
        return {**Price.remember(self, state, page), "looks": int(_own(state).looks[row])}

    def recall(self, state: PriceState, memories: Mapping[int, Mapping[str, Any]]) -> PriceState:
        """Return the state with restored pages."""
        return recall(Price.recall(self, state, memories), memories, ("looks",), _is_readable)


def _own(state: PriceState) -> LongevityState:
    if not isinstance(state, LongevityState):
        message = f"olston_pandey needs a state of its own, not {type(state).__name__}"
        raise TypeError(message)
    return state


def _count_polls(state: PriceState, looks: NDArray[np.int64]) -> LongevityState:
    looks.setflags(write=False)
    return widen(LongevityState, state, looks=looks)


def _is_readable(memory: Mapping[str, Any]) -> bool:
    looks = memory.get("looks")
    return isinstance(looks, int) and not isinstance(looks, bool) and 0 <= looks < 2**62

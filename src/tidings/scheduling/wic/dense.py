"""Exact WIC over millions of pages with numpy alone: two passes to gather, one to find candidates
(scheduling §8).

For pages whose changes are appended or overwritten and whose urgency is uniform or exponential the
recurrence is one product and one sum: G ← q·G + W·π with q = r for appended and r(1 − π) for
overwritten changes. The capacity-th best gain of one instant is close to that of the next, so
candidates are those slightly below it and above; the best are chosen among these, exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tidings.scheduling.population import Rows

LOWERED = 0.97
"""Candidates gain more than this share of the least chosen gain of the previous instant."""


class DenseWic:
    """The gains of all pages in single precision, 4 bytes a page, and the choice of the best
    `capacity`; ties in memory order.

    `kept` (q) and `new` (W·π) are arrays or numbers, given at each step: the probabilities of pages
    may change.
    """

    def __init__(self, pages: int, capacity: int) -> None:
        if not 1 <= capacity <= pages:
            message = f"the capacity must be from 1 to the number of pages, {pages}; it is {capacity}"
            raise ValueError(message)
        self.gains: NDArray[np.float32] = np.zeros(pages, dtype=np.float32)
        self._capacity = capacity
        self._floor = np.float32(0.0)
        self.fallbacks = 0
        """Instants at which the floor was too high and all pages were compared."""

    def step(self, kept: NDArray[np.float32] | np.float32, new: NDArray[np.float32]) -> Rows:
        """Advance by one instant, poll the best pages and return them in no order."""
        gains = self.gains
        np.multiply(gains, kept, out=gains)
        np.add(gains, new, out=gains)
        candidates = np.flatnonzero(gains > self._floor)
        if candidates.size < self._capacity:
            self.fallbacks += 1
            candidates = np.arange(gains.size)
        values = gains[candidates]
        places = np.argpartition(values, candidates.size - self._capacity)[candidates.size - self._capacity :]
        self._floor = np.float32(values[places].min() * LOWERED)
        chosen: Rows = candidates[places]
        gains[chosen] = 0.0
        return chosen

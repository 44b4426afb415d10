"""How utility gathers from one instant to the next, at a constant cost per page (000 §3.1;
scheduling §1.2).

For an urgency r^t Σ c_l C(t, l) and a life of Z changes, the state of a page is M[l, z] = Σ_k
W·π_k·r^(j−k)·C(j−k, l)·P[z changes since k] over the changes k since its last poll, and its utility
Σ c_l M[l, z]. One instant later every change is one older (M_l ← r(M_l + M_{l−1})), the page may
have changed (z ← z + 1 with probability π), and W·π is new. What leaves a window is subtracted.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from tidings.scheduling.population import Floats, Rows
from tidings.scheduling.wic.urgency import PolyExponential, UrgencyTable, WicLife, WicUrgency, few_changes

EXACT_EVERY = 1_000
"""Instants after which sums with windows are recomputed from the stored π: differences drift."""


class Accrual:
    """The utility of pages that share a life and an urgency; all arrays are in the order of the
    pages.

    With a window the last π's are stored, as many as it is long.
    """

    def __init__(self, weights: Floats, life: WicLife, urgency: WicUrgency) -> None:
        self._weights = np.asarray(weights, dtype=np.float64)
        self._life = life
        self._worth = urgency if isinstance(urgency, PolyExponential) else PolyExponential()
        self._table = urgency if isinstance(urgency, UrgencyTable) else None
        if self._table is None and not isinstance(urgency, PolyExponential):
            message = "an urgency gathers by recurrence or is a table; make a `UrgencyTable` of it"
            raise TypeError(message)
        windows = [window for window in (life.window, urgency.window) if window is not None]
        self._window = min(windows) if windows else None
        self._ages = np.zeros(self._weights.size, dtype=np.int64)  # instants since the last poll
        self._instant = 0
        self._recent: deque[Floats] = deque(maxlen=None if self._window is None else self._window + 2)
        self._sums = np.zeros((len(self._worth.coefficients), life.changes or 1, self._weights.size))

    @property
    def gains(self) -> Floats:
        """Return the gain of a poll of each page in this instant."""
        if self._table is not None:
            return self._tabulate(self._table)
        total = np.tensordot(np.asarray(self._worth.coefficients), self._sums.sum(axis=1), axes=1)
        return np.asarray(np.maximum(total, 0.0))

    def step(self, chances: Floats) -> None:
        """Advance by one instant, in which each page changes with its probability."""
        self._instant += 1
        self._ages += 1
        if self._window is not None or self._table is not None:
            self._recent.append(np.array(chances, dtype=np.float64))
        if self._table is not None:
            return
        if self._window is not None and self._instant % EXACT_EVERY == 0:
            self._sums = self._again()
            return
        self._sums = self._older(self._sums, chances)
        self._sums[0, 0] += self._weights * chances
        if self._window is not None:
            self._leave(self._window)

    def poll(self, rows: Rows) -> None:
        """Reset the pages that are polled in this instant."""
        self._sums[:, :, rows] = 0.0
        self._ages[rows] = 0

    def _older(self, sums: Floats, chances: Floats) -> Floats:
        aged = sums.copy()
        aged[1:] += sums[:-1]
        aged *= self._worth.ratio
        if self._life.changes is not None:
            stays = aged * (1 - chances)
            stays[:, 1:] += aged[:, :-1] * chances
            return stays
        return aged

    def _leave(self, window: int) -> None:
        """Subtract the changes that are one instant too old, if the page was last polled before
        them.
        """
        if len(self._recent) < window + 2:
            return
        rows = np.flatnonzero(self._ages > window + 1)
        if not rows.size:
            return
        left = self._weights[rows] * self._recent[0][rows] * self._worth.ratio ** (window + 1)
        since = self._since(1, rows)
        for power in range(len(self._worth.coefficients)):
            self._sums[power][:, rows] -= left * math.comb(window + 1, power) * since

    def _since(self, first: int, rows: Rows) -> Floats:
        """Return the probability of z changes since the stored instant `first`, shape (Z, rows)."""
        if self._life.changes is None:
            return np.ones((1, rows.size))
        later = np.array([chances[rows] for chances in list(self._recent)[first:]])
        return few_changes(later.reshape(-1, rows.size), self._life.changes)

    def _again(self) -> Floats:
        """Return the sums computed from the stored π."""
        recent = list(self._recent)[-(self._window or 0) - 1 :]
        sums = np.zeros_like(self._sums)
        for place, chances in enumerate(recent):
            sums = self._older(sums, chances)
            is_new = self._ages > len(recent) - 1 - place
            sums[0, 0] += np.where(is_new, self._weights * chances, 0.0)
        return sums

    def _tabulate(self, worth: UrgencyTable) -> Floats:
        """Return the gains by the sum over the stored π."""
        rows = np.arange(self._weights.size)
        total = np.zeros(self._weights.size)
        recent = list(self._recent)
        for age in range(min(len(recent), (self._window or 0) + 1)):
            place = len(recent) - 1 - age
            alive = self._since(place + 1, rows).sum(axis=0)
            total += np.where(self._ages > age, worth.values[age] * self._weights * recent[place] * alive, 0.0)
        return total

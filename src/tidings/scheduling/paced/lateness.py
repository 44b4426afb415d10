"""Lateness: a page is due some time after its last poll, and bids how late it is.

Shared by policies that propose an interval for each page and have no value of a poll (scheduling
§8).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidings.model.interval import SECOND, Instant
from tidings.scheduling.population import NEVER, UNPOLLED, Floats, Ids, Instants, Population, Rows

FIRST: Final = 1e12
"""Added to the bid of a page that was never polled: before all others, and among those the oldest
request first.
"""
TURNS: Final = frozenset({"added", "last_polled", "not_before", "shortest", "longest"})
"""The columns that determine when a page is due."""
_GOLDEN: Final = (5**0.5 - 1) / 2
_FAR: Final = 2**61
"""Intervals of this length or more have no instants of their own."""


def due_after(population: Population, gap: NDArray[np.int64], rows: Rows | slice) -> Instants:
    """Return when the pages at `rows` are due: `gap` (µs, one per row) after their last poll, and
    not before they may be asked.

    A page that was never polled is due at once (`UNPOLLED`); a sum beyond all instants is `NEVER`.
    """
    last = population["last_polled"][rows]
    due = np.where(last == UNPOLLED, UNPOLLED, last + np.minimum(gap, NEVER - np.maximum(last, 0)))
    due = np.maximum(due, population["not_before"][rows])
    due.setflags(write=False)
    return due


def lateness(population: Population, due: Instants, now: Instant, rows: Rows | None) -> Floats:
    """Return the seconds that each page is overdue, at least one µs once it is due, else 0; `FIRST`
    more for a new page.

    Args:
        population: The pages.
        due: When each page of the population is due (µs).
        now: The present (µs).
        rows: Places in the population; None for all.
    """
    where = slice(None) if rows is None else rows
    due = due[where]
    bids = np.zeros(len(due))
    ripe = np.flatnonzero(due <= now)
    new = population["last_polled"][where][ripe] == UNPOLLED
    since = np.where(new, np.minimum(population["added"][where][ripe], now), due[ripe])
    bids[ripe] = (now - since + 1) / SECOND + FIRST * new
    return bids


def phases(ids: Ids) -> Floats:
    """Return a phase for each page, from 0 to 1: consecutive pages are spread evenly (multiples of
    the golden ratio).
    """
    return np.asarray(np.mod(ids * _GOLDEN, 1.0))


def wait_in_phase(last: Instants, gap: NDArray[np.int64], phase: Floats) -> NDArray[np.int64]:
    """Return the time after a poll until the next of the instants (k + phase)·gap (µs): the one
    after the nearest, which the poll served.

    So a late poll delays no later one, and no two polls are closer together than half a gap because
    of it.
    """
    gap_in_phase = np.minimum(gap, _FAR)
    since = np.mod(
        np.where(last == UNPOLLED, 0, last) - (phase * gap_in_phase).astype(np.int64) + gap_in_phase // 2, gap_in_phase
    )
    return np.asarray(np.where(gap < _FAR, gap_in_phase + gap_in_phase // 2 - since, gap))

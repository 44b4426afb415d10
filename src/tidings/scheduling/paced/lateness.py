"""Turns: a page is due some time after its last poll, and bids how late it is.

What policies share that propose an interval for each page and know no value of a poll (scheduling §8).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidings.model.interval import SECOND, Instant
from tidings.scheduling.population import NEVER, UNPOLLED, Floats, Ids, Instants, Population, Rows

FIRST: Final = 1e12
"""Added to the bid of a page that was never polled: before all others, and among those the longest asked for first."""
TURNS: Final = frozenset({"added", "last_polled", "not_before", "shortest", "longest"})
"""Columns that the turn of a page depends on."""
_GOLDEN: Final = (5**0.5 - 1) / 2
_FAR: Final = 2**61
"""Intervals as long as this have no instants of their own."""


def due_after(population: Population, gap: NDArray[np.int64], rows: Rows | slice) -> Instants:
    """Return when the pages at `rows` are due, `gap` (µs, one a row) after their last poll and not before they may be asked.

    A page that nobody polled is due at once (`UNPOLLED`); a sum beyond all instants is `NEVER`.
    """
    last = population["last_polled"][rows]
    due = np.where(last == UNPOLLED, UNPOLLED, last + np.minimum(gap, NEVER - np.maximum(last, 0)))
    due = np.maximum(due, population["not_before"][rows])
    due.setflags(write=False)
    return due


def lateness(population: Population, due: Instants, now: Instant, rows: Rows | None) -> Floats:
    """Return the seconds that each page is overdue, at least one µs once it is due, else 0; `FIRST` more for a new page.

    `due` is of the whole population; `rows` asks for some pages only.

    Args:
        population: The pages.
        due: When each is due (µs).
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
    """Return for each page a part of an interval, from 0 to 1: those of pages that follow each other lie evenly apart (multiples of the golden ratio)."""
    return np.asarray(np.mod(ids * _GOLDEN, 1.0))


def wait_in_phase(last: Instants, gap: NDArray[np.int64], phase: Floats) -> NDArray[np.int64]:
    """Return how long after a poll the next of the instants (k + phase)·gap comes (µs): the one after that which the poll served, the nearest.

    So what comes late moves nothing that comes after it, and no two polls lie closer together than half a gap because of it.
    """
    gap_in_phase = np.minimum(gap, _FAR)
    since = np.mod(
        np.where(last == UNPOLLED, 0, last) - (phase * gap_in_phase).astype(np.int64) + gap_in_phase // 2, gap_in_phase
    )
    return np.asarray(np.where(gap < _FAR, gap_in_phase + gap_in_phase // 2 - since, gap))

"""Turns: a page is due some time after its last look, and bids how late it is.

What policies share that propose an interval for each page and know no value of a poll (scheduling §8).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidings.model.interval import SECOND, Instant
from tidings.scheduling.population import NEVER, UNPOLLED, Floats, Instants, Population, Rows

FIRST: Final = 1e12
"""Added to the bid of a page that was never looked at: before all others, and among those the longest asked for first."""
TURNS: Final = frozenset({"added", "last_polled", "not_before", "shortest", "longest"})
"""Columns that the turn of a page depends on."""


def due_after(population: Population, gap: NDArray[np.int64], rows: Rows | slice) -> Instants:
    """Return when the pages at `rows` are due, `gap` (µs, one a row) after their last look and not before they may be asked.

    A page that nobody looked at is due at once (`UNPOLLED`); a sum beyond all instants is `NEVER`.
    """
    last = population["last_polled"][rows]
    known = last != UNPOLLED
    due = np.where(known, np.where(known, last, 0) + np.minimum(gap, NEVER - np.maximum(last, 0)), UNPOLLED)
    due = np.maximum(due, population["not_before"][rows])
    due.setflags(write=False)
    return due


def lateness(population: Population, due: Instants, now: Instant, rows: Rows | None) -> Floats:
    """Return the seconds that each page is overdue, at least one µs once it is due, else 0; `FIRST` more for a new page.

    `due` is of the whole population; `rows` asks for some pages only.
    """
    where = slice(None) if rows is None else rows
    due = due[where]
    bids = np.zeros(len(due))
    ripe = np.flatnonzero(due <= now)
    new = population["last_polled"][where][ripe] == UNPOLLED
    since = np.where(new, np.minimum(population["added"][where][ripe], now), due[ripe])
    bids[ripe] = (now - since + 1) / SECOND + FIRST * new
    return bids

"""The changes of pages, whether polled or not: the instants of change of each page."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidings.model.interval import Instant
from tidings.record import dataclass
from tidings.scheduling.policy import Ids, Instants


@dataclass(frozen=True, slots=True)
class Trace:
    """Changes in `[start, end)`: those of page `ids[i]` are `times[offsets[i]:offsets[i + 1]]`, ascending (µs)."""

    ids: Ids
    times: Instants
    offsets: NDArray[np.int64]
    start: Instant
    end: Instant
    places: Mapping[int, int]

    def of(self, page: int) -> Instants:
        """Return the instants at which a page changed; empty for a page that the trace does not
        have.
        """
        place = self.places.get(page)
        if place is None:
            return self.times[:0]
        return self.times[self.offsets[place] : self.offsets[place + 1]]

    def changes(self, page: int, *, after: Instant, until: Instant) -> int:
        """Return how often a page changed after one instant and not after another."""
        low, high = np.searchsorted(self.of(page), [after, until], side="right")
        return max(0, int(high - low))


def make_trace(times: Mapping[int, ArrayLike], *, start: Instant, end: Instant) -> Trace:
    """Return a trace of the instants given for each page, in any order. Raises `ValueError` for one outside `[start, end)`."""
    if end <= start:
        message = f"a trace must end after it starts; it starts at {start} and ends at {end}"
        raise ValueError(message)
    ids = np.fromiter(times, dtype=np.int64, count=len(times))
    columns = [np.sort(np.asarray(column, dtype=np.int64)) for column in times.values()]
    for page, column in zip(ids.tolist(), columns, strict=True):
        if len(column) and not start <= column[0] <= column[-1] < end:
            message = f"page {page} changes outside the trace, which is from {start} to before {end}"
            raise ValueError(message)
    joined = np.concatenate([np.zeros(0, dtype=np.int64), *columns])
    offsets = np.cumsum([0, *(len(column) for column in columns)], dtype=np.int64)
    for array in (ids, joined, offsets):
        array.setflags(write=False)
    return Trace(ids, joined, offsets, start, end, {page: place for place, page in enumerate(ids.tolist())})

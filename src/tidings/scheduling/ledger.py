"""The changes of a simulated world, and its account: what was spent, which changes were found and
how late.

A poll finds every change since the last one, and shows only the newest: the others are *merged*.
Changes before the first poll of a page belong to its baseline. A change after the last poll is
*missed*.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidings.model.interval import Instant
from tidings.record import dataclass
from tidings.scheduling.population import Floats, Ids, Instants


@dataclass(frozen=True, slots=True)
class Polls:
    """The polls in order: page, instant and cost."""

    at: Instants
    page: Ids
    cost: Floats


@dataclass(frozen=True, slots=True)
class Ledger:
    """`found[i]` is the number of changes that poll i found; `delay[j]` (µs) and `page[j]` are of
    the j-th found change; `missed` never were.
    """

    polls: Polls
    found: NDArray[np.int64]
    delay: Instants
    page: Ids
    missed: int

    @property
    def spent(self) -> float:
        """Return the cost of all polls."""
        return float(self.polls.cost.sum())

    @property
    def merged(self) -> int:
        """Return how many found changes a newer one hid."""
        return int(np.maximum(self.found - 1, 0).sum())

    def delay_quantile(self, share: float) -> float:
        """Return the delay (µs) within which that share of the found changes was found, each change
        counting the same; nan if there is none.
        """
        return float(np.quantile(self.delay, share)) if len(self.delay) else float("nan")

    def page_delay_quantile(self, share: float) -> float:
        """Return the same with each page counting the same, however often it changes."""
        if not len(self.delay):
            return float("nan")
        _, place, count = np.unique(self.page, return_inverse=True, return_counts=True)
        order = np.argsort(self.delay, kind="stable")
        weight = np.cumsum(1.0 / count[place[order]])
        return float(self.delay[order][np.searchsorted(weight, share * weight[-1] * (1 - 1e-12))])


def account(
    trace: Trace, polls: Polls, *, known_since: Mapping[int, Instant], gone_at: Mapping[int, Instant]
) -> Ledger:
    """Return the ledger of polls over a trace.

    Pages in `known_since` were polled before the first poll here; others are known from their first
    poll on.

    Args:
        trace: The changes.
        polls: The polls.
        known_since: When pages were polled before (µs).
        gone_at: From when on changes of a page do not count (µs).
    """
    found = np.zeros(len(polls.at), dtype=np.int64)
    order = np.argsort(polls.page, kind="stable")
    ids = polls.page[order]
    delays: list[Instants] = []
    pages: list[Ids] = []
    missed = 0
    for page in trace.ids.tolist():
        low, high = np.searchsorted(ids, [page, page + 1])
        own = order[low:high]
        poll_times = polls.at[own]
        since = known_since.get(page)
        if since is None:
            if not len(poll_times):
                continue
            since = int(poll_times[0])
        times = trace.of(page)
        times = times[(times > since) & (times < gone_at.get(page, trace.end))]
        following = np.searchsorted(poll_times, times, side="left")
        seen = following < len(poll_times)
        missed += int((~seen).sum())
        np.add.at(found, own[following[seen]], 1)
        delays.append(poll_times[following[seen]] - times[seen])
        pages.append(np.full(int(seen.sum()), page, dtype=np.int64))
    none = np.zeros(0, dtype=np.int64)
    return Ledger(polls, found, np.concatenate([none, *delays]), np.concatenate([none, *pages]), missed)


@dataclass(frozen=True, slots=True)
class Trace:
    """Changes in `[start, end)`: those of page `ids[i]` are `times[offsets[i]:offsets[i + 1]]`,
    ascending (µs).
    """

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
    """Return a trace of the instants given for each page, in any order. Raises `ValueError` for one
    outside `[start, end)`.
    """
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

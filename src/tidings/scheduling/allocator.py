"""Who is polled now: the best feasible set of bids under budget, host limits and opening hours (contracts.md §5).

The allocator alone knows budget, hosts and opening hours; policies only bid. Bids are per unit of cost, so the best set goes
by descending bid; ties go to the lower index. With unit costs the set is the best there is; with other costs the choice within the
budget is a knapsack, which greedy order solves to within one page (scheduling §1.4).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tidings.scheduling.budget import affords
from tidings.scheduling.policy import Floats, Ids, Mask, Rows

HostReady = Mask | Mapping[int, bool]
"""By number of host: whether it may be asked now. A mapping may leave out those that may."""


def choose(
    bids: Floats,
    cost: Floats,
    host: Ids,
    tokens: float,
    *,
    host_ready: HostReady | None = None,
    in_flight: Mask | None = None,
    open_now: Mask | None = None,
    host_connections: int = 1,
    limit: int | None = None,
    burst: float | None = None,
) -> Rows:
    """Return the indices to poll now, best first.

    `tokens` is the budget that is there; the sum of costs never exceeds it. `in_flight` marks pages that are being polled: they are not
    chosen again and take a connection of their host. `open_now` is False for pages outside their hours. At most `host_connections` pages of a
    host are under way together, and `limit` are chosen. With `burst` (the most that the budget can save up) a page that is too dear for
    now holds back those that bid less, so that it is not starved; one dearer than `burst` never fits and is passed over.
    """
    eligible = bids > 0
    if in_flight is not None:
        eligible &= ~in_flight
    if open_now is not None:
        eligible &= open_now
    rows = np.flatnonzero(eligible)
    if not len(rows) or tokens <= 0 or (limit is not None and limit <= 0):
        return rows[:0]
    rows = rows[_ready(host[rows], host_ready)]
    rows = _within_hosts(rows, bids, host, in_flight, host_connections)
    return _within_budget(rows, cost, tokens, limit=limit, burst=burst)


def _ready(hosts: Ids, host_ready: HostReady | None) -> Mask:
    if host_ready is None:
        return np.ones(len(hosts), dtype=np.bool_)
    if isinstance(host_ready, Mapping):
        return np.array([host_ready.get(number, True) for number in hosts.tolist()], dtype=np.bool_)
    return host_ready[hosts]


def _within_hosts(rows: Rows, bids: Floats, host: Ids, in_flight: Mask | None, host_connections: int) -> Rows:
    """Return, in descending order of bid, the best pages of each host, as many as it has free connections."""
    order = np.lexsort((rows, -bids[rows]))
    rows = rows[order]
    if not len(rows):
        return rows
    _, codes = np.unique(host[rows], return_inverse=True)
    by_host = np.argsort(codes, kind="stable")
    ordered = codes[by_host]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    rank = np.empty(len(rows), dtype=np.intp)
    rank[by_host] = np.arange(len(rows)) - np.repeat(starts, np.diff(np.r_[starts, len(rows)]))
    return rows[rank < host_connections - _busy(host, rows, in_flight)]


def _busy(host: Ids, rows: Rows, in_flight: Mask | None) -> Ids | int:
    if in_flight is None or not in_flight.any():
        return 0
    names, counts = np.unique(host[in_flight], return_counts=True)
    places = np.minimum(np.searchsorted(names, host[rows]), len(names) - 1)
    return np.where(names[places] == host[rows], counts[places], 0)


def _within_budget(rows: Rows, cost: Floats, tokens: float, *, limit: int | None, burst: float | None) -> Rows:
    chosen: list[int] = []
    left = tokens
    for row, price in zip(rows.tolist(), cost[rows].tolist(), strict=True):
        if limit is not None and len(chosen) >= limit:
            break
        if affords(left, price):
            chosen.append(row)
            left -= price
        elif burst is not None and affords(burst, price):
            break
    return np.array(chosen, dtype=np.intp)

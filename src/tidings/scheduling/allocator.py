"""Choose the pages to poll now: the best feasible set of bids under budget, host limits and opening
hours (contracts §5).

Only the allocator knows budget, hosts and opening hours; policies only bid. Bids are per unit of
cost, so pages are taken by descending bid; ties go to the lower index. With equal costs the set is
optimal. With unequal costs it is a knapsack: greedy order, or a single expensive page if that is
worth more, reaches at least half of the optimum when no host limit binds (scheduling §1.4).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tidings.scheduling.budget import TOLERANCE, affords
from tidings.scheduling.policy import Floats, Ids, Mask, Rows

HostReady = Mask | Mapping[int, bool]
"""By host number: whether it may be asked now. A mapping may leave out hosts that may."""


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
    class_number: Ids | None = None,
    class_tokens: Floats | None = None,
    tier: Ids | None = None,
) -> Rows:
    """Return the indices to poll now, best first.

    The sum of costs never exceeds `tokens`. With `burst`, a page that is too expensive for now
    holds back those that bid less, so that it is not starved; one more expensive than `burst` never
    fits and is skipped. A page that its class (`class_tokens`) cannot pay for now holds back pages
    of the same class that bid less. A page of a higher `tier` goes before all of lower ones,
    whatever they bid.

    Args:
        bids: The bid of each page.
        cost: The cost of a poll of each page.
        host: The host number of each page.
        tokens: The available budget, in costs.
        host_ready: Whether each host may be asked now.
        in_flight: Whether each page is being polled: it is not chosen, and takes a connection of
            its host.
        open_now: Whether each page is inside its opening hours.
        host_connections: How many pages of a host may be in flight together.
        limit: How many pages at most.
        burst: The most that the budget can save up, in costs.
        class_number: The class that pays for each page, by number.
        class_tokens: What each class has left, in costs; infinite for none.
        tier: The tier of each page; higher first.
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
    rows = rows[cost[rows] * (1 - TOLERANCE) <= (tokens if burst is None else burst)]
    rank = bids if tier is None else _ranks(rows, bids, tier)
    if class_number is not None and class_tokens is not None:
        rows = _without_empty(rows, rank, cost, class_number, class_tokens)
    rows = _within_hosts(rows, rank, host, in_flight, host_connections)
    if class_number is not None and class_tokens is not None:
        rows = _within_classes(rows, cost, class_number, class_tokens)
    return _within_budget(rows, bids, cost, tokens, limit=limit, burst=burst, tier=tier)


def _ranks(rows: Rows, bids: Floats, tier: Ids) -> Floats:
    """Return the rank of each of `rows`, the best one's the highest: by tier, then by bid, then by
    index.
    """
    ranks = np.zeros(len(bids))
    ranks[rows[np.lexsort((-rows, bids[rows], tier[rows]))]] = np.arange(1, len(rows) + 1)
    return ranks


def _without_empty(rows: Rows, bids: Floats, cost: Floats, class_number: Ids, class_tokens: Floats) -> Rows:
    """Return `rows` without those whose class budget cannot pay for its best page, so that they
    take no place of a host.
    """
    left = np.ones(len(rows), dtype=np.bool_)
    for number in np.flatnonzero(np.isfinite(class_tokens)):
        own = np.flatnonzero(class_number[rows] == number)
        if len(own) and not affords(float(class_tokens[number]), float(cost[rows[own[np.argmax(bids[rows[own]])]]])):
            left[own] = False
    return rows[left]


def _within_classes(rows: Rows, cost: Floats, class_number: Ids, class_tokens: Floats) -> Rows:
    """Return those of `rows` (best first) that their class budgets can pay for in order."""
    left = np.ones(len(rows), dtype=np.bool_)
    for number in np.flatnonzero(np.isfinite(class_tokens)):
        own = np.flatnonzero(class_number[rows] == number)
        left[own[np.cumsum(cost[rows[own]]) > class_tokens[number] * (1 + TOLERANCE)]] = False
    return rows[left]


def _ready(hosts: Ids, host_ready: HostReady | None) -> Mask:
    if host_ready is None:
        return np.ones(len(hosts), dtype=np.bool_)
    if isinstance(host_ready, Mapping):
        return np.array([host_ready.get(number, True) for number in hosts.tolist()], dtype=np.bool_)
    return host_ready[hosts]


def _within_hosts(rows: Rows, bids: Floats, host: Ids, in_flight: Mask | None, host_connections: int) -> Rows:
    """Return, by descending bid, the best pages of each host, as many as it has free connections.

    Linear in the number of bids; only the remaining ones are sorted.
    """
    free = host_connections - _busy(host, rows, in_flight)
    rows, free = rows[free > 0], free[free > 0]
    picked: list[Rows] = []
    for turn in range(host_connections):
        rows, free = rows[free > turn], free[free > turn]
        if not len(rows):
            break
        best = _best_of_each(bids[rows], host[rows])
        picked.append(rows[best])
        rows, free = np.delete(rows, best), np.delete(free, best)
    if not picked:
        return rows
    merged = picked[0] if len(picked) == 1 else np.sort(np.concatenate(picked))
    return merged[np.argsort(-bids[merged], kind="stable")]


def _best_of_each(values: Floats, hosts: Ids) -> Rows:
    """Return the index of the largest value of each host, ascending; the first of equal ones."""
    count = int(hosts.max()) + 1
    if count > 4 * len(hosts) + 1_024:  # sparse numbers: close the gaps
        names, hosts = np.unique(hosts, return_inverse=True)
        count = len(names)
    most = np.full(count, -np.inf)
    np.maximum.at(most, hosts, values)
    top = np.flatnonzero(values == most[hosts])
    first = np.full(count, len(hosts))
    np.minimum.at(first, hosts[top], top)
    return np.sort(first[first < len(hosts)])


def _busy(host: Ids, rows: Rows, in_flight: Mask | None) -> Ids:
    """Return for each of `rows` how many pages of its host are in flight."""
    flying = np.zeros(0, dtype=np.int64) if in_flight is None else host[in_flight]
    if not len(flying):
        return np.zeros(len(rows), dtype=np.int64)
    names, counts = np.unique(flying, return_counts=True)
    places = np.minimum(np.searchsorted(names, host[rows]), len(names) - 1)
    return np.where(names[places] == host[rows], counts[places], 0)


def _within_budget(
    rows: Rows,
    bids: Floats,
    cost: Floats,
    tokens: float,
    *,
    limit: int | None,
    burst: float | None,
    tier: Ids | None,
) -> Rows:
    """Return the longest affordable prefix of `rows`, then later ones that still fit (or none,
    while saving up).
    """
    if limit is not None and affords(tokens, float(cost[rows[:limit]].sum())):
        return rows[:limit]
    spent = np.cumsum(cost[rows])
    whole = int(np.searchsorted(spent, tokens * (1 + TOLERANCE), side="right"))
    if whole == len(rows):
        return rows[:limit]
    chosen = rows[:whole].tolist()
    left = tokens - (float(spent[whole - 1]) if whole else 0.0)
    for row, price in zip(rows[whole:].tolist(), cost[rows[whole:]].tolist(), strict=True):
        if left <= 0 or len(chosen) == limit:
            break
        if affords(left, price):
            chosen.append(row)
            left -= price
        elif burst is not None and affords(burst, price):
            return np.array(chosen, dtype=np.intp)
    best = np.array(chosen, dtype=np.intp)
    if tier is not None and len(best):  # a single page competes only with others of its tier
        if tier[best].min() < tier[rows[0]]:
            return best
        rows = rows[tier[rows] == tier[rows[0]]]
    return _or_the_single_best(best, rows, bids, cost, tokens)


def _or_the_single_best(chosen: Rows, rows: Rows, bids: Floats, cost: Floats, tokens: float) -> Rows:
    """Return `chosen`, or a single page that fits and is worth more: then greedy is at least half
    of the optimum (scheduling §1.4).
    """
    fitting = rows[cost[rows] <= tokens]
    if not len(fitting):
        return chosen
    worth = bids[fitting] * cost[fitting]
    single = int(np.argmax(worth))
    if worth[single] <= (bids[chosen] * cost[chosen]).sum():
        return chosen
    return fitting[single : single + 1]

"""Whole numbers of polls in a period, and their instants (002 §5: EBR; CAM; scheduling §3, §6); the
complete EBR schedule with the transportation step by the cost of each move (Wolf et al., WWW 2002).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from tidings.lab.refresh.rates import fresh_wait, freshness
from tidings.scheduling.population import Floats, Ids


def staleness(changes: Floats, looks: Floats, period: float) -> Floats:
    """Return the share of a period in which pages with `looks` evenly spaced polls are stale: 1 +
    (x/λT)(e^{−λT/x} − 1) (Wolf et al., WWW 2002).

    Without polls it is 1, but 0 if nothing changes.
    """
    return 1 - freshness(changes, looks / period)


def fox(marginal: Callable[[int, int], float], pages: int, looks: int) -> Ids:
    """Return the number of polls of each page that maximises the total gain; `marginal(page, n)` is
    the gain of the n-th poll.

    Greedy, and exact if gains never increase with n (Fox 1966). Ties go to the lower page.
    """
    given = np.zeros(pages, dtype=np.int64)
    heap = [(-marginal(page, 1), page) for page in range(pages)]
    heapq.heapify(heap)
    for _ in range(looks):
        _, page = heap[0]
        given[page] += 1
        heapq.heapreplace(heap, (-marginal(page, int(given[page]) + 1), page))
    return given


def ebr(changes: Floats, weights: Floats, looks: int, period: float) -> Ids:
    """Return the number of polls of each page in a period for the least weighted staleness (EBR,
    Wolf et al. 2002; 002 §5).

    `weights` are embarrassments: the probability that a stale page is irrelevant, times its clicks.

    Args:
        changes: Changes of each page in a unit of time.
        weights: The embarrassment of each page.
        looks: The total number of polls.
        period: Its length, in that unit.
    """

    def marginal(page: int, number: int) -> float:
        one = slice(page, page + 1)
        return float(_brings(changes[one], weights[one], np.array([number]), period)[0])

    return fox(marginal, len(changes), looks)


def ebr_looks(changes: Floats, weights: Floats, price: float, period: float, most: int) -> Ids:
    """Return the number of polls of each page in a period if every poll costs `price`, up to
    `most`: the result of `ebr` at the price of its last poll.

    Gains decrease with the number of polls, so that pages are independent; the whole number is next
    to the real optimum. `changes`, `weights` and `period` are as in `ebr`.
    """
    looks = np.minimum(period / fresh_wait(changes, weights, price * period), most).astype(np.int64)
    looks -= (looks > 0) & (_brings(changes, weights, np.maximum(looks, 1), period) < price)
    looks += (looks < most) & (_brings(changes, weights, looks + 1, period) >= price)
    return looks


def _brings(changes: Floats, weights: Floats, number: Ids, period: float) -> Floats:
    """Return the gain of the poll of this number in a period."""
    looks = number.astype(np.float64)
    return np.asarray(weights * (staleness(changes, looks - 1, period) - staleness(changes, looks, period)))


def ideal_instants(given: Ids, period: float) -> list[tuple[float, int]]:
    """Return (instant, page) of evenly spaced polls, the first after half a gap, ascending."""
    return sorted(
        (float((number + 0.5) * period / count), page)
        for page, count in enumerate(given.tolist())
        for number in range(count)
    )


def transport(ideal: Sequence[float], slots: Sequence[float]) -> NDArray[np.intp]:
    """Return the slot of each ideal instant (ascending) that minimises Σ |moved|; no two share a
    slot.

    The transportation step of 002 §5, with equal weights: then an optimum keeps the order, and is
    found by dynamic programming in O(ideal × slots). A slot that takes several polls is listed
    several times. Raises ValueError if there are too few.
    """
    tasks, places = np.asarray(ideal, dtype=np.float64), np.asarray(slots, dtype=np.float64)
    order = np.argsort(places, kind="stable")
    if len(tasks) > len(places):
        message = f"{len(tasks)} polls do not fit into {len(places)} slots"
        raise ValueError(message)
    free = len(places) - len(tasks)  # task i goes to a slot from i to i + free
    cost = np.zeros(free + 1)
    taken = np.zeros((len(tasks), free + 1), dtype=np.intp)
    for number, at in enumerate(tasks):
        here = cost + np.abs(places[order[number : number + free + 1]] - at)
        best = np.minimum.accumulate(here)
        taken[number] = np.maximum.accumulate(np.where(here == best, np.arange(free + 1), 0))
        cost = best
    found = np.zeros(len(tasks), dtype=np.intp)
    shift = free
    for number in range(len(tasks) - 1, -1, -1):
        shift = taken[number, shift]
        found[number] = order[number + shift]
    return found


def cam(chances: Floats, weights: Floats, looks: int) -> list[tuple[int, int]]:
    """Return (instant, page) of the polls that CAM's resource allocation buys: the `looks` update
    instants with most W·ρ (Pandey et al., WWW 2003).

    `chances[page, j]` is the probability that the page changes at instant j. Ties go to the earlier
    instant, then to the lower page. Ascending.
    """
    worth = chances * weights[:, None]
    pages, instants = np.nonzero(worth > 0)
    order = np.lexsort((pages, instants, -worth[pages, instants]))[:looks]
    return sorted(zip(instants[order].tolist(), pages[order].tolist(), strict=True))


def first_come(tasks: Sequence[tuple[int, int]], capacity: int, instants: int) -> list[list[int]]:
    """Return the polls at each instant if tasks (instant of release, page) queue for `capacity`
    polls an instant.

    CAM's scheduling step, list scheduling. Tasks still waiting at the end are dropped.
    """
    line = sorted(tasks, reverse=True)
    waiting: list[int] = []
    schedule: list[list[int]] = []
    for now in range(instants):
        while line and line[-1][0] <= now:
            waiting.append(line.pop()[1])
        schedule.append(waiting[:capacity])
        waiting = waiting[capacity:]
    return schedule


def staler(changes: Floats, gap: Floats, moved: Floats) -> Floats:
    """Return the additional staleness of pages of these rates if one of their evenly spaced polls
    is moved, its neighbours fixed.

    A page is stale for g − (1 − e^{−λg})/λ of a gap g on average; moving by m makes one gap longer
    and the other shorter, which is e^{−λ(g − m)}(1 − e^{−λm})²/λ in total. Moves are at most a gap.
    """
    by = np.minimum(np.abs(moved), gap)
    rate = np.maximum(changes, 1e-300)
    return np.asarray(np.exp(-rate * (gap - by)) * np.expm1(-rate * by) ** 2 / rate)


def schedule(
    changes: Floats, weights: Floats, given: Ids, period: float, slots: Sequence[float]
) -> list[tuple[float, int]]:
    """Return (instant, page) of polls in the slots of a period, ascending, minimising Σ
    w·(staleness by moving). Raise ValueError if slots are too few.

    A slot takes one poll; one that takes several is listed several times. Each move has its own
    cost, so that the problem is an assignment, whose optimum is integral. A move by more than a gap
    costs one by a gap, plus a little for the rest.

    Args:
        changes: The rate of change of each page.
        weights: The embarrassment of each page.
        given: The number of polls of each page.
        period: The length of the period.
        slots: The instants of the slots.
    """
    ideal = ideal_instants(given, period)
    if len(ideal) > len(slots):
        message = f"{len(ideal)} polls do not fit into {len(slots)} slots"
        raise ValueError(message)
    at = np.array([instant for instant, _ in ideal])
    pages = np.array([page for _, page in ideal], dtype=np.int64)
    gap = (period / np.maximum(given, 1))[pages][:, None]
    moved = np.abs(np.asarray(slots, dtype=np.float64)[None, :] - at[:, None])
    cost = weights[pages][:, None] * (staler(changes[pages][:, None], gap, moved) + np.maximum(moved - gap, 0.0))
    looks, taken = linear_sum_assignment(cost)
    return sorted(
        (float(slots[slot]), int(pages[look])) for look, slot in zip(looks.tolist(), taken.tolist(), strict=True)
    )

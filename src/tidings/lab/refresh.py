"""How a crawler spends its polls: optimal rates for given rates of change, importances and budget
(scheduling §3, §6), and whole numbers of polls in a period with their instants (002 §5: EBR; CAM).

Δ is a page's rate of change, μ its importance, ρ its polling rate, Σ c·ρ the budget. At each
optimum the gain of one more poll is the same everywhere, the *price*; it is found by bisection.
Rates share one unit of time. Arrays are in the order of pages. The complete EBR schedule has the
transportation step by the cost of each move (Wolf et al., WWW 2002).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from tidings.record import dataclass
from tidings.scheduling.index import wait, worth
from tidings.scheduling.population import Floats, Ids

_HALVINGS = 200
_EXACT = 1e-13
_SERIES = 5e-3
"""Below this exponent, the series of the mean age is more exact than its formula."""


@dataclass(frozen=True, slots=True, eq=False)
class Allocation:
    """The polling rate of each page, and the gain of one more poll anywhere."""

    rates: Floats
    price: float


def freshness(changes: Floats, polls: Floats) -> Floats:
    """Return the share of time in which pages polled at fixed intervals are fresh: (f/λ)(1 −
    e^{−λ/f}), 0 without polls (Cho and Garcia-Molina 2000).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        x = changes / polls
        fresh = -np.expm1(-x) / x
    return np.where(polls <= 0, np.where(changes > 0, 0.0, 1.0), np.where(x > 0, fresh, 1.0))


def sbr(changes: Floats, budget: float, importance: Floats | float = 1.0, cost: Floats | float = 1.0) -> Allocation:
    """Return the rates of staleness-based refresh: most freshness at fixed intervals (002 §5; Cho
    and Garcia-Molina 2000).

    μ(1 − (1 + x)e^{−x})/λ = c·price with x = λ/f. Pages that change too quickly are abandoned.

    Args:
        changes: The changes of each page a day.
        budget: What all polls of a day may cost.
        importance: Of each page, or of all.
        cost: Of a poll of each page, or of all.
    """
    mu, c = _spread(importance, changes), _spread(cost, changes)

    def rates(price: float) -> Floats:
        return 1 / fresh_wait(changes, mu, price * c)

    return _price(rates, budget, c, float(np.max(np.where(changes > 0, mu / np.maximum(c * changes, 1e-300), 0.0))))


def azar(changes: Floats, budget: float, importance: Floats | float = 1.0) -> Allocation:
    """Return memoryless rates of most freshness Σ μρ/(ρ + Δ): ρ = (√(μΔ/price) − Δ)⁺ (Azar et al.,
    PNAS 2018).
    """
    mu = _spread(importance, changes)
    dearest = float(np.max(mu / np.maximum(changes, 1e-300)))
    return _price(lambda price: memoryless(changes, mu, price), budget, np.ones_like(changes), dearest)


def lambda_crawl(changes: Floats, budget: float, importance: Floats | float = 1.0) -> Allocation:
    """Return the rates of least harmonic penalty −Σ μ ln(ρ/(ρ + Δ)): ρ = ½(−Δ + √(Δ² + 4μΔ/price))
    (Kolobov et al., NeurIPS 2019).

    No page is abandoned.
    """
    mu = _spread(importance, changes)
    return _price(
        lambda price: harmonic(changes, mu, price), budget, np.ones_like(changes), _dearest(changes, mu, budget)
    )


def host_prices(changes: Floats, importance: Floats, hosts: Ids, limits: Floats, cost: Floats | float = 1.0) -> Floats:
    """Return for each host the price at which LambdaCrawl's rates for its pages reach its limit, 0
    if they never do.

    A host's pages have this price if it is above the common one: the difference is the host's
    surcharge. `hosts` are numbers from 0 on; `changes`, `importance` and `cost` are as in `sbr`,
    `limits` are polls of each host.
    """
    number = len(limits)

    def is_over(prices: Floats) -> NDArray[np.bool_]:
        rates = harmonic(changes, importance, cost * np.maximum(prices, 1e-300)[hosts])
        return np.asarray(np.bincount(hosts, weights=rates, minlength=number) > limits)

    low, high = np.zeros(number), np.ones(number)
    while (over := is_over(high)).any():
        low, high = np.where(over, high, low), np.where(over, 4 * high, high)
    for _ in range(_HALVINGS):
        middle = np.where(low > 0, np.sqrt(low * high), high / 4)
        over = is_over(middle)
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    return np.where(low > 0, high, 0.0)


def allot_observations(changes: Floats, budget: float, importance: Floats | float = 1.0) -> Floats:
    """Return the probability of a poll at each change of pages that report every one: p = min(1,
    R·μ/(Δ·Σμ)), water-filled (Kolobov et al., NeurIPS 2019).
    """
    mu = _spread(importance, changes)
    chance = np.zeros_like(changes)
    left = budget
    open_ones = mu > 0
    while open_ones.any() and left > 0:
        share = left * mu[open_ones] / (changes[open_ones] * mu[open_ones].sum())
        full = np.flatnonzero(open_ones)[share >= 1]
        if not full.size:
            chance[open_ones] = share
            break
        chance[full] = 1.0
        left -= float(changes[full].sum())
        open_ones[full] = False
    return chance


def divergence(changes: Floats, age: Floats) -> Floats:
    """Return U(t) = 1/λ − (t + 1/λ)e^{−λt}, the gain of a poll at age t beyond its running cost
    (Olston and Pandey, WWW 2008).

    Polling when it reaches a threshold is optimal; at the ages of `sbr` it is the price.
    """
    return np.asarray(worth(changes * age) / changes)


def harmonic(changes: Floats, importance: Floats, price: Floats | float) -> Floats:
    """Return LambdaCrawl's rates at a price: ½(−Δ + √(Δ² + 4μΔ/price))."""
    root = np.sqrt(changes**2 + 4 * importance * changes / price)
    return np.asarray(2 * importance * changes / price / np.maximum(root + changes, 1e-300))


def memoryless(changes: Floats, importance: Floats, price: Floats | float) -> Floats:
    """Return the rates of Azar et al. at a price: (√(μΔ/price) − Δ)⁺."""
    return np.maximum(np.sqrt(importance * changes / price) - changes, 0.0)


def fresh_wait(changes: Floats, importance: Floats, price: Floats | float) -> Floats:
    """Return the interval of most freshness at a price: x/λ with μ(1 − (1 + x)e^{−x})/λ = price,
    inf if no poll is worth it.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(importance > 0, price * changes / importance, np.inf)
        return np.where((share < 1) & (changes > 0), wait(np.minimum(share, 1 - 1e-16)) / changes, np.inf)


def _dearest(changes: Floats, importance: Floats, budget: float) -> float:
    """Return a price at which less than the budget is spent: ρ² ≤ μΔ/price."""
    return float((np.sqrt(importance * changes).sum() / max(budget, 1e-300)) ** 2) + 1.0


def _price(rates: Callable[[float], Floats], budget: float, cost: Floats, high: float) -> Allocation:
    """Return the allocation that spends the budget; `high` is a price at which nothing, or too
    little, is bought.
    """
    if budget <= 0:
        return Allocation(np.zeros_like(cost), high)
    low = 0.0
    for _ in range(_HALVINGS):
        price = (low + high) / 2
        if float((rates(price) * cost).sum()) > budget:
            low = price
        else:
            high = price
        if high - low <= _EXACT * high:
            break
    less, more = rates(high), rates(low) if low else rates(high)
    spent, most = float((less * cost).sum()), float((more * cost).sum())
    between = (budget - spent) / (most - spent) if most > budget else 0.0  # prices are as fine as numbers are
    return Allocation(less + between * (more - less), high)


def _spread(value: Floats | float, like: Floats) -> Floats:
    return np.broadcast_to(np.asarray(value, dtype=np.float64), like.shape)


def staleness(changes: Floats, polls: Floats, period: float) -> Floats:
    """Return the share of a period in which pages with `polls` evenly spaced polls are stale: 1 +
    (x/λT)(e^{−λT/x} − 1) (Wolf et al., WWW 2002).

    Without polls it is 1, but 0 if nothing changes.
    """
    return 1 - freshness(changes, polls / period)


def mean_age(changes: Floats, polls: Floats, period: float) -> Floats:
    """Return the mean age of copies over a period that begins with fresh ones, with `polls` evenly
    spaced polls in it: g/2 − 1/λ + (1 − e^{−λg})/(λ²g) of a gap g (Cho and Garcia-Molina 2000).

    The age of a copy is the time since the first change that it lacks, 0 while it is fresh.
    """
    gap = period / (polls + 1)
    x = changes * gap
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        exact = 0.5 - 1 / x - np.expm1(-x) / x**2
    return np.asarray(gap * np.where(x > _SERIES, exact, x / 6 * (1 - x / 4 * (1 - x / 5))))


def allot_polls(
    changes: Floats,
    weights: Floats,
    polls: int,
    period: float,
    *,
    loss: Callable[[Floats, Floats, float], Floats] = staleness,
    most: int | None = None,
) -> Ids:
    """Return the number of polls of each page in a period for the least weighted loss: of
    `staleness` for EBR (Wolf et al. 2002; 002 §5) and, with equal weights, SBR; of `mean_age` for
    the variant of SBR by age.

    The best gains are taken, which is exact, because they never increase with the number (Fox
    1966). Ties go to the lower page. Polls without a gain are left.

    Args:
        changes: Changes of each page in a unit of time.
        weights: The weight of each page: for EBR the probability that a stale page is irrelevant,
            times its clicks.
        polls: The total number of polls.
        period: Its length, in that unit.
        loss: What a page loses, by its changes, its polls and the period.
        most: Most polls of a page; None: all of them.
    """
    most = polls if most is None else most
    gains = -np.diff(loss(changes[:, None], np.arange(most + 1.0), period)) * weights[:, None]
    best = np.argsort(-gains, axis=None, kind="stable")[:polls]
    return np.bincount(best[gains.flat[best] > 0] // max(most, 1), minlength=len(changes))


def ebr_polls(changes: Floats, weights: Floats, price: float, period: float, most: int) -> Ids:
    """Return the number of polls of each page in a period if every poll costs `price`, up to
    `most`: the result of `allot_polls` at the price of its last poll.

    Gains decrease with the number of polls, so that pages are independent; the whole number is next
    to the real optimum. `changes`, `weights` and `period` are as there.
    """
    polls = np.minimum(period / fresh_wait(changes, weights, price * period), most).astype(np.int64)
    polls -= (polls > 0) & (_brings(changes, weights, np.maximum(polls, 1), period) < price)
    polls += (polls < most) & (_brings(changes, weights, polls + 1, period) >= price)
    return polls


def _brings(changes: Floats, weights: Floats, number: Ids, period: float) -> Floats:
    """Return the gain of the poll of this number in a period."""
    polls = number.astype(np.float64)
    return np.asarray(weights * (staleness(changes, polls - 1, period) - staleness(changes, polls, period)))


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


def cam(chances: Floats, weights: Floats, polls: int) -> list[tuple[int, int]]:
    """Return (instant, page) of the polls that CAM's resource allocation buys: the `polls` update
    instants with most W·ρ (Pandey et al., WWW 2003).

    `chances[page, j]` is the probability that the page changes at instant j. Ties go to the earlier
    instant, then to the lower page. Ascending.
    """
    worth = chances * weights[:, None]
    pages, instants = np.nonzero(worth > 0)
    order = np.lexsort((pages, instants, -worth[pages, instants]))[:polls]
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
    polls, taken = linear_sum_assignment(cost)
    return sorted(
        (float(slots[slot]), int(pages[poll])) for poll, slot in zip(polls.tolist(), taken.tolist(), strict=True)
    )

"""Optimal polling rates for given rates of change, importances and budget (scheduling §3, §6).

Δ is a page's rate of change, μ its importance, ρ its polling rate, Σ c·ρ the budget. At each
optimum the gain of one more poll is the same everywhere, the *price*; it is found by bisection.
Rates share one unit of time. Arrays are in the order of pages.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tidings.record import dataclass
from tidings.scheduling.index import wait, worth
from tidings.scheduling.population import Floats, Ids

_HALVINGS = 200
_EXACT = 1e-13


@dataclass(frozen=True, slots=True, eq=False)
class Allocation:
    """The polling rate of each page, and the gain of one more poll anywhere."""

    rates: Floats
    price: float


def freshness(changes: Floats, looks: Floats) -> Floats:
    """Return the share of time in which pages polled at fixed intervals are fresh: (f/λ)(1 −
    e^{−λ/f}), 0 without polls (Cho and Garcia-Molina 2000).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        x = changes / looks
        fresh = -np.expm1(-x) / x
    return np.where(looks <= 0, np.where(changes > 0, 0.0, 1.0), np.where(x > 0, fresh, 1.0))


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

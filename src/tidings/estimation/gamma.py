"""A Gamma posterior of each page's rate of change, in closed form (scheduling §7, bid §5).

A poll after a gap τ that finds a change says only that there was one or more (censored): the
posterior is a mixture, replaced by the Gamma of equal mean and variance (assumed density
filtering). A trusted instant of the last change, or a number of changes, is exact. Time may be
operational: the integral of a profile. Rates are per unit of that time. All arrays are in the order
of the pages, 64 bits.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidings.record import dataclass, replace

Floats: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Gamma:
    """Rates with density ∝ λ^(shape − 1) e^(−scale·λ): a mean of shape/scale. `scale` is a time."""

    shape: Floats
    scale: Floats

    @classmethod
    def of(cls, shape: ArrayLike, scale: ArrayLike) -> Gamma:
        """Return posteriors. Raise ValueError unless both are finite and above 0."""
        a, b = np.broadcast_arrays(np.asarray(shape, dtype=np.float64), np.asarray(scale, dtype=np.float64))
        if not (np.isfinite(a).all() and np.isfinite(b).all() and (a > 0).all() and (b > 0).all()):
            message = "shape and scale must be finite and above 0"
            raise ValueError(message)
        return cls(np.atleast_1d(a.copy()), np.atleast_1d(b.copy()))

    @classmethod
    def prior(cls, mean: float, shape: float, size: int) -> Gamma:
        """Return the same prior for `size` pages: this mean rate, and a shape, smaller for less
        certainty.
        """
        return cls.of(np.full(size, shape), np.full(size, shape / mean))

    @property
    def mean(self) -> Floats:
        """Return the expected rates."""
        return self.shape / self.scale

    @property
    def deviation(self) -> Floats:
        """Return the standard deviations of the rates."""
        return np.asarray(np.sqrt(self.shape) / self.scale)

    def optimistic(self, deviations: float = 1.0) -> Floats:
        """Return rates `deviations` above the mean: unknown pages are polled sooner (scheduling
        §7).
        """
        return self.mean + deviations * self.deviation

    def chance(self, gap: ArrayLike) -> Floats:
        """Return the probability that each page changes within a gap, with the uncertainty of its
        rate: 1 − (b/(b + τ))^a (Lomax).
        """
        return np.asarray(-np.expm1(-self.shape * np.log1p(np.asarray(gap) / self.scale)))

    def forgetting(self, prior: Gamma, elapsed: ArrayLike, half_life: float) -> Gamma:
        """Return the posteriors after a time without polls, drawn back to `prior` by half every
        `half_life` (calendar time both).
        """
        kept = 0.5 ** (np.asarray(elapsed, dtype=np.float64) / half_life)
        return Gamma(prior.shape + kept * (self.shape - prior.shape), prior.scale + kept * (self.scale - prior.scale))

    def observe(
        self, gap: ArrayLike, changed: ArrayLike, *, age: ArrayLike | None = None, count: ArrayLike | None = None
    ) -> Gamma:
        """Return the posteriors after polls. Raise ValueError for a negative gap.

        Args:
            gap: The time since the last poll (0 or more).
            changed: Whether the poll found a change.
            age: The time since the last change, if a trusted source gives it, else nan.
            count: How many changes there were, nan if unknown.
        """
        tau = np.broadcast_to(np.asarray(gap, dtype=np.float64), self.shape.shape)
        if not (tau >= 0).all():
            message = "a gap is 0 or more"
            raise ValueError(message)
        is_new = np.broadcast_to(np.asarray(changed, dtype=np.bool_), self.shape.shape)
        shape, scale = self._censor(tau)
        shape, scale = np.where(is_new, shape, self.shape), np.where(is_new, scale, self.scale + tau)
        if age is not None:
            u = np.minimum(np.broadcast_to(np.asarray(age, dtype=np.float64), tau.shape), tau)
            known = is_new & ~np.isnan(u)
            shape, scale = (
                np.where(known, self.shape + 1, shape),
                np.where(known, self.scale + np.where(known, u, 0), scale),
            )
        if count is not None:
            n = np.broadcast_to(np.asarray(count, dtype=np.float64), tau.shape)
            known = ~np.isnan(n)
            shape = np.where(known, self.shape + np.where(known, n, 0), shape)
            scale = np.where(known, self.scale + tau, scale)
        return Gamma(shape, scale)

    def _censor(self, tau: Floats) -> tuple[Floats, Floats]:
        """Return shape and scale of the Gamma with the moments of the posterior after one or more
        changes in `tau`.
        """
        a, b = self.shape, self.scale
        at_once = tau / b < 1e-12  # then the posterior is that of one change at one instant
        ratio = np.log1p(np.where(at_once, 1.0, tau) / b)
        changed = np.expm1(-a * ratio)
        mean = a / b * np.expm1(-(a + 1) * ratio) / changed
        square = a * (a + 1) / b**2 * np.expm1(-(a + 2) * ratio) / changed
        variance = np.maximum(square - mean**2, np.finfo(np.float64).tiny)
        return np.where(at_once, a + 1, mean**2 / variance), np.where(at_once, b, mean / variance)

    def at(self, rows: ArrayLike | slice) -> Gamma:
        """Return the posteriors of some pages."""
        places = rows if isinstance(rows, slice) else np.asarray(rows)
        return Gamma(self.shape[places], self.scale[places])

    def put(self, rows: ArrayLike, other: Gamma) -> Gamma:
        """Return posteriors with those of some pages replaced."""
        shape, scale = self.shape.copy(), self.scale.copy()
        shape[np.asarray(rows)], scale[np.asarray(rows)] = other.shape, other.scale
        return replace(self, shape=shape, scale=scale)


def quantile(shape: float, scale: float, share: float) -> float:
    """Return the rate that a page's rate is below with probability `share` (a quantile of the Gamma
    distribution, by bisection).

    Args:
        shape: The shape of the posterior (> 0).
        scale: Its scale, a time (> 0).
        share: The probability, between 0 and 1.
    """
    low, high = 0.0, shape + 10 * math.sqrt(shape) + 50
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _below(shape, middle) < share else (low, middle)
    return high / scale


def _below(shape: float, x: float) -> float:
    """Return the regularized lower incomplete gamma function P(shape, x), by its power series (DLMF
    8.7.1).
    """
    term = total = math.exp(shape * math.log(x) - x - math.lgamma(shape + 1)) if x > 0 else 0.0
    n = shape
    while term > total * 1e-12:
        n += 1
        term *= x / n
        total += term
    return min(1.0, total)

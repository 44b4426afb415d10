"""What a page that nobody knows is taken for: like the others of its host, and the less like them the fewer they are (empirical Bayes)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidings.estimation.gamma import Floats, Gamma

PAGES = 5.0
"""A host's own pages weigh as much as all others' when there are so many of them."""
SHAPES = (0.1, 10.0)
"""A prior is neither sharper nor blunter than these shapes."""


@dataclass(frozen=True, slots=True)
class Moments:
    """First and second moment of rates, and of how many pages they are."""

    mean: float
    square: float
    pages: float

    def prior(self) -> tuple[float, float]:
        """Return shape and scale of the Gamma with these moments."""
        variance = max(self.square - self.mean**2, 1e-12 * self.mean**2)
        shape = float(np.clip(self.mean**2 / variance, *SHAPES))
        return shape, shape / self.mean


def moments(posterior: Gamma, rows: NDArray[np.intp] | slice = slice(None)) -> Moments:
    """Return the moments of the rates of some pages, their own uncertainty included (law of total variance)."""
    mean, deviation = posterior.mean[rows], posterior.deviation[rows]
    return Moments(float(mean.mean()), float((mean**2 + deviation**2).mean()), float(len(mean)))


def blend(own: Moments, others: Moments, *, pages: float = PAGES) -> Moments:
    """Return a host's moments drawn to everybody's, as if `pages` pages of everybody's were among its own."""
    total = own.pages + pages
    return Moments(
        (own.mean * own.pages + others.mean * pages) / total,
        (own.square * own.pages + others.square * pages) / total,
        total,
    )


def host_priors(
    posterior: Gamma, hosts: NDArray[np.int64], known: NDArray[np.bool_], fallback: tuple[float, float]
) -> Gamma:
    """Return a prior for each page from the pages of its host that `known` marks (looked at twice, say); `fallback` is shape and scale where nobody is known."""
    shape: Floats = np.full(len(hosts), fallback[0])
    scale: Floats = np.full(len(hosts), fallback[1])
    if not known.any():
        return Gamma(shape, scale)
    anyone = blend(moments(posterior, np.flatnonzero(known)), _of(*fallback))
    shape[:], scale[:] = anyone.prior()
    for host in np.unique(hosts[known]):
        own = moments(posterior, np.flatnonzero(known & (hosts == host)))
        here = hosts == host
        shape[here], scale[here] = blend(own, anyone).prior()
    return Gamma(shape, scale)


def _of(shape: float, scale: float) -> Moments:
    mean = shape / scale
    return Moments(mean, mean**2 + shape / scale**2, 1.0)

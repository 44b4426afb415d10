"""What a page is taken for before its own looks say more: like the others of its host, and the less like them the fewer they are (empirical
Bayes).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidings.estimation.gamma import Floats, Gamma

Which = NDArray[np.int32]
"""of several priors, each page's"""

PAGES = 5.0
"""A host's own pages weigh as much as all others' when there are so many of them."""
SHAPES = (0.1, 10.0)
"""A prior is neither sharper nor blunter than these shapes."""


def host_priors(
    posterior: Gamma, hosts: NDArray[np.int64], known: NDArray[np.bool_], fallback: Gamma
) -> tuple[Gamma, Which]:
    """Return the priors of hosts, that of everybody first, and which of them each page has.

    A host's is made of its pages that `known` marks (looked at twice, say); its moments are drawn to everybody's, as if `PAGES` of everybody's pages
    were its own, and everybody's to those of `fallback`, the one prior where nobody is known. The moments of rates are those of `posterior`,
    whose own uncertainty they include (law of total variance).
    """
    if not known.any():
        return fallback, np.zeros(len(hosts), dtype=np.int32)
    mean = posterior.mean[known]
    square = mean**2 + posterior.deviation[known] ** 2
    first = fallback.mean[0], fallback.mean[0] ** 2 + fallback.deviation[0] ** 2
    anyone = [_drawn(each.sum(), len(mean), to) for each, to in zip((mean, square), first, strict=True)]
    names, number = np.unique(hosts, return_inverse=True)
    own = number[known]
    pages = np.bincount(own, minlength=len(names))
    means, squares = (
        _drawn(np.bincount(own, each, len(names)), pages, to) for each, to in zip((mean, square), anyone, strict=True)
    )
    priors = _of_moments(np.array([anyone[0], *means]), np.array([anyone[1], *squares]))
    which = np.where(pages > 0, np.arange(1, len(names) + 1), 0)[number]
    return priors, which.astype(np.int32)


def moved(posterior: Gamma, before: Gamma, after: Gamma) -> Gamma:
    """Return posteriors that began with other priors: what looks have added stays (exact but for censored changes, where it is near)."""
    return Gamma(
        np.maximum(posterior.shape - before.shape + after.shape, SHAPES[0] / 2),
        np.maximum(posterior.scale - before.scale + after.scale, after.scale / 2),
    )


def _drawn(total: ArrayLike, pages: ArrayLike, to: ArrayLike) -> Floats:
    """Return the mean of so many pages drawn to another one."""
    return np.asarray((np.asarray(total) + np.asarray(to) * PAGES) / (np.asarray(pages) + PAGES))


def _of_moments(mean: Floats, square: Floats) -> Gamma:
    """Return the Gammas with these moments."""
    variance = np.maximum(square - mean**2, 1e-12 * mean**2)
    shape = np.clip(mean**2 / variance, *SHAPES)
    return Gamma(shape, shape / mean)

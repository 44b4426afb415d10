"""What a page is taken for before its own looks say more: like the others of its host, and the less like them the fewer they are (empirical
Bayes).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidings.estimation.gamma import Floats, Gamma

Which = NDArray[np.int32]
"""of several priors, each page's"""

PAGES: Final = 5.0
"""A host's own pages weigh as much as all others' when there are so many of them."""
QUICKEST: Final = 24.0
"""A page that changes more often a day counts for one that does not: what never looks the same says little of its neighbours."""


def host_priors(
    posterior: Gamma, hosts: NDArray[np.int64], known: NDArray[np.bool_], fallback: Gamma
) -> tuple[Gamma, Which]:
    """Return the priors of hosts, that of everybody first, and which of them each page has.

    A host's mean is that of its pages which `known` marks (looked at twice, say), drawn to everybody's as if `PAGES` of everybody's pages were its own, and everybody's is drawn
    to that of `fallback`, the one prior where nobody is known. The shape is that of `fallback`: a host tells how quick its pages are, not how alike (0042).
    """
    if not known.any():
        return fallback, np.zeros(len(hosts), dtype=np.int32)
    mean = np.minimum(posterior.mean[known], QUICKEST)
    anyone = _drawn(mean.sum(), len(mean), fallback.mean[0])
    names, number = np.unique(hosts, return_inverse=True)
    pages = np.bincount(number[known], minlength=len(names))
    means = np.append(anyone, _drawn(np.bincount(number[known], mean, len(names)), pages, anyone))
    shape = np.full(len(means), fallback.shape[0])
    which = np.where(pages > 0, np.arange(1, len(means)), 0)[number]
    return Gamma(shape, shape / means), which.astype(np.int32)


def moved(posterior: Gamma, before: Gamma, after: Gamma) -> Gamma:
    """Return posteriors that began with other priors: what looks have added stays (exact but for censored changes, where it is near)."""
    return Gamma(
        np.maximum(posterior.shape - before.shape + after.shape, after.shape / 2),
        np.maximum(posterior.scale - before.scale + after.scale, after.scale / 2),
    )


def _drawn(total: ArrayLike, pages: ArrayLike, to: ArrayLike) -> Floats:
    """Return the mean of so many pages drawn to another one."""
    return np.asarray((np.asarray(total) + np.asarray(to) * PAGES) / (np.asarray(pages) + PAGES))

"""What is learned of the rates of many pages from their looks, as arrays that go along with a policy's population (bid_and_defaults §3, §5).

One day is the unit of time of rates; instants are µs. A page that is not known yet is taken for one of its host. Its rate is the mean and one
deviation: who is not sure of a page looks sooner.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidings.estimation.gamma import Floats, Gamma, Mask
from tidings.estimation.prior import host_priors
from tidings.model.interval import DAY

NEVER_SEEN: Final = int(np.iinfo(np.int64).min)
Instants = NDArray[np.int64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Of each page: its posterior and prior (days), its host, when it was last looked at (`NEVER_SEEN`: not yet), and how many looks told something."""

    posterior: Gamma
    prior: Gamma
    hosts: NDArray[np.int64]
    seen: Instants
    looks: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class GammaLearner:
    """Learns Gamma posteriors. `mean` (changes a day) and `shape` are of the prior of all, `half_life` (days) is how fast looks are forgotten."""

    mean: float = 0.5
    shape: float = 0.1
    half_life: float = 30.0
    deviations: float = 1.0

    def begin(self, hosts: NDArray[np.int64]) -> Known:
        """Return what is known of pages that nobody has looked at."""
        prior = Gamma.prior(self.mean, self.shape, len(hosts))
        return Known(prior, prior, hosts, np.full(len(hosts), NEVER_SEEN), np.zeros(len(hosts), dtype=np.int64))

    def rates(self, known: Known) -> Floats:
        """Return the rate that each page is taken to have, changes a day."""
        return known.posterior.optimistic(self.deviations)

    def observe(
        self, known: Known, rows: Rows, at: Instants, changed: Mask, modified_at: Instants, interrupted: Mask
    ) -> Known:
        """Return what is known after looks at `rows`, each page once.

        The first look at a page is its baseline. What was `interrupted` is no interval. `modified_at` is the trusted instant of the last
        change, `NEVER_SEEN` where there is none.
        """
        last = known.seen[rows]
        tells = (last != NEVER_SEEN) & ~interrupted & (at >= last)
        gap = np.where(tells, (at - np.where(tells, last, at)) / DAY, 0.0)
        age = np.where(
            changed & (modified_at != NEVER_SEEN) & (modified_at > last) & (modified_at <= at),
            (at - modified_at) / DAY,
            np.nan,
        )
        own = known.posterior.at(rows)
        after = own.forgetting(known.prior.at(rows), gap, self.half_life).observe(gap, changed, age=age)
        after = Gamma(np.where(tells, after.shape, own.shape), np.where(tells, after.scale, own.scale))
        seen, looks = known.seen.copy(), known.looks.copy()
        seen[rows] = np.maximum(at, last)
        looks[rows] += tells
        return replace(known, posterior=known.posterior.put(rows, after), seen=seen, looks=looks)

    def arrange(self, known: Known, rows: Rows, hosts: NDArray[np.int64]) -> Known:
        """Return what is known of other pages: those at `rows` of the old ones (−1: a new page, taken for one of its host)."""
        fresh = self.begin(hosts)
        old = rows >= 0
        seen, looks = fresh.seen.copy(), fresh.looks.copy()
        seen[old], looks[old] = known.seen[rows[old]], known.looks[rows[old]]
        posterior = fresh.posterior.put(np.flatnonzero(old), known.posterior.at(rows[old]))
        prior = fresh.prior.put(np.flatnonzero(old), known.prior.at(rows[old]))
        new = np.flatnonzero(~old)
        if new.size and old.any():
            alike = host_priors(posterior, hosts, looks > 1, (self.shape, self.shape / self.mean)).at(new)
            posterior, prior = posterior.put(new, alike), prior.put(new, alike)
        return Known(posterior, prior, hosts, seen, looks)

    def remember(self, known: Known, row: int) -> dict[str, Any]:
        """Return what is known of one page, as plain JSON."""
        return {
            "shape": float(known.posterior.shape[row]),
            "scale": float(known.posterior.scale[row]),
            "seen": int(known.seen[row]),
            "looks": int(known.looks[row]),
        }

    def recall(self, known: Known, row: int, memory: Mapping[str, Any]) -> Known:
        """Return what is known with a page that is remembered; a memory that cannot be read is passed over."""
        shape, scale, seen, looks = (memory.get(name) for name in ("shape", "scale", "seen", "looks"))
        if not (
            isinstance(shape, int | float)
            and isinstance(scale, int | float)
            and isinstance(seen, int)
            and isinstance(looks, int)
        ):
            return known
        if not (0 < shape < np.inf and 0 < scale < np.inf):
            return known
        instants, counts = known.seen.copy(), known.looks.copy()
        instants[row], counts[row] = seen, looks
        own = Gamma(np.array([float(shape)]), np.array([float(scale)]))
        return replace(known, posterior=known.posterior.put([row], own), seen=instants, looks=counts)

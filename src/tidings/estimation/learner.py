"""What is learned of the rates of many pages from their looks, as arrays that go along with a policy's population (bid_and_defaults §3, §5).

One day is the unit of time of rates; instants are µs. A page that is not known yet is taken for one of its host. Its rate is the mean and one
deviation: who is not sure of a page looks sooner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidings.estimation.gamma import Floats, Gamma, Mask
from tidings.estimation.prior import host_priors
from tidings.model.interval import DAY

NEVER_SEEN: Final = int(np.iinfo(np.int64).min)
MANY: Final = 255
Instants = NDArray[np.int64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Of each page: its posterior (days), which of the `priors` it has, its host, when it was last looked at (`NEVER_SEEN`: not yet), and how many
    looks told something (`MANY` and more are not told apart).
    """

    posterior: Gamma
    priors: Gamma
    prior: NDArray[np.int32]
    hosts: NDArray[np.int64]
    seen: Instants
    looks: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class GammaLearner:
    """Learns Gamma posteriors. `mean` (changes a day) and `shape` are of the prior of all, `half_life` (days) is how fast looks are forgotten."""

    mean: float = 0.5
    shape: float = 0.1
    half_life: float = 30.0
    deviations: float = 1.0

    def begin(self, hosts: NDArray[np.int64]) -> Known:
        """Return what is known of pages that nobody has looked at."""
        size = len(hosts)
        return Known(
            Gamma.prior(self.mean, self.shape, size),
            Gamma.prior(self.mean, self.shape, 1),
            np.zeros(size, dtype=np.int32),
            hosts,
            np.full(size, NEVER_SEEN),
            np.zeros(size, dtype=np.uint8),
        )

    def rates(self, known: Known, rows: Rows | slice = slice(None)) -> Floats:
        """Return the rate that each page is taken to have, changes a day."""
        return known.posterior.at(rows).optimistic(self.deviations)

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
        after = own.forgetting(known.priors.at(known.prior[rows]), gap, self.half_life).observe(gap, changed, age=age)
        after = Gamma(np.where(tells, after.shape, own.shape), np.where(tells, after.scale, own.scale))
        seen, looks = known.seen.copy(), known.looks.copy()
        seen[rows] = np.maximum(at, last)
        looks[rows] = np.minimum(looks[rows], MANY - 1) + tells
        return replace(known, posterior=known.posterior.put(rows, after), seen=seen, looks=looks)

    def arrange(self, known: Known, rows: Rows, hosts: NDArray[np.int64]) -> Known:
        """Return what is known of other pages: those at `rows` of the old ones (−1: a new page, taken for one of its host)."""
        fresh = self.begin(hosts)
        old, new = np.flatnonzero(rows >= 0), np.flatnonzero(rows < 0)
        prior, seen, looks = fresh.prior, fresh.seen, fresh.looks
        prior[old], seen[old], looks[old] = (column[rows[old]] for column in (known.prior, known.seen, known.looks))
        posterior, priors = fresh.posterior.put(old, known.posterior.at(rows[old])), known.priors
        if new.size and old.size:
            alike = host_priors(posterior, hosts, looks > 1, (self.shape, self.shape / self.mean)).at(new)
            posterior, (more, which) = posterior.put(new, alike), _distinct(alike)
            prior[new] = len(priors.shape) + which
            priors = Gamma(np.concatenate([priors.shape, more.shape]), np.concatenate([priors.scale, more.scale]))
        used, numbers = np.unique(prior, return_inverse=True)
        return Known(posterior, priors.at(used), numbers.astype(np.int32), hosts, seen, looks)

    def remember(self, known: Known, row: int) -> dict[str, Any]:
        """Return what is known of one page, as plain JSON."""
        return {
            "shape": float(known.posterior.shape[row]),
            "scale": float(known.posterior.scale[row]),
            "seen": int(known.seen[row]),
            "looks": int(known.looks[row]),
        }

    def recall(self, known: Known, rows: Rows, memories: Sequence[Mapping[str, Any]]) -> Known:
        """Return what is known with pages that are remembered, a memory each; one that cannot be read is passed over."""
        told = [(row, memory) for row, memory in zip(rows.tolist(), memories, strict=True) if _is_readable(memory)]
        places = np.array([row for row, _ in told], dtype=np.intp)
        own = Gamma(*(np.array([memory[name] for _, memory in told], dtype=np.float64) for name in ("shape", "scale")))
        seen, looks = known.seen.copy(), known.looks.copy()
        seen[places] = [memory["seen"] for _, memory in told]
        looks[places] = [min(memory["looks"], MANY) for _, memory in told]
        return replace(known, posterior=known.posterior.put(places, own), seen=seen, looks=looks)


def _is_readable(memory: Mapping[str, Any]) -> bool:
    shape, scale, seen, looks = (memory.get(name) for name in ("shape", "scale", "seen", "looks"))
    return (
        isinstance(shape, int | float)
        and isinstance(scale, int | float)
        and 0 < shape < np.inf
        and 0 < scale < np.inf
        and isinstance(seen, int)
        and isinstance(looks, int)
        and looks >= 0
    )


def _distinct(priors: Gamma) -> tuple[Gamma, NDArray[np.int32]]:
    """Return each of the priors once, and which of these each one is."""
    pairs, which = np.unique(np.stack([priors.shape, priors.scale]), axis=1, return_inverse=True)
    return Gamma(pairs[0], pairs[1]), which.astype(np.int32)

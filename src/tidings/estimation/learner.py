"""Learned rates of many pages, as arrays parallel to a policy's population (bid §3, §5).

The unit of time of rates is one day; instants are µs. A page is assumed to be like others of its
host while its own polls say little: priors are recomputed from all pages once an hour, from what
polls have added alone, so that they do not feed on themselves and the order of pages does not
matter. A page's rate is the mean plus one deviation: an uncertain page is polled sooner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidings.estimation.gamma import Floats, Gamma, Mask
from tidings.model.interval import DAY, HOUR, NEVER, Duration
from tidings.record import dataclass, replace

Which = NDArray[np.int32]
"""the index of each page's prior"""

PAGES: Final = 5.0
"""The number of pages at which a host's own pages weigh as much as all others."""
QUICKEST: Final = 24.0
"""A page that changes more often a day is excluded from priors: a saturated page says little of its
neighbours.
"""


def host_priors(
    posterior: Gamma, hosts: NDArray[np.int64], known: NDArray[np.bool_], fallback: Gamma
) -> tuple[Gamma, Which]:
    """Return the priors of hosts, the global one first, and the prior of each page.

    A host's mean is that of its `known` pages, shrunk to the global mean with the weight of `PAGES`
    pages, which is shrunk to `fallback`. The shape is that of `fallback`: a host says how quick its
    pages are, not how alike (0042).

    Args:
        posterior: The posterior of each page's rate.
        hosts: The host of each page.
        known: Whether each page counts (polled twice, say).
        fallback: The prior if no page is known.
    """
    if not known.any():
        return fallback, np.zeros(len(hosts), dtype=np.int32)
    mean = np.minimum(posterior.mean[known], QUICKEST)
    anyone = _draw(mean.sum(), len(mean), fallback.mean[0])
    names, number = np.unique(hosts, return_inverse=True)
    pages = np.bincount(number[known], minlength=len(names))
    means = np.append(anyone, _draw(np.bincount(number[known], mean, len(names)), pages, anyone))
    shape = np.full(len(means), fallback.shape[0])
    which = np.where(pages > 0, np.arange(1, len(means)), 0)[number]
    return Gamma(shape, shape / means), which.astype(np.int32)


def move_priors(posterior: Gamma, before: Gamma, after: Gamma) -> Gamma:
    """Return posteriors under other priors: what polls have added stays (exact except for censored
    changes, where it is close).
    """
    return Gamma(
        np.maximum(posterior.shape - before.shape + after.shape, after.shape / 2),
        np.maximum(posterior.scale - before.scale + after.scale, after.scale / 2),
    )


def _draw(total: ArrayLike, pages: ArrayLike, to: ArrayLike) -> Floats:
    """Return the mean of so many pages shrunk to another one."""
    return np.asarray((np.asarray(total) + np.asarray(to) * PAGES) / (np.asarray(pages) + PAGES))


NEVER_SEEN: Final = int(np.iinfo(np.int64).min)
MANY: Final = 255
Instants = NDArray[np.int64]
Rows = NDArray[np.intp]
Spent = Callable[[Instants, Instants], Floats]
"""The time (days) passed between instants, per page: operational time if hours of the week are
known.
"""


@dataclass(frozen=True, slots=True, eq=False)
class KnownRates:
    """For each page: its posterior (days), the index of its prior in `priors`, its host, its last
    poll (`NEVER_SEEN`: none), and the number of informative polls (capped at `MANY`). `fitted_at`
    is when the priors were last computed, or `NEVER_SEEN`.
    """

    posterior: Gamma
    priors: Gamma
    prior: NDArray[np.int32]
    hosts: NDArray[np.int64]
    seen: Instants
    looks: NDArray[np.uint8]
    fitted_at: int


@dataclass(frozen=True, slots=True)
class GammaLearner:
    """Learns Gamma posteriors. `mean` (changes a day) and `shape` define the global prior,
    `half_life` (days) is how fast polls are forgotten, `fits_every` how often priors are
    recomputed, if there are polls (µs; NEVER: only new pages get the prior of their host).
    """

    mean: float = 0.5
    shape: float = 0.1
    half_life: float = 30.0
    deviations: float = 1.0
    fits_every: Duration = HOUR

    def begin(self, hosts: NDArray[np.int64]) -> KnownRates:
        """Return the knowledge of pages that were never polled."""
        size = len(hosts)
        return KnownRates(
            Gamma.prior(self.mean, self.shape, size),
            Gamma.prior(self.mean, self.shape, 1),
            np.zeros(size, dtype=np.int32),
            hosts,
            np.full(size, NEVER_SEEN),
            np.zeros(size, dtype=np.uint8),
            NEVER_SEEN,
        )

    def rates(self, known: KnownRates, rows: Rows | slice = slice(None)) -> Floats:
        """Return the assumed rate of each page, changes a day."""
        return known.posterior.at(rows).optimistic(self.deviations)

    def chances(self, known: KnownRates, rows: Rows, days: Floats) -> Floats:
        """Return the probability that each page changes within so many days."""
        return known.posterior.at(rows).chance(days)

    def observe(
        self,
        known: KnownRates,
        rows: Rows,
        at: Instants,
        changed: Mask,
        modified_at: Instants,
        interrupted: Mask,
        changes: Floats | None = None,
        *,
        spent: Spent = lambda begin, end: (end - begin) / DAY,
    ) -> KnownRates:
        """Return the knowledge after polls of `rows`, each page once.

        The first poll of a page is its baseline. An `interrupted` gap is no interval. `modified_at`
        is the trusted instant of the last change, `NEVER_SEEN` if there is none; `changes` is the
        expected number, if hints give one, else nan. Gaps and ages are measured by `spent`;
        forgetting goes by the calendar.

        Args:
            known: The knowledge before.
            at: When each page was polled (µs).
            changed: Whether the poll found a change.
        """
        last = known.seen[rows]
        tells = (last != NEVER_SEEN) & ~interrupted & (at >= last)
        begin = np.where(tells, last, at)
        is_dated = changed & (modified_at != NEVER_SEEN) & (modified_at > last) & (modified_at <= at)
        age = np.where(is_dated, spent(np.where(is_dated, modified_at, at), at), np.nan)
        own = known.posterior.at(rows)
        aged = own.forgetting(known.priors.at(known.prior[rows]), (at - begin) / DAY, self.half_life)
        after = aged.observe(spent(begin, at), changed, age=age, count=changes)
        after = Gamma(np.where(tells, after.shape, own.shape), np.where(tells, after.scale, own.scale))
        seen, looks = known.seen.copy(), known.looks.copy()
        seen[rows] = np.maximum(at, last)
        looks[rows] = np.minimum(looks[rows], MANY - 1) + tells
        return replace(known, posterior=known.posterior.put(rows, after), seen=seen, looks=looks)

    def fit(self, known: KnownRates, now: int) -> KnownRates | None:
        """Return the knowledge with recomputed priors, None while that is not due. Pages with few
        polls move the most.
        """
        if self.fits_every == NEVER or (known.fitted_at != NEVER_SEEN and now - known.fitted_at < self.fits_every):
            return None
        before = known.priors.at(known.prior)
        priors, prior = _list_used_priors(*self._priors(known.posterior, before, known.hosts, known.looks))
        posterior = move_priors(known.posterior, before, priors.at(prior))
        return replace(known, posterior=posterior, priors=priors, prior=prior, fitted_at=now)

    def _priors(
        self, posterior: Gamma, before: Gamma, hosts: NDArray[np.int64], looks: NDArray[np.uint8]
    ) -> tuple[Gamma, NDArray[np.int32]]:
        """Return the priors of hosts and the global one, as if each page had begun with the global
        prior.
        """
        everybody = Gamma.prior(self.mean, self.shape, 1)
        return host_priors(move_priors(posterior, before, everybody), hosts, looks > 1, everybody)

    def arrange(self, known: KnownRates, rows: Rows, hosts: NDArray[np.int64]) -> KnownRates:
        """Return the knowledge of other pages: those at `rows` of the old ones (−1: a new page,
        with the prior of its host).
        """
        fresh = self.begin(hosts)
        old, new = np.flatnonzero(rows >= 0), np.flatnonzero(rows < 0)
        prior, seen, looks = fresh.prior, fresh.seen, fresh.looks
        prior[old], seen[old], looks[old] = (column[rows[old]] for column in (known.prior, known.seen, known.looks))
        posterior = fresh.posterior.put(old, known.posterior.at(rows[old]))
        priors = known.priors if old.size else fresh.priors
        if new.size and old.size:
            more, which = self._priors(posterior, priors.at(prior), hosts, looks)
            posterior = posterior.put(new, more.at(which[new]))
            prior[new] = len(priors.shape) + which[new]
            priors = _join(priors, more)
        return KnownRates(posterior, *_list_used_priors(priors, prior), hosts, seen, looks, known.fitted_at)

    def remember(self, known: KnownRates, row: int) -> dict[str, Any]:
        """Return the knowledge of one page, as plain JSON."""
        return {
            "shape": float(known.posterior.shape[row]),
            "scale": float(known.posterior.scale[row]),
            "prior": [float(known.priors.shape[known.prior[row]]), float(known.priors.scale[known.prior[row]])],
            "seen": int(known.seen[row]),
            "looks": int(known.looks[row]),
        }

    def recall(self, known: KnownRates, rows: Rows, memories: Sequence[Mapping[str, Any]]) -> KnownRates:
        """Return the knowledge with restored pages, a memory each; an unreadable one is skipped."""
        told = [(row, memory) for row, memory in zip(rows.tolist(), memories, strict=True) if _is_readable(memory)]
        places = np.array([row for row, _ in told], dtype=np.intp)
        own = Gamma(*(np.array([memory[name] for _, memory in told], dtype=np.float64) for name in ("shape", "scale")))
        began = np.array([memory["prior"] for _, memory in told], dtype=np.float64).reshape(-1, 2)
        prior = known.prior.copy()
        prior[places] = len(known.priors.shape) + np.arange(len(told))
        seen, looks = known.seen.copy(), known.looks.copy()
        seen[places] = [memory["seen"] for _, memory in told]
        looks[places] = [min(memory["looks"], MANY) for _, memory in told]
        posterior, priors = known.posterior.put(places, own), _join(known.priors, Gamma(*began.T))
        return KnownRates(posterior, *_list_used_priors(priors, prior), known.hosts, seen, looks, NEVER_SEEN)


def _is_readable(memory: Mapping[str, Any]) -> bool:
    seen, looks, prior = (memory.get(name) for name in ("seen", "looks", "prior"))
    own = (memory.get("shape"), memory.get("scale"))
    return (
        isinstance(prior, list)
        and len(prior) == 2
        and all(isinstance(number, int | float) and 0 < number < np.inf for number in (*own, *prior))
        and isinstance(seen, int)
        and isinstance(looks, int)
        and looks >= 0
    )


def _join(some: Gamma, more: Gamma) -> Gamma:
    return Gamma(np.concatenate([some.shape, more.shape]), np.concatenate([some.scale, more.scale]))


def _list_used_priors(priors: Gamma, prior: NDArray[np.int32]) -> tuple[Gamma, NDArray[np.int32]]:
    """Return each prior that is in use, once, and the new index of each page's prior."""
    used, numbers = np.unique(prior, return_inverse=True)
    pairs, which = np.unique(np.stack([priors.shape[used], priors.scale[used]]), axis=1, return_inverse=True)
    return Gamma(pairs[0], pairs[1]), which[numbers].astype(np.int32)

"""Learned rates of many pages, as arrays parallel to a policy's population (bid §3, §5).

The unit of time of rates is one day; instants are µs. A page is assumed to be like others of its
host while its own polls say little: priors are recomputed from all pages once an hour, from what
polls have added alone, so that they do not feed on themselves and the order of pages does not
matter. A page's rate is the mean plus one deviation: an uncertain page is polled sooner.

The posterior of a rate is a Gamma, in closed form (scheduling §7). A poll after a gap τ that finds
a change says only that there was one or more (censored): the posterior is a mixture, replaced by
the Gamma of equal mean and variance (assumed density filtering). A trusted instant of the last
change, or a number of changes, is exact. Time may be operational: the integral of a profile. All
arrays are in the order of the pages, 64 bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidings.model.interval import DAY, HOUR, NEVER, Duration
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
        share = 0.5 ** (np.asarray(elapsed, dtype=np.float64) / half_life)
        return Gamma(prior.shape + share * (self.shape - prior.shape), prior.scale + share * (self.scale - prior.scale))

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
    polls: NDArray[np.uint8]
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
        is_known = (last != NEVER_SEEN) & ~interrupted & (at >= last)
        begin = np.where(is_known, last, at)
        is_dated = changed & (modified_at != NEVER_SEEN) & (modified_at > last) & (modified_at <= at)
        age = np.where(is_dated, spent(np.where(is_dated, modified_at, at), at), np.nan)
        own = known.posterior.at(rows)
        aged = own.forgetting(known.priors.at(known.prior[rows]), (at - begin) / DAY, self.half_life)
        after = aged.observe(spent(begin, at), changed, age=age, count=changes)
        after = Gamma(np.where(is_known, after.shape, own.shape), np.where(is_known, after.scale, own.scale))
        seen, polls = known.seen.copy(), known.polls.copy()
        seen[rows] = np.maximum(at, last)
        polls[rows] = np.minimum(polls[rows], MANY - 1) + is_known
        return replace(known, posterior=known.posterior.put(rows, after), seen=seen, polls=polls)

    def fit(self, known: KnownRates, now: int) -> KnownRates | None:
        """Return the knowledge with recomputed priors, None while that is not due. Pages with few
        polls move the most.
        """
        if self.fits_every == NEVER or (known.fitted_at != NEVER_SEEN and now - known.fitted_at < self.fits_every):
            return None
        before = known.priors.at(known.prior)
        priors, prior = _list_used_priors(*self._priors(known.posterior, before, known.hosts, known.polls))
        posterior = move_priors(known.posterior, before, priors.at(prior))
        return replace(known, posterior=posterior, priors=priors, prior=prior, fitted_at=now)

    def _priors(
        self, posterior: Gamma, before: Gamma, hosts: NDArray[np.int64], polls: NDArray[np.uint8]
    ) -> tuple[Gamma, NDArray[np.int32]]:
        """Return the priors of hosts and the global one, as if each page had begun with the global
        prior.
        """
        everybody = Gamma.prior(self.mean, self.shape, 1)
        return host_priors(move_priors(posterior, before, everybody), hosts, polls > 1, everybody)

    def arrange(self, known: KnownRates, rows: Rows, hosts: NDArray[np.int64]) -> KnownRates:
        """Return the knowledge of other pages: those at `rows` of the old ones (−1: a new page,
        with the prior of its host).
        """
        fresh = self.begin(hosts)
        old, new = np.flatnonzero(rows >= 0), np.flatnonzero(rows < 0)
        prior, seen, polls = fresh.prior, fresh.seen, fresh.polls
        prior[old], seen[old], polls[old] = (column[rows[old]] for column in (known.prior, known.seen, known.polls))
        posterior = fresh.posterior.put(old, known.posterior.at(rows[old]))
        priors = known.priors if old.size else fresh.priors
        if new.size and old.size:
            more, which = self._priors(posterior, priors.at(prior), hosts, polls)
            posterior = posterior.put(new, more.at(which[new]))
            prior[new] = len(priors.shape) + which[new]
            priors = _join(priors, more)
        return KnownRates(posterior, *_list_used_priors(priors, prior), hosts, seen, polls, known.fitted_at)

    def remember(self, known: KnownRates, row: int) -> dict[str, Any]:
        """Return the knowledge of one page, as plain JSON."""
        return {
            "shape": float(known.posterior.shape[row]),
            "scale": float(known.posterior.scale[row]),
            "prior": [float(known.priors.shape[known.prior[row]]), float(known.priors.scale[known.prior[row]])],
            "seen": int(known.seen[row]),
            "looks": int(known.polls[row]),
        }

    def recall(self, known: KnownRates, rows: Rows, memories: Sequence[Mapping[str, Any]]) -> KnownRates:
        """Return the knowledge with restored pages, a memory each; an unreadable one is skipped."""
        readable = [(row, memory) for row, memory in zip(rows.tolist(), memories, strict=True) if _is_readable(memory)]
        places = np.array([row for row, _ in readable], dtype=np.intp)
        own = Gamma(
            *(np.array([memory[name] for _, memory in readable], dtype=np.float64) for name in ("shape", "scale"))
        )
        began = np.array([memory["prior"] for _, memory in readable], dtype=np.float64).reshape(-1, 2)
        prior = known.prior.copy()
        prior[places] = len(known.priors.shape) + np.arange(len(readable))
        seen, polls = known.seen.copy(), known.polls.copy()
        seen[places] = [memory["seen"] for _, memory in readable]
        polls[places] = [min(memory["looks"], MANY) for _, memory in readable]
        posterior, priors = known.posterior.put(places, own), _join(known.priors, Gamma(*began.T))
        return KnownRates(posterior, *_list_used_priors(priors, prior), known.hosts, seen, polls, NEVER_SEEN)


def _is_readable(memory: Mapping[str, Any]) -> bool:
    seen, polls, prior = (memory.get(name) for name in ("seen", "looks", "prior"))
    own = (memory.get("shape"), memory.get("scale"))
    return (
        isinstance(prior, list)
        and len(prior) == 2
        and all(isinstance(number, int | float) and 0 < number < np.inf for number in (*own, *prior))
        and isinstance(seen, int)
        and isinstance(polls, int)
        and polls >= 0
    )


def _join(some: Gamma, more: Gamma) -> Gamma:
    return Gamma(np.concatenate([some.shape, more.shape]), np.concatenate([some.scale, more.scale]))


def _list_used_priors(priors: Gamma, prior: NDArray[np.int32]) -> tuple[Gamma, NDArray[np.int32]]:
    """Return each prior that is in use, once, and the new index of each page's prior."""
    used, numbers = np.unique(prior, return_inverse=True)
    pairs, which = np.unique(np.stack([priors.shape[used], priors.scale[used]]), axis=1, return_inverse=True)
    return Gamma(pairs[0], pairs[1]), which[numbers].astype(np.int32)

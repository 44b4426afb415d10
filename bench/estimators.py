"""Measure how well estimators predict the next poll, on fixed random gaps (scheduling §7).

    PYTHONPATH=. TIDINGS_DATA_SETS=DIR .venv/bin/python bench/estimators.py [--quick] [--seeds 3] [--pages 600]

Prints log-loss, and calibration by decile. All estimators learn from the same polls, which none of
them chooses. Chances are kept from 1e-6 to 1 − 1e-6.

- Synthetic: 3000 pages of 100 hosts, log rates with deviation 1 between hosts and 0.7 within, gaps
  exponential with mean 11. The next poll is predicted after 3, 10 and 30 polls. The study does not
  print the middle of its rates; `--middle` is where its oracle's .424 is met.
- Real: pages of the half of `change_traces` that is reported (see bench/traces.py). Gaps are
  exponential with a mean of four of their source's steps, at least one. After 3, 10 and 30 polls
  the next five are predicted from what is then known.
- Hours: pages that change by day, and real ones, polled at random. For hosts for which
  `HourlyLearner` has found a profile, the second half of the polls is predicted, each poll before
  it is learned.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from bench.traces import load
from numpy.typing import ArrayLike

from tidings.estimation.hourly import HourlyLearner, Profile
from tidings.estimation.learner import NEVER_SEEN, Floats, Gamma, GammaLearner, host_priors
from tidings.lab.traces import is_calibrated_on
from tidings.model.interval import DAY, HOUR

AFTER = (3, 10, 30)
FASTEST = 1e6
"""What a rate is where every poll found a change and likelihood has no maximum: as fast as this per shortest gap."""
PRINTED = {
    "Cho and Garcia-Molina": (1.001, 0.580, 0.470),
    "maximum likelihood": (1.261, 0.597, 0.459),
    "  with pseudo-gaps": (0.779, 0.515, 0.449),
    "Gamma, prior of all": (0.541, 0.502, 0.463),
    "Gamma, host prior": (0.509, 0.476, 0.449),
    "oracle": (0.424, 0.426, 0.432),
}


@dataclass(frozen=True)
class Polls:
    """Gaps (pages, polls), whether each found a change, and the pages' hosts."""

    gaps: np.ndarray
    changed: np.ndarray
    hosts: np.ndarray


Chances = Callable[[Polls, np.ndarray], np.ndarray]
"""From polls to the chances that gaps (pages, number) to come hold a change."""


def likelihood(polls: Polls, pseudo: float | None) -> np.ndarray:
    """Return the likeliest rate of each page, Σ_{changed} τ/(e^{λτ} − 1) = Σ_{unchanged} τ."""
    gaps, changed = polls.gaps, polls.changed
    if pseudo is not None:
        extra = np.full((len(gaps), 2), pseudo)
        gaps = np.hstack([gaps, extra])
        changed = np.hstack([changed, np.tile([True, False], (len(gaps), 1))])
    rest = np.where(changed, 0, gaps).sum(axis=1)
    low, high = np.full(len(gaps), 1e-9), FASTEST / gaps.min(axis=1)
    with np.errstate(over="ignore"):
        for _ in range(60):
            middle = np.sqrt(low * high)
            pull = np.where(changed, gaps / np.expm1(middle[:, None] * gaps), 0).sum(axis=1)
            low, high = np.where(pull > rest, middle, low), np.where(pull > rest, high, middle)
    return np.where(changed.any(axis=1), np.where(rest > 0, low, FASTEST / gaps.min(axis=1)), 0.0)


def maximum(pseudo: float | None) -> Chances:
    return lambda polls, coming: -np.expm1(-likelihood(polls, pseudo)[:, None] * coming)


def cho(polls: Polls, coming: np.ndarray) -> np.ndarray:
    """Cho and Garcia-Molina's estimator takes gaps for their mean."""
    number = polls.gaps.shape[1]
    rate = -np.log((number - polls.changed.sum(axis=1) + 0.5) / (number + 0.5)) / polls.gaps.mean(axis=1)
    return np.asarray(-np.expm1(-rate[:, None] * coming))


def learn(polls: Polls, prior: Gamma, half_life: float | None) -> Gamma:
    known = prior
    for gap, changed in zip(polls.gaps.T, polls.changed.T, strict=True):
        known = (known if half_life is None else known.forgetting(prior, gap, half_life)).observe(gap, changed)
    return known


def oracle(rate: np.ndarray) -> Chances:
    """Return the chances of who knows the rates."""
    return lambda _, coming: -np.expm1(-rate[:, None] * coming)


def gamma(mean: float, shape: float, half_life: float | None, *, by_host: bool = False) -> Chances:
    def chances(polls: Polls, coming: np.ndarray) -> np.ndarray:
        prior = Gamma.prior(mean, shape, len(polls.gaps))
        known = learn(polls, prior, half_life)
        if by_host:
            priors, which = host_priors(known, polls.hosts, np.ones(len(polls.hosts), dtype=np.bool_), prior.at([0]))
            known = learn(polls, priors.at(which), half_life)
        return np.array([known.chance(gap) for gap in coming.T]).T

    return chances


def live(polls: Polls, coming: np.ndarray) -> np.ndarray:
    """What the service has: the learner, one poll after the other, priors found anew in between and none learned again."""
    learner = GammaLearner()
    known = learner.begin(polls.hosts)
    pages = np.arange(len(polls.hosts))
    at = np.concatenate([np.zeros((len(pages), 1)), np.cumsum(polls.gaps, axis=1)], axis=1)
    never, quiet = np.full(len(pages), NEVER_SEEN), np.zeros(len(pages), dtype=np.bool_)
    for number in range(at.shape[1]):
        instants = np.round(at[:, number] * DAY).astype(np.int64)
        changed = polls.changed[:, number - 1] if number else quiet
        known = learner.observe(known, pages, instants, changed, never, quiet)
        known = learner.fit(known, number * DAY) or known
    return np.array([known.posterior.chance(gap) for gap in coming.T]).T


def mixture(mean: float, shape: float) -> Chances:
    def chances(polls: Polls, coming: np.ndarray) -> np.ndarray:
        prior = Gamma.prior(mean, shape, len(polls.gaps))
        known = Mixture.of(prior, (1.0, 8.0, 64.0))
        for gap, changed in zip(polls.gaps.T, polls.changed.T, strict=True):
            known = known.observe(prior, gap, gap, changed)
        return np.array([known.chance(gap) for gap in coming.T]).T

    return chances


def loss(chance: np.ndarray, changed: np.ndarray) -> np.ndarray:
    """Return the log-loss of each page."""
    sure = np.clip(chance, 1e-6, 1 - 1e-6)
    return np.asarray(-np.where(changed, np.log(sure), np.log1p(-sure)).mean(axis=1))


def study(mean: float) -> dict[str, Chances]:
    """Return the estimators of the study's table; `mean` is that of their priors."""
    return {
        "Cho and Garcia-Molina": cho,
        "maximum likelihood": maximum(None),
        "  with pseudo-gaps": maximum(0.5),
        "Gamma, prior of all": gamma(mean, 0.5, None),
        "Gamma, host prior": gamma(mean, 0.5, None, by_host=True),
    }


def synthetic(seeds: int, middle: float, pages: int) -> None:
    found: dict[str, list[list[float]]] = {}
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        hosts = rng.integers(0, 100, pages)
        rate = np.exp(np.log(middle) + rng.normal(0, 1, 100)[hosts] + rng.normal(0, 0.7, pages))
        gaps = rng.exponential(11, (pages, max(AFTER) + 1))
        changed = rng.random(gaps.shape) < -np.expm1(-rate[:, None] * gaps)
        rows = study(float(rate.mean())) | {"oracle": oracle(rate)}
        for name, chances in rows.items():
            cells = []
            for number in AFTER:
                polls = Polls(gaps[:, :number], changed[:, :number], hosts)
                coming = slice(number, number + 1)
                cells.append(float(loss(chances(polls, gaps[:, coming]), changed[:, coming]).mean()))
            found.setdefault(name, []).append(cells)
    print(
        f"synthetic, {pages} pages, {seeds} seeds: log-loss of the next poll after {AFTER} polls ± its standard error; the study's"
    )
    for name, rows_ in found.items():
        values = np.array(rows_)
        error = values.std(axis=0, ddof=1) / np.sqrt(seeds) if seeds > 1 else np.zeros(3)
        print(
            f"{name:24} "
            + "  ".join(f"{m:.3f}±{e:.3f}" for m, e in zip(values.mean(axis=0), error, strict=True))
            + f"   {PRINTED[name]}"
        )


def real(most: int, *, calibration: bool) -> None:
    rng = np.random.default_rng(1)
    need = max(AFTER) + 5
    series = [one for one in load(help_scraper=0.05) if is_calibrated_on(one.group) == calibration]
    gaps_, changed_, hosts = [], [], []
    kinds: list[str] = []
    for place in rng.permutation(len(series)).tolist():
        one = series[place]
        gaps = one.step * (1 + rng.exponential(3, need))
        if gaps.sum() > one.end - one.begin or (kinds.count(one.kind) >= most):
            continue
        start = one.begin + rng.uniform(0, one.end - one.begin - gaps.sum())
        counts = np.searchsorted(one.changes, start + np.concatenate([[0], np.cumsum(gaps)]), side="right")
        gaps_.append(gaps / DAY)
        changed_.append(np.diff(counts) > 0)
        hosts.append(one.group)
        kinds.append(one.kind)
    gaps, changed, of = np.array(gaps_), np.array(changed_), np.array(kinds)
    number = np.unique(np.array(hosts), return_inverse=True)[1]
    rows: dict[str, Chances] = {
        "Cho and Garcia-Molina": cho,
        "maximum likelihood": maximum(None),
        "  with pseudo-gaps": maximum(0.5),
        "Gamma(.4), 30 d": gamma(0.5, 0.4, 30.0),
        "Gamma(.2), 30 d": gamma(0.5, 0.2, 30.0),
        "Gamma(.1), 30 d": gamma(0.5, 0.1, 30.0),
        "Gamma(.1), host, 30 d": gamma(0.5, 0.1, 30.0, by_host=True),
        "  as the service has it": live,
        "Gamma(.1), never": gamma(0.5, 0.1, None),
        "Gamma(.1), 180 d": gamma(0.5, 0.1, 180.0),
        "mixture 1/8/64 d (.4)": mixture(0.5, 0.4),
        "mixture 1/8/64 d (.1)": mixture(0.5, 0.1),
    }
    print(
        f"\nreal, {'calibration' if calibration else 'reported'} half, {len(gaps)} pages of {len(set(hosts))} groups, log-loss of the next five polls after {AFTER} polls: each page alike; each kind alike"
    )
    weights = np.array([1 / np.sum(of == kind) for kind in of])
    for name, chances in rows.items():
        cells, even = [], []
        for polled in AFTER:
            polls = Polls(gaps[:, :polled], changed[:, :polled], number)
            coming = slice(polled, polled + 5)
            own = loss(chances(polls, gaps[:, coming]), changed[:, coming])
            cells.append(own.mean())
            even.append((own * weights).sum() / weights.sum())
        print(
            f"{name:24} "
            + "  ".join(f"{cell:.3f}" for cell in cells)
            + "    "
            + "  ".join(f"{cell:.3f}" for cell in even)
        )
    for name in ("Gamma(.4), 30 d", "Gamma(.1), 30 d", "mixture 1/8/64 d (.1)"):
        deciles(name, rows[name], gaps, changed, number)


def deciles(name: str, chances: Chances, gaps: np.ndarray, changed: np.ndarray, hosts: np.ndarray) -> None:
    """Print predictions and outcomes, by tenths of the predictions, after ten polls."""
    coming = slice(10, 15)
    predicted = chances(Polls(gaps[:, :10], changed[:, :10], hosts), gaps[:, coming]).ravel()
    came = changed[:, coming].ravel()
    parts = np.array_split(np.argsort(predicted), 10)
    print(
        f"calibration of {name}, predicted/came: "
        + " ".join(f"{predicted[part].mean():.3f}/{came[part].mean():.3f}" for part in parts)
    )


def by_day(rng: np.random.Generator, pages: int, polls: int) -> tuple[Polls, np.ndarray]:
    """Return polls of pages of twenty hosts that change by day, nineteen times as often as by night, and when the first ones were (days)."""
    hosts = rng.integers(0, 20, pages)
    shift = rng.integers(0, 24, 20)[hosts]
    rate = np.exp(rng.normal(0.5, 1, pages))
    at = np.cumsum(rng.exponential(0.25, (pages, polls + 1)), axis=1)

    def clock(days: np.ndarray) -> np.ndarray:
        whole, within = np.divmod(days - shift[:, None] / 24, 1)
        return whole + np.where(within < 0.5, 1.9 * within, 0.95 + 0.1 * (within - 0.5))

    spent = np.diff(clock(at), axis=1)
    changed = rng.random(spent.shape) < -np.expm1(-rate[:, None] * spent)
    return Polls(np.diff(at, axis=1), changed, hosts), at[:, 0]


def of_traces(rng: np.random.Generator, polls: int) -> tuple[Polls, np.ndarray]:
    """Return polls of the pages of `change_traces` (both halves: nothing is chosen here) that change ten times at least while they are polled."""
    gaps_, changed_, hosts, begins = [], [], [], []
    for one in load(help_scraper=0.05):
        gaps = np.maximum(one.step, HOUR) * (1 + rng.exponential(2, polls))
        if gaps.sum() > one.end - one.begin:
            continue
        start = one.begin + rng.uniform(0, one.end - one.begin - gaps.sum())
        counts = np.searchsorted(one.changes, start + np.concatenate([[0], np.cumsum(gaps)]), side="right")
        if counts[-1] - counts[0] >= 10:
            gaps_.append(gaps / DAY)
            changed_.append(np.diff(counts) > 0)
            hosts.append(one.group)
            begins.append(start / DAY)
    number = np.unique(np.array(hosts), return_inverse=True)[1]
    return Polls(np.array(gaps_), np.array(changed_), number), np.array(begins)


def hours(name: str, polls: Polls, begin: np.ndarray) -> None:
    """Print how well the second half of the polls is predicted where a profile of hours is learned,
    in calendar time and by the hours.
    """
    calendar, hourly = GammaLearner(), HourlyLearner()
    rates, timed = calendar.begin(polls.hosts), hourly.begin(polls.hosts)
    pages, number = np.arange(len(polls.hosts)), polls.gaps.shape[1]
    at = np.round(
        (begin[:, None] + np.concatenate([np.zeros((len(pages), 1)), np.cumsum(polls.gaps, axis=1)], axis=1)) * DAY
    ).astype(np.int64)
    never, quiet = np.full(len(pages), NEVER_SEEN), np.zeros(len(pages), dtype=np.bool_)
    lost: dict[str, list[np.ndarray]] = {}
    for poll in range(number + 1):
        changed = polls.changed[:, poll - 1] if poll else quiet
        if poll > number // 2 and (known := timed.which >= 0).any():
            gap = polls.gaps[:, poll - 1]
            spent = np.array(
                [
                    Profile.of(timed.profiles[w]).measure_elapsed(a, b) / DAY if w >= 0 else (b - a) / DAY
                    for w, a, b in zip(timed.which, at[:, poll - 1], at[:, poll], strict=True)
                ]
            )
            for row, chance in {
                "rates and gaps of the calendar": rates.posterior.chance(gap),
                "rates of the calendar, gaps of the hours": rates.posterior.chance(spent),
                "rates and gaps of the hours": timed.rates.posterior.chance(spent),
            }.items():
                lost.setdefault(row, []).append(loss(chance[known, None], changed[known, None]))
        rates = calendar.observe(rates, pages, at[:, poll], changed, never, quiet)
        timed = hourly.observe(timed, pages, at[:, poll], changed, never, quiet)
        latest = int(at[:, poll].max())
        rates, timed = calendar.fit(rates, latest) or rates, hourly.fit(timed, latest) or timed
    print(
        f"\n{name}: {len(pages)} pages, {sum(map(len, next(iter(lost.values()), [])))} polls of those with a profile are predicted"
    )
    first = np.concatenate(next(iter(lost.values()), [np.empty(0)]))
    for row, parts in lost.items():
        own = np.concatenate(parts)
        less = own - first
        print(f"{row:42} {own.mean():.4f}   {less.mean():+.4f} ± {less.std() / np.sqrt(len(less)):.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--middle", type=float, default=0.05)
    parser.add_argument("--pages", type=int, default=150, help="at most so many real pages of each kind")
    given = parser.parse_args()
    synthetic(2 if given.quick else given.seeds, given.middle, 1000 if given.quick else 3000)
    hours("synthetic, by day", *by_day(np.random.default_rng(3), 60 if given.quick else 200, 200))
    hours("change_traces", *of_traces(np.random.default_rng(4), 150))
    for calibration in (True, False):
        real(40 if given.quick else given.pages, calibration=calibration)


SHARE = 0.01
"""The least weight of each memory, so that a wrong one can recover."""


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """Posteriors of the same pages with different half-lives, and their weights, shape (memories,
    pages).
    """

    parts: tuple[Gamma, ...]
    half_lives: tuple[float, ...]
    weights: Floats

    @classmethod
    def of(cls, prior: Gamma, half_lives: tuple[float, ...]) -> Mixture:
        """Return a mixture in which every memory has the prior and the same weight."""
        number = len(half_lives)
        return cls((prior,) * number, half_lives, np.full((number, len(prior.shape)), 1 / number))

    @property
    def mean(self) -> Floats:
        """Return the expected rates."""
        return np.asarray(sum(w * part.mean for w, part in zip(self.weights, self.parts, strict=True)))

    def chance(self, gap: ArrayLike) -> Floats:
        """Return the probability that each page changes within a gap."""
        return np.asarray(sum(w * part.chance(gap) for w, part in zip(self.weights, self.parts, strict=True)))

    def observe(self, prior: Gamma, elapsed: ArrayLike, gap: ArrayLike, changed: ArrayLike) -> Mixture:
        """Return the mixture after polls: first forgetting, then reweighting by prediction, then
        the observation.
        """
        aged = [
            part.forgetting(prior, elapsed, half_life)
            for part, half_life in zip(self.parts, self.half_lives, strict=True)
        ]
        likely = np.array([np.where(changed, p, 1 - p) for p in (part.chance(gap) for part in aged)])
        weights = self.weights * np.maximum(likely, 1e-12)
        weights = weights / weights.sum(axis=0)
        number = len(self.parts)
        weights = SHARE / number + (1 - SHARE) * weights
        return Mixture(tuple(part.observe(gap, changed) for part in aged), self.half_lives, weights)


if __name__ == "__main__":
    main()

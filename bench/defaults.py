"""Measure polls and delays by kind of page without any setting, beginning with nothing known (bid §3).

    PYTHONPATH=. TIDINGS_DATA_SETS=DIR .venv/bin/python bench/defaults.py [--quick] [--seed 1] [--days 60] [--pages 60]

The policy `price` runs at its floor, with the pace of one hour and what `GammaLearner` learns from
the polls alone. It polls up to `--pages` pages of each kind of `change_traces` (see bench/traces.py
for which, and which changes count). Each page has its own clock: no budget binds, so pages do not
compete. Polls are at least 5 minutes and at most a day apart. A fixed interval of 3 h stands beside
it. Changes are known only to the interval of their source, so delays below it mean nothing. The
last lines draw users with 20 pages each. `--quick`: 10 pages of each kind, 20 days.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from bench.traces import load

from tidings.estimation.learner import GammaLearner
from tidings.lab.traces import Series, follow, outcome, page_equal, quantile, windows
from tidings.model.interval import DAY
from tidings.scheduling.learned import Learned
from tidings.scheduling.ledger import Polls
from tidings.scheduling.paced.turns import RoundRobin
from tidings.scheduling.policy import Policy
from tidings.scheduling.price.policy import Price

HOUR = DAY // 24
SHORTEST = HOUR // 12
EVEN = 3 * HOUR


def run(policy: Policy[Any], series: Sequence[Series]) -> Polls:
    return follow(policy, series, shortest=SHORTEST, rng=np.random.default_rng(0))


def daily(polls: Polls, series: Sequence[Series], begin: int, end: int) -> np.ndarray:
    """Return the polls a day of each page from `begin` to `end` days after its beginning (whole, or from its end if negative)."""
    first, last = np.array([one.begin for one in series]), np.array([one.end for one in series])
    low = first + begin * DAY if begin >= 0 else np.maximum(first, last + begin * DAY)
    high = np.minimum(last, first + end * DAY)
    own = (polls.at > low[polls.page]) & (polls.at <= high[polls.page])
    return np.bincount(polls.page[own], minlength=len(series)) / np.maximum((high - low) / DAY, 1e-9)


def cells(own: Sequence[Series], learned: Polls, even: Polls) -> str:
    found, fixed = outcome(own, learned), outcome(own, even)
    ones = np.ones(len(found.delay))
    p50, p90 = (quantile(found.delay, ones, q) / HOUR for q in (0.5, 0.9))
    merged = 1 - fixed.alone.mean() if len(fixed.alone) else float("nan")
    return (
        f"{daily(learned, own, 0, 10**4).mean():6.1f} ({daily(learned, own, -7, 10**4).mean():6.1f})  {p50:6.2f} / {p90:6.2f} h  "
        f"fixed: {quantile(fixed.delay, ones, 0.5) / HOUR:5.2f} h, {merged:4.0%} merged (learned {1 - found.alone.mean() if len(ones) else float('nan'):4.0%})"
    )


def parts(polls: Polls, places: np.ndarray) -> Polls:
    """Return the polls of some pages, numbered anew."""
    numbers = np.full(int(polls.page.max(initial=0)) + int(places.max()) + 2, -1)
    numbers[places] = np.arange(len(places))
    page = numbers[polls.page]
    return Polls(polls.at[page >= 0], page[page >= 0], polls.cost[page >= 0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--shape", type=float, default=GammaLearner().shape, help="of the prior")
    given = parser.parse_args()
    days, most = (20, 10) if given.quick else (given.days, given.pages)
    rng = np.random.default_rng(given.seed)
    moved = windows(load(help_scraper=0.05), days * DAY, rng, least=14 * DAY)
    by_kind: dict[str, list[Series]] = {}
    for place in rng.permutation(len(moved)).tolist():
        own = by_kind.setdefault(moved[place].kind, [])
        if len(own) < most:
            own.append(moved[place])
    series = [one for kind in sorted(by_kind) for one in by_kind[kind]]
    series.append(Series(-1, -1, "never changes", np.zeros(0, dtype=np.int64), 0, days * DAY, HOUR))
    learned = run(Learned(Price(pace=HOUR), GammaLearner(shape=given.shape)), series)
    even = run(RoundRobin(pace=EVEN), series)
    print(f"{'kind (pages)':48} polls a day (last week), delay p50 / p90")
    kinds = np.array([one.kind for one in series])
    for kind in sorted(set(kinds.tolist())):
        places = np.flatnonzero(kinds == kind)
        own = [series[place] for place in places]
        print(f"{kind:40} ({len(own):4})  {cells(own, parts(learned, places), parts(even, places))}")
    still = [
        daily(parts(learned, np.array([len(series) - 1])), series[-1:], day, day + 1)[0]
        for day in (0, 6, 29)
        if day < days
    ]
    print("never changes, polls on day 1, 7, 30: " + ", ".join(f"{polls:.0f}" for polls in still))
    others = np.arange(len(series) - 1)
    counts = {kind: sum(one.kind == kind for one in moved) for kind in by_kind}
    users(series[:-1], parts(learned, others), parts(even, others), counts, rng)


def users(
    series: Sequence[Series], learned: Polls, even: Polls, counts: dict[str, int], rng: np.random.Generator
) -> None:
    """Print polls a page a day of users with 20 pages drawn by lot."""
    whole, first = daily(learned, series, 0, 10**4), daily(learned, series, 0, 1)
    names, kinds, own = np.unique([one.kind for one in series], return_inverse=True, return_counts=True)
    likely = np.array([counts[name] for name in names.tolist()])[kinds] / own[kinds]
    likely = likely / likely.sum()
    by_kind = [np.flatnonzero(kinds == kind) for kind in range(kinds.max() + 1)]
    ordinary = np.array([len(one.changes) / ((one.end - one.begin) / DAY) < 20 for one in series])
    print("users with 20 pages, polls a page a day: mean, 95th percentile of users; on day one (bars: 20, 30)")
    for name, draw in (
        ("pages of the data set", lambda: rng.choice(len(series), 20, p=likely)),
        ("kinds of page alike", lambda: np.array([rng.choice(by_kind[k]) for k in rng.integers(0, len(by_kind), 20)])),
    ):
        drawn = [draw() for _ in range(500)]
        means, ones = (np.array([values[places].mean() for places in drawn]) for values in (whole, first))
        print(
            f"  {name:24} {means.mean():5.1f} {np.quantile(means, 0.95):5.1f}   {ones.mean():5.1f} {np.quantile(ones, 0.95):5.1f}"
        )
    print(
        f"  pages that change less than 20 times a day: {whole[ordinary].mean():.1f}, on day one {first[ordinary].mean():.1f}"
    )
    both = [outcome(series, polls) for polls in (learned, even)]
    for name, found in zip(("learned", "fixed 3 h"), both, strict=True):
        weights = (np.ones(len(found.delay)), page_equal(found))
        print(
            f"  {name:10} polls {found.spent:8}  median delay "
            + ", page-equal ".join(f"{quantile(found.delay, w, 0.5) / HOUR:.2f} h" for w in weights)
        )


if __name__ == "__main__":
    main()

"""Compare policies on real traces of changes at equal budgets, with crawlers and a bound by hindsight.

    PYTHONPATH=. TIDINGS_DATA_SETS=DIR .venv/bin/python bench/traces.py [--quick] [--seed 1] [--days 60] [--part 1] [--help-scraper]

Pages are those of `change_traces`. Changes are those of their visible text: raw HTML and RSS where
the record says which raw changes are such (other raw HTML is left out). Publishers' own commits are
left out, since they have no polls to take a share of. Groups are split by a hash. On one half the
intervals of Nutch, StormCrawler, the Best Effort Algorithm and the fixed interval are chosen (for
value at a half-life of a day). Everything is reported on the other half. `lab/traces.py` has the
rules of a run. No policy polls more often than the source did. At these ticks a host could take
hundreds of polls 5 s apart, so host limits never bind.

- `price` fills what its price leaves over, as the service does.
- `price_lab` does too, but has neither guard 5 nor a longest wait: it gives up urgent rare pages,
  as the bare model says.
- `price_hours` also learns hours of the week.
- `wic` and `index` have no price: each tick's budget goes to the pages that bid most.

`closed` is the part of the best crawler's distance to the bound that `price` takes.
`--help-scraper` adds an eighth of the groups of simonw/help-scraper. `--feeds`: only the series of
releases and vendors, and as many feeds from a generator (`lab/generate.feeds`). `--quick`: a
quarter of the groups, 30 days.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.data_sets import path_of
from tidings.estimation.hourly import HourlyLearner
from tidings.estimation.learner import GammaLearner
from tidings.lab.generate import feeds
from tidings.lab.policies.baselines import Nutch, StormCrawler
from tidings.lab.policies.freshness import Index, LambdaCrawl
from tidings.lab.traces import (
    Series,
    TraceOutcome,
    hindsight_bound,
    interval,
    is_calibrated_on,
    outcome,
    page_equal,
    quantile,
    replay,
    resamples,
    windows,
    worth,
)
from tidings.model.interval import DAY, HOUR, NEVER, SECOND
from tidings.scheduling.learned import Learned
from tidings.scheduling.paced.best_effort import BestEffort
from tidings.scheduling.paced.turns import RoundRobin
from tidings.scheduling.policy import Policy, UrgencyKind
from tidings.scheduling.price.hours import PriceHours
from tidings.scheduling.price.policy import Price
from tidings.scheduling.price.wic import Wic

FAR = 3_650 * DAY
SHARES = (1 / 4, 1 / 16, 1 / 64)
HALF_LIVES = {"1 h": HOUR, "1 d": DAY, "7 d": 7 * DAY}
PACE = 600 * SECOND  # the floor of prices, low enough that the budget always binds
FEEDS = ("product release page (extracted JSON)", "vendor security JSON/RSS", "vendor JSON/RSS")
RAW = ("terms page, raw HTML", "news RSS feed")


def rows(name: str) -> Iterator[dict[str, str]]:
    with gzip.open(path_of(f"change_traces/{name}"), "rt") as file:
        yield from csv.DictReader(file)


def load(*, help_scraper: float = 0.0) -> list[Series]:
    """Return all series that are fit for this, on their own time lines."""
    pages = {int(row["page_id"]): row for row in rows("pages.csv.gz")}
    sizes: dict[str, int] = {}
    for row in pages.values():
        sizes[row["source_repo"]] = sizes.get(row["source_repo"], 0) + 1
    seen: dict[int, list[int]] = {}
    for row in rows("text_change_times.csv.gz"):
        times = seen.setdefault(int(row["page_id"]), [])
        if row["visible_text_changed"] == "1":
            times.append(int(row["unix_time"]))
    raw: dict[int, list[int]] = {}
    with gzip.open(path_of("change_traces/change_times.csv.gz"), "rt") as file:
        next(file)
        for line in file:
            page, at, event, _ = line.split(",", 3)
            if event != "D":
                raw.setdefault(int(page), []).append(int(at))
    return [
        made
        for page, row in pages.items()
        if _is_fit(page, row, seen, help_scraper)
        and (made := _series(page, row, seen.get(page, raw.get(page, [])), sizes[row["source_repo"]])) is not None
    ]


def _is_fit(page: int, row: dict[str, str], seen: dict[int, list[int]], help_scraper: float) -> bool:
    if row["observer"] != "scraper" or (row["kind"] in RAW and page not in seen):
        return False
    if row["source_repo"] == "simonw/help-scraper":
        return bool(np.random.default_rng(int(row["group_id"])).random() < help_scraper)
    return True


def _series(page: int, row: dict[str, str], times: Sequence[int], siblings: int) -> Series | None:
    begin, end = int(row["first_seen"]) * SECOND, int(row["observed_until"]) * SECOND
    declared, ran = float(row["poll_declared_s"] or 0), float(row["run_gap_median_s"] or 0)
    step = max(declared, ran) if siblings >= 8 or not declared else declared
    if step <= 0 or end <= begin:
        return None
    changes = np.unique(np.array(times, dtype=np.int64)) * SECOND
    return Series(
        page,
        int(row["group_id"]),
        row["kind"],
        changes[(changes > begin) & (changes < end)],
        begin,
        end,
        round(step * SECOND),
    )


@dataclass
class Half:
    """One half of the groups under one budget."""

    series: list[Series]
    share: float
    tick: int

    @property
    def budget(self) -> float:
        """Return how many polls may be spent."""
        return self.share * sum((one.end - one.begin) / one.step for one in self.series)

    def run(
        self,
        policy: Policy[Any],
        half_life: int | None = None,
        rates: np.ndarray | None = None,
        *,
        saves: bool = True,
        fills: bool = False,
    ) -> TraceOutcome:
        """Return what a policy finds; `rates` are given to one that does not learn."""
        size = len(self.series)
        columns = {"importance": np.ones(size)}
        if half_life is not None:
            columns["urgency_kind"] = np.full(size, UrgencyKind.EXPONENTIAL)
            columns["urgency_scale"] = np.full(size, half_life)
        if rates is not None:
            columns["rate"] = rates
        polls = replay(
            policy,
            self.series,
            share=self.share,
            tick=self.tick,
            rng=np.random.default_rng(0),
            columns=columns,
            saves=saves,
            fills=fills,
        )
        return outcome(self.series, polls)

    def rates(self) -> np.ndarray:
        """Return the changes a day that each page has while it is there."""
        return np.array([len(one.changes) / max((one.end - one.begin) / DAY, 1e-9) for one in self.series])


def capture(found: TraceOutcome, half_life: int, weights: np.ndarray | None = None) -> float:
    w = np.ones(len(found.delay)) if weights is None else weights
    return float((worth(found.delay, half_life) * w).sum() / w.sum())


Made = Callable[[], Policy[Any]]


def grids(half: Half) -> dict[str, dict[str, Made]]:
    """Return the parameters that are tried; the even interval at which the budget is spent gives the scale."""
    even = round(len(half.series) * max(one.end for one in half.series) / max(half.budget, 1))
    found: dict[str, dict[str, Made]] = {"fixed": {}, "nutch": {}, "stormcrawler": {}, "best_effort": {}}
    for part in (0.5, 1.0):
        pace = round(even * part)
        found["fixed"][f"{pace / HOUR:.0f} h"] = lambda pace=pace: RoundRobin(pace=pace)
    for most in (1.5, 16.0):
        for least in (1 / 256, 1 / 64, 1 / 8):
            low, high = round(even * least), round(even * most)
            name = f"{low / HOUR:.1f} h to {high / HOUR:.0f} h"
            found["nutch"][name] = lambda low=low, high=high: Nutch(pace=even, least=low, most=high)
            found["stormcrawler"][name] = lambda low=low, high=high: StormCrawler(pace=even, least=low, most=high)
        for first in (1 / 4, 1.0):
            pace, high = round(even * first), round(even * most)
            name = f"from {pace / HOUR:.0f} h, to {high / HOUR:.0f} h"
            found["best_effort"][name] = lambda pace=pace, high=high: BestEffort(pace=pace, shortest=PACE, longest=high)
    return found


def calibrate(half: Half) -> dict[str, tuple[str, Made]]:
    """Return of each crawler the row with the most value at a half-life of a day on this half."""
    chosen = {}
    for name, grid in grids(half).items():
        values = {key: capture(half.run(made()), DAY) for key, made in grid.items()}
        best = max(values, key=lambda key: values[key])
        chosen[name] = (best, grid[best])
    return chosen


def learn_policy(policy: Policy[Any]) -> Policy[Any]:
    return Learned(policy, GammaLearner())


def line(name: str, half: Half, found: TraceOutcome, half_life: int, bound: float) -> str:
    even = page_equal(found)
    ones = np.ones(len(found.delay))
    hours = [quantile(found.delay, w, q) / HOUR for w in (ones, even) for q in (0.5, 0.9)]
    return (
        f"{name:13} value {capture(found, half_life):.3f} page-equal {capture(found, half_life, even):.3f}  "
        f"delay p50/p90 {hours[0]:7.2f}/{hours[1]:7.1f} h  page-equal {hours[2]:7.1f}/{hours[3]:7.1f} h  "
        f"alone {found.alone.mean():.3f}  polls {found.spent / half.budget:.2f}  of bound {capture(found, half_life) * len(found.delay) / bound:.3f}"
    )


class Ratios:
    """Ratios between outcomes on the same series, with intervals by resampling groups."""

    def __init__(self, half: Half, times: int, seed: int) -> None:
        self._groups = np.unique([one.group for one in half.series], return_inverse=True)[1]
        self._draws = resamples(self._groups, times, np.random.default_rng(seed))
        self._pages = len(half.series)

    def _sums(self, found: TraceOutcome, values: np.ndarray) -> np.ndarray:
        by_group = np.bincount(self._groups[found.page], weights=values, minlength=self._draws.shape[1])
        return np.concatenate([[by_group.sum()], self._draws @ by_group])

    def values(self, one: TraceOutcome, other: TraceOutcome, half_life: int, *, even: bool) -> str:
        """Return the ratio of values, each page alike if `even`, with its interval."""
        a, b = (
            self._sums(found, worth(found.delay, half_life) * (page_equal(found) if even else 1.0))
            for found in (one, other)
        )
        return _ratio(a / b)

    def delays(self, one: TraceOutcome, other: TraceOutcome, *, even: bool) -> str:
        """Return the ratio of median delays, each page alike if `even`, with its interval."""

        def medians(found: TraceOutcome) -> np.ndarray:
            base = page_equal(found) if even else np.ones(len(found.delay))
            order = np.argsort(found.delay, kind="stable")
            own = self._groups[found.page[order]]
            sorted_delay, base = found.delay[order], base[order]
            rows = []
            for draw in [np.ones(self._draws.shape[1]), *self._draws]:
                total = np.cumsum(base * draw[own])
                rows.append(sorted_delay[np.searchsorted(total, total[-1] / 2)])
            return np.array(rows, dtype=float)

        return _ratio(medians(one) / np.maximum(medians(other), 1))


def _ratio(values: np.ndarray) -> str:
    low, high = interval(values[1:])
    return f"{values[0]:.2f} [{low:.2f}, {high:.2f}]"


def kinds(half: Half, outcomes: dict[str, TraceOutcome], half_life: int) -> None:
    """Print value by kind of page."""
    names = np.array([one.kind for one in half.series])
    print(f"{'kind':45} {'pages':>5} {'changes':>7}  " + " ".join(f"{name:>9.9}" for name in outcomes))
    for kind in sorted(set(names)):
        own = names == kind
        cells = []
        for found in outcomes.values():
            mine = own[found.page]
            cells.append(f"{worth(found.delay[mine], half_life).mean():9.3f}" if mine.any() else " " * 9)
        changes = sum(len(one.changes) for one, is_own in zip(half.series, own, strict=True) if is_own)
        print(f"{kind:45} {own.sum():5} {changes:7}  " + " ".join(cells))


def compare(calibration: Half, half: Half, given: argparse.Namespace) -> None:
    """Print the tables of one budget."""
    chosen = calibrate(calibration)
    print(
        f"\n## budget 1/{1 / half.share:.0f} of the sources' polls: {half.budget:.0f} polls; "
        + "; ".join(f"{k}: {v[0]}" for k, v in chosen.items())
    )
    fixed = {name: half.run(made()) for name, (_, made) in chosen.items()}
    fixed["lambda_crawl"] = half.run(learn_policy(LambdaCrawl(pace=PACE, longest=FAR)), fills=True)
    ratios = Ratios(half, given.resamples, given.seed)
    for label, half_life in HALF_LIVES.items():
        if given.quick and label != "1 d":
            continue
        bound = hindsight_bound(half.series, half_life, half.budget)
        outcomes = {
            "price": half.run(learn_policy(Price(pace=PACE, longest=FAR)), half_life, fills=True),
            "price_lab": half.run(learn_policy(Price(pace=PACE, guarded=False)), half_life, fills=True),
            "price_hours": half.run(
                Learned(PriceHours(pace=PACE, longest=FAR), HourlyLearner()), half_life, fills=True
            ),
            "index": half.run(learn_policy(Index(pace=1, longest=FAR)), half_life, saves=False),
            "wic": half.run(learn_policy(Wic(pace=1, longest=FAR)), half_life, saves=False),
            **fixed,
            "oracle": half.run(Price(pace=PACE, longest=FAR), half_life, half.rates()),
        }
        print(f"\n### half-life {label}")
        for name, found in outcomes.items():
            print(line(name, half, found, half_life, bound))
        for even in (False, True):
            verdicts(half, outcomes, ratios, half_life, bound, even=even)
        if label == "1 d":
            kinds(half, outcomes, half_life)
        print(flush=True)


def verdicts(
    half: Half, outcomes: dict[str, TraceOutcome], ratios: Ratios, half_life: int, bound: float, *, even: bool
) -> None:
    """Print what stands to the promises: ratios of each form of `price` to the best crawler, WIC, LambdaCrawl and the fixed interval."""
    most = bound / sum(len(one.changes) for one in half.series)
    values = {name: capture(found, half_life, page_equal(found) if even else None) for name, found in outcomes.items()}
    best = max(("nutch", "stormcrawler", "best_effort"), key=lambda name: values[name])
    weighted = "page-equal" if even else "change-weighted"
    for own in ("price", "price_lab", "price_hours"):
        cells = [
            f"{other} {ratios.values(outcomes[own], outcomes[other], half_life, even=even)}"
            for other in (best, "wic", "lambda_crawl", "fixed")
        ]
        closed = "" if even else f"  closed {(values[own] - values[best]) / (most - values[best]):.2f}"
        print(f"{weighted} value of {own} over: " + "  ".join(cells) + closed)
        delays = ratios.delays(outcomes[own], outcomes["fixed"], even=even)
        print(f"{weighted} median delay of {own} over fixed: {delays}")


def priors(half: Half) -> None:
    """Print what `price` captures by what is believed of a page that nobody knows, on the half for calibration."""
    for shape, deviations, fits in (
        (0.4, 1.0, HOUR),
        (0.2, 1.0, HOUR),
        (0.1, 1.0, HOUR),
        (0.1, 1.0, NEVER),
        (0.05, 1.0, HOUR),
        (0.1, 0.0, HOUR),
        (0.1, 2.0, HOUR),
    ):
        learner = GammaLearner(shape=shape, deviations=deviations, fits_every=fits)
        policy = Learned(Price(pace=PACE, longest=FAR), learner)
        found = half.run(policy, DAY, fills=True)
        even = page_equal(found)
        print(
            f"1/{1 / half.share:.0f}, half-life 1 d, Gamma({shape}), {deviations:.0f} deviations, "
            f"host prior {'for new pages' if fits == NEVER else 'hourly'}: "
            f"value {capture(found, DAY):.3f} page-equal {capture(found, DAY, even):.3f}",
            flush=True,
        )


def stretches(half: Half) -> None:
    """Print what `price` captures by how long pages may wait at most, in parts of the even interval, on the half for calibration."""
    even = round(len(half.series) * max(one.end for one in half.series) / max(half.budget, 1))
    for part in (1.1, 1.5, 2.0, 4.0, 8.0, None):
        longest = FAR if part is None else round(even * part)
        found = half.run(learn_policy(Price(pace=PACE, longest=longest)), DAY, fills=True)
        weights = page_equal(found)
        print(
            f"1/{1 / half.share:.0f}, half-life 1 d, longest wait {'any' if part is None else f'{part} x {even / HOUR:.0f} h'}: "
            f"value {capture(found, DAY):.3f} page-equal {capture(found, DAY, weights):.3f} "
            f"p90 of delays, page-equal {quantile(found.delay, weights, 0.9) / HOUR:.0f} h",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--help-scraper", action="store_true")
    parser.add_argument("--feeds", action="store_true", help="release and vendor series, and as many generated feeds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--tick", type=int, default=30, help="minutes")
    parser.add_argument("--part", type=float, default=1.0, help="share of the groups that is used")
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument("--priors", action="store_true", help="only compare priors, on the half for calibration")
    parser.add_argument(
        "--stretches", action="store_true", help="only compare longest waits, on the half for calibration"
    )
    parser.add_argument("--shares", type=int, nargs="*", default=[4, 16, 64], help="budgets, one over these")
    given = parser.parse_args()
    days, part = (30, 0.25) if given.quick else (given.days, given.part)
    began = time.process_time()
    rng = np.random.default_rng(given.seed)
    everything = load(help_scraper=1 / 8 if given.help_scraper else 0.0)
    if given.feeds:
        everything = [one for one in everything if one.kind in FEEDS]
        groups = max(one.group for one in everything) + 1
        made = feeds(len(everything), days, rng)
        everything += [replace(one, page=groups + one.page, group=groups + one.group) for one in made]
    if part < 1:
        kept = {group for group in sorted({one.group for one in everything}) if rng.random() < part}
        everything = [one for one in everything if one.group in kept]
    series = windows(everything, days * DAY, rng, least=7 * DAY)
    first = [one for one in series if is_calibrated_on(one.group)]
    second = [one for one in series if not is_calibrated_on(one.group)]
    for name, half in (("calibrated on", first), ("reported", second)):
        print(
            f"{name}: {len(half)} pages of {len({one.group for one in half})} groups, {sum(len(one.changes) for one in half)} changes in {days} days"
        )
    for share in given.shares:
        if given.priors or given.stretches:
            (priors if given.priors else stretches)(Half(first, 1 / share, given.tick * 60 * SECOND))
            continue
        compare(
            Half(first, 1 / share, given.tick * 60 * SECOND), Half(second, 1 / share, given.tick * 60 * SECOND), given
        )
        print(f"({time.process_time() - began:.0f} s of CPU so far)", flush=True)


if __name__ == "__main__":
    main()

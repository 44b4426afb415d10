"""Run the closed loop of scheduling §7: policies that learn from their own polls.

    PYTHONPATH=. .venv/bin/python bench/study_closed_loop.py [--seeds 4] [--until 1500]

Oracles and the printed values stand beside them. 2,000 pages, rates lognormal(−4.5, 1.5) an
instant, changes appended, C polls an instant that cannot be saved. Policies see only "changed or
not". A change is worth r^delay. The figure is the share of the value of all changes of the last two
thirds of the instants (500–1500, as in the study). Polls go on for 300 instants more, so that the
last changes count as the first. An instant is a day on the policies' clock. The policies are those
of the live service, run by `lab/traces.replay`. The study does not print the bounds of crawlers:
here all begin with the interval of uniform polls, none polls sooner than after an instant, and
StormCrawler waits at most 14 times the uniform interval. Nobody forgets, because rates are steady.
The prior has the rates' true mean, and the default shape (.1) or a sharp one (1). Pages have no
hosts.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from bench.intervals import interval
from bench.traces import FAR

from tidings.estimation.learner import GammaLearner
from tidings.lab.policies.baselines import Nutch, StormCrawler
from tidings.lab.policies.freshness import Index
from tidings.lab.traces import Series, outcome, replay
from tidings.model.interval import DAY, NEVER, SECOND
from tidings.scheduling.learned import Learned
from tidings.scheduling.paced.best_effort import BestEffort
from tidings.scheduling.paced.turns import RoundRobin
from tidings.scheduling.policy import Policy, UrgencyKind
from tidings.scheduling.price.policy import Price
from tidings.scheduling.price.wic import Wic

PAGES = 2_000
MIDDLE, DEVIATION = -4.5, 1.5
MEAN = math.exp(MIDDLE + DEVIATION**2 / 2)
SETTINGS = ((40, 0.98), (10, 0.98), (40, 0.80))
PRINTED = {
    "uniform": (".636", ".248", ".099"),
    "Nutch": (".753", ".309", ".182"),
    "Nutch, at most 4 × uniform": (".753", ".309", ".182"),
    "StormCrawler": (".738", ".305", ".164"),
    "BEA": (".690", ".263", ".126"),
    "learned WIC": (".683", ".302", ".183"),
    "learned index, mean": (".784", ".489", ".307"),
    "learned index, mean + 1 sd": (".787", ".489", ".394"),
    "learned WIC, Gamma(1)": (".683", ".302", ".183"),
    "learned index, mean, Gamma(1)": (".784", ".489", ".307"),
    "learned index, + 1 sd, Gamma(1)": (".787", ".489", ".394"),
    "oracle WIC": (".727", ".487", ".378"),
    "oracle index": (".794", ".551", ".409"),
    "learned price, mean + 1 sd": ("–", "–", "–"),
}
RUN_OUT = 300
"""Instants after the last change that is counted."""
LATER = ".790/.530/.398, oracle .792/.548/.407"


def make_pages(rng: np.random.Generator, until: int) -> tuple[list[Series], np.ndarray]:
    """Return pages and their rates. Changes lie within the second before the instant in which they are seen."""
    rates = rng.lognormal(MIDDLE, DEVIATION, PAGES)
    series = []
    for page, rate in enumerate(rates.tolist()):
        instants = rng.integers(1, until + RUN_OUT + 1, rng.poisson(rate * (until + RUN_OUT)))
        changes = np.unique(instants * DAY - rng.integers(0, SECOND, len(instants)))
        series.append(Series(page, page, "", changes, 0, (until + RUN_OUT + 1) * DAY, DAY))
    return series, rates


def learning(policy: Policy[Any], deviations: float, shape: float = 0.1) -> Policy[Any]:
    learner = GammaLearner(mean=MEAN, shape=shape, half_life=1e9, deviations=deviations, fits_every=NEVER)
    return Learned(policy, learner)


def policies(even: int) -> dict[str, Callable[[], Policy[Any]]]:
    """Return who runs; `even` is the interval at which all pages can be polled alike."""
    return {
        "uniform": lambda: RoundRobin(pace=even),
        "Nutch": lambda: Nutch(pace=even, least=DAY, most=FAR),
        "Nutch, at most 4 × uniform": lambda: Nutch(pace=even, least=DAY, most=4 * even),
        "StormCrawler": lambda: StormCrawler(pace=even, least=DAY, most=14 * even),
        "BEA": lambda: BestEffort(pace=even, shortest=DAY, longest=FAR, saturation=0, trial=0),
        "learned WIC": lambda: learning(Wic(pace=1, longest=FAR), 0.0),
        "learned index, mean": lambda: learning(Index(pace=1, longest=FAR), 0.0),
        "learned index, mean + 1 sd": lambda: learning(Index(pace=1, longest=FAR), 1.0),
        "learned WIC, Gamma(1)": lambda: learning(Wic(pace=1, longest=FAR), 0.0, 1.0),
        "learned index, mean, Gamma(1)": lambda: learning(Index(pace=1, longest=FAR), 0.0, 1.0),
        "learned index, + 1 sd, Gamma(1)": lambda: learning(Index(pace=1, longest=FAR), 1.0, 1.0),
        "oracle WIC": lambda: Wic(pace=1, longest=FAR),
        "oracle index": lambda: Index(pace=1, longest=FAR),
        "learned price, mean + 1 sd": lambda: learning(Price(pace=DAY // 100, longest=FAR), 1.0),
    }


def share(
    name: str,
    policy: Policy[Any],
    series: list[Series],
    rates: np.ndarray,
    capacity: int,
    ratio: float,
    counted: tuple[int, int],
) -> float:
    """Return the share of the value of the changes of these instants that polls captured."""
    columns: dict[str, Any] = {
        "importance": np.ones(PAGES),
        "urgency_kind": np.full(PAGES, UrgencyKind.EXPONENTIAL),
        "urgency_scale": np.full(PAGES, round(DAY * math.log(2) / -math.log(ratio))),
    }
    if name.startswith("oracle"):
        columns["rate"] = rates
    fills = name.startswith("learned price")
    polls = replay(
        policy,
        series,
        share=(capacity + 1e-6) / PAGES,  # so that C polls are not C − 1 for want of the last digit
        tick=DAY,
        rng=np.random.default_rng(0),
        columns=columns,
        saves=fills,
        fills=fills,
    )
    found = outcome(series, polls)
    changes = np.concatenate([one.changes for one in series])
    value = np.where(changes + found.delay < series[0].end, ratio ** (found.delay // DAY), 0.0)
    return float(value[(changes > counted[0] * DAY) & (changes <= counted[1] * DAY)].mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--until", type=int, default=1500)
    parser.add_argument("--only", nargs="*", default=[""], help="policies whose name has one of these")
    given = parser.parse_args()
    print(
        f"{PAGES} pages, {given.until} instants, {given.seeds} seeds; the study's in brackets; after 4000 instants {LATER}"
    )
    counted = (given.until // 3, given.until)
    for place, (capacity, ratio) in enumerate(SETTINGS):
        shares: dict[str, list[float]] = {}
        began = time.process_time()
        for seed in range(given.seeds):
            series, rates = make_pages(np.random.default_rng(seed), given.until)
            for name, policy in policies(round(PAGES / capacity * DAY)).items():
                if any(part in name for part in given.only):
                    shares.setdefault(name, []).append(share(name, policy(), series, rates, capacity, ratio, counted))
        print(f"\nC = {capacity}, r = {ratio} ({time.process_time() - began:.0f} s of CPU)")
        for name, values in shares.items():
            print(f"  {name:32} {interval(values)} ({PRINTED[name][place]})", flush=True)


if __name__ == "__main__":
    main()

"""Measure what change-indicating signals are worth (scheduling §6), and what a flood of hints costs.

    PYTHONPATH=. .venv/bin/python bench/signals.py [--seeds 8] [--pages 1500] [--instants 800]

Pages change as Poisson processes. 30 of them are polled an instant. The figure is the weighted
share of pages that are fresh. The study prints its four figures without its rates, recalls and
noises. They are drawn here: rates lognormal about one change in 55 instants (sd of the log 1.0),
weights exponential, recall uniform in [0, 1], noise lognormal about a third of the mean rate (sd
1.5). `learned` begins with the prior and knows rates, but no recall and no noise. It learns these
for each host of 15 pages, as the service does (`watch.hints`), by `estimation.evidence`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from tests.unit.service.watch.test_hints import count_polls
from tidings.clock import HOUR
from tidings.estimation.evidence import Hints, Trust, judge
from tidings.scheduling.index import worth
from tidings.service.watch.hints import HintTracker

POLLS = 30
HOST = 15
PRINTED = {"uniform": 0.623, "index, no signals": 0.714, "index, weighed": 0.777, "signalled first": 0.500}


class Web:
    """Pages, what happens on them, and their hints. Recall and noise are those of a host."""

    def __init__(self, rng: np.random.Generator, pages: int) -> None:
        self.rng = rng
        self.rate = np.exp(rng.normal(np.log(1 / 55), 1.0, pages))
        self.weight = rng.exponential(1.0, pages)
        self.host = np.arange(pages) // HOST
        hosts = self.host[-1] + 1
        self.recall = rng.uniform(0, 1, hosts)[self.host]
        self.noise = (self.rate.mean() / 3 * np.exp(rng.normal(0, 1.5, hosts)))[self.host]
        self.fresh = np.ones(pages, dtype=np.bool_)
        self.age = np.zeros(pages)
        self.signals = np.zeros(pages, dtype=np.int64)

    def step(self) -> None:
        """Let an instant pass."""
        changes = self.rng.poisson(self.rate)
        self.fresh &= changes == 0
        self.signals += self.rng.binomial(changes, self.recall) + self.rng.poisson(self.noise)
        self.age += 1

    def poll(self, rows: np.ndarray) -> None:
        """Poll pages."""
        self.fresh[rows], self.age[rows], self.signals[rows] = True, 0.0, 0

    def extra(self, recall: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Return by how much one signal makes each page older: ln(γ/ν)/Δ."""
        return np.log1p(self.rate * recall / np.maximum(noise, 1e-12)) / self.rate

    def bids(self, age: np.ndarray) -> np.ndarray:
        """Return the index of freshness, W·(1 − (1 + Δt)e^−Δt)/Δ, at an effective age."""
        return self.weight * worth(self.rate * age) / self.rate


Choose = Callable[[Web], np.ndarray]


def uniform(web: Web) -> np.ndarray:
    return web.age + 1e-9 * web.rng.uniform(size=len(web.age))


def index(web: Web) -> np.ndarray:
    return web.bids(web.age)


def weigh_signals(web: Web) -> np.ndarray:
    return web.bids((1 - web.recall) * web.age + web.signals * web.extra(web.recall, web.noise))


def obey_signals(web: Web) -> np.ndarray:
    return np.where(web.signals > 0, 1e9 + web.signals + web.age / 1e3, web.age)


class Learned:
    """What the service does: means for hints, what is almost sure for silence."""

    def __init__(self, web: Web) -> None:
        self.trust = [Trust() for _ in range(int(web.host[-1]) + 1)]
        self.refresh(web)

    def refresh(self, web: Web) -> None:
        """Take over what is believed of each page's host."""
        hints = [each.hints for each in self.trust]
        self.recall = np.array([one.recall for one in hints])[web.host]
        self.noise = np.array([one.noise for one in hints])[web.host]
        self.sure = np.array([each.sure for each in self.trust])[web.host]

    def __call__(self, web: Web) -> np.ndarray:
        """Return the bids."""
        late = np.maximum(0.0, self.recall - self.sure) * web.age
        extra = np.maximum(0.0, web.signals * web.extra(self.recall, self.noise) - late)
        return web.bids((1 - self.sure) * web.age + np.where(web.signals > 0, extra, 0.0))

    def note(self, web: Web, rows: np.ndarray) -> None:
        """Learn from polls of pages before they are made."""
        for row in rows.tolist():
            host = int(web.host[row])
            count, gap = int(web.signals[row]), float(web.age[row])
            seen = judge(web.rate[row], gap, [(self.trust[host].hints, count)], changed=not web.fresh[row])
            announced = seen.announced[0]
            self.trust[host] = self.trust[host].add(
                announced=announced, missed=seen.changes - announced, false=count - announced, days=gap
            )
        self.refresh(web)


def run(seed: int, pages: int, instants: int, name: str) -> float:
    """Return the weighted freshness of one rule, the first quarter left out."""
    web = Web(np.random.default_rng(seed), pages)
    learned = Learned(web) if name == "index, learned" else None
    choose: Choose = learned or RULES[name]
    total, count = 0.0, 0
    for instant in range(instants):
        web.step()
        best = np.argpartition(-choose(web), POLLS)[:POLLS]
        if learned is not None:
            learned.note(web, best)
        web.poll(best)
        if instant >= instants // 4:
            total += float((web.weight * web.fresh).sum() / web.weight.sum())
            count += 1
    return total / count


RULES: dict[str, Choose] = {
    "uniform": uniform,
    "index, no signals": index,
    "index, weighed": weigh_signals,
    "signalled first": obey_signals,
}


def costs(polls: int = 20_000) -> None:
    """Print what a hint and the poll after it cost in the service's memory; the median of several runs, by the clock of this process."""
    tracker = HintTracker(lambda page: f"host{page % 50}.example")
    spent = []
    for turn in range(5):
        began = time.process_time()
        for page in range(polls):
            at = (turn * 20 + 1) * HOUR + page
            tracker.note(page % 2_000, "api", at)
            tracker.extra_age(page % 2_000, 1.0, since=at)
            tracker.begin(page % 2_000, at + 1)
            tracker.judge(page % 2_000, at + 2, gap=HOUR, rate=1.0, changed=bool(page % 2))
        spent.append((time.process_time() - began) / polls)
    plain = []
    for _ in range(5):
        began = time.process_time()
        for page in range(polls):
            tracker.begin(100_000, page)
            tracker.judge(100_000, page, gap=HOUR, rate=1.0, changed=False)
        plain.append((time.process_time() - began) / polls)
    print(
        f"a hint and the poll after it {1e6 * sorted(spent)[2]:.0f} µs, a poll of a page without hints {1e6 * sorted(plain)[2]:.1f} µs"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--pages", type=int, default=1_500)
    parser.add_argument("--instants", type=int, default=800)
    asked = parser.parse_args()
    print(
        f"weighted freshness, {asked.pages} pages, {POLLS} polls an instant, mean and 95 % interval of {asked.seeds} seeds"
    )
    for name in ["uniform", "index, no signals", "index, weighed", "index, learned", "signalled first"]:
        found = np.array([run(seed, asked.pages, asked.instants, name) for seed in range(asked.seeds)])
        half = 1.96 * found.std(ddof=1) / np.sqrt(asked.seeds)
        printed = f"{PRINTED[name]:.3f}" if name in PRINTED else "  –"
        print(f"{name:20}  {found.mean():.3f} ± {half:.3f}   printed {printed}", flush=True)
    for flood in (0, 48, 10_000):
        made = ", ".join(map(str, count_polls(flood)))
        print(f"polls a day of a page that never changes, {flood:,} hints a day that it has: {made}")
    costs()
    hints = Hints(recall=0.5, noise=1.0)
    print("one hint, recall ½, one for nothing a day, makes a page of 0.02, 0.5, 5 changes a day older by", end=" ")
    print(", ".join(f"{24 * hints.extra_age(rate):.1f}" for rate in (0.02, 0.5, 5.0)), "hours")


if __name__ == "__main__":
    main()

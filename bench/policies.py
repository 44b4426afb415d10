"""Every row of `policies.py` in one world, at one budget: what each is good at.

    PYTHONPATH=. .venv/bin/python bench/policies.py [--seeds 5] [--pages 120] [--days 20]

Pages change by chance at steady rates (lognormal, median once a day, deviation 1.5), matter .1 to 1 (uniform), and the budget pays for four looks
a page a day, of which twenty can be saved up. Policies that read rates are told the true ones; the others begin with four looks a day, best_effort,
nutch and stormcrawler learn from there. All costs are 1, no hours, no hosts that bind: `price_hours` is then `price`, `lambda_crawl_polite` is
`lambda_crawl`, and `medd` is `round_robin`; they are left out.

Fresh: the share of time in which the last version seen is the page's own; value: of all changes, each worth ½^(delay/1 day); both weighted by what
pages matter. Alone: changes that a look found as the only new one. Delays in hours, each change or each page the same.
"""

from __future__ import annotations

import argparse

import numpy as np
from bench.intervals import interval

from tidings.clock import DAY, HOUR, MINUTE
from tidings.scheduling.budget import TokenBucket
from tidings.scheduling.expected import RATE
from tidings.scheduling.ledger import Ledger
from tidings.scheduling.policies import POLICIES
from tidings.scheduling.policy import Floats, Population, Prices
from tidings.scheduling.simulator import World, simulate
from tidings.scheduling.trace import Trace, make_trace

LOOKS = 4
"""a page a day"""
ALIKE = {"price_hours", "lambda_crawl_polite", "medd"}
COLUMNS = ("fresh", "value", "alone", "delay p50", "page-equal", "looks used")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--pages", type=int, default=120)
    parser.add_argument("--days", type=int, default=20)
    given = parser.parse_args()
    print(f"{given.seeds} seeds: mean ± half of the 95 % interval\n")
    print(f"| policy | {' | '.join(COLUMNS)} |\n|---|{'---:|' * len(COLUMNS)}")
    for name in sorted(set(POLICIES) - ALIKE):
        found = [measured(name, given.pages, given.days, seed) for seed in range(given.seeds)]
        print(f"| `{name}` | {' | '.join(interval(column) for column in zip(*found, strict=True))} |", flush=True)


def measured(name: str, pages: int, days: int, seed: int) -> tuple[float, ...]:
    """Return the columns of a row in one world."""
    rng = np.random.default_rng(seed)
    rates, importance = rng.lognormal(0, 1.5, pages), rng.uniform(0.1, 1, pages)
    times = {page: rng.integers(0, days * DAY, rng.poisson(rate * days)) for page, rate in enumerate(rates.tolist())}
    trace = make_trace(times, start=0, end=days * DAY)
    first = -rng.integers(0, DAY // LOOKS, pages)
    population = Population(
        {"id": np.arange(pages), RATE: rates, "importance": importance, "last_polled": first, "cost": np.ones(pages)}
    )
    policy = POLICIES[name](10 * MINUTE if RATE in POLICIES[name](HOUR).reads else DAY // LOOKS)
    budget = LOOKS * pages / DAY
    state = policy.begin(population, np.random.default_rng(seed))
    price = policy.market(state, budget).price if isinstance(policy, Prices) else 0.0
    bucket = TokenBucket(rate=LOOKS * pages / 86_400, burst=20.0, level=10.0, at=0)
    world = World(population=population, trace=trace, bucket=bucket, tick=10 * MINUTE, price=price)
    ledger = simulate(policy, world, rng=np.random.default_rng(seed))
    weights = importance[ledger.page] * 0.5 ** (ledger.delay / DAY)
    all_of_it = sum(importance[page] * len(trace.of(page)) for page in range(pages))
    return (
        _fresh(trace, ledger, importance, first),
        float(weights.sum() / all_of_it),
        float((ledger.found == 1).sum() / len(trace.times)),
        ledger.delay_quantile(0.5) / HOUR,
        ledger.page_delay_quantile(0.5) / HOUR,
        ledger.spent / (budget * days * DAY),
    )


def _fresh(trace: Trace, ledger: Ledger, importance: Floats, first: np.ndarray) -> float:
    """Return the share of time, weighted, from one look to the next until the first change after it."""
    stale = np.zeros(len(importance))
    for page in range(len(importance)):
        looks = np.concatenate([first[page : page + 1], ledger.polls.at[ledger.polls.page == page], [trace.end]])
        changes = trace.of(page)
        after = np.searchsorted(changes, looks[:-1], side="right")
        begins = np.where(
            after < len(changes),
            changes[np.minimum(after, max(len(changes) - 1, 0))] if len(changes) else trace.end,
            trace.end,
        )
        stale[page] = np.maximum(looks[1:] - begins, 0).sum()
    return 1 - float((importance * stale).sum() / importance.sum() / (trace.end - trace.start))


if __name__ == "__main__":
    main()

"""Compare policies in one synthetic world, at one budget. The entry point of `tidings lab`.

Pages change randomly at steady rates (lognormal, median once a day, deviation 1.5), have
importances of .1 to 1 (uniform), and the budget pays for four polls a page a day, of which twenty
can be saved up. Policies that read rates get the true ones; the others begin with four polls a day,
and those that learn intervals learn from there. All costs are 1, without hours and without binding
hosts: there `price_hours` is `price`, `lambda_crawl_polite` is `lambda_crawl`, and `medd` is
`round_robin`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidings.lab.gardener.medd import Medd
from tidings.lab.policies.baselines import Cam, Lottery, Nutch, PeriodicPolling, StormCrawler
from tidings.lab.policies.freshness import Azar, Ebr, Index, LambdaCrawl, OlstonPandey, PoliteLambdaCrawl, Sbr
from tidings.lab.simulator import World, simulate
from tidings.model.interval import DAY, HOUR, MINUTE
from tidings.registry import Registry
from tidings.scheduling.budget import TokenBucket
from tidings.scheduling.ledger import Ledger, Trace, make_trace
from tidings.scheduling.policies import POLICIES, Maker
from tidings.scheduling.policy import Floats, Instants, Population, Prices
from tidings.scheduling.timetable import RATE

TO_COMPARE: Final[Registry[Maker]] = Registry(
    "policy to compare",
    {
        "azar": Azar,
        "cam": Cam,
        "ebr": Ebr,
        "index": Index,
        "lambda_crawl": LambdaCrawl,
        "lambda_crawl_polite": PoliteLambdaCrawl,
        "medd": Medd,
        "nutch": Nutch,
        "olston_pandey": OlstonPandey,
        "periodic": PeriodicPolling,
        "random": Lottery,
        "sbr": Sbr,
        "stormcrawler": StormCrawler,
    },
)
"""The policies of papers and crawlers, under the names that `lab.policies` uses. Each row makes one
from the pace (µs).
"""

ALL: Final[Registry[Maker]] = Registry("policy", {**POLICIES, **TO_COMPARE})
"""The policies of the service and those to compare with."""

POLLS: Final = 4
"""Polls a page a day."""
SAVED: Final = 20.0

COLUMNS: Final = {
    "fresh": "share of time in which the last version seen is the page's own, weighted by what pages matter",
    "value": "of all changes, each worth half a day later, weighted by what pages matter",
    "alone": "share of changes that a poll found as the only new one",
    "delay_hours": "median delay of changes",
    "page_delay_hours": "the same, each page counted once",
    "used": "share of the budget",
}


def compare(name: str, *, pages: int, days: int, seed: int) -> dict[str, float]:
    """Return the `COLUMNS` of a policy on `pages` pages for `days` days; `seed` determines the
    world. Raise `UsageError` for an unknown name.
    """
    rng = np.random.default_rng(seed)  # noqa: TID251 - a separate world
    rates, importance = rng.lognormal(0, 1.5, pages), rng.uniform(0.1, 1, pages)
    times = {page: rng.integers(0, days * DAY, rng.poisson(rate * days)) for page, rate in enumerate(rates.tolist())}
    trace = make_trace(times, start=0, end=days * DAY)
    first = -rng.integers(0, DAY // POLLS, pages)
    population = Population(
        {"id": np.arange(pages), RATE: rates, "importance": importance, "last_polled": first, "cost": np.ones(pages)}
    )
    policy = ALL[name](10 * MINUTE if RATE in ALL[name](HOUR).reads else DAY // POLLS)
    budget = POLLS * pages / DAY
    state = policy.begin(population, np.random.default_rng(seed))  # noqa: TID251 - a separate world
    price = policy.market(state, budget).price if isinstance(policy, Prices) else 0.0
    bucket = TokenBucket(rate=POLLS * pages / 86_400, burst=SAVED, level=SAVED / 2, at=0)
    world = World(population=population, trace=trace, bucket=bucket, tick=10 * MINUTE, price=price)
    ledger = simulate(policy, world, rng=np.random.default_rng(seed))  # noqa: TID251 - a separate world
    weights = importance[ledger.page] * 0.5 ** (ledger.delay / DAY)
    all_of_it = sum(importance[page] * len(trace.of(page)) for page in range(pages))
    row = (
        _fresh(trace, ledger, importance, first),
        float(weights.sum() / all_of_it),
        float((ledger.found == 1).sum() / len(trace.times)),
        ledger.delay_quantile(0.5) / HOUR,
        ledger.page_delay_quantile(0.5) / HOUR,
        ledger.spent / (budget * days * DAY),
    )
    return dict(zip(COLUMNS, row, strict=True))


def _fresh(trace: Trace, ledger: Ledger, importance: Floats, first: Instants) -> float:
    """Return the weighted share of time from one poll to the next until the first change after
    it.
    """
    stale = np.zeros(len(importance))
    for page in range(len(importance)):
        polls = np.concatenate([first[page : page + 1], ledger.polls.at[ledger.polls.page == page], [trace.end]])
        changes = np.append(trace.of(page), trace.end)
        begins = changes[np.searchsorted(changes[:-1], polls[:-1], side="right")]
        stale[page] = np.maximum(polls[1:] - begins, 0).sum()
    return 1 - float((importance * stale).sum() / importance.sum() / (trace.end - trace.start))

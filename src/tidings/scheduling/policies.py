"""All policies, under the names that settings and the command line use. Each row makes one from the pace (µs)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from tidings.model.interval import HOUR, Duration
from tidings.registry import Registry
from tidings.scheduling.best_effort import BestEffort
from tidings.scheduling.crawlers import Nutch, StormCrawler
from tidings.scheduling.gardener.policy import Medd
from tidings.scheduling.lottery import Lottery
from tidings.scheduling.policy import Policy
from tidings.scheduling.price.cam import Cam
from tidings.scheduling.price.freshness import Azar, Ebr
from tidings.scheduling.price.hours import PriceHours
from tidings.scheduling.price.longevity import OlstonPandey
from tidings.scheduling.price.others import Index, LambdaCrawl, Sbr, Wic
from tidings.scheduling.price.policy import Price
from tidings.scheduling.price.polite import PoliteLambdaCrawl
from tidings.scheduling.round_robin import Periodic, RoundRobin

Maker = Callable[[Duration], Policy[Any]]

FADING: Final = 0.7
"""What an interval weighs beside the next newer one, so that ten of them are nearly all (`bench/best_effort.py`, W-125)."""

POLICIES: Final[Registry[Maker]] = Registry(
    "policy",
    {
        "azar": Azar,
        "best_effort": BestEffort,
        "best_effort_weighted": partial(BestEffort, fading=FADING),
        "cam": Cam,
        "ebr": Ebr,
        "index": Index,
        "lambda_crawl": LambdaCrawl,
        "lambda_crawl_polite": PoliteLambdaCrawl,
        "medd": Medd,
        "nutch": Nutch,
        "olston_pandey": OlstonPandey,
        "periodic": Periodic,
        "price": Price,
        "price_hours": PriceHours,
        "random": Lottery,
        "round_robin": RoundRobin,
        "sbr": Sbr,
        "stormcrawler": StormCrawler,
        "wic": Wic,
    },
)


def reads_of(name: str) -> frozenset[str]:
    """Return the columns of the population that the bids of a policy depend on. Raises `UsageError` for a name that is not there."""
    return POLICIES[name](HOUR).reads

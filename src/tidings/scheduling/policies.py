"""The policies that the service can use, under the names of `schedule.policy`. Each row makes one
from the pace (µs).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from tidings.model.interval import HOUR, Duration
from tidings.registry import Registry
from tidings.scheduling.paced.best_effort import BestEffort
from tidings.scheduling.paced.turns import RoundRobin
from tidings.scheduling.policy import Policy
from tidings.scheduling.price.hours import PriceHours
from tidings.scheduling.price.policy import Price
from tidings.scheduling.price.wic import Wic

Maker = Callable[[Duration], Policy[Any]]

FADING: Final = 0.7
"""The weight of an interval relative to the next newer one, so that ten of them are nearly all
(`bench/best_effort.py`, W-125).
"""

TO_COMPARE: Final = "azar cam ebr index lambda_crawl lambda_crawl_polite medd nutch olston_pandey periodic random sbr stormcrawler".split()
"""The names of the laboratory's policies, which the service refuses: earlier versions accepted them
(docs/decisions/0052).
"""

POLICIES: Final[Registry[Maker]] = Registry(
    "policy",
    {
        "best_effort": BestEffort,
        "best_effort_weighted": partial(BestEffort, fading=FADING),
        "price": Price,
        "price_hours": PriceHours,
        "round_robin": RoundRobin,
        "wic": Wic,
    },
    refused=dict.fromkeys(
        TO_COMPARE,
        "is one of the laboratory's, to be compared (lab.policies, tidings lab), and none that the service polls by",
    ),
)


def reads_of(name: str) -> frozenset[str]:
    """Return the columns of the population that the bids of a policy depend on. Raise `UsageError`
    for an unknown name.
    """
    return POLICIES[name](HOUR).reads

"""The policies to compare with, under the names that `lab.policies` uses. Each row makes one from the pace (µs)."""

from __future__ import annotations

from typing import Final

from tidings.lab.gardener.policy import Medd
from tidings.lab.policies.cam import Cam
from tidings.lab.policies.crawlers import Nutch, StormCrawler
from tidings.lab.policies.freshness import Azar, Ebr
from tidings.lab.policies.index_and_rates import Index, LambdaCrawl, Sbr
from tidings.lab.policies.longevity import OlstonPandey
from tidings.lab.policies.lottery import Lottery
from tidings.lab.policies.periodic import Periodic
from tidings.lab.policies.polite import PoliteLambdaCrawl
from tidings.registry import Registry
from tidings.scheduling.policies import Maker

POLICIES: Final[Registry[Maker]] = Registry(
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
        "periodic": Periodic,
        "random": Lottery,
        "sbr": Sbr,
        "stormcrawler": StormCrawler,
    },
)

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.planned import make_watched
from tests.stores import World
from tidings.clock import HOUR, MINUTE, SECOND, ManualClock
from tidings.fetching.politeness import HostGate
from tidings.lab import simulator
from tidings.scheduling.budget import TokenBucket
from tidings.scheduling.ledger import make_trace
from tidings.scheduling.paced.turns import RoundRobin
from tidings.scheduling.policy import Population
from tidings.service.plan.planner import Planner
from tidings.service.poll.pay import Payer
from tidings.service.watch.watchlist import WatchedPage
from tidings.settings import Settings
from tidings.storage.write import charge
from tidings.storage.write.store import Store

PAGES, DEAR = "abcdefgh", 3.0


class Case:
    """Pages that are late by different times, some of them dear, and a bucket that pays for a part of them."""

    def __init__(self, seed: int, now: int) -> None:
        rng = np.random.default_rng(seed)
        self.now = now
        self.ids = [*range(1, len(PAGES) + 1)]
        self.looked = [now - HOUR - int(age) * SECOND for age in rng.permutation(np.arange(1, 1_000))[: len(PAGES)]]
        self.is_dear = (rng.random(len(PAGES)) < 0.4).tolist()
        burst = float(rng.integers(4, 12))
        level = float(rng.choice([0.0, 0.5, 1.0, 2.0, 3.5, 5.0, burst]))
        self.bucket = TokenBucket(rate=0.01, burst=burst, level=min(level, burst), at=now)

    def simulate(self) -> list[int]:
        """Return the pages that the simulator polls at once, best first."""
        world = simulator.World(
            population=Population(
                {
                    "id": self.ids,
                    "host": self.ids,
                    "last_polled": self.looked,
                    "cost": [DEAR if dear else 1.0 for dear in self.is_dear],
                }
            ),
            trace=make_trace({}, start=self.now, end=self.now + SECOND),
            bucket=self.bucket,
            tick=SECOND,
        )
        ledger = simulator.simulate(RoundRobin(HOUR), world, rng=np.random.default_rng(0))
        return [int(page) for page in ledger.polls.page]

    def run_live(self, world: World) -> list[int]:
        """Return the pages that the live loop pays for at once, best first."""
        world.watch("news", *PAGES)
        world.write(charge.set_budgets, {"default": (self.bucket.rate, self.bucket.burst)}, at=self.now)
        world.write(lambda c: c.execute("UPDATE budget SET level = :l, at = :at", l=self.bucket.level, at=self.now))
        pages = {page_id: self._page(page_id) for page_id in self.ids}
        clock = ManualClock(self.now)
        planner = Planner(
            RoundRobin(HOUR),
            pages,
            floor=MINUTE,
            host_connections=1,
            rng=np.random.default_rng(0),
            render_cost=DEAR,
            render_places=len(PAGES),
            budget=self.bucket.rate,
        )
        planner.touch(pages)

        async def pay() -> list[int]:
            store = Store(world.reopen())
            gate = HostGate(gap_seconds=0, connections=1, clock=clock)
            payer = Payer(store, planner, gate, epoch=world.epoch)
            charged, unpaid = await payer.pay(self.now, most=64, only=None)
            assert {*self.ids} == {each.grant.page_id for each in charged} | {grant.page_id for grant in unpaid}
            await store.close()
            return [each.grant.page_id for each in charged]

        return asyncio.run(pay())

    def _page(self, page_id: int) -> WatchedPage:
        page, looked = make_watched(page_id, "Fetch on change"), self.looked[page_id - 1]
        page.identity = replace(page.identity, render="browser" if self.is_dear[page_id - 1] else "")
        page.state = replace(page.state, last_seq=1, polled_at=looked, checked_at=looked, polls=1)
        (sub,) = page.subscriptions.values()
        sub.row = replace(sub.row, taken=(1,))
        return page


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A database with a poller's lease."""
    world = World(Settings(data=tmp_path / "data"))
    yield world
    world.database.close()


@pytest.mark.parametrize("seed", range(12))
def test_the_live_loop_and_the_simulator_pay_for_the_same_polls(world: World, seed: int):
    """Given the same pages and the same budget: in turn, the latest first, and a dear one is saved up for."""
    case = Case(seed, world.at)

    assert case.simulate() == case.run_live(world)

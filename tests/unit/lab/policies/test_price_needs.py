"""Looks that are needed, under one price with those for news."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from tidings.lab.policies.price_needs import NeedsState, PriceNeeds
from tidings.model.interval import DAY, HOUR, MINUTE
from tidings.scheduling.budget import TokenBucket
from tidings.scheduling.drivers import DenseScan, DueQueue, MakeDriver
from tidings.scheduling.needs import Sought
from tidings.scheduling.policy import Observation, Population
from tidings.scheduling.price.policy import Price
from tidings.scheduling.simulator import World, simulate
from tidings.scheduling.trace import make_trace

NOBODY = np.random.default_rng(0)
START = 20_000 * DAY
DEAR = 0.05
"""A price at which a page that changes twice a day waits for most of one."""


def begin(policy: PriceNeeds, *sought: Sought, **columns: object) -> NeedsState:
    """Return the state of three pages that were looked at at `START`, with looks sought."""
    pages = Population({"id": [7, 5, 9], "rate": [2.0] * 3, "last_polled": [START] * 3, **columns})  # type: ignore[dict-item]
    return policy.on_needs(policy.begin(pages, NOBODY), sought)


def test_a_look_is_worth_what_it_serves():
    """Σ w/(residual·slack): slack is the looks that can still be made in time, ten minutes apart; who is over is served no more."""
    policy = PriceNeeds()
    sought = (
        Sought(5, START + 50 * MINUTE, 0.6, 3),  # slack 6
        Sought(5, START + 9 * MINUTE, 0.4, 1),  # slack 1
        Sought(5, START - 1, 0.4, 1),
        Sought(9, START + 20 * MINUTE, 1.0, 2),  # slack 3
        Sought(8, START + 20 * MINUTE, 1.0, 2),
    )
    state = begin(policy, *sought, shortest=[0, 10 * MINUTE, 10 * MINUTE])

    assert [0.0, 0.6 / 3 / 6 + 0.4, 1.0 / 2 / 3] == pytest.approx(policy.bonus(state, START).tolist())
    assert policy.bonus(state, START)[[2, 1]].tolist() == policy.bonus(state, START, np.array([2, 1])).tolist()
    assert [0.0, 0.6 / 3 / 4, 1.0 / 2 / 1] == pytest.approx(policy.bonus(state, START + 20 * MINUTE).tolist())


def test_it_is_added_to_the_index_and_a_dear_page_is_needed_less():
    """Bid = (index + bonus)/c; a page that is not needed bids as ever."""
    policy, now = PriceNeeds(), START + HOUR
    state = begin(policy, Sought(5, now, 0.4), Sought(9, now, 0.4), cost=[1.0, 1.0, 2.0])
    plain = Price().gathered(policy.worth(state, DEAR, slice(None)), np.full(3, float(HOUR)), DEAR)
    bids = policy.bid(state, now, DEAR)

    assert [0.0, plain[1] + 0.4, plain[2] + 0.2] == pytest.approx(bids.tolist())
    assert Price().bid(state, now, DEAR).tolist() == policy.bid(policy.on_needs(state, ()), now, DEAR).tolist()


def test_a_need_waits_until_it_is_worth_the_price():
    """With slack it bids little; the nearer its end, the more. The due instant is the one from which on it bids."""
    policy = PriceNeeds()
    state = begin(policy, Sought(5, START + 4 * HOUR, 0.5, 2))
    seven, five = policy.next_due(state, [7, 5], START, DEAR).tolist()

    assert START + 3 * HOUR < five < START + 4 * HOUR < seven
    assert [0.0, 0.0] == policy.bid(state, five - 1, DEAR)[:2].tolist()
    assert policy.bid(state, five, DEAR)[1] >= DEAR
    assert 0.0 == policy.bid(state, START + 4 * HOUR + 1, DEAR)[1]


def test_at_the_floor_price_a_need_passes_at_once():
    """Nothing else wants the budget; the page's own least wait and its back-off hold all the same."""
    policy = PriceNeeds()
    columns = {"shortest": [0, 0, 5 * MINUTE], "not_before": [0, START + 3 * MINUTE, 0]}
    state = begin(policy, *(Sought(page, START + DAY, 1e-9, 9) for page in (7, 5, 9)), **columns)

    assert [0, 3, 5] == [(due - START) // MINUTE for due in policy.next_due(state, [7, 5, 9], START, 0.0).tolist()]
    assert [True, False, False] == (policy.bid(state, START, 0.0) > 0).tolist()


def test_a_look_serves_all_that_is_sought_of_its_page():
    """One probe for all; what is sought of others stays, and goes with its page."""
    policy = PriceNeeds()
    state = begin(policy, Sought(5, START + HOUR), Sought(5, START + DAY), Sought(9, START + HOUR))
    looked = policy.on_poll(state, [5], Observation.of([START + MINUTE], [False]))
    gone = policy.on_update(looked, [9], {"present": False})

    assert [9] == looked.waits.page.tolist()
    assert [] == gone.waits.page.tolist()


@dataclass(frozen=True, slots=True)
class Needed(PriceNeeds):
    """The policy, begun with looks sought."""

    sought: tuple[Sought, ...] = ()

    def begin(self, population: Population, rng: np.random.Generator) -> NeedsState:
        """Return the state in which they are sought."""
        return self.on_needs(PriceNeeds.begin(self, population, rng), self.sought)


@pytest.mark.parametrize("price", [0.0, 0.02, DEAR])
def test_needs_are_met_first_and_the_same_by_scan_and_queue(price: float):
    """Sixteen pages, half of them needed within the day: all of these are looked at in time, and asking all always leads to the same."""
    rng = np.random.default_rng(3)
    pages = Population(
        {"id": np.arange(16), "rate": rng.lognormal(0, 1, 16), "last_polled": START - rng.integers(0, 4 * HOUR, 16)}
    )
    ends = START + rng.integers(HOUR, 20 * HOUR, 8)
    sought = tuple(Sought(page, end, 0.5, 1 + page % 3) for page, end in enumerate(ends.tolist()))

    def polls(make_driver: MakeDriver, policy: Price) -> list[tuple[int, int]]:
        world = World(
            population=pages,
            trace=make_trace({}, start=START, end=START + DAY),
            bucket=TokenBucket(rate=1 / 600, burst=20.0, level=10.0, at=START),
            tick=10 * MINUTE,
            price=price,
        )
        found = simulate(policy, world, rng=NOBODY, make_driver=make_driver).polls
        return list(zip(found.at.tolist(), found.page.tolist(), strict=True))

    dense, queue = (polls(driver, Needed(shortest=10 * MINUTE, sought=sought)) for driver in (DenseScan, DueQueue))

    assert dense == queue
    assert all(any(page == one.page and at <= one.end for at, page in dense) for one in sought)
    assert dense != polls(DenseScan, Price())

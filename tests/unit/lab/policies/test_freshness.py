"""Freshness by memoryless instants and by whole numbers of polls: worked numbers of the papers, as
policies under one price; LambdaCrawl with hosts that allow only so many polls.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.estimation.learner import GammaLearner
from tidings.lab.policies.freshness import (
    PACES,
    Azar,
    Ebr,
    Index,
    LambdaCrawl,
    LongevityState,
    OlstonPandey,
    PoliteLambdaCrawl,
    PoliteState,
    Sbr,
)
from tidings.lab.refresh import divergence, ideal_instants, lambda_crawl, sbr, transport
from tidings.lab.simulator import World, simulate
from tidings.model.interval import DAY, HOUR, MINUTE
from tidings.scheduling.budget import TokenBucket
from tidings.scheduling.learned import Learned
from tidings.scheduling.ledger import make_trace
from tidings.scheduling.policy import LifeKind, Observation, Population, UrgencyKind
from tidings.scheduling.price.policy import Price, PriceState
from tidings.scheduling.price.value import values
from tidings.scheduling.price.wic import Wic

START = 10_000 * DAY


def begin(policy: Price, rates: list[float], **columns: list[float] | list[int]) -> PriceState:
    population = Population({"id": np.arange(len(rates)), "rate": rates, **columns})
    return policy.begin(population, np.random.default_rng(0))


def test_memoryless_rates_of_a_budget_are_those_of_the_paper():
    """Three polls a day serve three pages; without a budget the pace counts."""
    policy = Azar(pace=HOUR, longest=10**6 * DAY, shortest=1)
    state = begin(policy, [0.1, 1.0, 5.0], importance=[1.0] * 3)
    gaps = policy.gaps(state, policy.price(state, 3 / DAY))

    assert [0.710088, 1.561724, 0.728188] == pytest.approx((DAY / gaps).tolist(), rel=1e-4)
    assert HOUR == pytest.approx(policy.gaps(begin(policy, [1.0], importance=[0.5]), 0.0)[0], rel=1e-6)


def test_page_that_changes_too_often_is_given_up():
    """Its freshness is lost: it waits its longest interval, here a day."""
    policy = Azar(pace=HOUR)
    state = begin(policy, [1.0, 1e4], importance=[0.5] * 2)

    assert [True, False] == (policy.gaps(state, 0.0) < DAY).tolist()


def test_whole_polls_of_a_budget_are_those_of_the_paper():
    """The worked pages have twelve polls in a cycle of ten days."""
    policy = Ebr(pace=10 * DAY // PACES, longest=10**6 * DAY, shortest=DAY // 24)
    state = begin(policy, [0.05, 0.2, 0.6, 2.0], importance=[1.0, 2.0, 1.0, 3.0])
    gaps = Price.gaps(policy, state, policy.price(state, 12 / (10 * DAY)))

    assert [1, 3, 2, 6] == np.round(10 * DAY / gaps).tolist()


@pytest.mark.parametrize("pace", [HOUR // 6, HOUR, 3 * HOUR, 5 * DAY])
def test_pace_is_the_wait_of_a_page_that_changes_daily(pace: int):
    """It has as many polls in a cycle as the cycle has paces."""
    policy = Ebr(pace=pace, longest=100 * DAY)

    assert pace == Price.gaps(policy, begin(policy, [1.0], importance=[0.5]), 0.0)[0]


def test_late_poll_does_not_move_later_ones():
    """A page's ideal instants are fixed; a poll serves the nearest."""
    policy = Ebr(pace=HOUR)
    state = begin(policy, [1.0], importance=[0.5], last_polled=[START])
    first = int(policy.next_due(state, [0], START, 0.0)[0])
    found = []
    for late in (0, HOUR // 3, -HOUR // 3):
        after = policy.on_poll(state, [0], Observation.of(first + late, changed=False))
        found.append(int(policy.next_due(after, [0], 0, 0.0)[0]) - first)

    assert [HOUR] * 3 == found


def test_ideal_instants_are_moved_little():
    """Six polls of each of forty pages have one slot each: all in step they would move by twenty
    slots on average, in fact by less than one.
    """
    policy = Ebr(pace=HOUR, shortest=1)
    state = begin(policy, [1.0] * 40, importance=[0.5] * 40, last_polled=[START] * 40)
    gap = HOUR
    ideal: list[float] = []
    for _ in range(6):
        due = policy.next_due(state, state.population.ids, 0, 0.0)
        ideal += (due - START).tolist()
        state = policy.on_poll(state, state.population.ids, Observation.of(due, np.zeros(40, dtype=bool)))
    ideal = sorted(at for at in ideal if at < 6 * gap)
    in_step = [at for at, _ in ideal_instants(np.full(40, 6), 6.0 * gap)]
    slots = (np.arange(240) * gap / 40).tolist()

    def move(instants: list[float]) -> float:
        taken = transport(instants, slots)
        return float(
            np.mean([abs(slots[slot] - at) for slot, at in zip(taken.tolist(), instants, strict=True)]) / (gap / 40)
        )

    assert move(in_step) == pytest.approx(10, abs=0.5)
    assert move(ideal) < 1


POLITE = PoliteLambdaCrawl(pace=1, longest=10**6 * DAY, shortest=1)
PAGES = Population({"id": [0, 1, 2, 3], "host": [70, 70, 70, 9], "rate": [1.0] * 4, "importance": [1.0] * 4})


def loads(state: PoliteState, budget: float) -> list[float]:
    """Return the polls a day at each host, for a budget of polls a day."""
    rates = DAY / POLITE.gaps(state, POLITE.price(state, budget / DAY))
    return [float(rates[:3].sum()), float(rates[3:].sum())]


def test_polls_that_a_full_host_refuses_go_elsewhere():
    """In the worked budget of four polls a day, one host takes one and a half."""
    state = POLITE.begin(PAGES, np.random.default_rng(0))
    rates_given = POLITE.on_hosts(state, {70: round(DAY / 1.5)})

    assert [3, 1] == pytest.approx(loads(state, 4), rel=1e-3)
    assert [1.5, 2.5] == pytest.approx(loads(rates_given, 4), rel=1e-3)
    assert [3, 1] == pytest.approx(loads(POLITE.on_hosts(rates_given, {70: 1, 9: 1}), 4), rel=1e-3)
    assert [3, 1] == pytest.approx(loads(POLITE.on_hosts(rates_given, {}), 4), rel=1e-3)


def test_polls_of_a_full_host_bid_its_surcharge():
    """They never bid less than the common price."""
    state = POLITE.on_hosts(POLITE.begin(PAGES, np.random.default_rng(0)), {70: DAY})
    price = POLITE.price(state, 4 / DAY)
    polled = POLITE.on_update(state, PAGES.ids, {"last_polled": [10 * DAY] * 4})
    due = POLITE.next_due(polled, PAGES.ids, 0, price)
    bids = [float(POLITE.bid(polled, int(at), price)[row]) for row, at in enumerate(due.tolist())]

    assert due[0] > due[3]
    assert [price] * 4 == pytest.approx(bids, rel=1e-6)


def test_policy_without_hosts_is_lambda_crawl():
    """A new page then gets the surcharge of its host; one of a new host has none."""
    state = POLITE.begin(PAGES, np.random.default_rng(0))
    plain = LambdaCrawl(pace=1, longest=10**6 * DAY, shortest=1)
    rates_given = POLITE.on_hosts(state, {70: DAY})
    more = POLITE.on_update(rates_given, [5, 6], {"host": [70, 8], "rate": 1.0, "importance": 1.0})

    assert (
        POLITE.gaps(state, 2e-12).tolist() == plain.gaps(plain.begin(PAGES, np.random.default_rng(0)), 2e-12).tolist()
    )
    assert [more.full[0], 0.0] == more.full[4:].tolist()
    assert more.full[0] > 0
    assert POLITE.on_update(rates_given, [3], {"present": False}).full.tolist() == rates_given.full[:3].tolist()


def test_important_page_gets_more_of_a_full_host():
    """The surcharge is the same for all pages of a host."""
    pages = PAGES.set([0], {"importance": 4.0})
    state = POLITE.on_hosts(POLITE.begin(pages, np.random.default_rng(0)), {70: HOUR})
    gaps = POLITE.gaps(state, 0.0)

    assert 24 == pytest.approx((DAY / gaps[:3]).sum(), rel=1e-3)
    assert gaps[0] < gaps[1] == gaps[2]


@pytest.mark.parametrize("learns", [False, True])
def test_simulation_reports_the_limits_of_hosts(learns: bool):
    """Three pages share a host that takes one poll in six hours, one is alone: the budget is spent
    where it can be.
    """
    policy = PoliteLambdaCrawl(pace=HOUR, shortest=1)
    population = PAGES.set(np.arange(4), {"last_polled": [0] * 4, "rate": [20.0] * 4})
    bucket = TokenBucket(rate=1.0, burst=9.0, level=9.0, at=0)
    world = World(
        population=population,
        trace=make_trace({}, start=0, end=10 * DAY),
        bucket=bucket,
        tick=HOUR // 4,
        host_gap=6 * HOUR,
    )
    made = Learned(policy, GammaLearner()) if learns else policy
    ledger = simulate(made, world, rng=np.random.default_rng(0))
    plain = simulate(LambdaCrawl(pace=HOUR, shortest=1), world, rng=np.random.default_rng(0))
    polls, others = (np.bincount(found.polls.page, minlength=4)[:3] for found in (ledger, plain))

    assert 25 <= polls.sum() <= 40 == others.sum()
    assert np.ptp(polls) <= 2


POLICY = OlstonPandey(pace=HOUR)
RATES = np.array([0.02, 1.0, 20.0])


def make_state(times: int) -> LongevityState:
    """Return the state after so many polls, the last at instant 0."""
    state = POLICY.begin(
        Population({"id": [0, 1, 2], "rate": RATES, "importance": [0.5, 0.5, 1.0]}), np.random.default_rng(0)
    )
    for turn in range(times):
        state = POLICY.on_poll(state, [0, 1, 2], Observation.of([turn * DAY] * 3, [False] * 3))
    return state


def test_poll_is_due_when_divergence_reaches_the_threshold():
    """W·U(t) is the price at the end of each wait, and the waits are those of the best freshness
    (appendix of the paper).
    """
    state = make_state(100)
    gaps = POLICY.gaps(state, 0.0)
    sbr = Sbr(pace=HOUR)
    due = gaps < DAY
    reached = state.population["importance"] * divergence(RATES / DAY, gaps.astype(float))

    assert gaps.tolist() == sbr.gaps(sbr.begin(state.population, np.random.default_rng(0)), 0.0).tolist()
    assert [POLICY.floor] * due.sum() == pytest.approx(reached[due].tolist(), rel=1e-6)
    assert 3 == due.sum()


@pytest.mark.parametrize("polls", [1, 2, 4])
def test_new_page_waits_longer_with_each_poll(polls: int):
    """In the learning phase it waits as many paces as it was polled; a shorter wait of the page
    counts.
    """
    gaps = POLICY.gaps(make_state(polls), 0.0)

    assert polls * HOUR == gaps[0]
    assert (gaps <= POLICY.gaps(make_state(100), 0.0)).all()


def test_number_of_polls_is_stored():
    """It survives a restart, and pages that come and go; a memory without it is skipped."""
    state = make_state(3)
    fresh = POLICY.begin(state.population, np.random.default_rng(0))
    again = POLICY.recall(fresh, {0: POLICY.remember(state, 0), 1: {**POLICY.remember(state, 1), "polls": -1}})
    moved = POLICY.on_update(POLICY.on_update(state, [0], {"present": False}), [9], {})

    assert [3, 0, 0] == POLICY.on_update(again, [0], {}).polls.tolist()
    assert [3, 3, 0] == moved.polls.tolist()


def test_price_counts_known_pages_only():
    """Polls of unknown pages come in addition."""
    sbr = Sbr(pace=HOUR)
    state = make_state(1)
    price = POLICY.market(state, 20 / DAY).price

    assert sbr.market(sbr.begin(state.population, np.random.default_rng(0)), 20 / DAY).price == price
    assert (DAY / POLICY.gaps(state, price)).sum() > 20
    assert HOUR == POLICY.gaps(make_state(0), price)[0]


CHANGES = np.array([0.1, 1.0, 5.0])


@pytest.mark.parametrize(("policy", "allocate"), [(LambdaCrawl, lambda_crawl), (Sbr, sbr)])
def test_rates_of_a_budget_are_those_of_the_paper(policy: type[Price], allocate: object):
    """Three polls a day serve three pages."""
    made = policy(pace=1, longest=10**6 * DAY, shortest=1)
    state = made.begin(
        Population({"id": [0, 1, 2], "rate": CHANGES, "importance": 1.0 * np.ones(3)}), np.random.default_rng(0)
    )
    price = made.price(state, 3 / DAY)

    assert allocate(CHANGES, 3.0).rates.tolist() == pytest.approx((DAY / made.gaps(state, price)).tolist(), rel=1e-3)  # type: ignore[operator]


@pytest.mark.parametrize("policy", [Index, LambdaCrawl, Sbr, Wic])
def test_pace_of_an_index_is_the_wait_of_a_page_that_changes_daily(policy: type[Price]):
    """All policies share this one number."""
    made = policy(pace=3 * HOUR)
    state = made.begin(Population({"id": [0], "rate": [1.0]}), np.random.default_rng(0))

    assert 3 * HOUR == pytest.approx(made.gaps(state, 0.0)[0], rel=1e-6)


def test_wic_hardly_depends_on_urgency():
    """Its waits are the same while little has decayed; those of the index differ."""
    pages = Population(
        {
            "id": [0, 1],
            "rate": [1.0, 1.0],
            "urgency_kind": [UrgencyKind.EXPONENTIAL] * 2,
            "urgency_scale": [HOUR, 30 * DAY],
        }
    )
    wic, price = (made.gaps(made.begin(pages, np.random.default_rng(0)), 0.0) for made in (Wic(), Price()))

    assert wic[1] / wic[0] < 1.5
    assert price[1] / price[0] > 4


@given(
    rate=st.floats(1e-3, 1e3),
    half_life=st.integers(MINUTE, 30 * DAY),
    price=st.floats(1e-5, 10),
    overwrite=st.booleans(),
)
def test_the_index_is_the_price_when_its_wait_is_over(rate: float, half_life: int, price: float, overwrite: bool):
    """The length of the wait and the size of the bid come from the same sum of index and ε·G."""
    life = LifeKind.OVERWRITE if overwrite else LifeKind.FOREVER
    worth = values(Population({"id": [0], "rate": [rate], "urgency_scale": [half_life], "life_kind": [life]}))
    wait = Index().waits(worth, price)
    most = worth.inflow / (worth.decay + worth.overwritten) * (1 + Index().share)

    if np.isinf(wait[0]):
        assert most[0] <= price * (1 + 1e-9)
    else:
        assert price == pytest.approx(Index().gather(worth, wait, price)[0], rel=1e-6)


def test_page_that_keeps_its_worth_is_polled_in_time():
    """With append and uniform urgency, the index alone never prefers it at any time."""
    population = Population(
        {
            "id": [0, 1, 2, 3],
            "rate": [0.5, 40.0, 40.0, 40.0],
            "urgency_kind": [UrgencyKind.UNIFORM, *[UrgencyKind.EXPONENTIAL] * 3],
            "urgency_scale": [0, HOUR, HOUR, HOUR],
            "last_polled": [20_000 * DAY] * 4,
        }
    )
    start, policy = 20_000 * DAY, Index(pace=1, longest=4 * DAY)
    bucket = TokenBucket(rate=1 / 3_600, burst=24.0, level=12.0, at=start)
    price = policy.price(policy.begin(population, np.random.default_rng(0)), 1 / HOUR)
    world = World(
        population=population,
        trace=make_trace({}, start=start, end=start + 20 * DAY),
        bucket=bucket,
        tick=HOUR // 2,
        price=price,
    )
    polls = simulate(policy, world, rng=np.random.default_rng(0)).polls
    waits = np.diff(polls.at[polls.page == 0], prepend=start, append=start + 20 * DAY)

    bare, mixed = (
        made.gaps(made.begin(population, np.random.default_rng(0)), price)[0]
        for made in (Index(pace=1, longest=99 * DAY, share=0.0), Index(pace=1, longest=99 * DAY))
    )

    assert len(polls.at) > 400
    assert waits.max() <= 4 * DAY + HOUR
    assert mixed < 0.9 * bare


def test_urgent_and_rare_page_starves_without_a_maximum_age():
    """Guard 5 prevents that: the bare index has only the end of its wait; `price` polls within
    hours, `price` in the laboratory never.
    """
    pages = Population({"id": [0], "rate": [0.02], "urgency_scale": [10 * MINUTE]})
    made = (Index(longest=9 * DAY), Price(longest=9 * DAY), Price(longest=9 * DAY, guarded=False))
    index, price, lab = (int(one.gaps(one.begin(pages, np.random.default_rng(0)), 0.0)[0]) for one in made)

    assert 9 * DAY == index
    assert 2.4 == pytest.approx(price / HOUR, rel=0.05)
    assert lab > 30_000 * DAY


def test_longest_interval_of_a_page_holds_in_the_laboratory():
    """Only the policy's own end of waits is off."""
    pages = Population({"id": [0], "rate": [1e-9], "longest": [3 * DAY]})
    lab = Price(guarded=False)

    assert 3 * DAY == lab.gaps(lab.begin(pages, np.random.default_rng(0)), 0.0)[0]

"""Freshness at memoryless instants and by whole numbers of looks: the worked numbers of their papers, as policies under one price.

LambdaCrawl beside hosts that take only so many checks.
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
from tidings.lab.refresh.rates import divergence, lambda_crawl, sbr
from tidings.lab.refresh.whole import ideal_instants, transport
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


def test_memoryless_rates_of_a_budget():
    """Three looks a day for three pages; without a budget the pace."""
    policy = Azar(pace=HOUR, longest=10**6 * DAY, shortest=1)
    state = begin(policy, [0.1, 1.0, 5.0], importance=[1.0] * 3)
    gaps = policy.gaps(state, policy.price(state, 3 / DAY))

    assert [0.710088, 1.561724, 0.728188] == pytest.approx((DAY / gaps).tolist(), rel=1e-4)
    assert HOUR == pytest.approx(policy.gaps(begin(policy, [1.0], importance=[0.5]), 0.0)[0], rel=1e-6)


def test_what_changes_too_quickly_is_given_up():
    """Freshness is lost there: the page waits its longest, here a day."""
    policy = Azar(pace=HOUR)
    state = begin(policy, [1.0, 1e4], importance=[0.5] * 2)

    assert [True, False] == (policy.gaps(state, 0.0) < DAY).tolist()


def test_whole_looks_of_a_budget():
    """The worked pages: twelve looks in a cycle of ten days."""
    policy = Ebr(pace=10 * DAY // PACES, longest=10**6 * DAY, shortest=DAY // 24)
    state = begin(policy, [0.05, 0.2, 0.6, 2.0], importance=[1.0, 2.0, 1.0, 3.0])
    gaps = Price.gaps(policy, state, policy.price(state, 12 / (10 * DAY)))

    assert [1, 3, 2, 6] == np.round(10 * DAY / gaps).tolist()


@pytest.mark.parametrize("pace", [HOUR // 6, HOUR, 3 * HOUR, 5 * DAY])
def test_the_pace_is_what_a_page_waits_that_changes_once_a_day(pace: int):
    """As many looks in a cycle as it has paces."""
    policy = Ebr(pace=pace, longest=100 * DAY)

    assert pace == Price.gaps(policy, begin(policy, [1.0], importance=[0.5]), 0.0)[0]


def test_what_comes_late_moves_nothing_after_it():
    """A page's ideal instants are fixed; a look serves the nearest of them."""
    policy = Ebr(pace=HOUR)
    state = begin(policy, [1.0], importance=[0.5], last_polled=[START])
    first = int(policy.next_due(state, [0], START, 0.0)[0])
    found = []
    for late in (0, HOUR // 3, -HOUR // 3):
        after = policy.on_poll(state, [0], Observation.of(first + late, changed=False))
        found.append(int(policy.next_due(after, [0], 0, 0.0)[0]) - first)

    assert [HOUR] * 3 == found


def test_ideal_instants_leave_little_to_transport():
    """Six looks of forty pages and one for each slot: all in step they would be moved by twenty slots on average, as they are by less than one."""
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
    """Return the looks a day at each host, for a budget of looks a day."""
    rates = DAY / POLITE.gaps(state, POLITE.price(state, budget / DAY))
    return [float(rates[:3].sum()), float(rates[3:].sum())]


def test_a_full_host_passes_its_looks_on():
    """The worked budget: four looks a day, of which one host takes one and a half."""
    state = POLITE.begin(PAGES, np.random.default_rng(0))
    told = POLITE.on_hosts(state, {70: round(DAY / 1.5)})

    assert [3, 1] == pytest.approx(loads(state, 4), rel=1e-3)
    assert [1.5, 2.5] == pytest.approx(loads(told, 4), rel=1e-3)
    assert [3, 1] == pytest.approx(loads(POLITE.on_hosts(told, {70: 1, 9: 1}), 4), rel=1e-3)
    assert [3, 1] == pytest.approx(loads(POLITE.on_hosts(told, {}), 4), rel=1e-3)


def test_looks_of_a_full_host_bid_what_it_could_sell_them_for():
    """Never less than the price of all."""
    state = POLITE.on_hosts(POLITE.begin(PAGES, np.random.default_rng(0)), {70: DAY})
    price = POLITE.price(state, 4 / DAY)
    looked = POLITE.on_update(state, PAGES.ids, {"last_polled": [10 * DAY] * 4})
    due = POLITE.next_due(looked, PAGES.ids, 0, price)
    bids = [float(POLITE.bid(looked, int(at), price)[row]) for row, at in enumerate(due.tolist())]

    assert due[0] > due[3]
    assert [price] * 4 == pytest.approx(bids, rel=1e-6)


def test_before_it_hears_of_hosts_it_is_lambda_crawl():
    """To the letter; and a page that comes in has the surcharge of its host, one of a new host none."""
    state = POLITE.begin(PAGES, np.random.default_rng(0))
    plain = LambdaCrawl(pace=1, longest=10**6 * DAY, shortest=1)
    told = POLITE.on_hosts(state, {70: DAY})
    more = POLITE.on_update(told, [5, 6], {"host": [70, 8], "rate": 1.0, "importance": 1.0})

    assert (
        POLITE.gaps(state, 2e-12).tolist() == plain.gaps(plain.begin(PAGES, np.random.default_rng(0)), 2e-12).tolist()
    )
    assert [more.full[0], 0.0] == more.full[4:].tolist()
    assert more.full[0] > 0
    assert POLITE.on_update(told, [3], {"present": False}).full.tolist() == told.full[:3].tolist()


def test_what_matters_more_has_more_of_a_full_host():
    """A surcharge is one price for all pages of a host."""
    pages = PAGES.set([0], {"importance": 4.0})
    state = POLITE.on_hosts(POLITE.begin(pages, np.random.default_rng(0)), {70: HOUR})
    gaps = POLITE.gaps(state, 0.0)

    assert 24 == pytest.approx((DAY / gaps[:3]).sum(), rel=1e-3)
    assert gaps[0] < gaps[1] == gaps[2]


@pytest.mark.parametrize("learns", [False, True])
def test_a_simulation_tells_what_hosts_take(learns: bool):
    """Three pages of a host that takes one look in six hours, and one by itself: the budget goes where it can be spent."""
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
    looks, others = (np.bincount(found.polls.page, minlength=4)[:3] for found in (ledger, plain))

    assert 25 <= looks.sum() <= 40 == others.sum()
    assert np.ptp(looks) <= 2


POLICY = OlstonPandey(pace=HOUR)
RATES = np.array([0.02, 1.0, 20.0])


def make_state(times: int) -> LongevityState:
    """Return the state after so many checks, the last at instant 0."""
    state = POLICY.begin(
        Population({"id": [0, 1, 2], "rate": RATES, "importance": [0.5, 0.5, 1.0]}), np.random.default_rng(0)
    )
    for turn in range(times):
        state = POLICY.on_poll(state, [0, 1, 2], Observation.of([turn * DAY] * 3, [False] * 3))
    return state


def test_a_look_is_due_when_divergence_reaches_the_threshold():
    """W·U(t) is the price at the end of each wait, and the waits are those of the best freshness (their appendix)."""
    state = make_state(100)
    gaps = POLICY.gaps(state, 0.0)
    sbr = Sbr(pace=HOUR)
    due = gaps < DAY
    reached = state.population["importance"] * divergence(RATES / DAY, gaps.astype(float))

    assert gaps.tolist() == sbr.gaps(sbr.begin(state.population, np.random.default_rng(0)), 0.0).tolist()
    assert [POLICY.floor] * due.sum() == pytest.approx(reached[due].tolist(), rel=1e-6)
    assert 3 == due.sum()


@pytest.mark.parametrize("looks", [1, 2, 4])
def test_a_new_page_waits_so_many_paces_as_it_was_looked_at(looks: int):
    """The learning phase grows with each look; what waits less anyway waits less."""
    gaps = POLICY.gaps(make_state(looks), 0.0)

    assert looks * HOUR == gaps[0]
    assert (gaps <= POLICY.gaps(make_state(100), 0.0)).all()


def test_looks_are_remembered():
    """Over a restart, and where pages come and go; a memory without them is passed over."""
    state = make_state(3)
    fresh = POLICY.begin(state.population, np.random.default_rng(0))
    again = POLICY.recall(fresh, {0: POLICY.remember(state, 0), 1: {**POLICY.remember(state, 1), "looks": -1}})
    moved = POLICY.on_update(POLICY.on_update(state, [0], {"present": False}), [9], {})

    assert [3, 0, 0] == POLICY.on_update(again, [0], {}).looks.tolist()
    assert [3, 3, 0] == moved.looks.tolist()


def test_the_price_is_that_of_pages_that_are_known():
    """However little is known of them now; what they are asked meanwhile is more."""
    sbr = Sbr(pace=HOUR)
    state = make_state(1)
    price = POLICY.market(state, 20 / DAY).price

    assert sbr.market(sbr.begin(state.population, np.random.default_rng(0)), 20 / DAY).price == price
    assert (DAY / POLICY.gaps(state, price)).sum() > 20
    assert HOUR == POLICY.gaps(make_state(0), price)[0]


CHANGES = np.array([0.1, 1.0, 5.0])


@pytest.mark.parametrize(("policy", "allocate"), [(LambdaCrawl, lambda_crawl), (Sbr, sbr)])
def test_the_rates_of_a_budget(policy: type[Price], allocate: object):
    """Three looks a day for three pages."""
    made = policy(pace=1, longest=10**6 * DAY, shortest=1)
    state = made.begin(
        Population({"id": [0, 1, 2], "rate": CHANGES, "importance": 1.0 * np.ones(3)}), np.random.default_rng(0)
    )
    price = made.price(state, 3 / DAY)

    assert allocate(CHANGES, 3.0).rates.tolist() == pytest.approx((DAY / made.gaps(state, price)).tolist(), rel=1e-3)  # type: ignore[operator]


@pytest.mark.parametrize("policy", [Index, LambdaCrawl, Sbr, Wic])
def test_the_pace_of_an_index_is_what_a_page_waits_that_changes_once_a_day(policy: type[Price]):
    """One human number for all policies."""
    made = policy(pace=3 * HOUR)
    state = made.begin(Population({"id": [0], "rate": [1.0]}), np.random.default_rng(0))

    assert 3 * HOUR == pytest.approx(made.gaps(state, 0.0)[0], rel=1e-6)


def test_wic_looks_at_what_can_be_put_off_as_soon_as_at_what_cannot():
    """Its waits hardly depend on urgency while little has decayed; those of the index do."""
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
    """What says how long and what says how much are the same sum of index and ε·G."""
    life = LifeKind.OVERWRITE if overwrite else LifeKind.FOREVER
    worth = values(Population({"id": [0], "rate": [rate], "urgency_scale": [half_life], "life_kind": [life]}))
    wait = Index().waits(worth, price)
    most = worth.inflow / (worth.decay + worth.overwritten) * (1 + Index().share)

    if np.isinf(wait[0]):
        assert most[0] <= price * (1 + 1e-9)
    else:
        assert price == pytest.approx(Index().gather(worth, wait, price)[0], rel=1e-6)


def test_what_keeps_its_worth_is_not_put_off_for_ever():
    """Append and uniform urgency: the index alone sees no reason to look at it before the others, at any time. It is looked at, and in its time."""
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


def test_without_its_maximum_age_a_page_that_is_urgent_and_rare_starves():
    """That is what guard 5 is against: the bare index has the end of its wait alone, `price` looks in hours, `price` in the laboratory never."""
    pages = Population({"id": [0], "rate": [0.02], "urgency_scale": [10 * MINUTE]})
    made = (Index(longest=9 * DAY), Price(longest=9 * DAY), Price(longest=9 * DAY, guarded=False))
    index, price, lab = (int(one.gaps(one.begin(pages, np.random.default_rng(0)), 0.0)[0]) for one in made)

    assert 9 * DAY == index
    assert 2.4 == pytest.approx(price / HOUR, rel=0.05)
    assert lab > 30_000 * DAY


def test_in_the_laboratory_a_page_s_own_longest_wait_holds():
    """It is the policy's own end of waits that is off."""
    pages = Population({"id": [0], "rate": [1e-9], "longest": [3 * DAY]})
    lab = Price(guarded=False)

    assert 3 * DAY == lab.gaps(lab.begin(pages, np.random.default_rng(0)), 0.0)[0]

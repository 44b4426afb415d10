"""The contract of policies, for all rows of the service's table and the laboratory's (contracts
§5).
"""

import json
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from tidings.estimation.learner import GammaLearner
from tidings.lab.compare import ALL
from tidings.lab.simulator import DenseScan, DueQueue, Update, World, simulate
from tidings.scheduling.budget import TokenBucket
from tidings.scheduling.learned import Learned
from tidings.scheduling.ledger import make_trace
from tidings.scheduling.policy import (
    NEVER,
    UNPOLLED,
    HeedsHosts,
    LifeKind,
    Observation,
    Population,
    Remembers,
    Signal,
    UrgencyKind,
)
from tidings.scheduling.population import KNOWN
from tidings.scheduling.price.hours import PriceHours

SECOND = 1_000_000
MINUTE = 60 * SECOND
PACE = 10 * MINUTE
START = 1_700_000_000 * SECOND
DRIVERS = {"dense": DenseScan, "due": DueQueue}


BY_NIGHT = (*[1.8] * 8, *[0.2] * 12, *[1.8] * 4) * 7
ROWS = {
    **ALL,
    "price, learned": lambda pace: Learned(ALL["price"](pace), GammaLearner()),
    "price_hours, by night": lambda pace: PriceHours(pace, profile=BY_NIGHT),
}
"""Every policy, one that is told what is learned of its pages, and one that plans over hours which are not alike."""


@pytest.fixture(params=sorted(ROWS))
def policy(request):
    """Return each policy."""
    return ROWS[request.param](PACE)


def chance(seed=0):
    return np.random.default_rng(seed)


def pages(count=40, hosts=8, seed=1):
    rng = chance(seed)
    return Population(
        {
            "id": rng.permutation(np.arange(100, 100 + count)),
            "host": rng.integers(0, hosts, count),
            "cost": rng.choice([1.0, 2.0, 5.0], count),
            "importance": rng.uniform(0, 1, count),
            "added": START - rng.integers(0, PACE, count),
            "last_polled": np.where(rng.uniform(size=count) < 0.3, UNPOLLED, START - rng.integers(0, PACE, count)),
            "not_before": np.where(rng.uniform(size=count) < 0.2, START + 3 * MINUTE, UNPOLLED),
            "shortest": np.where(rng.uniform(size=count) < 0.2, 15 * MINUTE, 0),
            "longest": np.where(rng.uniform(size=count) < 0.2, 30 * MINUTE, NEVER),
        }
    )


def world(population=None, **other):
    population = pages() if population is None else population
    rng = chance(2)
    length = 60 * MINUTE
    trace = make_trace(
        {page: START + rng.integers(0, length, rng.integers(0, 8)) for page in range(100, 160)},
        start=START,
        end=START + length,
    )
    bucket = TokenBucket(rate=0.1, burst=20.0, level=10.0, at=START)
    return World(
        **{
            "population": population,
            "trace": trace,
            "bucket": bucket,
            "tick": 20 * SECOND,
            "host_gap": 20 * SECOND,
            **other,
        }
    )


def describe(ledger):
    return [ledger.polls.at.tolist(), ledger.polls.page.tolist(), ledger.found.tolist(), ledger.delay.tolist()]


def arrays(state):
    """Return all arrays of a state, including those of its population."""
    own = [getattr(state, f.name) for f in fields(state)]
    return [*(a for a in own if isinstance(a, np.ndarray)), *state.population.values()]


@pytest.mark.parametrize("make_driver", DRIVERS.values(), ids=DRIVERS)
def test_budget_is_never_exceeded(policy, make_driver):
    """No interval spends more than the level at its start and the inflow."""
    setting = world()
    ledger = simulate(policy, setting, rng=chance(), make_driver=make_driver)
    bucket = setting.bucket
    total = np.concatenate([[0.0], np.cumsum(ledger.polls.cost)])
    begins = np.arange(len(ledger.polls.at))
    over = [
        length
        for length in (0, MINUTE, 10 * MINUTE, 60 * MINUTE)
        if (total[np.searchsorted(ledger.polls.at, ledger.polls.at + length, side="right")] - total[begins]).max()
        > bucket.burst + bucket.rate * length / SECOND + 1e-6
    ]

    assert len(ledger.polls.at) > 50
    assert [] == over


@pytest.mark.parametrize("make_driver", DRIVERS.values(), ids=DRIVERS)
def test_host_limits_are_kept(policy, make_driver):
    """No host is polled again within its gap, or over two connections at once."""
    setting = world(bucket=TokenBucket(rate=10.0, burst=1_000.0, level=1_000.0, at=START))
    ledger = simulate(policy, setting, rng=chance(), make_driver=make_driver)
    host = dict(zip(setting.population.ids.tolist(), setting.population["host"].tolist(), strict=True))
    asked: dict[int, list[int]] = {}
    for at, page in zip(ledger.polls.at.tolist(), ledger.polls.page.tolist(), strict=True):
        asked.setdefault(host[page], []).append(at)

    assert 8 == len(asked)
    assert all((np.diff(times) >= setting.host_gap).all() for times in asked.values())
    assert max(len(times) for times in asked.values()) > 5


def test_run_is_deterministic(policy):
    """The same pages, trace and random generator give the same polls."""
    first, second = (simulate(policy, world(), rng=chance(7)) for _ in range(2))

    assert describe(first) == describe(second)


UPDATES = (
    Update(START + 7 * MINUTE + 1, (150, 151, 152), {"host": [1, 2, 3], "cost": [1.0, 2.0, 1.0]}),
    Update(START + 31 * MINUTE, (103, 150), {"present": False}),
    Update(START + 31 * MINUTE, (104,), {"not_before": START + 45 * MINUTE}),
    Update(START + 47 * MINUTE, (105, 106), {"shortest": [40 * MINUTE, 0], "longest": [NEVER, 5 * MINUTE]}),
)


@pytest.mark.parametrize(
    "other",
    [{}, {"updates": UPDATES, "host_connections": 3, "tick": 17_777_777}, {"limit": 1, "price": 2e-5}],
    ids=["plain", "updates, connections and an odd tick", "limit and price"],
)
def test_dense_scan_and_due_queue_agree(policy, other):
    """Polling all pages each time, or only those that are due, gives the same polls."""
    dense = simulate(policy, world(**other), rng=chance(), make_driver=DenseScan)
    due = simulate(policy, world(**other), rng=chance(), make_driver=DueQueue)

    assert len(dense.polls.at) > 50
    assert describe(dense) == describe(due)


def test_inputs_are_not_changed(policy):
    """Every call returns a new state and does not modify the old one."""
    population = pages()
    state = policy.begin(population, chance())
    before = [a.copy() for a in arrays(state)]
    ids = population.ids[:3]
    observation = Observation.of([START + 1] * 3, [True, False, True])
    policy.advance(state, MINUTE)
    policy.on_poll(state, ids, observation)
    policy.on_update(state, [*ids, 999], {"cost": 3.0})
    policy.on_update(state, ids, {"present": False})
    policy.on_signal(state, ids, Signal("api", np.array([START] * 3)))
    policy.next_due(state, ids, START, 0.0)
    policy.bid(state, START, 0.0)

    assert all((a == b).all() for a, b in zip(before, arrays(state), strict=True))
    assert not any(a.flags.writeable for a in arrays(state))


def test_empty_population_has_no_bids(policy):
    """A first page can be added later."""
    empty = policy.begin(Population({"id": []}), chance())
    filled = policy.on_update(empty, [5], {})

    assert [] == policy.bid(empty, START, 0.0).tolist()
    assert [] == policy.next_due(empty, [], START, 0.0).tolist()
    assert [5] == filled.population.ids.tolist()
    assert (policy.bid(filled, START, 0.0) > 0).all()
    assert 0 == len(simulate(policy, world(Population({"id": []})), rng=chance()).polls.at)


def test_added_pages_are_polled_and_removed_ones_are_not(policy):
    """Bids follow the order of the population."""
    ledger = simulate(policy, world(updates=UPDATES), rng=chance())
    polls = list(zip(ledger.polls.page.tolist(), ledger.polls.at.tolist(), strict=True))

    assert {150, 151, 152} <= {page for page, _ in polls}
    assert [] == [poll for poll in polls if poll[0] in {103, 150} and poll[1] > START + 31 * MINUTE + 20 * SECOND]
    assert [] == [at for page, at in polls if page == 104 and START + 32 * MINUTE < at < START + 45 * MINUTE]


def test_new_page_is_due_at_once(policy):
    """A page that was never polled bids above zero and above every page that was polled."""
    population = Population({"id": [1, 2], "last_polled": [START - 100 * PACE, UNPOLLED], "added": [0, START]})
    state = policy.begin(population, chance())
    bids = policy.bid(state, START, 0.0)

    assert bids[1] > bids[0]
    assert [START] == policy.next_due(state, [2], START, 0.0).tolist()


def test_bid_agrees_with_next_due(policy):
    """A page bids from the instant that `next_due` returns, and not before."""
    state = policy.begin(pages(), chance())
    due = policy.next_due(state, state.population.ids, START, 0.0)
    coming = np.flatnonzero((due > START) & (due < NEVER))
    rows = np.arange(state.population.size)

    assert len(coming) > 5
    for row in coming:
        assert policy.bid(state, int(due[row]) - 1, 0.0, rows=rows[row : row + 1]) <= 0
        assert policy.bid(state, int(due[row]), 0.0, rows=rows[row : row + 1]) > 0
    assert (due >= START).all()
    assert (policy.bid(state, START, 0.0)[due == START] > 0).all()


OTHERWISE = {
    "host": 3,
    "cost": 2.5,
    "importance": 0.9,
    "rate": 7.0,
    "urgency_kind": UrgencyKind.WINDOW,
    "urgency_scale": MINUTE,
    "life_kind": LifeKind.OVERWRITE,
    "life_scale": 1,
    "added": START - 2 * MINUTE,
    "last_polled": START - 3 * MINUTE,
    "not_before": START + 9 * MINUTE,
    "shortest": 90 * MINUTE,
    "longest": 5 * MINUTE,
    "hinted": 10 * MINUTE,
    "unannounced": 0.5,
}
"""Another value of each column that every population has."""


def answers(policy, column=None):
    """Return bids and dues of 30 pages, with one column set to another value."""
    rows = np.arange(30)
    population = Population(
        {
            "id": rows,
            "cost": 1.0 + rows % 3,
            "importance": rows / 30,
            "last_polled": np.where(rows % 5, START - rows * MINUTE, UNPOLLED),
            "life_kind": np.where(rows % 2, LifeKind.CHANGES, LifeKind.FOREVER),
            "life_scale": np.where(rows % 2, 3, 0),
        }
    )
    if column is not None:
        population = population.set(rows, {column: OTHERWISE[column]})
    before = policy.begin(population, chance())
    if isinstance(policy, HeedsHosts):
        before = policy.on_hosts(before, {3: 20 * MINUTE})
    after = policy.on_poll(before, rows, Observation.of(np.full(30, START + MINUTE), rows % 4 == 0))
    return [
        answer.tolist()
        for state in (before, after)
        for at in (START, START + 600 * MINUTE)
        for answer in (policy.bid(state, at, 0.0), policy.next_due(state, rows, at, 0.0))
    ]


@pytest.mark.parametrize("name", sorted(ROWS))
def test_only_the_columns_that_a_policy_reads_change_its_bids(name):
    """Users are warned of clauses without effect, so the list of columns must be exact."""
    policy = ROWS[name](60 * MINUTE)
    plain = answers(policy)

    assert set(OTHERWISE) == set(KNOWN) - {"id"}
    assert {column for column in OTHERWISE if answers(policy, column) != plain} == policy.reads


def test_bids_of_some_rows_equal_those_of_all(policy):
    """`rows` selects from the same bids, in the requested order."""
    state = policy.begin(pages(), chance())
    rows = np.array([7, 0, 33])

    assert policy.bid(state, START, 0.0)[rows].tolist() == policy.bid(state, START, 0.0, rows=rows).tolist()


def test_poll_result_of_a_removed_page_is_ignored(policy):
    """The result arrives after the page was removed."""
    state = policy.begin(Population({"id": [1, 2]}), chance())
    left = policy.on_update(state, [1], {"present": False})
    after = policy.on_poll(left, [1, 2], Observation.of([START, START], [True, False]))

    assert [2] == after.population.ids.tolist()
    assert [START] == after.population["last_polled"].tolist()


def test_advance_is_additive(policy):
    """Two short waits equal one long wait."""
    state = policy.begin(pages(), chance())
    once = policy.advance(state, 10 * MINUTE)
    twice = policy.advance(policy.advance(state, 3 * MINUTE), 7 * MINUTE)

    assert np.allclose(policy.bid(once, START + 10 * MINUTE, 0.0), policy.bid(twice, START + 10 * MINUTE, 0.0))


LEARNERS = [name for name in sorted(ROWS) if isinstance(ROWS[name](PACE), Remembers)]


@pytest.mark.parametrize("name", LEARNERS)
def test_learned_state_survives_a_restart(name):
    """It is stored as JSON and may be loaded in another order."""
    policy: Any = ROWS[name](PACE)
    population = pages()
    rng = chance(3)
    state = policy.begin(population, chance())
    for turn in range(1, 40):
        at = START + turn * 20 * MINUTE + rng.integers(0, MINUTE, population.size)
        state = policy.on_poll(state, population.ids, Observation.of(at, rng.uniform(size=population.size) < 0.3))
    kept = {page: json.loads(json.dumps(policy.remember(state, page))) for page in population.ids.tolist()}
    order = rng.permutation(population.size)
    columns = {name: column[order] for name, column in state.population.items()}
    again = policy.recall(policy.begin(Population(columns), chance()), {**kept, 999: kept[100]})
    at = START + 1_000 * MINUTE
    polls = Observation.of(np.full(population.size, at), rng.uniform(size=population.size) < 0.5)
    then, now = (policy.on_poll(s, population.ids, polls) for s in (state, again))

    for before, after in ((state, again), (then, now)):
        due = policy.next_due(before, population.ids, 0, 0.0)
        assert len(set(due.tolist())) > 10
        assert due.tolist() == policy.next_due(after, population.ids, 0, 0.0).tolist()
    assert kept == {page: policy.remember(again, page) for page in population.ids.tolist()}
    assert not any(a.flags.writeable for a in arrays(again))


@pytest.mark.parametrize("name", LEARNERS)
def test_unreadable_memory_is_ignored(name):
    """An invalid or missing row loses only what was learned."""
    policy: Any = ROWS[name](PACE)
    state = policy.begin(Population({"id": [1, 2], "last_polled": [START, START]}), chance())
    for memory in ({}, {"period": -1.0}, dict.fromkeys(policy.remember(state, 1), "x")):
        after = policy.recall(state, {1: memory})

        assert policy.remember(state, 1) == policy.remember(after, 1)
        assert policy.next_due(state, [1, 2], 0, 0.0).tolist() == policy.next_due(after, [1, 2], 0, 0.0).tolist()

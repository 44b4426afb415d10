"""Effective age: hints make a page older, reported changes make it age more slowly, and a poll
resets it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tidings.estimation.evidence import Hints
from tidings.lab.compare import ALL as POLICIES
from tidings.model.interval import DAY, HOUR, MINUTE
from tidings.scheduling import index
from tidings.scheduling.policy import Observation, Policy, Population, Signal

START = 1_700_000_000_000_000
WEIGHING = sorted(name for name, make in POLICIES.items() if index.HINTS <= make(HOUR).reads)
IGNORING = sorted(set(POLICIES) - set(WEIGHING))
EXACT = {"azar", "lambda_crawl", "lambda_crawl_polite", "price", "price_hours", "sbr", "wic"}
"""Policies whose polls come when a page's effective age is worth one; those of others wait for instants of their own beside."""
ALL = slice(None)


def begin(policy: Policy[Any], **columns: Any) -> Any:
    pages = {"id": [1, 2], "rate": [1.0, 1.0], "last_polled": [START, START], "shortest": [MINUTE, MINUTE], **columns}
    return policy.begin(Population(pages), np.random.default_rng(0))


def signal(*ages: int) -> Signal:
    return Signal("api", np.array(ages, dtype=np.int64))


def test_effective_age_agrees_with_the_formula():
    """It is −ln P(fresh)/Δ for Poisson changes with a share of reported ones, among false hints
    (scheduling §6).
    """
    hints, rate, gap, came = Hints(recall=0.6, noise=0.3), 2.0, 0.25, 2
    population = Population(
        {"id": [1], "unannounced": [1 - hints.recall], "hinted": [round(came * hints.extra_age(rate) * DAY)]}
    )
    found = index.effective_age(population, np.array([gap * DAY]), ALL)

    assert found / DAY == pytest.approx(hints.effective_age(rate, gap, came))
    assert index.wait_to_age(population, found, ALL) == pytest.approx([gap * DAY])


def test_effective_age_is_the_age_without_hints():
    """Nothing is computed and no column is written while no source reports a page."""
    since = np.array([5.0, np.inf])
    plain = Population({"id": [1, 2]})
    hinted = index.hint(plain, np.array([1]), np.array([3]))

    assert since is index.effective_age(plain, since, ALL)
    assert since is index.wait_to_age(plain, since, ALL)
    assert [False, True, True] == [index.has_hints(p) for p in (plain, hinted, plain.set([0], {"unannounced": 0.5}))]
    assert [0, 0] == index.without_hints(hinted)["hinted"].tolist()
    assert not index.has_hints(Population({"id": []}))


def test_effective_age_is_at_most_a_year():
    """The instants stay valid for any number of hints."""
    population = Population({"id": [1]})
    for _ in range(3):
        population = index.hint(population, np.array([0]), np.array([2**62]))
    assert [index.MOST] == population["hinted"].tolist()


@pytest.mark.parametrize(
    ("column", "value"), [("hinted", -1), ("unannounced", 0.0), ("unannounced", 1.5), ("unannounced", np.nan)]
)
def test_impossible_hints_are_refused(column, value):
    """Hints make no page younger, and no source reports more than all changes."""
    with pytest.raises(ValueError, match="page 1 must"):
        Population({"id": [1], column: [value]})


def test_policies_that_weigh_hints_are_known():
    """They value a poll; the others have intervals, which hints do not move."""
    assert set(WEIGHING) >= EXACT
    assert {"best_effort", "round_robin", "nutch"} <= set(IGNORING)


@pytest.mark.parametrize("name", WEIGHING)
def test_hint_makes_its_page_due_sooner(name):
    """The page bids more, but never within its floor, and the other page is unchanged; after the
    poll both wait the same.
    """
    policy: Any = POLICIES[name](HOUR)
    state = begin(policy)
    usual = policy.next_due(state, [1, 2], START, 0.0)
    hinted = policy.on_signal(state, [1, 99], signal(20 * MINUTE, 20 * MINUTE))
    due = policy.next_due(hinted, [1, 2], START, 0.0)
    flood = policy.on_signal(hinted, [1], signal(2**62))

    assert due[0] <= usual[0]
    assert name not in EXACT or usual[0] - 20 * MINUTE == pytest.approx(due[0], abs=1)
    assert usual[1] == due[1]
    soonest = int(policy.next_due(flood, [1], START, 0.0)[0])
    assert START + MINUTE <= soonest <= due[0]
    assert name not in EXACT or START + MINUTE == soonest
    assert 0 == policy.bid(flood, START + MINUTE - 1, 0.0)[0]
    assert policy.bid(flood, int(usual[0]), 0.0)[0] >= policy.bid(state, int(usual[0]), 0.0)[0] > 0

    polled = policy.on_poll(flood, [1, 2], Observation.of([START + HOUR] * 2, [False, False]))
    unhinted = policy.on_poll(state, [1, 2], Observation.of([START + HOUR] * 2, [False, False]))
    after, otherwise = (policy.next_due(s, [1, 2], START, 0.0).tolist() for s in (polled, unhinted))
    assert after == otherwise
    assert [0, 0] == polled.population["hinted"].tolist()


@pytest.mark.parametrize("name", sorted(EXACT))
def test_page_with_reported_changes_waits_longer(name):
    """A source that reports every second change doubles the wait during its silence, up to the
    longest.
    """
    policy: Any = POLICIES[name](HOUR)
    few = begin(policy, unannounced=[0.5, 1.0])
    waits = policy.next_due(few, [1, 2], START, 0.0) - START
    assert 2 * waits[1] == pytest.approx(waits[0], rel=1e-6)

    none = begin(policy, unannounced=[1e-6, 1.0], longest=[3 * HOUR, 3 * HOUR])
    assert START + 3 * HOUR == policy.next_due(none, [1], START, 0.0)[0]


@pytest.mark.parametrize("name", WEIGHING)
def test_hints_do_not_raise_the_price(name):
    """The price for a budget is that without hints, also in a flood of them."""
    policy: Any = POLICIES[name](HOUR)
    state = begin(policy)
    flooded = policy.on_signal(state, [1, 2], signal(2**62, 2**62))
    budget = 4 / DAY

    assert policy.market(state, budget) == policy.market(flooded, budget)


@pytest.mark.parametrize("name", IGNORING)
def test_hints_do_not_move_intervals(name):
    """Policies with intervals ignore them."""
    policy: Any = POLICIES[name](HOUR)
    state = begin(policy)
    hinted = policy.on_signal(state, [1], signal(DAY))

    assert policy.next_due(state, [1, 2], START, 0.0).tolist() == policy.next_due(hinted, [1, 2], START, 0.0).tolist()

"""Effective age: hints make a page older, what is told of it makes it age more slowly, and looks make all even."""

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
HEEDING = sorted(name for name, make in POLICIES.items() if index.HINTS <= make(HOUR).reads)
DEAF = sorted(set(POLICIES) - set(HEEDING))
EXACT = {"azar", "lambda_crawl", "lambda_crawl_polite", "price", "price_hours", "sbr", "wic"}
"""Policies whose looks come when a page's effective age is worth one; those of others wait for instants of their own beside."""
ALL = slice(None)


def begin(policy: Policy[Any], **columns: Any) -> Any:
    pages = {"id": [1, 2], "rate": [1.0, 1.0], "last_polled": [START, START], "shortest": [MINUTE, MINUTE], **columns}
    return policy.begin(Population(pages), np.random.default_rng(0))


def signal(*ages: int) -> Signal:
    return Signal("api", np.array(ages, dtype=np.int64))


def test_it_is_that_of_the_formula():
    """−ln P(fresh)/Δ for Poisson changes of which a share is told, among hints for nothing (scheduling §6)."""
    hints, rate, gap, came = Hints(recall=0.6, noise=0.3), 2.0, 0.25, 2
    population = Population(
        {"id": [1], "unheard": [1 - hints.recall], "hinted": [round(came * hints.extra_age(rate) * DAY)]}
    )
    found = index.effective_age(population, np.array([gap * DAY]), ALL)

    assert found / DAY == pytest.approx(hints.effective_age(rate, gap, came))
    assert index.wait_to_age(population, found, ALL) == pytest.approx([gap * DAY])


def test_without_hints_it_is_the_age():
    """Nothing is reckoned, and no column is written to, while no source speaks of any page."""
    since = np.array([5.0, np.inf])
    plain = Population({"id": [1, 2]})
    heard = index.hint(plain, np.array([1]), np.array([3]))

    assert since is index.effective_age(plain, since, ALL)
    assert since is index.wait_to_age(plain, since, ALL)
    assert [False, True, True] == [index.has_hints(p) for p in (plain, heard, plain.set([0], {"unheard": 0.5}))]
    assert [0, 0] == index.without_hints(heard)["hinted"].tolist()
    assert not index.has_hints(Population({"id": []}))


def test_hints_never_make_a_page_older_than_a_year():
    """However many come: the instants stay instants."""
    population = Population({"id": [1]})
    for _ in range(3):
        population = index.hint(population, np.array([0]), np.array([2**62]))
    assert [index.MOST] == population["hinted"].tolist()


@pytest.mark.parametrize(("column", "value"), [("hinted", -1), ("unheard", 0.0), ("unheard", 1.5), ("unheard", np.nan)])
def test_what_makes_no_sense_is_refused(column, value):
    """A page gets no younger by hints, and no source tells more than all."""
    with pytest.raises(ValueError, match="page 1 must"):
        Population({"id": [1], column: [value]})


def test_the_policies_that_weigh_hints():
    """Those that say what a look is worth; the others have intervals, and hints move none."""
    assert set(HEEDING) >= EXACT
    assert {"best_effort", "round_robin", "nutch"} <= set(DEAF)


@pytest.mark.parametrize("name", HEEDING)
def test_a_hint_brings_a_look_nearer_and_a_look_answers_it(name):
    """The page that was hinted is due sooner and bids more, never within its floor, the other page as before; after the look both wait alike."""
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

    looked = policy.on_poll(flood, [1, 2], Observation.of([START + HOUR] * 2, [False, False]))
    unhinted = policy.on_poll(state, [1, 2], Observation.of([START + HOUR] * 2, [False, False]))
    after, otherwise = (policy.next_due(s, [1, 2], START, 0.0).tolist() for s in (looked, unhinted))
    assert after == otherwise
    assert [0, 0] == looked.population["hinted"].tolist()


@pytest.mark.parametrize("name", sorted(EXACT))
def test_a_page_whose_changes_are_told_waits_longer_but_never_too_long(name):
    """A source that tells of every second change makes its silence worth twice the wait, up to the longest there is."""
    policy: Any = POLICIES[name](HOUR)
    few = begin(policy, unheard=[0.5, 1.0])
    waits = policy.next_due(few, [1, 2], START, 0.0) - START
    assert 2 * waits[1] == pytest.approx(waits[0], rel=1e-6)

    none = begin(policy, unheard=[1e-6, 1.0], longest=[3 * HOUR, 3 * HOUR])
    assert START + 3 * HOUR == policy.next_due(none, [1], START, 0.0)[0]


@pytest.mark.parametrize("name", HEEDING)
def test_hints_cost_nothing(name):
    """The price that a budget makes is that of pages nobody gave a hint of: a flood makes no look dearer."""
    policy: Any = POLICIES[name](HOUR)
    state = begin(policy)
    flooded = policy.on_signal(state, [1, 2], signal(2**62, 2**62))
    budget = 4 / DAY

    assert policy.market(state, budget) == policy.market(flooded, budget)


@pytest.mark.parametrize("name", DEAF)
def test_hints_move_no_interval(name):
    """Whoever proposes an interval hears no hints."""
    policy: Any = POLICIES[name](HOUR)
    state = begin(policy)
    hinted = policy.on_signal(state, [1], signal(DAY))

    assert policy.next_due(state, [1, 2], START, 0.0).tolist() == policy.next_due(hinted, [1, 2], START, 0.0).tolist()

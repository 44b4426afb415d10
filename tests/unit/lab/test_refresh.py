"""Rates under a budget: worked numbers, and no exchange of polls is better."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.lab.refresh import (
    allot_observations,
    azar,
    divergence,
    freshness,
    harmonic,
    host_prices,
    lambda_crawl,
    sbr,
)

CHANGES = np.array([0.1, 1.0, 5.0])
rates = st.lists(st.floats(0.01, 50), min_size=2, max_size=6).map(np.array)


def test_rates_for_freshness_at_fixed_intervals():
    """Three pages share three polls: the fastest gets less than its part."""
    found = sbr(CHANGES, 3.0)

    assert [0.488674, 1.287344, 1.223982] == pytest.approx(found.rates.tolist(), abs=1e-6)
    assert [0.904319, 0.695322, 0.240678] == pytest.approx(freshness(CHANGES, found.rates).tolist(), abs=1e-6)
    assert 1.840319 == pytest.approx(freshness(CHANGES, found.rates).sum(), abs=1e-6)
    assert 1.782399 == pytest.approx(freshness(CHANGES, np.ones(3)).sum(), abs=1e-6)
    assert 0.182891 == pytest.approx(found.price, abs=1e-6)


def test_divergence_at_the_best_intervals_is_the_price():
    """Olston and Pandey's threshold and Cho and Garcia-Molina's rates are the same optimum."""
    found = sbr(CHANGES, 3.0)

    assert [found.price] * 3 == pytest.approx(divergence(CHANGES, 1 / found.rates).tolist())


def test_memoryless_and_harmonic_rates_are_those_of_the_papers():
    """They are Azar et al. and LambdaCrawl for the same pages."""
    fresh, harmonic = azar(CHANGES, 3.0), lambda_crawl(CHANGES, 3.0)

    assert [0.710088, 1.561724, 0.728188] == pytest.approx(fresh.rates.tolist(), abs=1e-6)
    assert 0.152383 == pytest.approx(fresh.price, abs=1e-6)
    assert 1.613318 == pytest.approx((fresh.rates / (fresh.rates + CHANGES)).sum(), abs=1e-6)
    assert [0.407174, 1.021538, 1.571288] == pytest.approx(harmonic.rates.tolist(), abs=1e-6)
    assert 0.484243 == pytest.approx(harmonic.price, abs=1e-6)
    assert 0.777659 == pytest.approx(-np.log(harmonic.rates / (harmonic.rates + CHANGES)).mean(), abs=1e-6)


def test_pages_with_complete_hints_are_filled_first():
    """The budget is spread like water, up to certainty."""
    assert [0.6, 0.9, 0.15] == pytest.approx(
        allot_observations(np.array([1.0, 2, 4]), 3.0, np.array([1.0, 3, 1])).tolist()
    )
    assert [1.0, 1.0] == allot_observations(np.array([1.0, 2]), 9.0).tolist()


@pytest.mark.parametrize(
    ("allocate", "value"),
    [
        (sbr, lambda changes, polls: freshness(changes, polls).sum()),
        (azar, lambda changes, polls: (polls / (polls + changes)).sum()),
        (lambda_crawl, lambda changes, polls: np.log(polls / (polls + changes)).sum()),
    ],
    ids=["sbr", "azar", "lambda_crawl"],
)
@given(changes=rates, budget=st.floats(0.05, 20), seed=st.integers(0, 2**32 - 1))
def test_no_exchange_of_polls_is_better(allocate, value, changes, budget, seed):
    """The budget is spent, and a hundred random exchanges gain nothing."""
    polls = allocate(changes, budget).rates
    rng = np.random.default_rng(seed)

    assert budget == pytest.approx(polls.sum(), rel=1e-6)
    assert (polls >= 0).all()
    best = value(changes, polls)
    for _ in range(30):
        giver, taker = rng.integers(0, len(changes), 2)
        other = polls.copy()
        moved = polls[giver] * rng.uniform(0, 0.5)
        other[giver] -= moved
        other[taker] += moved
        assert value(changes, other) <= best + 1e-7 * max(1, abs(best))


def test_importance_raises_rates_and_cost_lowers_them():
    """Both move polls."""
    plain = sbr(np.ones(2), 2.0).rates
    costly = sbr(np.ones(2), 2.0, cost=np.array([1.0, 3.0])).rates

    assert plain[0] == pytest.approx(plain[1])
    assert sbr(np.ones(2), 2.0, np.array([1.0, 0.5])).rates[0] > plain[0]
    assert costly[0] > costly[1]
    assert 2.0 == pytest.approx(costly @ [1, 3])
    assert [0, 0] == sbr(np.ones(2), 0.0).rates.tolist()


def test_price_of_a_host_fills_its_limit():
    """At its price the pages of a host take what it allows; a host without pages has no price."""
    changes, importance = np.array([1.0, 2.0, 1.0, 1.0, 1.0]), np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    hosts, limits = np.array([0, 0, 0, 1, 2]), np.array([1.5, 9.0, 4.0])
    prices = host_prices(changes, importance, hosts, limits)
    loads = np.bincount(hosts[:4], weights=harmonic(changes[:4], importance[:4], prices[hosts[:4]]))

    assert limits[:2].tolist() == pytest.approx(loads.tolist())
    assert prices[0] > prices[1] > 0
    assert 0 == prices[2]

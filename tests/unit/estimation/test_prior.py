"""Priors from neighbours, and memories that compete."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.estimation.gamma import Gamma
from tidings.estimation.mixture import Mixture
from tidings.estimation.prior import host_priors, moved

FALLBACK = Gamma.of(0.4, 0.8)


def of_pages(posterior, hosts, known):
    """Return the prior of each page."""
    priors, which = host_priors(posterior, hosts, known, FALLBACK)
    return priors.at(which)


def test_a_new_page_is_taken_for_one_of_its_host():
    """Of a busy host busier, of a quiet one quieter, of an unknown one like everybody, of nobody as told."""
    hosts = np.array([1] * 20 + [2] * 20 + [1, 2, 3])
    rates = np.array([10.0] * 20 + [0.1] * 20 + [1.0] * 3)
    known = np.array([True] * 40 + [False] * 3)
    posterior = Gamma.of(np.full(43, 50.0), 50.0 / rates)
    priors = of_pages(posterior, hosts, known)
    busy, quiet, other = priors.mean[-3:]

    assert quiet < other < busy
    assert 5 < busy < 12
    assert np.unique(priors.mean[hosts == 1]).size == 1
    assert FALLBACK.mean[0] == pytest.approx(of_pages(posterior, hosts, np.zeros(43, dtype=bool)).mean[0])


def test_one_page_does_not_make_a_host():
    """The fewer a host has, the more it is like everybody."""
    hosts = np.array([1, 2] + [3] * 30)
    posterior = Gamma.of(np.full(32, 50.0), 50.0 / np.array([100.0, 1.0] + [1.0] * 30))
    priors = of_pages(posterior, hosts, np.ones(32, dtype=bool))

    assert priors.mean[0] < 30


def test_a_page_that_never_looks_the_same_says_little_of_its_neighbours():
    """However often it was found changed, it counts for one that changes hourly."""
    hosts = np.array([1, 1, 1])
    posterior = Gamma.of([50.0, 0.1, 0.1], [50.0 / 1_500, 0.2, 0.2])
    priors = of_pages(posterior, hosts, np.array([True, False, False]))

    assert priors.mean[1] < 24 / 3


def test_posteriors_move_with_their_priors():
    """Looks that found nothing, and changes of which the instant is known, add the same to every prior: moving them is learning anew."""
    before, after = Gamma.of([0.1, 0.1], [0.2, 0.2]), Gamma.of([2.0, 0.5], [1.0, 4.0])

    def learned(prior):
        return prior.observe(3.0, [False, True], age=[np.nan, 1.0]).observe(2.0, [False, False])

    assert learned(after).mean == pytest.approx(moved(learned(before), before, after).mean)
    assert learned(after).deviation == pytest.approx(moved(learned(before), before, after).deviation)


def test_the_memory_that_foretells_wins_and_can_lose_again():
    """A page that is quiet for months, then changes daily: the short memory takes over, and the mixture foretells better than the long one."""
    prior = Gamma.of(0.4, 0.8)
    mixture = Mixture.of(prior, (1.0, 64.0))
    alone = prior
    loss = other = 0.0
    rng = np.random.default_rng(0)
    for day in range(300):
        changed = bool(rng.uniform() < (0.9 if 150 <= day < 200 else 0.02))
        if day >= 150:
            loss -= float(np.log(mixture.chance(1.0)[0] if changed else 1 - mixture.chance(1.0)[0]))
            aged = alone.forgetting(prior, 1.0, 64.0)
            other -= float(np.log(aged.chance(1.0)[0] if changed else 1 - aged.chance(1.0)[0]))
        mixture = mixture.observe(prior, 1.0, 1.0, changed)
        alone = alone.forgetting(prior, 1.0, 64.0).observe(1.0, changed)
        if day == 199:
            assert mixture.weights[0, 0] > 0.5

    assert loss < other
    assert mixture.weights.min() >= 0.005
    assert 1.0 == pytest.approx(mixture.weights.sum())
    assert np.isfinite(mixture.mean).all()

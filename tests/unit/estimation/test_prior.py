"""Priors are fitted to the pages of a host, and to all pages."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.estimation.learner import Gamma, host_priors, move_priors

FALLBACK = Gamma.of(0.4, 0.8)


def fit_pages(posterior, hosts, known):
    """Return the prior of each page."""
    priors, which = host_priors(posterior, hosts, known, FALLBACK)
    return priors.at(which)


def test_new_page_has_the_prior_of_its_host():
    """A busy host has a higher prior, a quiet one a lower one, an unknown one that of all pages;
    without any pages it is the fallback.
    """
    hosts = np.array([1] * 20 + [2] * 20 + [1, 2, 3])
    rates = np.array([10.0] * 20 + [0.1] * 20 + [1.0] * 3)
    known = np.array([True] * 40 + [False] * 3)
    posterior = Gamma.of(np.full(43, 50.0), 50.0 / rates)
    priors = fit_pages(posterior, hosts, known)
    busy, quiet, other = priors.mean[-3:]

    assert quiet < other < busy
    assert 5 < busy < 12
    assert 1 == np.unique(priors.mean[hosts == 1]).size
    assert FALLBACK.mean[0] == pytest.approx(fit_pages(posterior, hosts, np.zeros(43, dtype=bool)).mean[0])


def test_prior_of_a_small_host_is_like_that_of_all():
    """The fewer pages a host has, the closer its prior is to that of all."""
    hosts = np.array([1, 2] + [3] * 30)
    posterior = Gamma.of(np.full(32, 50.0), 50.0 / np.array([100.0, 1.0] + [1.0] * 30))
    priors = fit_pages(posterior, hosts, np.ones(32, dtype=bool))

    assert priors.mean[0] < 30


def test_page_that_always_differs_hardly_affects_its_host():
    """However often it was found changed, it counts as a page that changes hourly."""
    hosts = np.array([1, 1, 1])
    posterior = Gamma.of([50.0, 0.1, 0.1], [50.0 / 1_500, 0.2, 0.2])
    priors = fit_pages(posterior, hosts, np.array([True, False, False]))

    assert priors.mean[1] < 24 / 3


def test_posterior_moves_with_its_prior():
    """Polls without changes, and changes at known instants, add the same to every prior: moving the
    posterior is the same as learning anew.
    """
    before, after = Gamma.of([0.1, 0.1], [0.2, 0.2]), Gamma.of([2.0, 0.5], [1.0, 4.0])

    def learn(prior):
        return prior.observe(3.0, [False, True], age=[np.nan, 1.0]).observe(2.0, [False, False])

    assert learn(after).mean == pytest.approx(move_priors(learn(before), before, after).mean)
    assert learn(after).deviation == pytest.approx(move_priors(learn(before), before, after).deviation)

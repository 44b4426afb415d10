"""Memories that compete."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.estimation.gamma import Gamma
from tidings.lab.mixture import Mixture


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

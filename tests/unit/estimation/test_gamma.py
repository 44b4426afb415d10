"""The posterior of a rate, compared with worked numbers and with the exact posterior by quadrature."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.estimation.learner import Gamma

positive = st.floats(1e-3, 1e3)


def test_posterior_agrees_with_the_worked_example():
    """The polls come one after the other, without forgetting (bid_and_defaults, errata)."""
    start = Gamma.of(1, 10)
    quiet = start.observe(5, changed=False)
    after = quiet.observe(5, changed=True)
    later = after.observe(20, changed=True)

    assert (1, 15) == (quiet.shape[0], quiet.scale[0])
    assert (1.96, 16.8) == pytest.approx((after.shape[0], after.scale[0]))
    assert 0.116667 == pytest.approx(after.mean[0], abs=1e-6)
    assert 0.399889 == pytest.approx(after.chance(5)[0], abs=1e-6)
    assert (2.549373, 19.019783) == pytest.approx((later.shape[0], later.scale[0]), abs=1e-6)
    assert 0.134038 == pytest.approx(later.mean[0], abs=1e-6)


@given(shape=st.floats(0.2, 30), scale=positive, gap=positive)
def test_moments_are_those_of_the_exact_posterior(shape: float, scale: float, gap: float):
    """Mean and variance after one or more changes agree with sums of the density."""
    log_rate = np.linspace(np.log(1e-9 / scale), np.log(400 * (shape + 1) / scale), 40_001)
    rate = np.exp(log_rate)
    log_density = shape * log_rate - scale * rate + np.log(-np.expm1(-rate * gap))
    density = np.exp(log_density - log_density.max())
    mean = (rate * density).sum() / density.sum()
    variance = ((rate - mean) ** 2 * density).sum() / density.sum()
    found = Gamma.of(shape, scale).observe(gap, changed=True)

    assert mean == pytest.approx(found.mean[0], rel=1e-4)
    assert variance == pytest.approx(found.deviation[0] ** 2, rel=1e-3)


@given(shape=st.floats(0.2, 1e6), scale=positive, gap=st.floats(0, 1e-6))
def test_change_within_a_tiny_gap_counts_as_one(shape: float, scale: float, gap: float):
    """As the gap goes to 0, nothing overflows or cancels."""
    found = Gamma.of(shape, scale).observe(gap * scale, changed=True)

    assert shape + 1 == pytest.approx(found.shape[0], rel=1e-3)
    assert scale == pytest.approx(found.scale[0], rel=1e-3)


def test_exact_knowledge_counts_exactly():
    """It is a trusted age of the last change, or a number of changes."""
    start = Gamma.of([1, 1, 1, 1], [10, 10, 10, 10])
    found = start.observe(
        [5, 5, 5, 5], [True, True, True, False], age=[2, np.nan, 9, 2], count=[np.nan, np.nan, np.nan, np.nan]
    )
    counted = start.observe([5, 5, 5, 5], [True, True, False, False], count=[3, np.nan, 0, np.nan])

    assert [2, pytest.approx(25 / 13), 2, 1] == found.shape.tolist()
    assert [12, pytest.approx(150 / 13), 15, 15] == found.scale.tolist()
    assert [4, pytest.approx(25 / 13), 1, 1] == counted.shape.tolist()
    assert [15, pytest.approx(150 / 13), 15, 15] == counted.scale.tolist()


def test_rate_of_a_page_that_always_changes_stays_finite():
    """After two thousand changes in a row and then silence, the rate falls again as the changes are
    forgotten.
    """
    prior = Gamma.of(0.4, 0.8)
    known = prior
    for _ in range(2_000):
        known = known.forgetting(prior, 0.01, 30).observe(0.01, changed=True)
    quiet = known
    for _ in range(200):
        quiet = quiet.forgetting(prior, 1.0, 30).observe(1.0, changed=False)

    assert np.isfinite([known.shape[0], known.scale[0]]).all()
    assert known.mean[0] > 50
    assert quiet.mean[0] < 1


def test_half_of_the_knowledge_is_forgotten_in_a_half_life():
    """After a very long time only the prior is left."""
    prior, known = Gamma.of(1, 2), Gamma.of(9, 4)

    half = known.forgetting(prior, 30, 30)
    assert (5, 3) == (half.shape[0], half.scale[0])
    never = known.forgetting(prior, 1e6, 30)
    assert (1, 2) == pytest.approx((never.shape[0], never.scale[0]))


def test_unknown_page_is_assumed_to_be_busier():
    """The optimism is measured in deviations, and goes away with the polls."""
    rough = Gamma.prior(mean=0.5, shape=0.4, size=1)
    sure = rough
    for _ in range(50):
        sure = sure.observe(2.0, changed=False).observe(1.0, changed=True)

    assert rough.optimistic()[0] / rough.mean[0] > 2
    assert sure.optimistic()[0] / sure.mean[0] < 1.2


@pytest.mark.parametrize(("shape", "scale"), [(0, 1), (1, 0), (np.nan, 1), (1, np.inf), (-1, 1)])
def test_invalid_posterior_is_refused(shape: float, scale: float):
    """Time that runs backwards is refused too."""
    with pytest.raises(ValueError, match="above 0"):
        Gamma.of(shape, scale)
    with pytest.raises(ValueError, match="0 or more"):
        Gamma.of(1, 1).observe(-1.0, changed=False)

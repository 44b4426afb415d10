"""The log of searches as numbers: fading, the viewing curve, the knee."""

import numpy as np
import pytest

from tidings.search.query_log import HALF_LIFE, USUAL_EXPONENT, fade, knee, viewing_exponent


def test_searches_fade():
    """To a half in thirty days; nothing grows back where a clock was set back."""
    assert 4.0 == fade(8.0, HALF_LIFE)
    assert 8.0 == fade(8.0, -HALF_LIFE)


@pytest.mark.parametrize("exponent", [0.4, 1.0, 1.5, 2.3])
def test_the_viewing_curve_is_fitted(exponent):
    """From clicks that were drawn by a curve, its exponent comes back; those on later screens mean
    nothing.
    """
    ranks = np.arange(1, 21)
    shares = ranks**-exponent / np.sum(ranks**-exponent)
    drawn = np.random.default_rng(5).multinomial(40_000, shares)
    clicks = dict(zip(ranks.tolist(), drawn.tolist(), strict=True))

    assert exponent == pytest.approx(viewing_exponent({**clicks, 400: 9_000}), abs=0.05)


def test_few_clicks_fit_nothing():
    """The curve is the usual one below a thousand, however they lie."""
    assert USUAL_EXPONENT == viewing_exponent({1: 999})
    assert USUAL_EXPONENT < viewing_exponent({1: 1_000})
    assert 0 == pytest.approx(viewing_exponent({20: 1_000}), abs=1e-9)


def test_the_knee_parts_what_is_of_these_pages():
    """Forty queries of much alike, then a fall: the knee is where it begins. Without a fall all are
    kept.
    """
    of_these = [100 * 0.99**n for n in range(40)]
    of_others = [10 * 0.5**n for n in range(1, 21)]

    assert of_these[-1] == pytest.approx(knee([*of_others, *of_these]), rel=0.05)
    assert 0 == knee([1.0] * 50)
    assert 0 == knee([5.0, 4.0, 0.1])

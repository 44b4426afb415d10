"""Numbers of the literature."""

from __future__ import annotations

import pytest

from tidings.estimation.baselines import cho_garcia_molina, maximum_likelihood, pseudo_likelihood


@pytest.mark.parametrize(
    ("changed", "looks", "expected"), [(3, 10, 0.336472), (10, 10, 3.044522), (0, 10, 0.0), (6, 50, 0.126484)]
)
def test_cho_and_garcia_molina(changed: int, looks: int, expected: float):
    """Corrected for bias, at an interval of 1."""
    assert expected == pytest.approx(cho_garcia_molina(changed, looks, 1.0), abs=1e-6)


def test_maximum_likelihood_of_irregular_gaps():
    """The worked line, the regular case in closed form, and the ends."""
    assert 0.180693 == pytest.approx(maximum_likelihood([2, 5], [1, 3, 4]), abs=1e-6)
    assert 0.356675 == pytest.approx(maximum_likelihood([1] * 3, [1] * 7), abs=1e-6)
    assert 0.0 == maximum_likelihood([], [1, 2])
    assert maximum_likelihood([2.0], []) > 1000
    assert 0 < pseudo_likelihood([], [5, 5], pseudo=0.5) < 1


def test_what_cannot_be():
    """More changes than looks."""
    with pytest.raises(ValueError, match="5 of 3"):
        cho_garcia_molina(5, 3, 1.0)

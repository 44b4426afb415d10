"""Dates and hints: believed as far as they deserve it."""

from __future__ import annotations

import math

import pytest

from tidings.estimation.evidence import Dates, Hints


def test_dates_are_exact_once_they_have_proved_it_both_ways():
    """A hundred right in both ways make them trusted; a few errors of either kind undo it."""
    dates = Dates()
    assert not dates.are_exact
    for _ in range(100):
        dates = dates.observe(date_moved=True, content_moved=True).observe(date_moved=False, content_moved=False)
    assert dates.are_exact
    lying = dates
    for _ in range(3):
        lying = lying.observe(date_moved=True, content_moved=False)
    assert not lying.are_exact
    for _ in range(3):
        dates = dates.observe(date_moved=False, content_moved=True)
    assert not dates.are_exact


def test_a_page_is_as_stale_as_its_signals_make_it():
    """Without signals the effective age is the age of what they would miss; each adds as much as it is worth; noise adds little."""
    good, noisy = Hints(recall=0.5, noise=0.01), Hints(recall=0.5, noise=10.0)

    assert math.exp(-0.05 * 4) == pytest.approx(good.fresh(0.1, 4, 0))
    assert 2.0 == pytest.approx(good.effective_age(0.1, 4, 0))
    assert good.effective_age(0.1, 4, 1) > 4 * noisy.effective_age(0.1, 4, 1)
    assert good.effective_age(0.1, 4, 2) > good.effective_age(0.1, 4, 1)
    assert math.inf == Hints(recall=1.0, noise=0.0).effective_age(0.1, 4, 1)
    assert pytest.approx(4) == Hints(recall=0.0, noise=0.0).effective_age(0.1, 4, 3)

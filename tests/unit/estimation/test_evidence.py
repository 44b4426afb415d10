"""Dates and hints count as much as the polls after them have confirmed them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tidings.estimation.evidence import Dates, Hints, Trust, Verdict, judge


def test_dates_are_trusted_after_a_hundred_confirmations():
    """They need confirmations of changes and of quiet polls; a few errors of either kind end the
    trust.
    """
    dates = Dates()
    assert not dates.are_exact
    for _ in range(100):
        dates = dates.observe(date_moved=True, content_moved=True).observe(date_moved=False, content_moved=False)
    assert dates.are_exact
    false = dates
    for _ in range(3):
        false = false.observe(date_moved=True, content_moved=False)
    assert not false.are_exact
    for _ in range(3):
        dates = dates.observe(date_moved=False, content_moved=True)
    assert not dates.are_exact


def test_dates_that_become_wrong_are_distrusted_soon():
    """After 5,060 true dates the fourth wrong one ends the trust. It can come back after as many
    true ones as are remembered.
    """
    dates = Dates()
    for _ in range(2_530):
        dates = dates.observe(date_moved=True, content_moved=True).observe(date_moved=False, content_moved=False)
    trusted = []
    for _ in range(4):
        dates = dates.observe(date_moved=True, content_moved=False)
        trusted.append(dates.are_exact)
    for _ in range(400):
        dates = dates.observe(date_moved=False, content_moved=False)

    assert not trusted[-1]
    assert dates.are_exact


def test_effective_age_grows_with_each_signal():
    """Without signals, the effective age is the age of what they would miss. Each signal adds its
    worth, and noise adds little.
    """
    good, noisy = Hints(recall=0.5, noise=0.01), Hints(recall=0.5, noise=10.0)

    assert math.exp(-0.05 * 4) == pytest.approx(good.fresh(0.1, 4, 0))
    assert 2.0 == pytest.approx(good.effective_age(0.1, 4, 0))
    assert good.effective_age(0.1, 4, 1) > 4 * noisy.effective_age(0.1, 4, 1)
    assert good.effective_age(0.1, 4, 2) > good.effective_age(0.1, 4, 1)
    assert math.inf == Hints(recall=1.0, noise=0.0).effective_age(0.1, 4, 1)
    assert pytest.approx(4) == Hints(recall=0.0, noise=0.0).effective_age(0.1, 4, 3)


def test_effective_age_follows_from_the_probability_of_being_fresh():
    """t_e = −ln P/Δ, in closed form, for every rate down to 0 (scheduling §6)."""
    for rate, gap, signals in [(0.1, 4.0, 0), (0.1, 4.0, 3), (2.0, 0.25, 1), (1e-6, 3.0, 2)]:
        hints = Hints(recall=0.6, noise=0.3)
        age = -math.log(hints.fresh(rate, gap, signals)) / rate
        assert age == pytest.approx(hints.effective_age(rate, gap, signals), rel=1e-6)
    assert Hints(recall=0.6, noise=0.3).extra_age(0.0) == pytest.approx(2.0)
    assert 0.0 == Hints(recall=0.0, noise=0.0).extra_age(1.0)


def test_noise_alone_makes_no_page_older():
    """If as many hints come as noise brings, silence and hints cancel: the effective age is the age
    (to first order of Δρ/ν).
    """
    hints = Hints(recall=0.5, noise=200.0)
    assert hints.effective_age(1.0, 2.0, 400) == pytest.approx(2.0, rel=2e-3)


def test_poll_gives_the_expected_numbers_of_the_model():
    """If nothing is new, no hint was genuine. Otherwise the expected numbers, given a change, are
    those of the model by brute force.
    """
    hints, rate, gap, came = Hints(recall=0.4, noise=0.7), 0.8, 1.5, 2
    assert Verdict(0.0, (0.0,)) == judge(rate, gap, [(hints, came)], changed=False)

    rng = np.random.default_rng(3)
    unreported = rng.poisson(rate * (1 - hints.recall) * gap, 200_000)
    genuine = rng.binomial(came, hints.genuine(rate), 200_000)
    changed = unreported + genuine > 0
    found = judge(rate, gap, [(hints, came)], changed=True)
    assert found.announced[0] == pytest.approx(genuine[changed].mean(), abs=0.01)
    assert found.changes == pytest.approx((unreported + genuine)[changed].mean(), abs=0.01)


def test_change_without_a_hint_was_missed_by_its_source():
    """Even if a source is believed to report everything, the poll decides."""
    assert Verdict(1.0, (0.0,)) == judge(1.0, 1.0, [(Hints(recall=1.0, noise=0.0), 0)], changed=True)
    assert 1.0 == judge(0.0, 1.0, [], changed=True).changes


@pytest.mark.parametrize(("recall", "noise"), [(0.9, 0.1), (0.3, 2.0), (0.0, 5.0)])
def test_recall_and_noise_are_learned_from_polls(recall, noise):
    """The polls find changes or none, after a hint or at random; the prior says little."""
    rng = np.random.default_rng(1)
    trust, rate = Trust(), 1.0
    for _ in range(800):
        reported = rate * recall + noise
        wait, first = rng.exponential(0.5), rng.exponential(1 / reported)
        gap, came = min(wait, first), int(first < wait)
        genuine = came and rng.uniform() < rate * recall / reported
        changed = bool(genuine or rng.poisson(rate * (1 - recall) * gap))
        seen = judge(rate, gap, [(trust.hints, came)], changed=changed)
        trust = trust.add(
            announced=seen.announced[0],
            missed=seen.changes - seen.announced[0],
            false=came - seen.announced[0],
            days=gap,
        )

    assert trust.hints.recall == pytest.approx(recall, abs=0.12)
    assert trust.hints.noise == pytest.approx(noise, rel=0.25, abs=0.05)
    assert trust.sure <= trust.hints.recall


def test_silence_counts_only_from_a_proved_source():
    """It counts as far as the source surely reports; what was learned long ago counts less."""
    assert 0.0 == Trust().sure
    proved = Trust(announced=40.0, missed=0.0, days=100.0)
    assert 0.9 < proved.sure < proved.hints.recall
    assert proved.fade(60, 30) == Trust(announced=10.0, days=25.0)
    assert proved.fade(60, 30).sure < proved.sure


def test_page_with_false_hints_is_trusted_less_than_its_host():
    """False hints of one page count fully there, and for the other pages as those of one page among
    many.
    """
    source = Trust(announced=30.0, missed=3.0, false=144.0, days=300.0)
    flooded, other = source.on(Trust(false=144.0, days=1.0)), source.on(Trust(days=30.0))
    assert flooded.noise > 30
    assert other.noise < 1
    assert flooded.extra_age(1.0) < 0.03 < other.extra_age(1.0)

"""Dates and hints: believed as far as they deserve it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tidings.estimation.evidence import Dates, Hints, Trust, Verdict, judge


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


def test_dates_that_begin_to_lie_are_found_out_however_long_they_were_honest():
    """After 5,060 true dates the fourth lie ends the belief; after as many again as are remembered it may come back."""
    dates = Dates()
    for _ in range(2_530):
        dates = dates.observe(date_moved=True, content_moved=True).observe(date_moved=False, content_moved=False)
    believed = []
    for _ in range(4):
        dates = dates.observe(date_moved=True, content_moved=False)
        believed.append(dates.are_exact)
    for _ in range(400):
        dates = dates.observe(date_moved=False, content_moved=False)

    assert not believed[-1]
    assert dates.are_exact


def test_a_page_is_as_stale_as_its_signals_make_it():
    """Without signals the effective age is the age of what they would miss; each adds as much as it is worth; noise adds little."""
    good, noisy = Hints(recall=0.5, noise=0.01), Hints(recall=0.5, noise=10.0)

    assert math.exp(-0.05 * 4) == pytest.approx(good.fresh(0.1, 4, 0))
    assert 2.0 == pytest.approx(good.effective_age(0.1, 4, 0))
    assert good.effective_age(0.1, 4, 1) > 4 * noisy.effective_age(0.1, 4, 1)
    assert good.effective_age(0.1, 4, 2) > good.effective_age(0.1, 4, 1)
    assert math.inf == Hints(recall=1.0, noise=0.0).effective_age(0.1, 4, 1)
    assert pytest.approx(4) == Hints(recall=0.0, noise=0.0).effective_age(0.1, 4, 3)


def test_effective_age_is_what_the_chance_of_being_fresh_says():
    """t_e = −ln P/Δ, in closed form, for every rate down to none (scheduling §6)."""
    for rate, gap, signals in [(0.1, 4.0, 0), (0.1, 4.0, 3), (2.0, 0.25, 1), (1e-6, 3.0, 2)]:
        hints = Hints(recall=0.6, noise=0.3)
        age = -math.log(hints.fresh(rate, gap, signals)) / rate
        assert age == pytest.approx(hints.effective_age(rate, gap, signals), rel=1e-6)
    assert Hints(recall=0.6, noise=0.3).extra_age(0.0) == pytest.approx(2.0)
    assert 0.0 == Hints(recall=0.0, noise=0.0).extra_age(1.0)


def test_noise_alone_makes_no_page_older_than_it_is():
    """Where as many hints come as noise brings, silence and hints cancel: the effective age is the age (to first order of Δρ/ν)."""
    hints = Hints(recall=0.5, noise=200.0)
    assert hints.effective_age(1.0, 2.0, 400) == pytest.approx(2.0, rel=2e-3)


def test_what_a_look_shows_adds_up():
    """Nothing new: no hint was genuine. Else the expected numbers, given that something changed, are those of the model by brute force."""
    hints, rate, gap, came = Hints(recall=0.4, noise=0.7), 0.8, 1.5, 2
    assert Verdict(0.0, (0.0,)) == judge(rate, gap, [(hints, came)], changed=False)

    rng = np.random.default_rng(3)
    untold = rng.poisson(rate * (1 - hints.recall) * gap, 200_000)
    genuine = rng.binomial(came, hints.genuine(rate), 200_000)
    changed = untold + genuine > 0
    found = judge(rate, gap, [(hints, came)], changed=True)
    assert found.told[0] == pytest.approx(genuine[changed].mean(), abs=0.01)
    assert found.changes == pytest.approx((untold + genuine)[changed].mean(), abs=0.01)


def test_a_change_that_nobody_can_have_told_is_one():
    """A source that is believed to tell all without a message: the look has the last word, and the source missed it."""
    assert Verdict(1.0, (0.0,)) == judge(1.0, 1.0, [(Hints(recall=1.0, noise=0.0), 0)], changed=True)
    assert 1.0 == judge(0.0, 1.0, [], changed=True).changes


@pytest.mark.parametrize(("recall", "noise"), [(0.9, 0.1), (0.3, 2.0), (0.0, 5.0)])
def test_a_source_is_known_by_what_looks_show(recall, noise):
    """Recall and noise are learned from looks that find changes or none, made when a hint comes or at random, from a prior that says little."""
    rng = np.random.default_rng(1)
    trust, rate = Trust(), 1.0
    for _ in range(800):
        told = rate * recall + noise
        wait, first = rng.exponential(0.5), rng.exponential(1 / told)
        gap, came = min(wait, first), int(first < wait)
        genuine = came and rng.uniform() < rate * recall / told
        changed = bool(genuine or rng.poisson(rate * (1 - recall) * gap))
        seen = judge(rate, gap, [(trust.hints, came)], changed=changed)
        trust = trust.add(told=seen.told[0], missed=seen.changes - seen.told[0], false=came - seen.told[0], days=gap)

    assert trust.hints.recall == pytest.approx(recall, abs=0.12)
    assert trust.hints.noise == pytest.approx(noise, rel=0.25, abs=0.05)
    assert trust.sure <= trust.hints.recall


def test_silence_says_nothing_until_a_source_has_proved_itself():
    """What is not told counts only as far as the source surely tells; what was learned long ago counts less."""
    assert 0.0 == Trust().sure
    proved = Trust(told=40.0, missed=0.0, days=100.0)
    assert 0.9 < proved.sure < proved.hints.recall
    assert proved.fade(60, 30) == Trust(told=10.0, days=25.0)
    assert proved.fade(60, 30).sure < proved.sure


def test_a_flooded_page_is_believed_less_than_others_of_its_host():
    """False hints of one page count there at once, and on the others as one page among many."""
    source = Trust(told=30.0, missed=3.0, false=144.0, days=300.0)
    flooded, other = source.on(Trust(false=144.0, days=1.0)), source.on(Trust(days=30.0))
    assert flooded.noise > 30
    assert other.noise < 1
    assert flooded.extra_age(1.0) < 0.03 < other.extra_age(1.0)

"""What is learned of rates along with a population."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.estimation.learner import NEVER_SEEN, GammaLearner, Known
from tidings.model.interval import DAY
from tidings.scheduling.population import RATE

ONE = np.array([0])


def look(known: Known, at: float, *, changed: bool) -> Known:
    """Return what is known after a look at page 0 at a day."""
    return GammaLearner().observe(
        known, ONE, np.array([round(at * DAY)]), np.array([changed]), np.array([NEVER_SEEN]), np.array([False])
    )


def test_a_page_that_nobody_knows_has_the_rate_that_populations_give_it():
    """The default of the column and the prior are one thing."""
    learner = GammaLearner()

    assert [RATE] == pytest.approx(learner.rates(learner.begin(ONE)).tolist())


def test_a_quick_page_is_known_for_one_after_a_few_looks():
    """After six daily looks: changed at all of them, it may be a page of any speed, and is looked at anew within hours; at none, it is a slow one."""
    quick = slow = look(GammaLearner().begin(ONE), 0, changed=True)
    for day in range(1, 7):
        quick, slow = look(quick, day, changed=True), look(slow, day, changed=False)

    assert GammaLearner().rates(quick)[0] > 8
    assert GammaLearner().rates(slow)[0] < 1 / 14


def test_an_interrupted_look_is_no_interval():
    """It teaches nothing but when the page was seen."""
    learner = GammaLearner()
    before = look(learner.begin(ONE), 0, changed=True)
    after = learner.observe(
        before, ONE, np.array([9 * DAY]), np.array([True]), np.array([NEVER_SEEN]), np.array([True])
    )

    assert before.posterior.mean.tolist() == after.posterior.mean.tolist()
    assert [9 * DAY] == after.seen.tolist()

"""What is learned of rates along with a population."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest

from tidings.estimation.learner import NEVER_SEEN, GammaLearner, KnownRates
from tidings.model.interval import DAY, HOUR
from tidings.scheduling.population import RATE

ONE = np.array([0])


def look(known: KnownRates, at: float, *, changed: bool) -> KnownRates:
    """Return what is known after a look at page 0 at a day."""
    return GammaLearner().observe(
        known, ONE, np.array([round(at * DAY)]), np.array([changed]), np.array([NEVER_SEEN]), np.array([False])
    )


def test_a_page_that_nobody_knows_has_the_rate_that_populations_give_it():
    """The default of the column and the prior are one thing."""
    learner = GammaLearner()

    assert [RATE] == pytest.approx(learner.rates(learner.begin(ONE)).tolist())


def test_a_quick_page_is_known_for_one_after_a_few_looks():
    """After six daily looks: changed at all of them, it may be a page of any speed, and is checked anew within hours; at none, it is a slow one."""
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


def test_what_is_old_is_forgotten_before_what_is_new_is_learned():
    """Half of what was known is left after thirty days, and all of the look that ends them."""
    before = look(look(GammaLearner().begin(ONE), 0, changed=True), 10, changed=False)
    after = look(before, 40, changed=False)

    assert [0.2 + 10] == pytest.approx(before.posterior.scale.tolist())
    assert [0.2 + 10 / 2 + 30] == pytest.approx(after.posterior.scale.tolist())


def learn_polls(
    learner: GammaLearner, known: KnownRates, rows: Sequence[int], at: float, changed: Sequence[bool]
) -> KnownRates:
    """Return what is known after looks at a day, and after priors were found anew if that is due."""
    count = len(rows)
    instants = np.full(count, round(at * DAY))
    never, quiet = np.full(count, NEVER_SEEN), np.zeros(count, dtype=np.bool_)
    after = learner.observe(known, np.array(rows), instants, np.array(changed), never, quiet)
    return learner.fit(after, round(at * DAY)) or after


def a_host(order: Sequence[int] = tuple(range(12))) -> tuple[KnownRates, np.ndarray]:
    """Return what is known after ten days of a host of ten busy pages and one that was looked at once, and of another host's only page."""
    learner, hosts = GammaLearner(), np.array([7] * 11 + [9])
    place = np.argsort(order)
    known = learner.begin(hosts[list(order)])
    for day in range(11):
        known = learn_polls(learner, known, place[:10].tolist(), day, [True] * 10)
    return learn_polls(learner, known, place[10:].tolist(), 10.5, [False] * 2), place


def test_a_page_that_was_there_before_moves_to_what_its_host_is_found_to_be():
    """Also without a look of its own; that of another host less, and one whose own looks say more the least."""
    learner, (known, _) = GammaLearner(), a_host()
    before = learner.begin(known.hosts).posterior.mean
    mean = known.posterior.mean
    quiet = known
    for day in range(11, 60):
        quiet = learn_polls(learner, quiet, [10], day, [False])

    assert mean[10] > mean[11] > before[10]
    assert quiet.posterior.mean[10] < 0.1


def test_the_order_in_which_pages_come_does_not_matter():
    """Neither that in the population nor that of a restart."""
    learner = GammaLearner()
    known, _ = a_host()
    other, place = a_host((11, 3, 1, 10, 5, 0, 2, 4, 7, 9, 8, 6))
    memories = [learner.remember(known, row) for row in range(12)]
    again = learner.begin(known.hosts)
    for row in (5, 11, 2, 10, 0, 1, 3, 4, 9, 6, 8, 7):
        again = learner.recall(again, np.array([row]), [json.loads(json.dumps(memories[row]))])

    assert known.posterior.mean == pytest.approx(other.posterior.mean[place], rel=1e-12)
    assert known.posterior.mean.tolist() == again.posterior.mean.tolist()
    later, later_again = (learner.fit(one, 20 * DAY) for one in (known, again))
    assert later is not None
    assert later_again is not None
    assert later.posterior.mean.tolist() == later_again.posterior.mean.tolist()


def test_finding_priors_again_changes_nothing_without_looks():
    """They are made of what looks have added, not of themselves."""
    known, _ = a_host()
    again = known
    for day in range(20, 60):
        again = GammaLearner().fit(again, day * DAY) or again

    assert known.posterior.mean == pytest.approx(again.posterior.mean, rel=1e-9)


def test_priors_are_found_at_most_once_an_hour():
    """It costs a pass over all pages."""
    known, _ = a_host()

    assert GammaLearner().fit(known, known.fitted_at + HOUR - 1) is None
    assert GammaLearner().fit(known, known.fitted_at + HOUR) is not None


@pytest.mark.parametrize("gap", [1e-6, 1 / 1440, 1.0])
def test_a_page_that_differs_at_every_look_has_a_rate_all_the_same(gap):
    """A thousand looks say at most some forty changes a gap, also where the page is all that is known of its host, and nothing of it is infinite."""
    known = GammaLearner().begin(ONE)
    for number in range(1_000):
        known = learn_polls(GammaLearner(), known, [0], number * gap, [True])
    rate = GammaLearner().rates(known)[0]

    assert rate * gap < 40
    assert np.isfinite([rate, known.posterior.scale[0], known.posterior.shape[0]]).all()


def test_a_memory_that_cannot_be_read_is_passed_over():
    """Its page learns anew."""
    known, _ = a_host()
    fresh = GammaLearner().begin(known.hosts)
    memory = GammaLearner().remember(known, 0)
    broken = [{**memory, "prior": None}, {**memory, "scale": -1.0}, {}]

    again = GammaLearner().recall(fresh, np.arange(3), broken)

    assert fresh.posterior.mean.tolist() == again.posterior.mean.tolist()


def test_a_number_of_changes_that_hints_let_be_expected_counts_as_so_many():
    """Where hints tell when to look, that something changed by then is no surprise: as many changes as they tell, in all of the time."""
    learner = GammaLearner()
    known = learner.begin(np.array([1, 2]))
    rows, never, quiet = np.array([0, 1]), np.full(2, NEVER_SEEN), np.zeros(2, dtype=np.bool_)
    for day in range(40):
        at, found = np.full(2, day * DAY), np.ones(2, dtype=np.bool_)
        known = learner.observe(known, rows, at, found, never, quiet, np.array([1.0, np.nan]))

    told, censored = learner.rates(known)
    assert 0.8 < told < 1.4
    assert censored > 2 * told


def test_pages_that_come_when_all_others_have_left_begin_like_any():
    """With the prior of all, and what they forget goes back to that: not to one of a host that is gone."""
    learner = GammaLearner()
    memory = {"shape": 3.0, "scale": 1.0, "prior": [0.1, 0.01], "seen": 0, "looks": 4}
    known = learner.recall(learner.begin(np.array([1])), np.array([0]), [memory])
    fresh, found = learner.begin(np.array([2])), learner.arrange(known, np.array([-1]), np.array([2]))

    assert fresh.posterior.scale.tolist() == found.posterior.scale.tolist()
    assert fresh.priors.at(fresh.prior).scale.tolist() == found.priors.at(found.prior).scale.tolist()
